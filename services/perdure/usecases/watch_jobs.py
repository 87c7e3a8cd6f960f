"""Jobs as their owner sees them: list, look at, cancel."""

from __future__ import annotations

from perdure.errors import FailedPrecondition, NotFound, Reason
from perdure.ports import Job, JobKind, JobState, Store

FINISHED = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED})


class WatchJobs:
    """Reads jobs and asks them to stop."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def list(self, kind: JobKind | None, limit: int) -> tuple[Job, ...]:
        """Jobs, newest first."""
        with self._store.work() as unit:
            return unit.jobs(kind, limit)

    def get(self, job_id: str) -> Job:
        """The job with its progress.

        Raises:
            NotFound: there is no job of that id (JOB_NOT_FOUND).
        """
        with self._store.work() as unit:
            return _found(unit.job(job_id))

    def cancel(self, job_id: str) -> Job:
        """Ask the job to stop at its next safe point; a queued one is cancelled at once.

        Raises:
            NotFound: there is no job of that id (JOB_NOT_FOUND).
            FailedPrecondition: it is finished already (JOB_FINISHED).
        """
        with self._store.work() as unit:
            job = _found(unit.job(job_id))
            if job.state in FINISHED:
                raise FailedPrecondition(
                    f"The job is over ({job.state}); there is nothing to cancel.", reason=Reason.JOB_FINISHED
                )
            return _found(unit.request_cancel(job_id))


def _found(job: Job | None) -> Job:
    if job is None:
        raise NotFound(
            "There is no job of that id; 'perdure jobs list' shows those there are.", reason=Reason.JOB_NOT_FOUND
        )
    return job
