"""Ask for a run of maintenance, and wait a while for it."""

from __future__ import annotations

import threading
import time

from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.runs import Run, Task, Trigger
from perdure.errors import Internal
from perdure.ports import Clock, Ids, Job, JobKind, JobState, LifecycleStore
from perdure.usecases.permission import require

POLL_FIRST_S = 0.02
POLL_MAX_S = 0.25
WAIT_MAX_S = 25.0


class StartRun:
    """Starts runs of the caller's namespace."""

    def __init__(self, store: LifecycleStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    def __call__(
        self,
        caller: Caller,
        tasks: tuple[Task, ...],
        *,
        project: str | None = None,
        dry_run: bool = False,
        wait_s: float = 0.0,
    ) -> Run:
        """The run, finished if it was within ``wait_s`` (25 at most).

        Raises:
            PermissionDenied: the caller may not write.
            NotFound: there is no such namespace.
        """
        require(caller, TokenScope.WRITE)
        with self._store.survey(caller.scope):
            pass  # there is such a namespace
        job_id = self._ids.job()
        parameters = {
            "namespace": str(caller.namespace),
            "tasks": ",".join(tasks),
            "trigger": str(Trigger.REQUEST),
            "actor": caller.actor,
            "dry_run": "true" if dry_run else "false",
        }
        if project is not None:
            parameters["project"] = project
        job = Job(
            id=job_id,
            kind=JobKind.MAINTAIN,
            state=JobState.QUEUED,
            created_at=self._clock.now(),
            parameters=parameters,
            subject=f"{caller.namespace} {job_id}",
            turn=f"maintain {caller.namespace}",
        )
        with self._store.work() as unit:
            unit.add_job(job)
        return self._wait(caller, job_id, min(wait_s, WAIT_MAX_S))

    def _wait(self, caller: Caller, run_id: str, wait_s: float) -> Run:
        until = time.monotonic() + wait_s
        pause_s = POLL_FIRST_S
        while True:
            with self._store.survey(caller.scope) as reader:
                run = reader.run(run_id)
            if run is None:
                raise Internal("A run vanished that was just written down.")
            if run.finished or time.monotonic() >= until:
                return run
            threading.Event().wait(pause_s)
            pause_s = min(pause_s * 1.5, POLL_MAX_S)
