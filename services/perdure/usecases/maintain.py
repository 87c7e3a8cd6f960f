"""Run maintenance of one namespace: the runner of ``JobKind.MAINTAIN``.

A run that dies is taken over and goes on: what was done is done, and what is looked at anew is only what is left.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping

from perdure.domain.memory import Filter
from perdure.domain.namespace import Actor, NamespaceName, Scope
from perdure.domain.runs import Task, Trigger
from perdure.domain.vectors import Thresholds
from perdure.errors import NotFound, Reason, Unavailable
from perdure.ports import Clock, Embedder, Job, JobKind, LifecycleStore
from perdure.usecases.clean import Clean
from perdure.usecases.consolidate import Consolidate
from perdure.usecases.run_job import Report

REPORT_PERIOD_S = 0.5

ATTEMPTS_WAITING = 4
"""Tries on which a run still waits for vectors (5, 10 and 15 s apart); then it goes without those that have none."""

COUNTS = {
    Task.CONSOLIDATE: ("clusters_found", "memories_consolidated", "new_memories_created"),
    Task.CLEAN: ("archived_decayed", "archived_expired", "archived_deduped"),
}
"""What each task counts; there from the start, so that nothing done reads 0 and not nothing."""


class Maintain:
    """Consolidates and cleans as the job's parameters say."""

    def __init__(
        self,
        store: LifecycleStore,
        clock: Clock,
        embedder: Embedder,
        consolidate: Consolidate,
        clean: Clean,
        *,
        quietly: Callable[[Callable[[], str]], str] = lambda work: work(),
    ) -> None:
        """``quietly`` does the work for it, at a low priority where the system has such."""
        self._store = store
        self._clock = clock
        self._embedder = embedder
        self._consolidate = consolidate
        self._clean = clean
        self._quietly = quietly

    def __call__(self, job: Job, report: Report) -> str:
        """Do what is asked; a sentence with what was done.

        Raises:
            Unavailable: the embedder does not say which space it answers in; the run waits for it.
        """
        return self._quietly(lambda: self._run(job, _Seldom(report)))

    def _run(self, job: Job, report: Report) -> str:
        asked = _Asked(job)
        try:
            self._await_vectors(job, asked.scope)
            space, thresholds = self._space(asked.scope)
            with self._store.maintain(asked.scope, asked.actor) as unit:
                unit.begin_run(job.id, self._clock.now(), answers_saves=asked.answers_saves)
                unit.count_run(job.id, {name: 0 for task in asked.tasks for name in COUNTS[task]})
        except NotFound:
            return "the namespace is gone"
        began = time.monotonic()
        counts: Counter[str] = Counter()
        lines: list[str] = []
        cleaned: int | None = None
        if Task.CONSOLIDATE in asked.tasks and space is not None and thresholds is not None:
            done, plan = self._consolidate(
                asked.scope,
                asked.actor,
                job.id,
                space,
                thresholds,
                report,
                project=asked.project,
                dry_run=asked.dry_run,
            )
            counts.update(done)
            lines.extend(plan)
        if Task.CLEAN in asked.tasks:
            done, plan, cleaned = self._clean(
                asked.scope,
                asked.actor,
                job.id,
                space,
                thresholds,
                report,
                project=asked.project,
                dry_run=asked.dry_run,
            )
            counts.update(done)
            lines.extend(plan)
        duration_ms = round((time.monotonic() - began) * 1000)
        with self._store.maintain(asked.scope, asked.actor) as unit:
            if asked.dry_run:
                unit.count_run(job.id, counts)
            unit.end_run(job.id, self._clock.now(), duration_ms=duration_ms, cleaned=cleaned, plan=lines)
        return _said(counts, asked.dry_run)

    def _await_vectors(self, job: Job, scope: Scope) -> None:
        """Put the run back while memories wait for their vectors, a few times: an import's are made after it.

        The worker is free meanwhile, and it may be the one that makes them.
        """
        if job.attempts >= ATTEMPTS_WAITING:
            return
        with self._store.survey(scope) as reader:
            waiting = reader.unembedded(Filter())
        if waiting:
            raise Unavailable(f"{waiting} memories wait for their vectors first.", reason=Reason.EMBEDDER_AWAY)

    def _space(self, scope: Scope) -> tuple[str | None, Thresholds | None]:
        """The space searches use and its thresholds; None for both where there are no vectors to compare.

        A store whose vectors are of another space than the embedder's (a switch is under way) is not compared: the
        thresholds would mean nothing there.
        """
        with self._store.survey(scope) as reader:
            active = reader.active_space()
        if active is None:
            return None, None
        space = self._embedder.space()
        return (active, space.thresholds) if space.fingerprint == active else (None, None)


class _Seldom:
    """Passes a report on twice a second at most: each is a transaction, which savers would wait for."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._last = float("-inf")

    def __call__(self, done: int, total: int, message: str = "") -> None:
        if time.monotonic() - self._last >= REPORT_PERIOD_S:
            self._last = time.monotonic()
            self._report(done, total, message)


class _Asked:
    """A job's parameters, parsed."""

    def __init__(self, job: Job) -> None:
        given: Mapping[str, str] = job.parameters
        self.scope = Scope(NamespaceName(given["namespace"]))
        self.tasks = tuple(Task(name) for name in given["tasks"].split(","))
        self.project = given.get("project")
        self.dry_run = given.get("dry_run") == "true"
        trigger = Trigger(given.get("trigger", Trigger.REQUEST))
        self.answers_saves = trigger is not Trigger.REQUEST
        self.actor = Actor(name=given.get("actor", JobKind.MAINTAIN.value), kind="job")


def _said(counts: Counter[str], dry_run: bool) -> str:
    did = {
        "memories_consolidated": "consolidated into {new_memories_created}",
        "archived_decayed": "archived by age",
        "archived_expired": "archived at their end",
        "archived_deduped": "superseded by their like",
    }
    parts = [f"{counts[name]} {words.format_map(counts)}" for name, words in did.items() if counts[name]]
    return ("would be: " if dry_run and parts else "") + (", ".join(parts) or "nothing to do")
