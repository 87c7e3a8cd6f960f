"""Where experience stands, and forgetting all of it, over a real store and real files."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.learning import EventKind
from perdure.domain.experience.run import RunStatus, StepOutcome
from perdure.domain.experience.skill import Edits
from perdure.domain.namespace import TokenScope
from perdure.errors import InvalidArgument, PermissionDenied, Reason
from perdure.usecases.experience_overview import RECENT_MAX, ExperienceOverview
from support.experience_world import PNG, ExperienceWorld, caller


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ExperienceWorld]:
    made = ExperienceWorld(tmp_path)
    yield made
    made.close()


@pytest.fixture
def whole(world: ExperienceWorld) -> ExperienceOverview:
    return ExperienceOverview(world.store, world.files, world.clock)


def test_forgetting_everything_leaves_what_is_not_its_own(
    world: ExperienceWorld, whole: ExperienceOverview, tmp_path: Path
) -> None:
    skill = world.compile()
    world.start(skill)
    world.episodes.put_screenshot(world.me, EpisodeId("e1"), "s1.png", PNG)
    pictures = tmp_path / "episodes"
    unrelated = pictures / "somebody-elses" / "file.png"
    unrelated.parent.mkdir()
    unrelated.write_bytes(PNG)
    beside = tmp_path / "notes.txt"
    beside.write_text("mine")
    kept = [path for path in pictures.rglob("*") if path.is_file() and path != unrelated]
    assert len(kept) == 1

    whole.forget_all(world.me, True)

    assert not kept[0].exists()
    assert unrelated.read_bytes() == PNG and beside.read_text() == "mine" and pictures.is_dir()
    found = whole.overview(world.me, 1, 0)
    assert (found.episodes, found.skills, sum(found.runs.values())) == (0, 0, 0)
    assert not world.runs.list(world.me, limit=10).runs


def test_forgetting_everything_takes_a_yes_and_the_scope(world: ExperienceWorld, whole: ExperienceOverview) -> None:
    world.compile()
    with pytest.raises(InvalidArgument) as caught:
        whole.forget_all(world.me, False)
    assert caught.value.reason is Reason.CONFIRM_MISSING
    reader = caller(TokenScope.READ, TokenScope.WRITE)
    with pytest.raises(PermissionDenied):
        whole.forget_all(reader, True)
    with pytest.raises(PermissionDenied):
        whole.overview(reader, 1, 0)
    assert whole.overview(world.me, 1, 0).skills == 1


def test_the_overview_counts_by_local_day_empty_days_included(
    world: ExperienceWorld, whole: ExperienceOverview
) -> None:
    skill = world.compile()
    world.clock.advance(days=2)
    run = world.start(skill)
    world.runs.step(world.me, run.id, 3, "s4", StepOutcome.APPROVED)
    world.runs.step(world.me, run.id, 3, "s4", StepOutcome.OK)
    world.runs.finish(world.me, run.id, RunStatus.SUCCEEDED)
    denied = world.start(skill)
    world.runs.step(world.me, denied.id, 3, "s4", StepOutcome.DENIED)

    found = whole.overview(world.me, 4, 0)
    assert (found.approved, found.denied) == (1, 1)
    assert {status: count for status, count in found.runs.items() if count} == {"succeeded": 1, "denied": 1}
    today = world.clock.now().date()
    assert [day for day, _ in found.days] == [(today - timedelta(days=back)).isoformat() for back in (3, 2, 1, 0)]
    assert [counts["runs"] for _, counts in found.days] == [0, 0, 0, 2]
    assert found.days[1][1]["skills"] == 1
    assert (found.learned, found.pending, found.model_version) == (0, 1, None)
    # for whoever lives 14 hours ahead, what is at 12:00 UTC or later is of the next day
    ahead = whole.overview(world.me, 4, 14 * 60)
    assert ahead.days[-1][0] == (world.clock.now() + timedelta(hours=14)).date().isoformat()


def test_the_last_forty_events_are_told_newest_first(world: ExperienceWorld, whole: ExperienceOverview) -> None:
    world.compile()
    for _ in range(RECENT_MAX + 5):
        world.clock.advance(minutes=1)
        world.skills.compile(world.me, EpisodeId("e1"), Edits())
    recent = whole.overview(world.me, 1, 0).recent
    assert len(recent) == RECENT_MAX
    assert [one.at for one in recent] == sorted((one.at for one in recent), reverse=True)
    assert recent[0].at == world.clock.now() and recent[0].what is EventKind.SKILL
