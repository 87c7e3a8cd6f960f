"""What was erased is nowhere: the bytes of the file, its log and a later backup are searched for a canary."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from perdure.domain.memory import Memory, Provenance, Status
from perdure.domain.namespace import Actor
from perdure.domain.runs import Task
from perdure.errors import InvalidArgument, NotFound, PermissionDenied
from perdure.ports import Replay
from perdure.usecases.erase_many import EraseMany
from support.aged import aged, near
from support.maintenance_world import MaintenanceWorld
from support.memory_world import caller

CANARY = "zqcanaryqz"


def _bytes_with_canary(world: MaintenanceWorld, tmp_path: Path) -> list[str]:
    """Files, a later backup among them, that hold the canary in any letter case."""
    backup = tmp_path / f"backup-{len(list(tmp_path.iterdir()))}.db"
    world.store.backup(backup)
    return [path.name for path in tmp_path.iterdir() if CANARY.encode() in path.read_bytes().lower()]


def _group(world: MaintenanceWorld) -> list[Memory]:
    members = [aged(f"Topic says fact number {n}.", idle_days=120 + n) for n in range(3)]
    members.append(
        aged(
            f"The secret name is {CANARY}. More of it.",
            idle_days=125,
            problem=f"{CANARY} again",
            tags=(CANARY,),
            files=(f"src/{CANARY}.py",),
        )
    )
    world.put(members, near(4, dimension=world.embedder.space().dimension))
    return members


@pytest.mark.requirement("LIFE-14")
def test_a_canary_is_gone_from_rows_history_words_runs_answers_and_later_backups(
    world: MaintenanceWorld, tmp_path: Path
) -> None:
    members = _group(world)
    victim = members[-1]
    with world.store.write(world.me.scope, Actor(name="somebody")) as unit:
        before = unit.get(victim.id)
        assert before is not None
        statement = replace(before.statement, content=f"Now it is {CANARY} two.")
        unit.change(before, replace(before, statement=statement), why="updated")
        unit.remember(
            "k", Replay("r", f"{victim.id} {CANARY}".encode()), expires_at=world.clock.now().replace(year=2030)
        )
    world.run(Task.CONSOLIDATE, dry_run=True)
    world.run(Task.CONSOLIDATE)
    assert _bytes_with_canary(world, tmp_path)
    for file in tmp_path.glob("backup-*"):
        file.unlink()
    world.purge(world.me, victim.id)
    assert _bytes_with_canary(world, tmp_path) == []
    assert world.store.check().findings == ()


def test_what_was_made_of_an_erased_memory_is_taken_apart(world: MaintenanceWorld) -> None:
    members = _group(world)
    world.run(Task.CONSOLIDATE)
    world.purge(world.me, members[-1].id)
    after = world.all()
    assert set(after) == {memory.id for memory in members[:-1]}
    assert {memory.status for memory in after.values()} == {Status.ACTIVE}
    assert {memory.consolidated_into for memory in after.values()} == {None}


def test_erasing_what_was_made_erases_what_it_was_made_of(world: MaintenanceWorld, tmp_path: Path) -> None:
    _group(world)
    world.run(Task.CONSOLIDATE)
    (made,) = [memory for memory in world.all().values() if memory.provenance is Provenance.CONSOLIDATION]
    world.purge(world.me, made.id)
    assert world.all() == {}
    assert _bytes_with_canary(world, tmp_path) == []


def test_undo_after_an_erasure_leaves_the_rest_as_it_is(world: MaintenanceWorld) -> None:
    members = _group(world)
    run = world.run(Task.CONSOLIDATE)
    world.purge(world.me, members[-1].id)
    before = world.all()
    world.undo(world.me, run.id)
    assert world.all() == before


def test_a_project_is_erased_whole_whatever_the_status_and_no_other(world: MaintenanceWorld, tmp_path: Path) -> None:
    mine = [aged(f"{CANARY} number {n}.", project="mine", idle_days=n * 3) for n in range(120)]
    world.put(mine)
    world.put([aged("Of another project.", project="other")])
    world.run()
    erase = EraseMany(world.store, world.clock)
    with pytest.raises(InvalidArgument):
        erase(world.me, project="mine", confirm="other")
    assert erase(world.me, project="mine", confirm="mine") == 120
    assert [memory.statement.project for memory in world.all().values()] == ["other"]
    assert _bytes_with_canary(world, tmp_path) == []


def test_a_namespace_is_erased_by_an_administrator_only(world: MaintenanceWorld) -> None:
    world.put([aged("One."), aged("Two.")])
    erase = EraseMany(world.store, world.clock)
    with pytest.raises(PermissionDenied):
        erase(caller(scopes=frozenset({"read", "write"})), project=None, confirm="default")
    assert erase(world.me, project=None, confirm="default") == 2
    assert world.all() == {}


@pytest.mark.requirement("LIFE-16")
def test_another_tenants_memory_cannot_be_erased(world: MaintenanceWorld) -> None:
    members = _group(world)
    with world.store.access() as unit:
        unit.create_namespace(caller("other").namespace, world.clock.now())
    with pytest.raises(NotFound):
        world.purge(caller("other"), members[-1].id)
