"""The services behind the gateway, in memory: enough of their behaviour to test everything in front of them.

Search finds memories that share a word with the query. Nothing here resolves near twins.
"""

from __future__ import annotations

import dataclasses
import itertools
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from perdure.domain.lifecycle import Compacted, Foreseen, SkippedMemory
from perdure.domain.memory import Filter, Memory, MemoryId, Provenance, Revision, Statement, Status, Tier
from perdure.domain.memory_md import block
from perdure.domain.namespace import Caller, NamespaceName
from perdure.domain.recall.answer import Answer, Arm, Briefing, DenseSkip, Hit, Question, ScoreParts
from perdure.domain.runs import Act, Run, RunItem, Task, Trigger, UndoReport
from perdure.domain.saving import Checkpoint, Draft, Edit, Failure, ImportReport, Outcome, SaveResult
from perdure.errors import (
    Conflict,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PerdureError,
    Reason,
    Unauthenticated,
    Unavailable,
)
from perdure.gateway.backends import Backends, Stored
from perdure.gateway.backends_experience import Experience
from perdure.ports import Job, JobKind, JobState, Stats
from support.fake_experience import FakeExperience

START = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)


class FakeMemories:
    """Memories by namespace. ``fails`` is raised by every method while it is set."""

    def __init__(self) -> None:
        self.rows: dict[tuple[NamespaceName, MemoryId], Memory] = {}
        self.pasts: dict[tuple[NamespaceName, MemoryId], list[Revision]] = {}
        self.replays: dict[tuple[NamespaceName, str], SaveResult] = {}
        self.callers: list[Caller] = []
        self.questions: list[Question] = []
        self.fails: PerdureError | Exception | None = None
        self.dense = True
        self.skipped = DenseSkip.EMBEDDER_AWAY
        self._numbers = itertools.count(1)

    def _enter(self, caller: Caller) -> None:
        self.callers.append(caller)
        if self.fails is not None:
            raise self.fails

    def _new(self, caller: Caller, draft: Draft) -> Memory:
        number = next(self._numbers)
        at = START + timedelta(minutes=number)
        memory = Memory(
            id=MemoryId(str(uuid.UUID(int=(0x0190 << 112) | (7 << 76) | (2 << 62) | number))),
            namespace=caller.namespace,
            statement=draft.statement,
            summary=draft.statement.content.split("\n")[0][:80],
            provenance=draft.provenance,
            confidence=0.5 if draft.confidence is None else draft.confidence,
            tier=Tier.CORE if draft.provenance is Provenance.HUMAN else Tier.REGULAR,
            importance=0.5 if draft.importance is None else draft.importance,
            status=Status.ACTIVE,
            created_at=at,
            updated_at=at,
            last_accessed_at=at,
            expires_at=draft.expires_at,
            origin=draft.origin,
            space="test-000000000000",
        )
        self.rows[caller.namespace, memory.id] = memory
        return memory

    def _find(self, caller: Caller, memory: MemoryId) -> Memory:
        found = self.rows.get((caller.namespace, memory))
        if found is None:
            raise NotFound("There is no memory of this id.", reason=Reason.MEMORY_NOT_FOUND)
        return found

    def _change(self, caller: Caller, memory: MemoryId, expected: int | None, why: str, **changes: object) -> Memory:
        before = self._find(caller, memory)
        if expected is not None and expected != before.revision:
            raise Conflict("The memory was changed meanwhile.", reason=Reason.REVISION_MOVED)
        after = dataclasses.replace(before, revision=before.revision + 1, **changes)  # type: ignore[arg-type]
        self.rows[caller.namespace, memory] = after
        past = self.pasts.setdefault((caller.namespace, memory), [])
        past.insert(
            0,
            Revision(memory=memory, revision=before.revision, at=START, actor=caller.actor, why=why, before=before),
        )
        return after

    async def save(self, caller: Caller, draft: Draft, *, idempotency_key: str | None = None) -> SaveResult:
        self._enter(caller)
        if draft.statement.content == "unusable":
            raise InvalidArgument("No.", reason=Reason.TEXT_UNUSABLE, details={"field": "content"})
        if idempotency_key and (replay := self.replays.get((caller.namespace, idempotency_key))):
            return dataclasses.replace(replay, replayed=True)
        for (namespace, _), row in self.rows.items():
            if namespace == caller.namespace and row.statement == draft.statement:
                return _result(row, Outcome.UNCHANGED)
        result = _result(self._new(caller, draft), Outcome.CREATED)
        if idempotency_key:
            self.replays[caller.namespace, idempotency_key] = result
        return result

    async def save_many(
        self, caller: Caller, drafts: Sequence[Draft], *, idempotency_key: str | None = None
    ) -> tuple[SaveResult | Failure, ...]:
        out: list[SaveResult | Failure] = []
        for draft in drafts:
            try:
                out.append(await self.save(caller, draft))
            except InvalidArgument as fault:
                out.append(Failure(code=fault.code.value, reason=fault.reason.value, message=fault.message))
        return tuple(out)

    async def checkpoint(
        self, caller: Caller, checkpoint: Checkpoint, *, idempotency_key: str | None = None
    ) -> SaveResult:
        statement = Statement(
            content=checkpoint.task_summary,
            problem=checkpoint.problem,
            solution=checkpoint.solution,
            project=checkpoint.project,
            concepts=checkpoint.concepts,
            files=checkpoint.files,
            tags=("checkpoint", "task-completion", *checkpoint.tags),
        )
        draft = Draft(statement=statement, provenance=Provenance.CHECKPOINT, origin=checkpoint.origin)
        return await self.save(caller, draft, idempotency_key=idempotency_key)

    async def get(self, caller: Caller, memory: MemoryId, *, peek: bool = False) -> Memory:
        self._enter(caller)
        return self._find(caller, memory)

    async def update(self, caller: Caller, memory: MemoryId, edit: Edit) -> tuple[Memory, bool, tuple[str, ...]]:
        self._enter(caller)
        before = self._find(caller, memory)
        names = ("content", "type", "project", "key", "problem", "solution", "concepts", "files", "tags")
        changes = {name: value for name in names if (value := getattr(edit, name)) is not None}
        changes |= dict.fromkeys(edit.clear - {"expires_at"})
        statement = dataclasses.replace(before.statement, **changes)
        expires = None if "expires_at" in edit.clear else (edit.expires_at or before.expires_at)
        after = self._change(caller, memory, edit.expected_revision, "updated", statement=statement, expires_at=expires)
        return after, True, ()

    async def archive(self, caller: Caller, memory: MemoryId, *, expected_revision: int | None = None) -> Memory:
        self._enter(caller)
        return self._change(caller, memory, expected_revision, "archived", status=Status.ARCHIVED)

    async def restore(self, caller: Caller, memory: MemoryId, *, expected_revision: int | None = None) -> Memory:
        self._enter(caller)
        if self._find(caller, memory).status is Status.ACTIVE:
            raise FailedPrecondition("This memory is not archived.", reason=Reason.NOT_ARCHIVED)
        return self._change(caller, memory, expected_revision, "restored", status=Status.ACTIVE)

    async def purge(self, caller: Caller, memory: MemoryId, *, expected_revision: int | None = None) -> None:
        self._enter(caller)
        self._find(caller, memory)
        del self.rows[caller.namespace, memory]
        self.pasts.pop((caller.namespace, memory), None)

    def _passing(self, caller: Caller, filter_: Filter) -> list[Memory]:
        rows = [row for (namespace, _), row in self.rows.items() if namespace == caller.namespace]
        return sorted(
            (
                row
                for row in rows
                if row.status in filter_.statuses
                and (not filter_.projects or row.statement.project in filter_.projects)
                and (not filter_.types or row.statement.type in filter_.types)
                and set(filter_.tags) <= set(row.statement.tags)
            ),
            key=lambda row: row.created_at,
            reverse=True,
        )

    async def list(self, caller: Caller, filter_: Filter, *, limit: int, cursor: str) -> tuple[tuple[Memory, ...], str]:
        self._enter(caller)
        if cursor and not cursor.isdigit():
            raise InvalidArgument("This cursor is not one of ours.", reason=Reason.CURSOR_INVALID)
        start = int(cursor or 0)
        rows = self._passing(caller, filter_)
        more = str(start + limit) if len(rows) > start + limit else ""
        return tuple(rows[start : start + limit]), more

    async def search(self, caller: Caller, question: Question) -> Answer:
        self._enter(caller)
        self.questions.append(question)
        words = set(question.query.lower().split())
        hits = [
            _hit(row, question)
            for row in self._passing(caller, question.filter)
            if words & set(row.statement.content.lower().replace(".", " ").split())
        ][: question.limit]
        return Answer(
            stage=question.depth,
            recognition=tuple(hits),
            recall=tuple(hits) if question.depth > 1 else (),
            dense_ran=self.dense,
            lexical_ran=True,
            dense_skipped=DenseSkip.NONE if self.dense else self.skipped,
            timings_ms={"total": 1.25},
        )

    async def sync(self, caller: Caller, *, project: str | None = None, recent: int = 10) -> Briefing:
        self._enter(caller)
        rows = self._passing(caller, Filter(projects=(project,) if project else ()))
        projects: dict[str, int] = {}
        for row in self._passing(caller, Filter()):
            projects[row.statement.project] = projects.get(row.statement.project, 0) + 1
        return Briefing(
            active=sum(projects.values()),
            projects=projects,
            recent=tuple(rows[:recent]),
            embedder="ready" if self.dense else "failing",
            unembedded=0,
        )

    async def stats(self, caller: Caller) -> tuple[Stats, str, int]:
        self._enter(caller)
        rows = self._passing(caller, Filter(statuses=tuple(Status)))
        by_type: dict[str, int] = {}
        by_project: dict[str, int] = {}
        for row in rows:
            if row.status is Status.ACTIVE:
                by_type[row.statement.type.value] = by_type.get(row.statement.type.value, 0) + 1
                by_project[row.statement.project] = by_project.get(row.statement.project, 0) + 1
        count = {status: sum(row.status is status for row in rows) for status in Status}
        stats = Stats(
            active=count[Status.ACTIVE],
            archived=count[Status.ARCHIVED],
            superseded=count[Status.SUPERSEDED],
            consolidated=count[Status.CONSOLIDATED],
            by_type=by_type,
            by_project=by_project,
            unembedded=0,
        )
        return stats, "test-000000000000", 4096

    async def history(self, caller: Caller, memory: MemoryId) -> Stored:
        self._enter(caller)
        return self._find(caller, memory), tuple(self.pasts.get((caller.namespace, memory), ()))

    async def export(
        self, caller: Caller, filter_: Filter, *, every_status: bool = False, without_history: bool = False
    ) -> AsyncIterator[Stored]:
        self._enter(caller)
        if every_status:
            filter_ = dataclasses.replace(filter_, statuses=tuple(Status))
        for row in self._passing(caller, filter_):
            past = () if without_history else tuple(self.pasts.get((caller.namespace, row.id), ()))
            yield row, past

    async def import_(self, caller: Caller, items: AsyncIterator[Stored], *, dry_run: bool) -> ImportReport:
        self._enter(caller)
        read = created = unchanged = 0
        async for memory, revisions in items:
            assert memory.namespace == caller.namespace
            read += 1
            if (caller.namespace, memory.id) in self.rows:
                unchanged += 1
                continue
            created += 1
            if not dry_run:
                self.rows[caller.namespace, memory.id] = memory
                self.pasts[caller.namespace, memory.id] = list(revisions)
        return ImportReport(read=read, created=created, unchanged=unchanged, dry_run=dry_run)


def _result(memory: Memory, outcome: Outcome) -> SaveResult:
    return SaveResult(
        outcome=outcome,
        id=memory.id,
        project=memory.statement.project,
        summary=memory.summary,
        revision=memory.revision,
        embedded=True,
    )


def _hit(memory: Memory, question: Question) -> Hit:
    parts = ScoreParts(
        similarity=0.8,
        bm25=2.0,
        lexical_rank=1,
        relevance=0.9,
        decay_weight=1.0,
        frequency_boost=1.0,
        confidence_boost=0.75,
        importance_boost=1.0,
    )
    widened = question.project is not None and memory.statement.project != question.project
    return Hit(memory=memory, score=parts.score, arm=Arm.BOTH, parts=parts, widened=widened)


class FakeAccess:
    """Tokens by their secret; counts the questions."""

    def __init__(self) -> None:
        self.tokens: dict[str, Caller] = {}
        self.asked = 0
        self.fails: PerdureError | None = None

    def add(self, secret: str, namespace: str, *scopes: str) -> str:
        actor = f"token-{len(self.tokens) + 1}"
        self.tokens[secret] = Caller(
            namespace=NamespaceName(namespace), actor=actor, scopes=frozenset(scopes or ("read", "write"))
        )
        return secret

    async def authenticate(self, secret: str) -> Caller:
        self.asked += 1
        if self.fails is not None:
            raise self.fails
        caller = self.tokens.get(secret)
        if caller is None:
            raise Unauthenticated("Unknown token.", reason=Reason.TOKEN_INVALID)
        return caller


class FakeJobs:
    """Jobs that stay queued."""

    def __init__(self) -> None:
        self.jobs: dict[str, Job] = {}

    async def start(
        self, caller: Caller, kind: JobKind, parameters: Mapping[str, str] | None = None
    ) -> tuple[Job, bool]:
        for job in self.jobs.values():
            if job.kind is kind:
                return job, True
        job = Job(
            id=f"job-{len(self.jobs) + 1}", kind=kind, state=JobState.QUEUED, created_at=START,
            parameters=dict(parameters or {}),
        )  # fmt: skip
        self.jobs[job.id] = job
        return job, False

    async def list(self, caller: Caller, kind: JobKind | None = None, *, limit: int = 50) -> tuple[Job, ...]:
        return tuple(job for job in self.jobs.values() if kind in (None, job.kind))[:limit]

    async def get(self, caller: Caller, job_id: str) -> Job:
        if job_id not in self.jobs:
            raise NotFound("There is no job of this id.", reason=Reason.JOB_NOT_FOUND)
        return self.jobs[job_id]

    async def cancel(self, caller: Caller, job_id: str) -> Job:
        job = dataclasses.replace(await self.get(caller, job_id), state=JobState.CANCELLED, cancel_requested=True)
        self.jobs[job_id] = job
        return job


class FakeLifecycle:
    """Runs that are over at once, unless ``slow``; nothing else changes anything."""

    def __init__(self) -> None:
        self.slow = False
        self.kept: list[tuple[Caller, Run]] = []
        self.asked: list[tuple[str, object]] = []

    async def start(
        self, caller: Caller, task: Task, *, project: str | None = None, dry_run: bool = False, wait_s: float = 0.0
    ) -> Run:
        self.asked.append(("start", (task, project, dry_run, wait_s)))
        run = Run(
            id=f"run-{len(self.kept) + 1}",
            namespace=caller.namespace,
            tasks=(task,),
            trigger=Trigger.REQUEST,
            actor=caller.actor,
            state="running" if self.slow else "succeeded",
            created_at=START,
            project=project,
            dry_run=dry_run,
            counts={"memories_consolidated": 3, "archived_decayed": 2, "duration_ms": 7},
        )
        self.kept.append((caller, run))
        return run

    async def runs(self, caller: Caller, *, limit: int = 50) -> tuple[Run, ...]:
        return tuple(run for who, run in reversed(self.kept) if who.namespace == caller.namespace)[:limit]

    async def run(self, caller: Caller, run_id: str) -> tuple[Run, tuple[RunItem, ...]]:
        for run in await self.runs(caller):
            if run.id == run_id:
                return run, (RunItem(memory=MemoryId("m"), act=Act.DECAYED, summary="Old."),)
        raise NotFound("There is no such run.", reason=Reason.JOB_NOT_FOUND)

    async def undo(self, caller: Caller, run_id: str) -> tuple[Run, UndoReport]:
        run, _ = await self.run(caller, run_id)
        return dataclasses.replace(run, undone_at=START, undone_by=caller.actor), UndoReport(restored=2)

    async def foresee(self, caller: Caller, memory: MemoryId) -> Foreseen:
        raise NotFound("There is no such memory.", reason=Reason.MEMORY_NOT_FOUND)

    async def compact(
        self, caller: Caller, names: Sequence[str], *, stub: str | None = None, chars: int = 0, dry_run: bool = False
    ) -> Compacted:
        self.asked.append(("compact", (tuple(names), stub, chars, dry_run)))
        return Compacted(compacted=(), skipped=tuple(SkippedMemory(name=name, reason="not_found") for name in names))

    async def restore_content(
        self, caller: Caller, texts: Sequence[tuple[str, str]], unstub: Sequence[str] = ()
    ) -> tuple[tuple[MemoryId, ...], tuple[str, ...]]:
        self.asked.append(("restore_content", (tuple(texts), tuple(unstub))))
        return (), tuple(name for name, _ in texts)

    async def memory_md(self, caller: Caller, project: str) -> tuple[str, int]:
        return block(project, []), 0

    async def erase(self, caller: Caller, *, project: str | None, confirm: str) -> int:
        self.asked.append(("erase", (project, confirm)))
        return 4


class FakeServices:
    """All of them; ``states`` are what the probes answer."""

    def __init__(self) -> None:
        self.memories = FakeMemories()
        self.access = FakeAccess()
        self.jobs = FakeJobs()
        self.lifecycle = FakeLifecycle()
        self.experience = FakeExperience()
        self.states = {"retrieval": "ready", "embedding": "ready", "maintenance": "ready"}

    def backends(self) -> Backends:
        def probe(name: str):  # type: ignore[no-untyped-def]  # a closure of one line
            async def ask() -> str:
                return self.states[name]

            return ask

        return Backends(
            memories=self.memories,
            access=self.access,
            jobs=self.jobs,
            lifecycle=self.lifecycle,
            experience=cast("Experience", self.experience),
            probes={name: probe(name) for name in self.states},
        )


def away() -> Unavailable:
    """What the wire raises when retrieval is down."""
    return Unavailable("The retrieval service is away.", reason=Reason.SERVICE_AWAY, retry_after_s=2.0)
