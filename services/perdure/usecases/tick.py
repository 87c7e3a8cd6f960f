"""What beat asks every few seconds: is anything due? If so, a job is started for it.

Due times are in the store, so any number of beats, or a beat that was away for a week, start each job once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from perdure.domain.runs import PERIOD, Task, Trigger
from perdure.ports import Clock, JobKind, Store
from perdure.usecases.start_job import StartJob

EXPIRY_PERIOD = timedelta(hours=1)
PROCEDURES_PERIOD = timedelta(seconds=20)
"""Between two tries to embed a namespace's procedures; meanwhile they are found by words."""
NAMESPACES_MAX = 100
"""Namespaces whose maintenance one tick starts; the next tick takes the next."""


WATCH_PERIOD = timedelta(minutes=1)


class Tick:
    """Starts what is due; ``watches`` are called once a minute at most, and do their small work at once."""

    def __init__(
        self, store: Store, start_job: StartJob, clock: Clock, watches: Sequence[Callable[[], int]] = ()
    ) -> None:
        self._store = store
        self._start_job = start_job
        self._clock = clock
        self._watches = tuple(watches)
        self._watched_at: datetime | None = None

    def __call__(self) -> tuple[JobKind, ...]:
        """The kinds that were started now."""
        now = self._clock.now()
        with self._store.work() as unit:
            waiting = bool(unit.pending(1, now))
            last = unit.jobs(JobKind.EXPIRE_IDEMPOTENCY, 1)
        due: list[JobKind] = []
        if waiting:
            due.append(JobKind.EMBED_PENDING)
        if not last or now - last[0].created_at >= EXPIRY_PERIOD:
            due.append(JobKind.EXPIRE_IDEMPOTENCY)
        started = [kind for kind in due if not self._start_job(kind)[1]]
        self._watch(now)
        return (*started, *self._procedures(), *self._maintenance())

    def _watch(self, now: datetime) -> None:
        if self._watched_at is not None and now - self._watched_at < WATCH_PERIOD:
            return
        self._watched_at = now
        for watch in self._watches:
            watch()

    def _procedures(self) -> list[JobKind]:
        """Procedures that were compiled since and have no vector yet."""
        since = self._clock.now() - PROCEDURES_PERIOD
        with self._store.work() as unit:
            waiting = unit.unembedded_procedures(NAMESPACES_MAX)
            tried = {
                job.subject
                for job in (unit.jobs(JobKind.EMBED_PROCEDURES, NAMESPACES_MAX) if waiting else ())
                if job.created_at > since
            }
        started: list[JobKind] = []
        for namespace in waiting:
            if namespace in tried:
                continue
            _, running = self._start_job(
                JobKind.EMBED_PROCEDURES, {"namespace": str(namespace)}, subject=str(namespace)
            )
            if not running:
                started.append(JobKind.EMBED_PROCEDURES)
        return started

    def _maintenance(self) -> list[JobKind]:
        """Runs of namespaces whose day is over, or that were saved to enough while their last run went."""
        with self._store.work() as unit:
            due = unit.due_namespaces(self._clock.now() - PERIOD, NAMESPACES_MAX)
        started: list[JobKind] = []
        for namespace, by_saves in due:
            parameters = {
                "namespace": str(namespace),
                "tasks": f"{Task.CONSOLIDATE},{Task.CLEAN}",
                "trigger": str(Trigger.SAVES if by_saves else Trigger.DAY),
            }
            _, running = self._start_job(JobKind.MAINTAIN, parameters, subject=namespace, turn=f"maintain {namespace}")
            if not running:
                started.append(JobKind.MAINTAIN)
        return started
