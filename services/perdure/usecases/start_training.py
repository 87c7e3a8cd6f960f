"""Ask for a training, wait a while for it, and tell how it went."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import Any

from perdure.domain.experience.learning import ItemKind, LeftOut, TrainingReport, TrainingStatus
from perdure.domain.namespace import Caller, TokenScope
from perdure.errors import FailedPrecondition, NotFound, Reason
from perdure.ports import Clock, Embedder, ExperienceStore, Ids, Job, JobKind, JobState
from perdure.usecases.permission import require
from perdure.usecases.train import RESULT, Plan, planned

POLL_FIRST_S = 0.02
POLL_MAX_S = 0.25
WAIT_MAX_S = 25.0

_GOING = {JobState.QUEUED: TrainingStatus.QUEUED, JobState.RUNNING: TrainingStatus.RUNNING}
_ENDED = {JobState.FAILED: TrainingStatus.FAILED, JobState.CANCELLED: TrainingStatus.CANCELLED}


class StartTraining:
    """Starts trainings of the caller's namespace, one at a time."""

    def __init__(self, store: ExperienceStore, clock: Clock, ids: Ids, embedder: Embedder | None = None) -> None:
        """``embedder`` says for which space a dry run looks; without one it is the space that searches use."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._embedder = embedder

    def __call__(
        self, caller: Caller, *, dry_run: bool = False, curate: bool = False, wait_s: float = 0.0
    ) -> TrainingReport:
        """The training, ended if it was within ``wait_s`` (25 at most); nothing is started where nothing is new.

        Raises:
            PermissionDenied: the caller may not see experience.
            NotFound: there is no such namespace.
            FailedPrecondition: a training with other settings is under way (TRAINING_RUNNING).
            Unavailable: nobody says yet in which space there is to learn.
        """
        require(caller, TokenScope.EXPERIENCE)
        plan = self._planned(caller, curate=curate)
        if dry_run:
            return _planned_report(TrainingStatus.DRY_RUN, plan, "")
        running = self._unfinished(caller)
        if running is None and plan.nothing_new:
            return _planned_report(TrainingStatus.NOTHING_NEW, plan, "all is learned")
        parameters = {
            "namespace": str(caller.namespace),
            "curate": "true" if curate else "false",
            "actor": caller.actor,
        }
        job = Job(
            id=self._ids.job(),
            kind=JobKind.TRAIN,
            state=JobState.QUEUED,
            created_at=self._clock.now(),
            parameters=parameters,
            subject=str(caller.namespace),
            turn=f"train {caller.namespace}",
        )
        with self._store.work() as unit:
            kept = unit.add_job(job)
        if kept.id != job.id and kept.parameters.get("curate") != parameters["curate"]:
            raise FailedPrecondition(
                "A training of this namespace is under way; wait for its end.",
                reason=Reason.TRAINING_RUNNING,
                details={"job": kept.id},
            )
        return self._wait(caller, kept.id, min(wait_s, WAIT_MAX_S))

    def report(self, caller: Caller, job_id: str) -> TrainingReport:
        """How that training stands or went.

        Raises:
            PermissionDenied: the caller may not see experience.
            NotFound: this namespace has no such training (JOB_NOT_FOUND).
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.work() as unit:
            job = unit.job(job_id)
        if job is None or job.kind is not JobKind.TRAIN or job.parameters.get("namespace") != caller.namespace:
            raise NotFound("There is no training of that id.", reason=Reason.JOB_NOT_FOUND)
        return self._report(caller, job)

    def _planned(self, caller: Caller, *, curate: bool) -> Plan:
        with self._store.experience_view(caller.scope) as reader:
            space = reader.active_space()
            if space is None and self._embedder is None:
                return planned(reader, "", curate=curate)
        space = space or (self._embedder.space().fingerprint if self._embedder else "")
        with self._store.experience_view(caller.scope) as reader:
            return planned(reader, space, curate=curate)

    def _unfinished(self, caller: Caller) -> Job | None:
        with self._store.work() as unit:
            return next(
                (
                    job
                    for job in unit.jobs(JobKind.TRAIN, 200)
                    if job.state in _GOING and job.subject == caller.namespace
                ),
                None,
            )

    def _wait(self, caller: Caller, job_id: str, wait_s: float) -> TrainingReport:
        until = time.monotonic() + wait_s
        pause_s = POLL_FIRST_S
        while True:
            report = self.report(caller, job_id)
            if report.status not in _GOING.values() or time.monotonic() >= until:
                return report
            threading.Event().wait(pause_s)
            pause_s = min(pause_s * 1.5, POLL_MAX_S)

    def _report(self, caller: Caller, job: Job) -> TrainingReport:
        if job.state is JobState.SUCCEEDED and RESULT in job.parameters:
            return self._ended(caller, job, json.loads(job.parameters[RESULT]))
        status = _GOING.get(job.state) or _ENDED.get(job.state, TrainingStatus.FAILED)
        message = job.error or job.message
        return TrainingReport(status=status, version=None, message=message, job=job.id, done=job.done, total=job.total)

    def _ended(self, caller: Caller, job: Job, result: Mapping[str, Any]) -> TrainingReport:
        status, version = TrainingStatus(result["status"]), result["version"]
        adaptation = None
        if status is TrainingStatus.TRAINED:
            with self._store.experience_view(caller.scope) as reader:
                lineage = reader.adaptations(version.rpartition("+exp")[0])
            # one that was rolled back since is gone, and another may have its number
            adaptation = next(
                (one for one in lineage if one.version == version and _within(job, one.at.timestamp())), None
            )
        return TrainingReport(
            status=status,
            version=version,
            pending=int(result["pending"]),
            learned=adaptation.learned if adaptation else (),
            left_out=tuple(
                LeftOut(
                    kind=ItemKind(one["kind"]), id=one["id"], name=one["name"], reason=one["reason"], like=one["like"]
                )
                for one in result["left_out"]
            ),
            adaptation=adaptation,
            previous=result["previous"],
            message=job.message,
            job=job.id,
            done=job.done,
            total=job.total,
        )


def _within(job: Job, at: float) -> bool:
    return job.started_at is not None and job.started_at.timestamp() <= at <= (
        job.finished_at.timestamp() if job.finished_at else float("inf")
    )


def _planned_report(status: TrainingStatus, plan: Plan, message: str) -> TrainingReport:
    return TrainingReport(
        status=status,
        version=plan.version,
        pending=len(plan.pending) + len(plan.left_out),
        left_out=plan.left_out,
        message=message,
    )
