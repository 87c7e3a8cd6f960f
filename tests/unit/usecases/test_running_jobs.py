"""Which jobs a worker may run at the same time, and when a job is sent again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from perdure.ports import Job, JobKind, JobState, Store
from perdure.store import open_store
from perdure.usecases.dispatch import Dispatch
from perdure.usecases.run_job import Report, RunJob
from perdure.usecases.start_job import StartJob
from support.clocks import FakeClock, SequentialIds


class World:
    """A store, a clock, and jobs that call back while they run."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store: Store = open_store("memory:", clock=self.clock)
        self.start = StartJob(self.store, self.clock, SequentialIds())

    def queued(self, kind: JobKind) -> str:
        return self.start(kind)[0].id

    def worker(self, name: str, meanwhile: Callable[[], None] = lambda: None) -> RunJob:
        def runner(job: Job, report: Report) -> str:
            del job, report
            meanwhile()
            return "done"

        group = name.rpartition(":")[0] + ":"
        return RunJob(self.store, self.clock, name, dict.fromkeys(JobKind, runner), group=group, long_at_once=1)

    def state(self, job: str) -> JobState:
        with self.store.work() as unit:
            found = unit.job(job)
        assert found is not None
        return found.state


@pytest.fixture
def world() -> World:
    return World()


def test_a_short_job_runs_while_a_long_one_does(world: World) -> None:
    long, short = world.queued(JobKind.REEMBED), world.queued(JobKind.EMBED_PENDING)
    states: list[JobState] = []

    def meanwhile() -> None:
        world.worker("host:1:b")(short)
        states.append(world.state(short))

    world.worker("host:1:a", meanwhile)(long)
    assert states == [JobState.SUCCEEDED]
    assert world.state(long) is JobState.SUCCEEDED


def test_a_second_long_job_leaves_the_last_process_of_the_worker_free(world: World) -> None:
    first = world.queued(JobKind.REEMBED)
    with world.store.work() as unit:
        second = unit.add_job(
            Job(
                id="second",
                kind=JobKind.MAINTAIN,
                state=JobState.QUEUED,
                created_at=world.clock.now(),
                subject="default",
            )
        ).id
    states: list[JobState] = []

    def meanwhile() -> None:
        assert world.worker("host:1:b")(second) is None
        states.append(world.state(second))
        world.worker("other:2:a")(second)
        states.append(world.state(second))

    world.worker("host:1:a", meanwhile)(first)
    assert states == [JobState.QUEUED, JobState.SUCCEEDED]


def test_a_job_that_nobody_takes_is_sent_again_less_and_less_often(world: World) -> None:
    sent: list[float] = []
    began = world.clock.now()

    class Queue:
        def send(self, job_id: str, kind: JobKind) -> None:
            del job_id, kind
            sent.append((world.clock.now() - began).total_seconds())

    dispatch = Dispatch(world.store, Queue(), world.clock)
    world.queued(JobKind.REEMBED)
    for _ in range(60):
        dispatch()
        world.clock.advance(seconds=1)
    assert sent == [0, 2, 6, 14, 30, 46]
