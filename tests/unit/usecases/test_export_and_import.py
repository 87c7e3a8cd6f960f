"""Out and in again, with nothing lost and nothing doubled."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from perdure.domain.memory import Filter, Memory, Provenance, Revision, Status
from perdure.domain.namespace import NamespaceName
from perdure.domain.saving import Edit
from perdure.errors import InvalidArgument, Reason, Unavailable
from perdure.ports import Store
from perdure.store import open_store
from perdure.usecases.admit import Admit
from perdure.usecases.import_memories import BUSY_ATTEMPTS_MAX, ImportMemories
from support.clocks import FakeClock
from support.memory_world import MemoryWorld, draft, memory_world

Exported = list[tuple[Memory, tuple[Revision, ...]]]


def fill(world: MemoryWorld) -> None:
    said = "The orders service of the billing team runs on the database Postgres {} in the Frankfurt region"
    old = world.say(said.format(14), tags=("db",), key=None)
    world.clock.advance(minutes=5)
    world.say(said.format(16))
    kept = world.say("数据库使用连接池", project="中文", concepts=("池",), files=("src/池.py",))
    world.clock.advance(minutes=5)
    world.update(world.me, kept.id, Edit(content="数据库不使用连接池", problem="slow", solution="pool"))
    away = world.say("A walrus", type="task", key="animal", provenance=Provenance.HUMAN, importance=0.9)
    world.archive(world.me, away.id)
    world.say("Soon gone", expires_at=world.clock.now() + timedelta(days=2))
    world.get(world.me, kept.id)
    world.ask("walrus orders", depth=1)
    world.flush()
    assert world.get(world.me, old.id, peek=True).status is Status.SUPERSEDED


def everything(world: MemoryWorld) -> Exported:
    return list(world.export(world.me, Filter(), every_status=True))


def bare(item: tuple[Memory, tuple[Revision, ...]]) -> tuple[Memory, tuple[Revision, ...]]:
    memory, revisions = item
    return replace(memory, space=None), tuple(replace(r, before=replace(r.before, space=None)) for r in revisions)


@pytest.mark.requirement("SAVE-17")
def test_export_then_import_into_an_empty_store_loses_nothing(world: MemoryWorld, tmp_path: Path) -> None:
    fill(world)
    exported = everything(world)
    assert len(exported) == 5
    with memory_world(open_store(f"sqlite:///{tmp_path / 'other.db'}"), FakeClock()) as other:
        report = other.import_(other.me, exported)
        assert (report.read, report.created, report.failed) == (5, 5, 0)
        assert [bare(item) for item in everything(other)] == [bare(item) for item in exported]
        assert len(other.found("连接池")) == 1
        other.drain()
        assert other.stats(other.me)[0].unembedded == 0


@pytest.mark.requirement("SAVE-17")
def test_importing_twice_is_harmless(world: MemoryWorld) -> None:
    fill(world)
    exported = everything(world)
    report = world.import_(world.me, exported)
    assert (report.read, report.unchanged, report.created, report.merged) == (5, 5, 0, 0)
    assert everything(world) == exported


def test_the_same_text_under_another_id_is_not_doubled(world: MemoryWorld) -> None:
    world.say("The walrus sits on the wall")
    ((memory, _),) = everything(world)
    stranger = replace(memory, id=world.ids.memory(), access_count=3)
    assert world.import_(world.me, [(stranger, ())]).unchanged == 1
    tagged = replace(stranger, statement=replace(stranger.statement, tags=("new",)))
    assert world.import_(world.me, [(tagged, ())]).merged == 1
    ((after, _),) = everything(world)
    assert (after.id, after.statement.tags) == (memory.id, ("new",))


def test_of_two_texts_for_one_key_the_newer_stands_and_the_other_is_history(world: MemoryWorld) -> None:
    world.say("Ports begin at 4000", key="ports")
    ((here, _),) = everything(world)
    newer = replace(
        here,
        id=world.ids.memory(),
        statement=replace(here.statement, content="Ports begin at 5000"),
        updated_at=here.updated_at + timedelta(hours=1),
    )
    older = replace(newer, id=world.ids.memory(), updated_at=here.updated_at - timedelta(hours=1))
    assert world.import_(world.me, [(older, ())]).unchanged == 1
    assert world.import_(world.me, [(newer, ())], dry_run=True).merged == 1
    assert world.import_(world.me, [(newer, ())]).merged == 1
    ((after, history),) = everything(world)
    assert (after.id, after.statement.content) == (here.id, "Ports begin at 5000")
    assert [revision.before.statement.content for revision in history] == ["Ports begin at 4000"]


def test_importing_again_never_undoes_an_edit(world: MemoryWorld) -> None:
    world.say("Ports begin at 4000")
    ((imported, _),) = everything(world)
    world.clock.advance(seconds=60)
    world.update(world.me, imported.id, Edit(content="Ports begin at 4100"))
    touched = replace(imported, updated_at=world.clock.now() + timedelta(hours=1))
    assert world.import_(world.me, [(touched, ())]).unchanged == 1
    assert world.get(world.me, imported.id).statement.content == "Ports begin at 4100"


def test_a_dry_run_says_what_would_happen_and_changes_nothing(world: MemoryWorld, tmp_path: Path) -> None:
    fill(world)
    exported = everything(world)
    with memory_world(open_store(f"sqlite:///{tmp_path / 'other.db'}"), FakeClock()) as other:
        report = other.import_(other.me, [*exported, *exported], dry_run=True)
        assert (report.read, report.created, report.unchanged, report.dry_run) == (10, 5, 5, True)
        assert everything(other) == []


def test_a_bad_line_is_named_and_stops_nothing(world: MemoryWorld) -> None:
    world.say("The walrus sits on the wall")
    ((memory, _),) = everything(world)
    unreadable = InvalidArgument("no such type", reason=Reason.FIELD_INVALID)
    empty = replace(memory, id=world.ids.memory(), statement=replace(memory.statement, content="  "))
    wild = replace(memory, id=world.ids.memory(), confidence=7.0)
    good = replace(memory, id=world.ids.memory(), statement=replace(memory.statement, content="A pelican"))
    report = world.import_(world.me, [unreadable, (empty, ()), (wild, ()), (good, ())])
    assert (report.read, report.created, report.failed) == (4, 1, 3)
    assert [problem.line for problem in report.problems] == [1, 2, 3]


def test_an_import_lands_in_the_callers_namespace_whatever_the_file_says(world: MemoryWorld) -> None:
    fill(world)
    exported = [(replace(m, namespace=NamespaceName("elsewhere")), r) for m, r in everything(world)]
    other = world.namespace("other")
    report = world.import_(other, exported)
    assert report.created == 5
    assert {m.namespace for m, _ in world.export(other, Filter(), every_status=True)} == {"other"}
    assert world.stats(world.me)[0].total == 5


def test_an_export_pages_through_everything_once_while_others_save(world: MemoryWorld) -> None:
    for start in range(0, 450, 150):
        world.save_many(world.me, [draft(f"thing{n} colour{n * 7} shape{n * 13}") for n in range(start, start + 150)])
        world.clock.advance(seconds=1)
    seen: list[str] = []
    for number, (memory, _) in enumerate(world.export(world.me, Filter(), every_status=True)):
        seen.append(memory.id)
        if number % 100 == 0:
            world.clock.advance(seconds=1)
            world.say(f"late arrival{number} with its own words{number}")
    assert len(seen) == len(set(seen)) == 450


@pytest.mark.requirement("SAVE-09")
def test_a_secret_in_an_import_is_blanked_too(world: MemoryWorld) -> None:
    world.say("The walrus sits on the wall")
    ((memory, _),) = everything(world)
    leaky = replace(
        memory, id=world.ids.memory(), statement=replace(memory.statement, content="key AKIA" + "IOSFODNN7EXAMPLQ here")
    )
    world.import_(world.me, [(leaky, ())])
    assert "AKIAIOSFODNN7" not in world.get(world.me, leaky.id).statement.content


@pytest.mark.parametrize("every_status", [False, True])
def test_an_export_of_active_memories_only_is_possible(world: MemoryWorld, every_status: bool) -> None:
    fill(world)
    found = {m.status for m, _ in world.export(world.me, Filter(), every_status=every_status)}
    assert (found == {Status.ACTIVE}) is not every_status


@pytest.mark.requirement("SAVE-09")
def test_a_secret_in_a_lines_summary_stub_or_earlier_state_is_blanked_too(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    world.update(world.me, kept.id, Edit(content="The walrus swims"))
    ((memory, (revision,)),) = everything(world)
    secret = "password: xK9!mQ2#vL7"
    before = replace(revision.before, statement=replace(revision.before.statement, content=secret), summary=secret)
    leaky = replace(memory, id=world.ids.memory(), summary=secret, stub=secret)
    other = world.namespace("other")
    assert world.import_(other, [(leaky, (replace(revision, before=before),))]).created == 1
    assert "xK9!" not in repr(list(world.export(other, Filter(), every_status=True)))


def test_a_count_too_large_to_be_raised_again_is_refused(world: MemoryWorld) -> None:
    world.say("The walrus sits on the wall")
    ((memory, _),) = everything(world)
    endless = 2**63 - 1
    wild = (
        replace(memory, access_count=endless),
        replace(memory, shown_count=endless),
        replace(memory, revision=endless),
    )
    report = world.import_(world.namespace("other"), [(item, ()) for item in wild])
    assert (report.created, report.failed) == (0, 3)


class OftenBusy:
    """The world's store, whose writer is held by somebody else for the first ``times`` tries."""

    def __init__(self, store: Store, times: int) -> None:
        self._store = store
        self.left = times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def write(self, *arguments: Any) -> Any:
        if self.left > 0:
            self.left -= 1
            raise Unavailable("Another writer held the store too long.", reason=Reason.STORE_BUSY)
        return self._store.write(*arguments)


def test_a_long_import_outlasts_other_long_work(world: MemoryWorld) -> None:
    fill(world)
    exported = everything(world)
    other = world.namespace("other")
    busy = OftenBusy(world.store, BUSY_ATTEMPTS_MAX - 1)
    take_in = ImportMemories(cast(Store, busy), Admit("redact"), world.clock, world.ids)
    assert take_in(other, exported).created == 5
    for_good = OftenBusy(world.store, 1000)
    take_in = ImportMemories(cast(Store, for_good), Admit("redact"), world.clock, world.ids)
    with pytest.raises(Unavailable):
        take_in(world.namespace("third"), exported)
    assert for_good.left == 1000 - BUSY_ATTEMPTS_MAX
