"""Consolidation over a real store: links, facts, undo, what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from perdure.domain.memory import Memory, Provenance, Status
from perdure.domain.namespace import Actor
from perdure.domain.runs import Act, Task
from perdure.domain.vectors import Matrix
from perdure.errors import FailedPrecondition, NotFound, PermissionDenied
from support.aged import aged, near
from support.maintenance_world import MaintenanceWorld
from support.memory_world import caller

CONSOLIDATE = Task.CONSOLIDATE


def _topic(count: int, topic: int = 0, **fields: object) -> list[Memory]:
    return [aged(f"Topic {topic} says fact number {n}.", idle_days=120 + n, **fields) for n in range(count)]


@pytest.mark.requirement("LIFE-04")
def test_aged_memories_become_one_that_keeps_every_fact_linked_both_ways(world: MaintenanceWorld) -> None:
    members = _topic(4)
    world.put(members, near(4, dimension=world.embedder.space().dimension))
    run = world.run(CONSOLIDATE)
    assert run.state == "succeeded"
    assert (run.counts["clusters_found"], run.counts["memories_consolidated"]) == (1, 4)
    (made,) = [memory for memory in world.all().values() if memory.provenance is Provenance.CONSOLIDATION]
    assert set(made.consolidated_from) == {memory.id for memory in members}
    assert all(memory.statement.content in made.statement.content for memory in members)
    assert made.space == world.space
    for memory in members:
        after = world.get(memory.id)
        assert (after.status, after.consolidated_into) == (Status.CONSOLIDATED, made.id)
        assert after.statement == memory.statement


@pytest.mark.requirement("LIFE-07")
def test_undo_brings_back_every_memory_as_it_was(world: MaintenanceWorld) -> None:
    world.put(_topic(5) + _topic(4, 1), _rows(world, 5, 4))
    before = world.all()
    run = world.run(CONSOLIDATE)
    assert world.all() != before
    after, report = world.undo(world.me, run.id)
    assert world.all() == before
    assert (report.restored, report.removed, dict(report.left)) == (9, 2, {})
    assert after.undone_by == "local"
    with world.store.read(world.me.scope) as reader:
        assert all(reader.history(memory) == () for memory in before)


def test_a_second_undo_finds_nothing_left(world: MaintenanceWorld) -> None:
    world.put(_topic(3), _rows(world, 3))
    run = world.run(CONSOLIDATE)
    world.undo(world.me, run.id)
    _, report = world.undo(world.me, run.id)
    assert (report.restored, report.removed) == (0, 0)


@pytest.mark.requirement("LIFE-07")
def test_undo_leaves_what_somebody_edited_since(world: MaintenanceWorld) -> None:
    members = _topic(3)
    world.put(members, _rows(world, 3))
    run = world.run(CONSOLIDATE)
    with world.store.write(world.me.scope, Actor(name="somebody")) as unit:
        before = unit.get(members[0].id)
        assert before is not None
        unit.change(before, replace(before, importance=0.9), why="updated")
    _, report = world.undo(world.me, run.id)
    assert (report.restored, dict(report.left)) == (2, {"changed_since": 1})
    assert world.get(members[0].id).importance == 0.9


@pytest.mark.requirement("LIFE-05")
def test_fresh_core_and_confirmed_memories_are_never_taken_in(world: MaintenanceWorld) -> None:
    others = [aged("Fresh.", idle_days=1), aged("Core.", idle_days=500, provenance=Provenance.HUMAN)]
    world.put([*_topic(3), *others], _rows(world, 5))
    world.run()
    assert all(world.get(memory.id).status is Status.ACTIVE for memory in others)


@pytest.mark.requirement("LIFE-05")
def test_projects_and_types_are_never_mixed(world: MaintenanceWorld) -> None:
    members = _topic(2, project="a") + _topic(2, 1, project="b") + _topic(2, 2, type="decision", project="a")
    world.put(members, _rows(world, 6))
    assert world.run(CONSOLIDATE).counts["clusters_found"] == 0


@pytest.mark.requirement("LIFE-08")
def test_a_dry_run_says_what_it_would_do_and_does_nothing(world: MaintenanceWorld) -> None:
    world.put(_topic(3), _rows(world, 3))
    before = world.all()
    run = world.run(CONSOLIDATE, dry_run=True)
    assert run.counts["memories_consolidated"] == 3
    assert "consolidate 3" in run.plan[0]
    assert world.all() == before


def test_one_project_can_be_consolidated_alone(world: MaintenanceWorld) -> None:
    a, b = _topic(3, project="a"), _topic(3, 1, project="b")
    world.put(a + b, _rows(world, 3, 3))
    run = world.run(CONSOLIDATE, project="a")
    assert run.counts["memories_consolidated"] == 3
    assert all(world.get(memory.id).status is Status.ACTIVE for memory in b)


@pytest.mark.requirement("LIFE-06")
def test_no_embedding_call_is_made(world: MaintenanceWorld) -> None:
    world.put(_topic(6), _rows(world, 6))
    world.run()
    assert world.embedder.asked == []


def test_a_run_lists_what_it_did(world: MaintenanceWorld) -> None:
    members = _topic(3)
    world.put(members, _rows(world, 3))
    run, items = world.runs.get(world.me, world.run(CONSOLIDATE).id)
    assert [item.act for item in items] == [Act.CONSOLIDATED] * 3 + [Act.MADE]
    assert {item.winner for item in items[:3]} == {items[3].memory}
    assert run in world.runs.list(world.me, 10)


@pytest.mark.requirement("LIFE-16")
def test_another_tenants_run_is_not_found(world: MaintenanceWorld) -> None:
    run = world.run()
    with world.store.access() as unit:
        unit.create_namespace(caller("other").namespace, world.clock.now())
    other = caller("other")
    with pytest.raises(NotFound):
        world.runs.get(other, run.id)
    with pytest.raises(NotFound):
        world.undo(other, run.id)
    assert world.runs.list(other, 10) == ()


def test_a_reader_may_not_start_or_undo_a_run(world: MaintenanceWorld) -> None:
    reader = caller(scopes=frozenset({"read"}))
    with pytest.raises(PermissionDenied):
        world.start(reader, (CONSOLIDATE,))
    with pytest.raises(PermissionDenied):
        world.undo(reader, world.run().id)


def test_a_run_that_is_not_over_cannot_be_undone(world: MaintenanceWorld) -> None:
    asked = world.start(world.me, (CONSOLIDATE,))
    with pytest.raises(FailedPrecondition):
        world.undo(world.me, asked.id)


def _rows(world: MaintenanceWorld, *sizes: int) -> Matrix:
    dimension = world.embedder.space().dimension
    return np.concatenate([near(size, topic=topic, dimension=dimension) for topic, size in enumerate(sizes)])
