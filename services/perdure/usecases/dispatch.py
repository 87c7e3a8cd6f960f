"""Hand due work to the job queue: new events from the outbox, and jobs whose worker died.

An event leaves the outbox only after the queue has taken it. A broker that is away makes this late, never lossy.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from perdure.errors import Unavailable
from perdure.ports import Clock, JobQueue, OutboxEvent, Store

BATCH = 100
RESEND = timedelta(seconds=2)
"""A job that nobody took (it may wait for its turn) is sent again this long after it was sent last, and then after
twice as long each time."""
RESEND_MAX = timedelta(seconds=16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatched:
    """What was handed over: ``sent`` new events, ``resent`` jobs whose worker is gone; ``broker_away`` if it failed."""

    sent: int = 0
    resent: int = 0
    broker_away: bool = False


@dataclass(frozen=True, slots=True)
class _Sent:
    """When a job was sent last, and how long to wait before it is sent again."""

    at: datetime
    pause: timedelta


class Dispatch:
    """Moves events from the outbox to the queue. Running it twice at once is harmless."""

    def __init__(self, store: Store, queue: JobQueue, clock: Clock) -> None:
        self._store = store
        self._queue = queue
        self._clock = clock
        self._sent: dict[str, _Sent] = {}

    def __call__(self) -> Dispatched:
        """Hand over what is due now."""
        sent = resent = 0
        try:
            while events := self._events():
                for event in events:
                    self._hand_over(event)
                    sent += 1
            resent = self._resend_stalled()
        except Unavailable:
            return Dispatched(sent=sent, resent=resent, broker_away=True)
        return Dispatched(sent=sent, resent=resent)

    def _events(self) -> tuple[OutboxEvent, ...]:
        with self._store.work() as unit:
            return unit.outbox(BATCH)

    def _hand_over(self, event: OutboxEvent) -> None:
        with self._store.work() as unit:
            job = unit.job(event.job)
        if job is not None:
            self._queue.send(job.id, job.kind)
            self._sent[job.id] = _Sent(self._clock.now(), RESEND)
        with self._store.work() as unit:
            unit.handed_over([event.id])

    def _resend_stalled(self) -> int:
        now = self._clock.now()
        with self._store.work() as unit:
            stalled = unit.stalled_jobs(now)
        # what is not stalled any more needs no note
        self._sent = {job.id: self._sent[job.id] for job in stalled if job.id in self._sent}
        due = [
            job
            for job in stalled
            if job.id not in self._sent or now - self._sent[job.id].at >= self._sent[job.id].pause
        ]
        for job in due:
            self._queue.send(job.id, job.kind)
            before = self._sent.get(job.id)
            self._sent[job.id] = _Sent(now, min(2 * before.pause, RESEND_MAX) if before else RESEND)
        return len(due)
