"""Garbage collection over a real store."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from perdure.domain.memory import Provenance, Status
from perdure.domain.runs import Task
from support.aged import aged, near
from support.clocks import BEGIN
from support.maintenance_world import MaintenanceWorld

CLEAN = Task.CLEAN


@pytest.mark.requirement("LIFE-09")
def test_all_stale_ones_among_many_fresh_ones_are_found_and_no_other(world: MaintenanceWorld) -> None:
    fresh = [aged(f"Fresh {n}.", idle_days=n % 100) for n in range(600)]
    stale = [aged(f"Stale {n}.", idle_days=900) for n in range(100)]
    world.put(fresh + stale)
    run = world.run(CLEAN)
    assert run.counts["archived_decayed"] == 100
    after = world.all()
    assert {after[memory.id].status for memory in stale} == {Status.ARCHIVED}
    assert {after[memory.id].status for memory in fresh} == {Status.ACTIVE}


@pytest.mark.requirement("LIFE-09")
def test_saves_are_archived_after_199_days_and_core_never(world: MaintenanceWorld) -> None:
    save, core = aged("A save."), aged("A core memory.", provenance=Provenance.HUMAN)
    world.put([save, core])
    world.clock.advance(days=199)
    world.run(CLEAN)
    assert world.get(save.id).status is Status.ACTIVE
    world.clock.advance(days=1)
    world.run(CLEAN)
    assert world.get(save.id).status is Status.ARCHIVED
    world.clock.advance(days=10_000)
    world.run(CLEAN)
    assert world.get(core.id).status is Status.ACTIVE


def test_expired_memories_are_archived(world: MaintenanceWorld) -> None:
    short = aged("Short-lived.", expires_at=BEGIN + timedelta(hours=1))
    world.put([short, aged("Long-lived.")])
    world.clock.advance(hours=2)
    assert world.run(CLEAN).counts["archived_expired"] == 1
    assert world.get(short.id).status is Status.ARCHIVED


def _twins(world: MaintenanceWorld, count: int) -> np.ndarray:
    row = near(1, dimension=world.embedder.space().dimension)
    return np.repeat(row, count, axis=0)


@pytest.mark.requirement("LIFE-10")
def test_of_two_alike_the_more_used_one_stays_and_the_other_is_superseded(world: MaintenanceWorld) -> None:
    often = aged("Deploys go out with make release.", access_count=4)
    seldom = aged("deploys go out with: make release!", access_count=1, idle_days=2)
    world.put([often, seldom], _twins(world, 2))
    assert world.run(CLEAN).counts["archived_deduped"] == 1
    gone = world.get(seldom.id)
    assert (gone.status, gone.superseded_by) == (Status.SUPERSEDED, often.id)
    assert seldom.id in world.get(often.id).supersedes


@pytest.mark.requirement("LIFE-10")
def test_a_contradiction_is_settled_in_favour_of_the_newer(world: MaintenanceWorld) -> None:
    old = aged("The database runs Postgres 14.", idle_days=30, access_count=9)
    new = aged("The database runs Postgres 16.", idle_days=1)
    world.put([old, new], _twins(world, 2))
    world.run(CLEAN)
    assert world.get(old.id).superseded_by == new.id
    assert world.get(new.id).status is Status.ACTIVE


def test_what_was_compared_is_not_compared_again_until_it_changes(world: MaintenanceWorld) -> None:
    world.put([aged("One thing."), aged("Quite another.")], _twins(world, 2))
    world.run(CLEAN)
    with world.store.survey(world.me.scope) as reader:
        since, _ = reader.watermarks()
        assert all(
            reader.vector_group(project, type_, world.space, since=since) is None
            for project, type_, _ in reader.groups(None)
        )


@pytest.mark.requirement("LIFE-07")
def test_undo_of_a_clean_brings_everything_back(world: MaintenanceWorld) -> None:
    memories = [aged(f"Stale {n}.", idle_days=900) for n in range(120)]
    twins = [aged("Deploys go out with make release.", access_count=4), aged("deploys go out: make release")]
    world.put(memories)
    world.put(twins, _twins(world, 2))
    before = world.all()
    run = world.run(CLEAN)
    _, report = world.undo(world.me, run.id)
    assert world.all() == before
    assert report.restored == 120 + run.counts["archived_deduped"]


def test_undo_leaves_out_a_memory_whose_text_was_saved_anew(world: MaintenanceWorld) -> None:
    stale = aged("Stale.", idle_days=900)
    world.put([stale])
    run = world.run(CLEAN)
    world.put([aged("Stale.")])
    _, report = world.undo(world.me, run.id)
    assert dict(report.left) == {"taken": 1}
    assert world.get(stale.id).status is Status.ARCHIVED


def test_decay_is_collected_while_the_embedder_is_away(world: MaintenanceWorld) -> None:
    world.put([aged("Stale.", idle_days=900)])
    assert world.run(CLEAN).counts["archived_decayed"] == 1


@pytest.mark.requirement("LIFE-08")
def test_a_dry_run_names_each_memory_and_why(world: MaintenanceWorld) -> None:
    stale = aged("Stale one.", idle_days=900)
    world.put([stale])
    run = world.run(CLEAN, dry_run=True)
    assert run.counts["archived_decayed"] == 1
    assert str(stale.id) in run.plan[0]
    assert world.get(stale.id).status is Status.ACTIVE
