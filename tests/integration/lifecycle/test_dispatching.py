"""Handing runs to workers: late when the broker is away, never lost, not sent over and over."""

from __future__ import annotations

from perdure.domain.runs import Task
from perdure.errors import Reason, Unavailable
from perdure.ports import JobKind
from perdure.usecases.dispatch import RESEND, Dispatch
from support.maintenance_world import MaintenanceWorld


class Queue:
    """Takes jobs, unless ``away``."""

    def __init__(self) -> None:
        self.away = False
        self.sent: list[str] = []

    def send(self, job_id: str, kind: JobKind) -> None:
        if self.away:
            raise Unavailable("The broker is away.", reason=Reason.BROKER_AWAY)
        assert kind is JobKind.MAINTAIN
        self.sent.append(job_id)


def test_a_broker_that_is_away_delays_a_run_and_loses_none(world: MaintenanceWorld) -> None:
    queue = Queue()
    dispatch = Dispatch(world.store, queue, world.clock)
    queue.away = True
    run = world.start(world.me, (Task.CLEAN,))
    assert dispatch().broker_away
    queue.away = False
    assert dispatch().sent == 1
    assert queue.sent == [run.id]


def test_a_run_that_waits_for_its_turn_is_sent_again_only_after_a_while(world: MaintenanceWorld) -> None:
    queue = Queue()
    dispatch = Dispatch(world.store, queue, world.clock)
    run = world.start(world.me, (Task.CLEAN,))
    for _ in range(5):
        dispatch()
    assert queue.sent == [run.id]
    world.clock.advance(seconds=RESEND.total_seconds())
    dispatch()
    assert queue.sent == [run.id] * 2
    world.work()
    world.clock.advance(seconds=60)
    dispatch()
    assert queue.sent == [run.id] * 2
