"""When runs are due, and that each is done once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from perdure.domain.namespace import DEFAULT_NAMESPACE, Actor
from perdure.domain.runs import Task, Trigger
from perdure.errors import AlreadyExists
from perdure.ports import JobKind, JobState
from perdure.store.sqlite import SqliteStore
from support.aged import aged
from support.maintenance_world import MaintenanceWorld, maintenance_world
from support.memory_world import caller


def _runs(world: MaintenanceWorld) -> list[Trigger]:
    return [run.trigger for run in world.runs.list(world.me, 200)]


def _save(world: MaintenanceWorld, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        world.put([aged(f"Saved number {number}.")])


@pytest.mark.requirement("LIFE-01")
def test_the_tenth_save_queues_a_run_in_its_own_transaction(world: MaintenanceWorld) -> None:
    _save(world, 9)
    assert _runs(world) == []
    _save(world, 1, 9)
    assert _runs(world) == [Trigger.SAVES]
    with world.store.work() as unit:
        assert [unit.job(event.job).kind for event in unit.outbox(10)].count(JobKind.MAINTAIN) == 1  # type: ignore[union-attr]


def test_a_save_that_fails_counts_nothing(world: MaintenanceWorld) -> None:
    _save(world, 9)
    twice = aged("Saved number 3.")
    with pytest.raises(AlreadyExists):
        world.put([aged("New."), twice])
    assert _runs(world) == []


@pytest.mark.requirement("LIFE-03")
def test_every_save_is_answered_for_by_exactly_one_run(world: MaintenanceWorld) -> None:
    for round_ in range(20):
        _save(world, 7, 7 * round_)
        world.work()
    world.clock.advance(hours=25)
    world.tick()
    world.work()
    runs = world.runs.list(world.me, 200)
    assert sum(run.saves for run in runs) == 140
    assert all(run.state == "succeeded" for run in runs)


def test_saves_while_a_run_goes_queue_another_one_at_the_next_tick(world: MaintenanceWorld) -> None:
    _save(world, 10)
    with world.store.work() as unit:
        (job,) = [job for job in unit.stalled_jobs(world.clock.now()) if job.kind is JobKind.MAINTAIN]
    with world.store.maintain(world.me.scope, Actor(name="maintain")) as unit_:
        unit_.begin_run(job.id, world.clock.now(), answers_saves=True)
    _save(world, 10, 10)
    assert len(_runs(world)) == 1
    world.work()
    world.tick()
    assert sum(run.saves for run in world.runs.list(world.me, 10)) == 20


@pytest.mark.requirement("LIFE-01")
def test_a_day_after_its_last_run_a_namespace_is_looked_after(world: MaintenanceWorld) -> None:
    _save(world, 1)
    world.clock.advance(hours=23)
    world.tick()
    assert _runs(world) == []
    world.clock.advance(hours=1)
    world.tick()
    world.tick()
    assert _runs(world) == [Trigger.DAY]
    world.work()
    world.tick()
    assert _runs(world) == [Trigger.DAY]


def test_the_day_is_remembered_over_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with maintenance_world(path) as first:
        _save(first, 1)
    with maintenance_world(path) as second:
        second.clock.advance(hours=25)
        second.tick()
        assert _runs(second) == [Trigger.DAY]


@pytest.mark.requirement("LIFE-02")
def test_two_runs_of_a_namespace_never_go_at_once(world: MaintenanceWorld) -> None:
    one, two = world.start(world.me, (Task.CLEAN,)), world.start(world.me, (Task.CLEAN,))
    now = world.clock.now()
    with world.store.work() as unit:
        assert unit.take_job(one.id, "a", now, now + timedelta(seconds=12)) is not None
    with world.store.work() as unit:
        assert unit.take_job(two.id, "b", now, now + timedelta(seconds=12)) is None
        assert unit.take_job(one.id, "b", now, now + timedelta(seconds=12)) is None
    world.clock.advance(seconds=13)
    later = world.clock.now()
    with world.store.work() as unit:
        taken = unit.take_job(one.id, "b", later, later + timedelta(seconds=12))
        assert taken is not None
        assert taken.attempts == 2


def test_namespaces_have_triggers_of_their_own(world: MaintenanceWorld) -> None:
    with world.store.access() as unit:
        unit.create_namespace(caller("other").namespace, world.clock.now())
    for number in range(6):
        world.put([aged(f"Mine {number}.")])
        world.put([aged(f"Theirs {number}.")], who=caller("other"))
    assert _runs(world) == []


def test_ten_saves_in_one_transaction_are_ten(world: MaintenanceWorld) -> None:
    world.put([aged(f"Saved {n}.") for n in range(10)])
    assert _runs(world) == [Trigger.SAVES]


def test_a_store_of_the_first_schema_is_brought_up_to_date(tmp_path: Path) -> None:
    import apsw

    from perdure.store.sqlite import file as files

    path = tmp_path / "old.db"
    connection = apsw.Connection(str(path))
    connection.execute(dict(files.migrations())[1])
    connection.execute("INSERT INTO namespace (name, created_at) VALUES ('default', 1)")
    connection.execute(f"PRAGMA application_id = {files.APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    store = SqliteStore(path, create=False, resident_bytes=0, resident_min_rows=256)
    try:
        with store.survey(caller(DEFAULT_NAMESPACE).scope) as reader:
            assert reader.runs(10) == ()
        assert store.check().findings == ()
    finally:
        store.close()


@pytest.mark.requirement("LIFE-02")
def test_a_run_whose_worker_died_is_taken_over_and_ends(world: MaintenanceWorld) -> None:
    world.put([aged(f"Stale {n}.", idle_days=900) for n in range(3)])
    asked = world.start(world.me, (Task.CLEAN,))
    now = world.clock.now()
    with world.store.work() as unit:
        assert unit.take_job(asked.id, "dead worker", now, now + timedelta(seconds=12)) is not None
    assert world.work() == []
    world.clock.advance(seconds=13)
    assert [job.state for job in world.work()] == [JobState.SUCCEEDED]
    run, items = world.runs.get(world.me, asked.id)
    assert run.counts["archived_decayed"] == len(items) == 3


def test_a_run_waits_a_while_for_vectors_that_are_still_to_come(world: MaintenanceWorld) -> None:
    memory = aged("Stale.", idle_days=900)
    with world.store.write(world.me.scope, Actor(name="test")) as unit:
        unit.add(memory, vector=None, space=None)
    asked = world.start(world.me, (Task.CLEAN,))
    assert world.work() == []
    assert world.runs.get(world.me, asked.id)[0].state == "queued"
    for _ in range(5):
        world.clock.advance(seconds=60)
        world.work()
    run, _ = world.runs.get(world.me, asked.id)
    assert run.state == "succeeded"
    assert run.counts["archived_decayed"] == 1
