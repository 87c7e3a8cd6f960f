"""Experience is nobody else's, and what is forgotten is gone. SQLite only: why, in test_experience.py."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.learning import ItemKind, Usage, UsedQuery
from perdure.domain.experience.run import RunStatus, SkillRunId
from perdure.domain.experience.skill import SkillId
from perdure.domain.memory import LinkKind, MemoryId, Status
from perdure.domain.namespace import Caller, NamespaceName, Scope, TokenScope
from perdure.errors import NotFound
from perdure.ports import ExperienceReader, ExperienceStore, ExperienceUnit, ProcedureVector
from perdure.store import open_experience_store
from perdure.store.files import FileScreenshots
from perdure.system import RandomIds
from perdure.usecases.experience_episodes import Episodes
from perdure.usecases.experience_skills import Skills
from support.store_samples import ACTOR, HERE, SPACE, START, SetClock, memory, vector
from support.stored_experience import (
    adaptation,
    adapter,
    episode,
    line,
    of_episode,
    of_skill,
    picture,
    routine,
    run,
    skill,
)

THERE = Scope(NamespaceName("there"))
NEWER = MemoryId("00000000-0000-7000-8000-000000000001")
OLDER = MemoryId("00000000-0000-7000-8000-000000000002")
ALWAYS = START.replace(year=2100)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path, clock: SetClock) -> Iterator[ExperienceStore]:
    opened = open_experience_store(f"sqlite:///{path}", clock=clock)
    with opened.access() as access:
        access.create_namespace(THERE.namespace, START)
    yield opened
    opened.close()


def _fill(store: ExperienceStore, scope: Scope, name: str) -> None:
    """One of everything under the same ids in each namespace, told apart by ``name``."""
    with store.experience(scope, ACTOR) as unit:
        for id_, status in ((NEWER, Status.ACTIVE), (OLDER, Status.SUPERSEDED)):
            one = memory(f"{name} {status}.", id=id_, namespace=scope.namespace, status=status)
            unit.add(one, vector=vector(1), space=SPACE)
        unit.link(LinkKind.SUPERSEDES, NEWER, OLDER)
        unit.put_episode(episode("e1", name=name), of_episode("e1", name))
        unit.put_episode(episode("e2", name=name), of_episode("e2", name))
        unit.put_screenshot(EpisodeId("e1"), picture(name, name.encode()))
        unit.put_skill(skill(name=name, routine=routine()), of_skill("k1", name))
        unit.put_run(run("open"))
        unit.append_step(SkillRunId("open"), line(detail=name))
        unit.import_run(run("ended", status=RunStatus.FAILED, cost=1.0, steps=(line(detail=name),)))
        unit.set_procedure_vectors(
            SPACE,
            [
                ProcedureVector(
                    kind=ItemKind.SKILL, id="k1", chunk=0, sha256=of_skill("k1", name).sha256, vector=vector(2)
                )
            ],
        )
        unit.note_queries([UsedQuery(vector=vector(3), space=SPACE, memory=NEWER, at=START)], keep=9)
        unit.learn(adapter(1), adaptation(1, ("k1",)), [(ItemKind.SKILL, "k1", of_skill("k1", name).sha256)])
        unit.keep_imported_head({"learned": {name: 1}})
        unit.record_usage([Usage(client=name, day="2026-03-01", calls=1, tokens_served=2, tokens_whole=3)])


def _seen(store: ExperienceStore, scope: Scope, names: tuple[str, ...] = ("here", "there")) -> dict[str, str]:
    """What every reader says, as text."""
    e1, k1 = EpisodeId("e1"), SkillId("k1")
    reads: dict[str, Callable[[ExperienceReader], Any]] = {
        "episode": lambda r: r.episode(e1),
        "episodes": lambda r: r.episodes(after="", limit=9),
        "screenshots": lambda r: r.screenshots(e1),
        "screenshot_used": lambda r: [r.screenshot_used(picture(name, name.encode()).sha256) for name in names],
        "skill": lambda r: (r.skill(k1), r.skill(k1, 1)),
        "skill_of": lambda r: r.skill_of(e1),
        "skills": lambda r: r.skills(after="", limit=9),
        "versions": lambda r: r.versions(k1),
        "routines": lambda r: r.routines(),
        "skill_run": lambda r: (r.skill_run(SkillRunId("open")), r.skill_run(SkillRunId("ended"))),
        "skill_runs": lambda r: (r.skill_runs(None, after="", limit=9), r.skill_runs(k1, after="", limit=9)),
        "stale_runs": lambda r: r.stale_runs(ALWAYS),
        "tally": lambda r: (r.tally(None), r.tally(k1)),
        "failed_steps": lambda r: r.failed_steps(k1),
        "procedures": lambda r: (r.procedures(), r.procedures(SPACE)),
        "procedure_vectors": lambda r: [(one.id, one.sha256) for one in r.procedure_vectors(SPACE)],
        "used_queries": lambda r: [(one.memory, one.at) for one in r.used_queries(SPACE, 9)],
        "superseded_of": lambda r: r.superseded_of(SPACE, 9),
        "adapter": lambda r: None if (found := r.adapter(SPACE)) is None else (found.version, found.down.tobytes()),
        "adapter_number": lambda r: r.adapter_number(SPACE),
        "adapter_stamp": lambda r: r.adapter_stamp(SPACE),
        "shelf_stamp": lambda r: r.shelf_stamp(SPACE),
        "imported_head": lambda r: r.imported_head(),
        "content_chars": lambda r: r.content_chars(),
        "counts": lambda r: r.counts(),
        "events": lambda r: r.events(START.replace(year=2000), 9),
        "adaptations": lambda r: (r.adaptations(), r.adaptations(SPACE)),
        "usage": lambda r: r.usage("2000-01-01"),
    }
    with store.experience_view(scope) as reader:
        return {name: repr(read(reader)) for name, read in reads.items()}


def test_every_read_of_the_port_is_looked_at_here(store: ExperienceStore) -> None:
    own = {name for name in vars(ExperienceReader) if not name.startswith("_")}
    assert own <= set(_seen(store, HERE))


@pytest.mark.requirement("EXP-STORE-05")
def test_no_read_tells_of_another_namespace(store: ExperienceStore) -> None:
    empty = _seen(store, HERE)
    _fill(store, THERE, "there")
    assert _seen(store, HERE) == empty
    _fill(store, HERE, "here")
    for scope, other in ((HERE, "there"), (THERE, "here")):
        seen = _seen(store, scope, names=(scope.namespace,))
        assert all(
            value not in (empty[name], "{}", "()", "None", "0", "[]")
            for name, value in seen.items()
            if name != "failed_steps"
        )
        assert not [name for name, value in seen.items() if f"'{other}'" in value or f'"{other}"' in value]


@pytest.mark.parametrize(
    "write",
    [
        lambda unit: unit.put_episode(episode("e1", name="mine"), of_episode("e1", "mine")),
        lambda unit: unit.forget_episode(EpisodeId("e1")),
        lambda unit: unit.put_screenshot(EpisodeId("e1"), picture("mine", b"mine")),
        lambda unit: unit.put_skill(skill("k1", name="mine", version=2), of_skill("k1", "mine")),
        lambda unit: unit.forget_skill(SkillId("k1")),
        lambda unit: unit.set_routine(SkillId("k1"), None),
        lambda unit: unit.put_run(run("mine", status=RunStatus.FAILED)),
        lambda unit: unit.change_run(replace(run("open"), status=RunStatus.STOPPED)),
        lambda unit: unit.append_step(SkillRunId("open"), line(detail="mine")),
        lambda unit: unit.import_run(run("mine", steps=(line(),))),
        lambda unit: unit.set_procedure_vectors(SPACE, []),
        lambda unit: unit.note_queries([], keep=0),
        lambda unit: unit.learn(adapter(2), adaptation(2), [(ItemKind.EPISODE, "e2", "0" * 64)]),
        lambda unit: unit.rollback_model(SPACE),
        lambda unit: unit.keep_imported_head({"learned": {"k1": 3}}),
        lambda unit: unit.forget_experience(),
        lambda unit: unit.record_usage(
            [Usage(client="there", day="2026-03-01", calls=9, tokens_served=9, tokens_whole=9)]
        ),
    ],
)
@pytest.mark.requirement("EXP-STORE-05")
def test_no_write_touches_another_namespace(store: ExperienceStore, write: Callable[[ExperienceUnit], object]) -> None:
    _fill(store, HERE, "here")
    _fill(store, THERE, "there")
    before = _seen(store, THERE)
    with store.experience(HERE, ACTOR) as unit:
        write(unit)
    assert _seen(store, THERE) == before
    assert store.check().findings == ()


def test_what_another_namespace_has_is_not_there_to_be_written_to(store: ExperienceStore) -> None:
    _fill(store, THERE, "there")
    with store.experience(HERE, ACTOR) as unit:
        for act in (
            lambda: unit.put_screenshot(EpisodeId("e1"), picture()),
            lambda: unit.set_routine(SkillId("k1"), None),
            lambda: unit.change_run(run("open")),
            lambda: unit.append_step(SkillRunId("open"), line()),
        ):
            with pytest.raises(NotFound):
                act()
        assert unit.forget_episode(EpisodeId("e1")) is None
        assert not unit.forget_skill(SkillId("k1"))
        assert unit.rollback_model(SPACE) is None
        assert unit.forget_experience() == ()


def test_erasing_every_memory_leaves_experience_and_model_but_what_memories_taught(store: ExperienceStore) -> None:
    _fill(store, HERE, "here")
    before = _seen(store, HERE)
    with store.write(HERE, ACTOR) as unit:
        for id_ in (NEWER, OLDER):
            assert unit.purge(id_)
    after = _seen(store, HERE)
    assert {name for name, value in after.items() if value != before[name]} == {
        "used_queries",
        "superseded_of",
        "content_chars",
    }
    assert after["used_queries"] == "[]"
    assert store.check().findings == ()


CANARIES = ("canary-episode", "canary-skill", "canary-version", "canary-procedure", "canary-trail", "canary-routine")


def _with_canaries(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_episode(episode("e1", said="canary-episode"), of_episode("e1", "canary-procedure" * 300))
        values = {"amount": "canary-routine"}
        unit.put_skill(skill(name="canary-version", routine=replace(routine(), values=values)), of_skill())
        unit.put_skill(skill(name="canary-skill", version=2), of_skill())
        unit.put_run(run())
        unit.append_step(SkillRunId("r1"), line(detail="canary-trail"))


def _bytes(path: Path) -> bytes:
    return b"".join(
        side.read_bytes() for suffix in ("", "-wal") if (side := path.with_name(path.name + suffix)).exists()
    )


def _forget_one_by_one(unit: ExperienceUnit) -> None:
    unit.forget_episode(EpisodeId("e1"))
    unit.forget_skill(SkillId("k1"))
    unit.change_run(run(status=RunStatus.STOPPED))
    for n in range(1, 501):
        unit.put_run(run(f"n{n}", after_s=n))


@pytest.mark.parametrize("forget", [_forget_one_by_one, lambda unit: unit.forget_experience()])
@pytest.mark.requirement("EXP-STORE-03")
def test_what_is_forgotten_is_in_no_byte_of_the_file_or_of_a_later_backup(
    store: ExperienceStore, path: Path, forget: Callable[[ExperienceUnit], object]
) -> None:
    _with_canaries(store)
    assert all(canary.encode() in _bytes(path) for canary in CANARIES)
    with store.experience(HERE, ACTOR) as unit:
        forget(unit)
    assert store.scrub()
    store.backup(path.with_name("backup.db"))
    assert not [one for one in CANARIES if one.encode() in _bytes(path) + path.with_name("backup.db").read_bytes()]


def test_what_a_caller_forgets_is_in_no_byte_of_store_or_pictures_at_once(
    store: ExperienceStore, path: Path, clock: SetClock
) -> None:
    me = Caller(namespace=HERE.namespace, actor="tester", scopes=frozenset({TokenScope.EXPERIENCE}))
    root = path.with_name("episodes")
    episodes = Episodes(store, FileScreenshots(root), clock, RandomIds())
    _with_canaries(store)
    shown = b"\x89PNG\r\n\x1a\n" + b"canary-picture"
    episodes.put_screenshot(me, EpisodeId("e1"), "one.png", shown)
    assert episodes.forget(me, EpisodeId("e1"))
    assert Skills(store, clock, RandomIds()).forget(me, SkillId("k1"))
    left = _bytes(path) + b"".join(one.read_bytes() for one in root.rglob("*") if one.is_file())
    gone = ("canary-episode", "canary-skill", "canary-version", "canary-procedure", "canary-routine", "canary-picture")
    assert not [one for one in gone if one.encode() in left]


def test_what_is_replaced_is_in_no_byte_of_the_file(store: ExperienceStore, path: Path) -> None:
    _with_canaries(store)
    with store.experience(HERE, ACTOR) as unit:
        unit.put_episode(episode("e1"), of_episode("e1"))
        unit.set_routine(SkillId("k1"), routine())
    assert store.scrub()
    left = _bytes(path)
    for canary in ("canary-episode", "canary-procedure", "canary-routine"):
        assert canary.encode() not in left


def test_a_backup_holds_the_experience(store: ExperienceStore, path: Path) -> None:
    _fill(store, HERE, "here")
    store.backup(path.with_name("backup.db"))
    copy = open_experience_store(f"sqlite:///{path.with_name('backup.db')}")
    try:
        assert _seen(copy, HERE) == _seen(store, HERE)
        assert copy.check().findings == ()
    finally:
        copy.close()


@pytest.mark.parametrize("killed_after", range(6))
@pytest.mark.requirement("EXP-STORE-06")
def test_a_process_killed_in_the_middle_of_a_transaction_leaves_nothing_of_it(path: Path, killed_after: int) -> None:
    """The child dies by SIGKILL, without a word, after so many acts of its second transaction."""
    child = os.fork()
    if child == 0:
        try:
            store = open_experience_store(f"sqlite:///{path}")
            with store.access() as access:
                access.create_namespace(THERE.namespace, START)
            _fill(store, HERE, "here")
            with store.experience(HERE, ACTOR) as unit:
                acts: list[Callable[[], object]] = [
                    lambda: unit.put_skill(skill(version=2, name="torn"), of_skill("k1", "torn")),
                    lambda: unit.append_step(SkillRunId("open"), line(detail="torn")),
                    lambda: unit.learn(adapter(2), adaptation(2), [(ItemKind.EPISODE, "e2", "0" * 64)]),
                    lambda: unit.set_routine(SkillId("k1"), None),
                    lambda: unit.forget_experience(),
                ]
                for act in acts[:killed_after]:
                    act()
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    store = open_experience_store(f"sqlite:///{path}")
    try:
        assert store.check().findings == ()
        torn = _seen(store, HERE)
        with store.experience(THERE, ACTOR):
            pass
        _fill(store, THERE, "here")
        told = _seen(store, THERE)
        for stamp in ("adapter_stamp", "shelf_stamp"):  # random
            assert torn.pop(stamp) != told.pop(stamp)
        assert torn == told
    finally:
        store.close()
