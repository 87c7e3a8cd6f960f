"""Episodes, skills and routines in the store.

SQLite only: experience is made to outlive the process, and the in-memory backend, which does not, keeps none (as it is
not looked after either, ``LifecycleStore``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from perdure.domain.experience.episode import Episode, EpisodeId
from perdure.domain.experience.learning import Usage
from perdure.domain.experience.skill import Cron, EveryMinutes, Skill, SkillId
from perdure.domain.namespace import NamespaceName, Scope
from perdure.errors import Conflict, InvalidArgument, NotFound, PerdureError, Reason
from perdure.ports import ExperienceStore
from perdure.store import open_experience_store
from support.store_samples import ACTOR, HERE, SetClock
from support.stored_experience import START, episode, of_episode, of_skill, picture, routine, skill


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path, clock: SetClock) -> Iterator[ExperienceStore]:
    opened = open_experience_store(f"sqlite:///{path}", clock=clock)
    yield opened
    opened.close()


def _put(store: ExperienceStore, *items: Episode | Skill) -> None:
    with store.experience(HERE, ACTOR) as unit:
        for item in items:
            if isinstance(item, Episode):
                unit.put_episode(item, of_episode(item.id))
            else:
                unit.put_skill(item, of_skill(item.id))


def _all_episodes(store: ExperienceStore, limit: int) -> list[str]:
    found: list[str] = []
    after = ""
    while True:
        with store.experience_view(HERE) as reader:
            page = reader.episodes(after=after, limit=limit)
        found += [one.id for one in page.episodes]
        assert len(page.episodes) <= limit
        if not page.next:
            return found
        after = page.next


# -------------------------------------------------------------------------------------------------- episodes


def test_an_episode_is_read_as_it_was_stored(store: ExperienceStore) -> None:
    _put(store, episode())
    with store.experience_view(HERE) as reader:
        assert reader.episode(EpisodeId("e1")) == episode()
        assert reader.episode(EpisodeId("e2")) is None


def test_saving_an_episode_again_replaces_it_and_keeps_its_pictures(store: ExperienceStore) -> None:
    _put(store, episode())
    with store.experience(HERE, ACTOR) as unit:
        unit.put_screenshot(EpisodeId("e1"), picture())
        unit.put_episode(episode(name="Pay two bills", after_s=5), of_episode(text="new text"))
    with store.experience_view(HERE) as reader:
        assert reader.episodes(after="", limit=9).episodes == (episode(name="Pay two bills", after_s=5),)
        assert reader.screenshots(EpisodeId("e1")) == (picture(),)
        assert [one.text for one in reader.procedures()] == ["new text"]


def test_episodes_come_newest_first_and_ties_by_id_on_pages_that_meet(store: ExperienceStore) -> None:
    _put(store, *(episode(f"e{n}", after_s=n // 3) for n in range(10)))
    expected = [f"e{n}" for n in (9, 8, 7, 6, 5, 4, 3, 2, 1, 0)]
    for limit in (1, 2, 3, 9, 10, 11):
        assert _all_episodes(store, limit) == expected


def test_a_page_starts_where_the_last_ended_whatever_was_added_or_forgotten_meanwhile(store: ExperienceStore) -> None:
    _put(store, *(episode(f"e{n}", after_s=n) for n in range(6)))
    with store.experience_view(HERE) as reader:
        first = reader.episodes(after="", limit=2)
    with store.experience(HERE, ACTOR) as unit:
        unit.forget_episode(EpisodeId("e4"))
        unit.put_episode(episode("e9", after_s=99), of_episode("e9"))
    with store.experience_view(HERE) as reader:
        second = reader.episodes(after=first.next, limit=9)
    assert [one.id for one in (*first.episodes, *second.episodes)] == ["e5", "e4", "e3", "e2", "e1", "e0"]


@pytest.mark.parametrize("cursor", ["x", "1", "1.", ".e1", "1.e1' OR 1", "9" * 40 + ".e1", "1.e1\n", "1.../e1"])
def test_a_cursor_that_no_page_gave_is_refused(store: ExperienceStore, cursor: str) -> None:
    with store.experience_view(HERE) as reader:
        for page in (
            lambda: reader.episodes(after=cursor, limit=1),
            lambda: reader.skills(after=cursor, limit=1),
            lambda: reader.skill_runs(None, after=cursor, limit=1),
        ):
            with pytest.raises(InvalidArgument) as caught:
                page()
            assert caught.value.reason is Reason.CURSOR_INVALID


def test_forgetting_an_episode_names_its_pictures_and_leaves_its_skill(store: ExperienceStore) -> None:
    _put(store, episode(), skill())
    with store.experience(HERE, ACTOR) as unit:
        for name in ("b.png", "a.png"):
            unit.put_screenshot(EpisodeId("e1"), picture(name, name.encode()))
        assert unit.forget_episode(EpisodeId("e1")) == (picture("a.png", b"a.png"), picture("b.png", b"b.png"))
        assert unit.forget_episode(EpisodeId("e1")) is None
    with store.experience_view(HERE) as reader:
        assert reader.episode(EpisodeId("e1")) is None
        assert reader.screenshots(EpisodeId("e1")) == ()
        assert reader.skill(SkillId("k1")) == skill()


def test_a_picture_of_the_same_name_is_replaced_and_one_content_may_have_two_users(store: ExperienceStore) -> None:
    _put(store, episode("e1"), episode("e2"))
    first, second = picture("p", b"1"), picture("p", b"2")
    with store.experience(HERE, ACTOR) as unit:
        for one in (first, second):
            unit.put_screenshot(EpisodeId("e1"), one)
        unit.put_screenshot(EpisodeId("e2"), second)
        assert unit.screenshots(EpisodeId("e1")) == (second,)
        assert not unit.screenshot_used(first.sha256)
        unit.forget_episode(EpisodeId("e1"))
        assert unit.screenshot_used(second.sha256)
        unit.forget_episode(EpisodeId("e2"))
        assert not unit.screenshot_used(second.sha256)


def test_a_picture_of_no_episode_is_refused(store: ExperienceStore) -> None:
    with pytest.raises(NotFound) as caught, store.experience(HERE, ACTOR) as unit:
        unit.put_screenshot(EpisodeId("e1"), picture())
    assert caught.value.reason is Reason.EPISODE_NOT_FOUND


# ---------------------------------------------------------------------------------------------------- skills


def test_a_skill_is_read_as_it_was_stored_with_its_routine(store: ExperienceStore) -> None:
    _put(store, skill(routine=routine()))
    with store.experience_view(HERE) as reader:
        assert reader.skill(SkillId("k1")) == skill(routine=routine())
        assert reader.skill(SkillId("k1"), 1) == skill()
        assert reader.skill(SkillId("k1"), 2) is None
        assert reader.skill(SkillId("k2")) is None
        assert reader.skill_of(EpisodeId("e1")) == skill(routine=routine())
        assert reader.skill_of(EpisodeId("e2")) is None


def test_the_next_version_keeps_the_routine_and_every_version_can_be_read(store: ExperienceStore) -> None:
    _put(store, skill(routine=routine()), skill(version=2, name="Pay better"), skill(version=3, name="Pay best"))
    with store.experience_view(HERE) as reader:
        assert reader.skill(SkillId("k1")) == skill(version=3, name="Pay best", routine=routine())
        assert reader.versions(SkillId("k1")) == (
            skill(version=3, name="Pay best"),
            skill(version=2, name="Pay better"),
            skill(),
        )
        assert [one.version for one in reader.skills(after="", limit=9).skills] == [3]


@pytest.mark.parametrize("version", [1, 3])
def test_a_version_that_is_not_the_next_is_a_conflict_and_changes_nothing(store: ExperienceStore, version: int) -> None:
    _put(store, skill())
    with pytest.raises(Conflict) as caught:
        _put(store, skill(version=version, name="Other"))
    assert caught.value.reason is Reason.REVISION_MOVED
    with store.experience_view(HERE) as reader:
        assert reader.versions(SkillId("k1")) == (skill(),)


def test_skills_come_newest_first_on_pages_that_meet(store: ExperienceStore) -> None:
    _put(store, *(skill(f"k{n}", after_s=n // 2, source=None) for n in range(7)))
    found: list[str] = []
    after = ""
    while True:
        with store.experience_view(HERE) as reader:
            page = reader.skills(after=after, limit=3)
        found += [one.id for one in page.skills]
        after = page.next
        if not after:
            break
    assert found == ["k6", "k5", "k4", "k3", "k2", "k1", "k0"]


def test_forgetting_a_skill_erases_versions_and_routine(store: ExperienceStore) -> None:
    _put(store, episode(), skill(routine=routine()), skill(version=2))
    with store.experience(HERE, ACTOR) as unit:
        assert unit.forget_skill(SkillId("k1"))
        assert not unit.forget_skill(SkillId("k1"))
        assert unit.versions(SkillId("k1")) == ()
        assert unit.routines() == ()
        assert [one.id for one in unit.procedures()] == ["e1"]
    assert store.check().findings == ()


# -------------------------------------------------------------------------------------------------- routines


@pytest.mark.parametrize("schedule", [EveryMinutes(15), Cron("0 9 * * 1-5", "Asia/Tokyo")])
def test_every_field_of_a_routine_is_kept(store: ExperienceStore, schedule: EveryMinutes | Cron) -> None:
    _put(store, skill())
    full = replace(
        routine(last_run_at=START + timedelta(microseconds=1)),
        schedule=schedule,
        due_at=START + timedelta(minutes=1),
        lease_holder="host-1",
        lease_until=START + timedelta(minutes=10),
    )
    with store.experience(HERE, ACTOR) as unit:
        unit.set_routine(SkillId("k1"), full)
    with store.experience_view(HERE) as reader:
        assert reader.routines() == (skill(routine=full),)
    with store.experience(HERE, ACTOR) as unit:
        unit.set_routine(SkillId("k1"), None)
        assert unit.skill(SkillId("k1")) == skill()
        assert unit.routines() == ()


def test_a_routine_of_no_skill_is_refused(store: ExperienceStore) -> None:
    with pytest.raises(NotFound) as caught, store.experience(HERE, ACTOR) as unit:
        unit.set_routine(SkillId("k1"), routine())
    assert caught.value.reason is Reason.SKILL_NOT_FOUND


def test_routines_come_least_recently_run_first_and_disabled_ones_not_at_all(store: ExperienceStore) -> None:
    _put(
        store,
        skill("late", source=None, routine=routine(last_run_at=START + timedelta(hours=2))),
        skill("never", source=None, routine=routine()),
        skill("early", source=None, routine=routine(last_run_at=START - timedelta(days=90_000))),
        skill("off", source=None, routine=routine(enabled=False)),
        skill("none", source=None),
    )
    with store.experience_view(HERE) as reader:
        assert [one.id for one in reader.routines()] == ["never", "early", "late"]


# --------------------------------------------------------------------------------------------------- as one


def test_what_fails_in_the_middle_leaves_nothing_behind(store: ExperienceStore) -> None:
    _put(store, episode())
    with pytest.raises(RuntimeError), store.experience(HERE, ACTOR) as unit:
        unit.put_episode(episode("e2"), of_episode("e2"))
        unit.put_skill(skill(routine=routine()), of_skill())
        unit.put_screenshot(EpisodeId("e1"), picture())
        unit.record_usage([Usage(client="a", day="2026-03-01", calls=1, tokens_served=1, tokens_whole=1)])
        unit.forget_episode(EpisodeId("e1"))
        raise RuntimeError
    with store.experience_view(HERE) as reader:
        assert [one.id for one in reader.episodes(after="", limit=9).episodes] == ["e1"]
        assert reader.skills(after="", limit=9).skills == ()
        assert [one.id for one in reader.procedures()] == ["e1"]
        assert reader.usage("2026-01-01") == ()
        assert not reader.screenshot_used(picture().sha256)
    assert store.check().findings == ()


def test_a_view_does_not_move_while_others_write(store: ExperienceStore) -> None:
    with store.experience_view(HERE) as reader:
        assert reader.episodes(after="", limit=9).episodes == ()
        _put(store, episode())
        assert reader.episode(EpisodeId("e1")) is None


def test_usage_adds_up_by_client_and_day(store: ExperienceStore) -> None:
    def used(client: str, day: str, calls: int = 1) -> Usage:
        return Usage(client=client, day=day, calls=calls, tokens_served=10 * calls, tokens_whole=100 * calls)

    with store.experience(HERE, ACTOR) as unit:
        unit.record_usage([used("b", "2026-03-02"), used("a", "2026-03-02"), used("a", "2026-03-02")])
    with store.experience(HERE, ACTOR) as unit:
        unit.record_usage([used("a", "2026-03-01"), used("a", "2026-03-02"), used("a", "2026-02-28")])
    with store.experience_view(HERE) as reader:
        assert reader.usage("2026-03-01") == (
            used("a", "2026-03-01"),
            used("a", "2026-03-02", 3),
            used("b", "2026-03-02"),
        )


def test_a_store_in_memory_keeps_no_experience() -> None:
    with pytest.raises(InvalidArgument) as caught:
        open_experience_store("memory:")
    assert caught.value.reason is Reason.FIELD_INVALID


def test_a_namespace_that_is_not_there_has_no_experience(store: ExperienceStore) -> None:
    nowhere = Scope(NamespaceName("nowhere"))
    for opened in (lambda: store.experience_view(nowhere), lambda: store.experience(nowhere, ACTOR)):
        with pytest.raises(PerdureError) as caught, opened():
            pass
        assert caught.value.reason is Reason.NAMESPACE_NOT_FOUND


@pytest.mark.parametrize("schema", [1, 2])
def test_a_store_of_an_older_schema_is_brought_up_to_date_with_what_it_holds(path: Path, schema: int) -> None:
    from perdure.store.sqlite import file as files

    old: Any = apsw.Connection(str(path))
    for number, sql in files.migrations():
        if number <= schema:
            old.execute(sql)
    old.execute("INSERT INTO namespace (name, created_at) VALUES ('default', 1)")
    old.execute(f"PRAGMA application_id = {files.APPLICATION_ID}")
    old.execute(f"PRAGMA user_version = {schema}")
    old.close()
    store = open_experience_store(f"sqlite:///{path}")
    try:
        _put(store, episode(), skill())
        with store.experience_view(HERE) as reader:
            assert reader.skill_of(EpisodeId("e1")) == skill()
        assert store.info().schema == files.SCHEMA
        assert store.check().findings == ()
    finally:
        store.close()
