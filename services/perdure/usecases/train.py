"""Train a namespace's private model: the runner of ``JobKind.TRAIN``.

The model in use serves until the new one is written in one transaction, and stays where the new one is worse. A worker
that dies loses only its work: whoever takes the job over begins anew, and finds the procedures' vectors made.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from perdure.domain.adapter.schooling import Verdict, school
from perdure.domain.adapter.training import Recipe
from perdure.domain.experience.curriculum import chosen, curated
from perdure.domain.experience.learning import (
    Adaptation,
    Adapter,
    LeftOut,
    Procedure,
    TrainingStatus,
)
from perdure.domain.namespace import Actor, NamespaceName, Scope
from perdure.errors import Conflict, NotFound, Reason, Unavailable
from perdure.ports import Clock, ExperienceReader, ExperienceStore, Job, JobKind, TrainingEmbedder
from perdure.usecases.embed_procedures import EmbedProcedures, without_vectors
from perdure.usecases.gather_lessons import USED_MAX, Known, known, material
from perdure.usecases.run_job import Outcome, Report

USED_MIN = 20
"""Used questions since the last training from which on there is something new without any new procedure."""

REPORT_PERIOD_S = 0.5
RESULT = "result"
"""The parameter of a finished job that says what came of it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a training would do.

    Attributes:
        taught: Procedures it learns from, those to be learned first.
        pending: Those that no version learned yet and that were not left out.
        left_out: What curation left out.
        used: Used questions since the last training.
        number: Of the model in use; 0 where there is none.
        version: Of the model in use.
    """

    taught: tuple[Procedure, ...]
    pending: tuple[Procedure, ...]
    left_out: tuple[LeftOut, ...]
    used: int
    number: int
    version: str | None

    @property
    def nothing_new(self) -> bool:
        """True where there is nothing that the model in use did not learn."""
        return not self.pending and self.used < USED_MIN


class Train:
    """Trains, compares, and keeps the better model."""

    def __init__(
        self,
        store: ExperienceStore,
        embedder: TrainingEmbedder,
        clock: Clock,
        *,
        recipe: Recipe | None = None,
        quietly: Callable[[Callable[[], str]], str] = lambda work: work(),
    ) -> None:
        """``quietly`` does the work for it, at a low priority where the system has such."""
        self._store = store
        self._embedder = embedder
        self._clock = clock
        self._recipe = recipe or Recipe()
        self._quietly = quietly
        self._embed = EmbedProcedures(store, embedder)

    def __call__(self, job: Job, report: Report) -> Outcome:
        """Train the job's namespace.

        Raises:
            Unavailable: the embedder is away or the vectors are moving to another space; the job waits.
            Conflict: another training was kept meanwhile.
        """
        results: list[Outcome] = []

        def work() -> str:
            results.append(self._run(job, _Progress(report)))
            return ""

        self._quietly(work)
        return results[0]

    def _run(self, job: Job, progress: _Progress) -> Outcome:
        scope = Scope(NamespaceName(job.parameters["namespace"]))
        space = self._embedder.space()
        name = space.fingerprint
        try:
            with self._store.experience_view(scope) as reader:
                active = reader.active_space()
                plan = planned(reader, name, curate=job.parameters.get("curate") == "true")
                waiting = without_vectors(reader, plan.taught, name)
        except NotFound:
            return _said(TrainingStatus.NOTHING_NEW, None, "the namespace is gone")
        if active is not None and active != name:
            raise Unavailable("The vectors are moving to another model's space.", reason=Reason.EMBEDDER_AWAY)
        if plan.nothing_new:
            return _said(TrainingStatus.NOTHING_NEW, plan, "all is learned")
        # an estimate until the questions are counted
        progress.expects(len(waiting) + 2 * len(plan.taught))
        for count in self._embed.embed(scope, name, waiting):
            progress.did(count, "vectors of procedures")
        with self._store.experience_view(scope) as reader:
            found = known(reader, plan.taught, name)
        verdict = self._school(scope, name, space.dimension, found, plan, progress)
        if verdict is None:
            return _said(TrainingStatus.NO_WINDOW, plan, "there is no text to learn from yet")
        if not verdict.kept:
            return _said(TrainingStatus.KEPT_OLD, plan, f"the model in use stays: {_compared(verdict)}")
        adaptation = self._keep(job, scope, name, plan, verdict)
        return _said(
            TrainingStatus.TRAINED,
            plan,
            f"{adaptation.version} learned {_counted(len(adaptation.learned), 'procedure')} and "
            f"{_counted(plan.used, 'used question')}: "
            f"{_compared(verdict)}",
            version=adaptation.version,
        )

    def _school(
        self, scope: Scope, space: str, dimension: int, found: Known, plan: Plan, progress: _Progress
    ) -> Verdict | None:
        before = progress.done
        progress.expects(before + found.questions + self._recipe.passes)
        lessons = material(
            found,
            space,
            dimension,
            self._embedder,
            lambda done: progress.reached(before + done, "vectors of questions"),
        )
        with self._store.experience_view(scope) as reader:
            in_use = reader.adapter(space)
        if (in_use.number if in_use else 0) != plan.number:
            raise Conflict("The model was changed meanwhile; train again.", reason=Reason.REVISION_MOVED)
        asked = before + found.questions
        return school(
            lessons,
            self._recipe,
            (in_use.down, in_use.up) if in_use else None,
            heard=lambda done, _: progress.reached(asked + done, "passes"),
        )

    def _keep(self, job: Job, scope: Scope, space: str, plan: Plan, verdict: Verdict) -> Adaptation:
        number = plan.number + 1
        version = version_of(space, number)
        adapter = Adapter(version=version, number=number, space=space, down=verdict.fitted.down, up=verdict.fitted.up)
        adaptation = Adaptation(
            number=number,
            version=version,
            at=self._clock.now(),
            learned=tuple(one.id for one in plan.pending),
            passes=verdict.fitted.passes,
            loss=verdict.fitted.loss,
            pairs=verdict.pairs,
            recall_before=verdict.before,
            recall_after=verdict.after,
            replay_before=verdict.replay_before,
            replay_after=verdict.replay_after,
        )
        actor = Actor(name=job.parameters.get("actor", JobKind.TRAIN.value), kind="job")
        with self._store.experience(scope, actor) as unit:
            unit.learn(adapter, adaptation, [(one.kind, one.id, one.sha256) for one in plan.pending])
        return adaptation


def planned(reader: ExperienceReader, space: str, *, curate: bool) -> Plan:
    """What a training of the reader's namespace would learn now."""
    procedures = reader.procedures(space)
    left_out = curated(procedures, reader.tally(None)) if curate else ()
    taught = chosen(procedures, left_out)
    number = reader.adapter_number(space)
    last = next((one.at for one in reversed(reader.adaptations(space)) if one.number == number), None)
    used = reader.used_queries(space, USED_MAX)
    return Plan(
        taught=taught,
        pending=tuple(one for one in taught if one.learned_in is None),
        left_out=left_out,
        used=sum(last is None or one.at > last for one in used),
        number=number,
        version=version_of(space, number) if number else None,
    )


def version_of(space: str, number: int) -> str:
    """The version of a space's model of that number."""
    return f"{space}+exp{number}"


class _Progress:
    """Passes progress on twice a second at most: each report is a transaction, which savers would wait for."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._last = float("-inf")
        self._total = 0
        self.done = 0

    def expects(self, total: int) -> None:
        self._total = total

    def did(self, count: int, what: str) -> None:
        self.reached(self.done + count, what)

    def reached(self, done: int, what: str) -> None:
        self.done = done
        if time.monotonic() - self._last >= REPORT_PERIOD_S:
            self._last = time.monotonic()
            self._report(done, max(done, self._total), what)


def _said(status: TrainingStatus, plan: Plan | None, message: str, *, version: str | None = None) -> Outcome:
    """The outcome, with all that a report of it needs later."""
    left_out: Sequence[Mapping[str, str | None]] = [
        {"kind": one.kind.value, "id": one.id, "name": one.name, "reason": one.reason, "like": one.like}
        for one in (plan.left_out if plan else ())
    ]
    pending = 0 if plan is None or status is TrainingStatus.TRAINED else len(plan.pending)
    result = {
        "status": status.value,
        "version": version or (plan.version if plan else None),
        "previous": plan.version if plan else None,
        "pending": pending + len(left_out),
        "left_out": left_out,
    }
    return Outcome(message, {RESULT: json.dumps(result, ensure_ascii=False)})


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _compared(verdict: Verdict) -> str:
    parts = [
        f"recall@5 {before:.3f} to {after:.3f} {what}"
        for before, after, what in (
            (verdict.before, verdict.after, "on what was held out"),
            (verdict.replay_before, verdict.replay_after, "on its own memories"),
        )
        if before is not None and after is not None
    ]
    return ", ".join(parts) or "nothing was held out yet"
