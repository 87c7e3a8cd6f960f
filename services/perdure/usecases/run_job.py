"""Run one job under a lease.

The lease is renewed while the job runs; a worker that dies lets it lapse and another takes the job over. Progress and
outcome go to the store, so whoever asks sees them whichever worker ran it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from perdure.errors import PerdureError, Unavailable
from perdure.ports import Clock, Job, JobKind, JobState, Store, WorkUnit

LEASE_S = 12.0
RENEW_S = 3.0
ATTEMPTS_MAX = 5
BACK_OFF_S = 5.0
"""Wait before the second attempt after a part was away; grows with each attempt."""


class JobCancelled(Exception):
    """The job was asked to stop, or its lease went to another worker."""


class Report(Protocol):
    """How a runner says how far it is; raises ``JobCancelled`` when it should stop."""

    def __call__(self, done: int, total: int, message: str = "") -> None:
        """Write progress down."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A closing sentence, and what else is kept with the job: added to its parameters."""

    message: str
    result: Mapping[str, str]


LONG = frozenset({JobKind.MAINTAIN, JobKind.REEMBED, JobKind.TRAIN})
"""Kinds that may run for minutes. They never take a worker's last free process: somebody waits for the other kinds."""

_LOOKED_AT = 200
"""Newest jobs looked at when running ones are counted; more never run at once."""

Runner = Callable[[Job, Report], str | Outcome]
"""Does the work of one kind; returns a closing sentence, or that and more. Must be safe to run again from the start."""


class RunJob:
    """Runs jobs by kind, one call one job.

    Args:
        store: Where jobs are.
        clock: The time.
        owner: Name of this process in leases; begins with ``group``.
        runners: What to do, by kind.
        group: Beginning of the names of the processes of one worker.
        long_at_once: Long jobs that the group may run at the same time, >= 1; None for any number.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        owner: str,
        runners: Mapping[JobKind, Runner],
        *,
        group: str = "",
        long_at_once: int | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._owner = owner
        self._group = group
        self._long_at_once = long_at_once
        self._runners = runners

    def __call__(self, job_id: str) -> Job | None:
        """Run the job.

        Returns:
            The finished job; None where it is finished already, is another worker's, went to another meanwhile, waits
            for a long one to end, or was put back because a part it needs is away.
        """
        now = self._clock.now()
        with self._store.work() as unit:
            if self._must_wait(unit, job_id, now):
                return None
            job = unit.take_job(job_id, self._owner, now, now + timedelta(seconds=LEASE_S))
        if job is None:
            return None
        if job.attempts > ATTEMPTS_MAX:
            return self._finish(job, JobState.FAILED, error=f"gave up after {ATTEMPTS_MAX} attempts; the log has why")
        running = _Running(self._store, self._clock, job)
        with running:
            try:
                said = self._runners[job.kind](job, running.report)
            except JobCancelled:
                return None if running.lost else self._finish(running.job, JobState.CANCELLED, message="cancelled")
            except Unavailable as error:
                self._postpone(running.job, error)
                return None
            except PerdureError as error:
                return self._finish(running.job, JobState.FAILED, error=error.message)
        outcome = said if isinstance(said, Outcome) else Outcome(said, {})
        done = replace(running.job, parameters={**running.job.parameters, **outcome.result})
        return self._finish(done, JobState.SUCCEEDED, message=outcome.message)

    def _must_wait(self, unit: WorkUnit, job_id: str, now: datetime) -> bool:
        """Whether the job is a long one and this worker runs as many as it may; the dispatcher sends it again."""
        job = unit.job(job_id)
        if self._long_at_once is None or job is None or job.kind not in LONG:
            return False
        running = [
            one
            for kind in LONG
            for one in unit.jobs(kind, _LOOKED_AT)
            if one.state is JobState.RUNNING
            and one.lease_owner.startswith(self._group)
            and one.lease_until is not None
            and one.lease_until > now
        ]
        return len(running) >= self._long_at_once

    def _postpone(self, job: Job, error: Unavailable) -> None:
        """Put the job back; the lapse of its lease is when the dispatcher sends it again."""
        wait = timedelta(seconds=BACK_OFF_S * job.attempts)
        later = replace(job, state=JobState.QUEUED, error=error.message, lease_until=self._clock.now() + wait)
        with self._store.work() as unit:
            unit.save_job(later)

    def _finish(self, job: Job, state: JobState, *, message: str = "", error: str = "") -> Job | None:
        finished = replace(
            job,
            state=state,
            message=message or job.message,
            error=error,
            finished_at=self._clock.now(),
            lease_until=None,
        )
        with self._store.work() as unit:
            return finished if unit.save_job(finished) else None


class _Running:
    """Keeps the lease of a running job and carries its progress."""

    def __init__(self, store: Store, clock: Clock, job: Job) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="perdure-lease", daemon=True)
        self.job = job
        self.lost = False
        self.cancelled = False

    def __enter__(self) -> _Running:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def report(self, done: int, total: int, message: str = "") -> None:
        """Write progress down and renew the lease.

        Raises:
            JobCancelled: the job was asked to stop, or is another worker's by now.
        """
        self._save(done=done, total=total, message=message)
        if self.lost or self.cancelled:
            raise JobCancelled

    def _renew(self) -> None:
        while not self._stop.wait(RENEW_S):
            try:
                self._save()
            except PerdureError:
                continue  # a busy store: the next renewal, or the lapse of the lease, decides
            if self.lost:
                return

    def _save(self, **progress: int | str) -> None:
        with self._lock:
            lease_until = self._clock.now() + timedelta(seconds=LEASE_S)
            job = replace(self.job, lease_until=lease_until, **progress)  # type: ignore[arg-type]  # names are Job's own
            with self._store.work() as unit:
                self.lost = not unit.save_job(job)
                stored = unit.job(job.id)
            self.cancelled = stored is not None and stored.cancel_requested
            self.job = job
