"""Start a job: write it down with its outbox event; the dispatcher hands it over."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.ports import Clock, Ids, Job, JobKind, JobState, Store


class StartJob:
    """Starts jobs. One unfinished job of a kind and subject at a time."""

    def __init__(self, store: Store, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    def __call__(
        self, kind: JobKind, parameters: Mapping[str, str] | None = None, *, subject: str = "", turn: str = ""
    ) -> tuple[Job, bool]:
        """The job, and True where it was there already and unfinished."""
        job = Job(
            id=self._ids.job(),
            kind=kind,
            state=JobState.QUEUED,
            created_at=self._clock.now(),
            parameters=dict(parameters or {}),
            subject=subject,
            turn=turn,
        )
        with self._store.work() as unit:
            kept = unit.add_job(job)
        return kept, kept.id != job.id
