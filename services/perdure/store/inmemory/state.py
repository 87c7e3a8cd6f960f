"""Everything an in-memory store holds. Values in it never change, so a shallow copy is a snapshot."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from perdure.domain.memory import LinkKind, Memory, MemoryId, Revision
from perdure.domain.namespace import DEFAULT_NAMESPACE, NamespaceName
from perdure.domain.vectors import Vector
from perdure.ports import AuditEvent, Job, JobKind, JobState, OutboxEvent, Replay, Token

Name = tuple[NamespaceName, MemoryId]


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory without links and space, its number in the order of arrival, and its text's hash."""

    memory: Memory
    number: int
    text_sha256: str


@dataclass(frozen=True, slots=True)
class Text:
    """A memory's tokens by column."""

    words: tuple[str, ...]
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Queued:
    """A place in the embedding queue; not ``waiting`` where it has a vector of another space than the active one."""

    waiting: bool
    attempts: int = 0
    retry_at: datetime | None = None


@dataclass(slots=True)
class State:
    """All tables."""

    namespaces: dict[NamespaceName, datetime]
    memories: dict[Name, Stored] = field(default_factory=dict)
    texts: dict[Name, Text] = field(default_factory=dict)
    revisions: dict[Name, tuple[Revision, ...]] = field(default_factory=dict)
    links: dict[tuple[NamespaceName, LinkKind, MemoryId, MemoryId], None] = field(default_factory=dict)
    vectors: dict[tuple[NamespaceName, MemoryId, str], Vector] = field(default_factory=dict)
    dimensions: dict[str, int] = field(default_factory=dict)
    queue: dict[Name, Queued] = field(default_factory=dict)
    replays: dict[tuple[NamespaceName, str], tuple[Replay, datetime]] = field(default_factory=dict)
    tombstones: dict[Name, datetime] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    outbox: dict[int, OutboxEvent] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    audit: list[AuditEvent] = field(default_factory=list)
    active_space: str | None = None
    last_number: int = 0
    last_event: int = 0

    def copy(self) -> State:
        """A snapshot: later changes of one are not seen in the other."""
        copies: dict[str, Any] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            copies[one.name] = value.copy() if isinstance(value, dict | list) else value
        return State(**copies)

    def unfinished(self, kind: JobKind, subject: str = "") -> Job | None:
        """The queued or running job of that kind and subject."""
        for job in self.jobs.values():
            if job.kind is kind and job.subject == subject and job.state in (JobState.QUEUED, JobState.RUNNING):
                return job
        return None

    def add_job(self, job: Job) -> Job:
        """Stores the job with its event, or answers the unfinished one of its kind and subject."""
        there = self.unfinished(job.kind, job.subject)
        if there is not None:
            return there
        self.jobs[job.id] = job
        self.last_event += 1
        self.outbox[self.last_event] = OutboxEvent(
            id=self.last_event, topic="job", job=job.id, created_at=job.created_at
        )
        return job


def empty(now: datetime) -> State:
    """A new store: the namespace ``default`` and nothing else."""
    return State(namespaces={DEFAULT_NAMESPACE: now})
