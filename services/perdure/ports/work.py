"""The bookkeeping of work beside the requests, and the queue that hands it to workers."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import NamespaceName


class JobState(enum.StrEnum):
    """Where a job is."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobKind(enum.StrEnum):
    """What jobs there are."""

    EMBED_PENDING = "embed_pending"
    REEMBED = "reembed"
    EXPIRE_IDEMPOTENCY = "expire_idempotency"
    MAINTAIN = "maintain"
    TRAIN = "train"
    EMBED_PROCEDURES = "embed_procedures"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work with progress and a lease.

    ``total`` is 0 while unknown. A running job whose ``lease_until`` has passed is dead and may be taken over. There is
    one unfinished job of a kind and ``subject`` at a time ("" is the whole store); of the jobs that name the same
    ``turn``, one at most runs at a time ("" waits for nobody).
    """

    id: str
    kind: JobKind
    state: JobState
    created_at: datetime
    parameters: Mapping[str, str] = field(default_factory=dict)
    done: int = 0
    total: int = 0
    message: str = ""
    error: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None
    attempts: int = 0
    lease_owner: str = ""
    lease_until: datetime | None = None
    cancel_requested: bool = False
    subject: str = ""
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEvent:
    """Something to hand to the job queue, written in the transaction that made it due."""

    id: int
    topic: str
    job: str
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """Deliveries of one memory: ``accessed`` in full, ``shown`` as a summary or by a hook."""

    namespace: NamespaceName
    memory: MemoryId
    accessed: int
    shown: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A memory that waits for its vector."""

    namespace: NamespaceName
    memory: MemoryId
    attempts: int


class WorkUnit(Protocol):
    """One transaction on the bookkeeping of background work, across namespaces. Reads and writes no memory text."""

    def add_job(self, job: Job) -> Job:
        """Stores the job and its outbox event, or answers the unfinished job of its kind and subject that is there."""

    def job(self, job_id: str) -> Job | None:
        """The job, or None."""

    def jobs(self, kind: JobKind | None, limit: int) -> tuple[Job, ...]:
        """Jobs, newest first."""

    def take_job(self, job_id: str, owner: str, now: datetime, lease_until: datetime) -> Job | None:
        """The job, now running under ``owner``.

        None where it is finished, another holds an unexpired lease, or another job of its turn is running.
        """

    def save_job(self, job: Job) -> bool:
        """Writes progress, parameters or outcome; False where the lease is another's by now (then stop)."""

    def request_cancel(self, job_id: str) -> Job | None:
        """Asks the job to stop; a queued one is cancelled at once."""

    def stalled_jobs(self, now: datetime) -> tuple[Job, ...]:
        """Queued or running jobs without a live lease, oldest first."""

    def outbox(self, limit: int) -> tuple[OutboxEvent, ...]:
        """Events not handed over yet, oldest first."""

    def handed_over(self, events: Sequence[int]) -> None:
        """Takes events off the outbox."""

    def pending(self, limit: int, now: datetime) -> tuple[Pending, ...]:
        """Memories whose turn has come (``retry_at`` not after now), oldest first."""

    def pending_count(self) -> int:
        """How many memories wait for a vector."""

    def postpone(self, namespace: NamespaceName, memory: MemoryId, retry_at: datetime) -> None:
        """Counts a failed attempt and sets when to try again."""

    def record_uses(self, uses: Sequence[Use]) -> None:
        """Adds to access_count, shown_count and last_accessed_at; ignores unknown ids. No history, no updated_at."""

    def due_namespaces(self, last_run_before: datetime, limit: int) -> tuple[tuple[NamespaceName, bool], ...]:
        """Namespaces of which a run is due and none is unfinished; True where it is so by saves, else by time."""

    def unembedded_procedures(self, limit: int) -> tuple[NamespaceName, ...]:
        """Namespaces with a procedure that has no vector in the active space; none before there is one."""

    def summaries_since(self, moment: datetime) -> int:
        """How many summaries runs that began since then have used."""

    def expire_replays(self, now: datetime, limit: int) -> int:
        """Forgets answers of expired idempotency keys; how many."""

    def active_space(self) -> str | None:
        """Fingerprint of the space searches use."""

    def spaces(self) -> dict[str, int]:
        """Vectors by fingerprint."""

    def without_vector(self, space: str, limit: int, after: MemoryId | None) -> tuple[Pending, ...]:
        """Memories that have no vector in ``space``, by id after ``after``."""

    def count_without_vector(self, space: str) -> int:
        """How many memories have no vector in ``space``."""

    def switch_space(self, space: str) -> None:
        """Makes ``space`` the one that searches use, and forgets the vectors of every other.

        Raises:
            FailedPrecondition: a memory has no vector in it.
        """


class JobQueue(Protocol):
    """Hands work to workers. At least once: jobs are idempotent."""

    def send(self, job_id: str, kind: JobKind) -> None:
        """Asks some worker to run the job.

        Raises:
            Unavailable: the broker is away (BROKER_AWAY).
        """
