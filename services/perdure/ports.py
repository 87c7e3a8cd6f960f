"""What the use cases need from the world.

Knows the shape of each need and nothing about who meets it. Ports are synchronous. Implementations:
``store`` (Store), ``wire.clients`` (Embedder), ``jobs`` (JobQueue); fakes for tests in ``tests/support``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from perdure.domain.memory import Filter, LinkKind, Memory, MemoryId, MemoryType, Revision, Status
from perdure.domain.namespace import Actor, NamespaceName, Scope
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalQuery
from perdure.domain.recall.contrast import Centre
from perdure.domain.retention import Life
from perdure.domain.runs import Act, PutBack, Run, RunItem
from perdure.domain.vectors import Matrix, Space, Vector

# ---------------------------------------------------------------- clock and ids


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Now, aware UTC."""


class Ids(Protocol):
    """Makes names nobody has used."""

    def memory(self) -> MemoryId:
        """A new UUIDv7; sorts by the time it was made."""

    def job(self) -> str:
        """A new job id."""

    def token(self) -> tuple[str, str]:
        """A new token's id (12 lower-case characters) and secret (>= 43 URL-safe characters)."""


# ---------------------------------------------------------------- embedder


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Vectors of texts in their order.

    ``vectors``: float32, (n, dimension), unit rows. ``truncated[i]``: part of text i was left out.
    """

    vectors: Matrix
    space: Space
    truncated: tuple[bool, ...]


class Embedder(Protocol):
    """Turns text into unit vectors of one space."""

    def space(self) -> Space:
        """The space it answers in.

        Raises:
            Unavailable: the model is loading or the service is away.
        """

    def documents(self, texts: Sequence[str], *, timeout_s: float, background: bool = False) -> Embeddings:
        """Vectors of stored texts (``domain.layout.embedded_text``); at most 256.

        Raises:
            Unavailable: away, loading or failing.
            DeadlineExceeded: no answer within ``timeout_s``.
        """

    def query(self, text: str, *, timeout_s: float) -> Embeddings:
        """The vector of a question, shape (1, dimension).

        Raises:
            Unavailable: away, loading or failing.
            DeadlineExceeded: no answer within ``timeout_s``.
        """


# ---------------------------------------------------------------- store: memories


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page ended: ``created_at`` and ``id`` of its last memory (pages run newest first)."""

    created_at: datetime
    id: MemoryId


@dataclass(frozen=True, slots=True)
class Page:
    """Memories, newest first, and where the next page starts; ``next`` is None on the last."""

    memories: tuple[Memory, ...]
    next: Position | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts over one namespace; by_type and by_project count active memories."""

    active: int
    archived: int
    superseded: int
    consolidated: int
    by_type: Mapping[str, int]
    by_project: Mapping[str, int]
    unembedded: int

    @property
    def total(self) -> int:
        """Every memory of the namespace."""
        return self.active + self.archived + self.superseded + self.consolidated


@dataclass(frozen=True, slots=True)
class Replay:
    """An answer remembered under an idempotency key."""

    request_sha256: str
    answer: bytes


class MemoryReader(Protocol):
    """One consistent view of one namespace."""

    @property
    def scope(self) -> Scope:
        """The namespace it sees; there is no way to see another."""

    def get(self, memory: MemoryId) -> Memory | None:
        """The memory, whatever its status; None where this namespace has none of that id."""

    def get_many(self, memories: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
        """Those that exist, by id."""

    def by_key(self, project: str, key: str) -> Memory | None:
        """The active memory of that key."""

    def by_text(self, project: str, type_: MemoryType, text_sha256: str) -> Memory | None:
        """The active memory with that normalised text (``domain.resolution.text_sha256``)."""

    def page(self, filter_: Filter, *, after: Position | None, limit: int) -> Page:
        """The next ``limit`` (>= 1) memories by created_at, id descending."""

    def recent(self, project: str | None, limit: int) -> tuple[Memory, ...]:
        """Active memories by last_accessed_at descending."""

    def stats(self) -> Stats:
        """Counts of the whole namespace."""

    def history(self, memory: MemoryId) -> tuple[Revision, ...]:
        """Earlier states, newest first; empty where there are none."""

    def dense(
        self, vector: Vector, space: str, filter_: Filter, *, limit: int, exclude: Collection[MemoryId] = ()
    ) -> tuple[DenseHit, ...]:
        """The ``limit`` nearest memories of that space that pass the filter, nearest first, ties by id.

        The filter acts before the top-k. A zero vector finds nothing.
        """

    def lexical(self, query: LexicalQuery, filter_: Filter, *, limit: int) -> LexicalAnswer:
        """The ``limit`` best memories by BM25 (k1 1.2, b 0.75); the filter acts before the top-k."""

    def similarities(self, vector: Vector, space: str, memories: Collection[MemoryId]) -> dict[MemoryId, float]:
        """Cosine of each that has a vector in that space."""

    def vectors(self, memories: Collection[MemoryId], space: str) -> dict[MemoryId, Vector]:
        """Stored vectors of that space."""

    def centre(self, space: str) -> Centre | None:
        """Where the namespace's vectors of that space lie; None where there are none.

        Of a large namespace it may be that of a little while ago, when there were at least 0.9 times as many.
        """

    def cards(self, memories: Collection[MemoryId]) -> dict[MemoryId, Card]:
        """What scoring needs, by id."""

    def unembedded(self, filter_: Filter) -> int:
        """How many memories that pass the filter wait for a vector in the active space (all, before there is one)."""

    def active_space(self) -> str | None:
        """Fingerprint of the space searches use; None before the first vector."""

    def replay(self, key_sha256: str) -> Replay | None:
        """The answer remembered under that idempotency key, unless expired."""


class MemoryUnit(MemoryReader, Protocol):
    """One transaction on one namespace. Leaving it normally commits durably; an exception undoes everything.

    Rows, vectors, full text, history, queue and outbox change together or not at all. No model call and no RPC
    happens inside.
    """

    def add(self, memory: Memory, *, vector: Vector | None, space: str | None) -> None:
        """Stores a new memory; without a vector it is queued for one (and an outbox event says so).

        The first vector ever stored makes its space the active one. Vectors of another space than the active one are
        stored beside it and not searched until ``WorkUnit.switch_space``.

        Raises:
            AlreadyExists: its id, or its key among the active memories of its project, is taken (KEY_TAKEN).
            InvalidArgument: the vector holds NaN or infinity, or has not the space's dimension (VECTOR_INVALID).
        """

    def change(self, before: Memory, after: Memory, *, why: str) -> Memory:
        """Replaces ``before`` by ``after`` and writes ``before`` into the history.

        Returns:
            ``after`` with ``revision`` = ``before.revision`` + 1. Its vectors stay; call ``set_vector`` or
            ``drop_vectors`` when the embedded text changed.

        Raises:
            Conflict: the stored revision is not ``before.revision`` any more (REVISION_MOVED).
            AlreadyExists: the key is taken (KEY_TAKEN).
        """

    def set_vector(self, memory: MemoryId, vector: Vector, space: str) -> None:
        """Stores or replaces the vector of that space and takes the memory off the queue."""

    def drop_vectors(self, memory: MemoryId) -> None:
        """Forgets every vector of the memory and queues it for a new one."""

    def link(self, kind: LinkKind, source: MemoryId, target: MemoryId) -> None:
        """Adds a link, once: ``source`` supersedes / was consolidated from / is related to ``target``."""

    def unlink(self, kind: LinkKind, source: MemoryId, target: MemoryId) -> None:
        """Takes a link away where there is one."""

    def add_revision(self, revision: Revision) -> None:
        """Adds a revision as it was (imports)."""

    def purge(self, memory: MemoryId) -> bool:
        """Erases the memory, its history, vectors, full text, links and queue entries; a tombstone keeps id and time.

        Returns:
            False where there is no such memory.
        """

    def remember(self, key_sha256: str, replay: Replay, *, expires_at: datetime) -> None:
        """Keeps an answer under an idempotency key."""


# ---------------------------------------------------------------- store: access


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    """A namespace and how many memories it holds."""

    name: NamespaceName
    created_at: datetime
    memories: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as stored: a hash of the secret, never the secret."""

    id: str
    namespace: NamespaceName
    name: str
    secret_sha256: str
    scopes: frozenset[str]
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Who did what to which namespace or token; no text, no secret."""

    at: datetime
    actor: str
    namespace: str
    act: str
    subject: str


class AccessUnit(Protocol):
    """One transaction on namespaces, tokens and audit."""

    def create_namespace(self, name: NamespaceName, now: datetime) -> Namespace:
        """A new namespace.

        Raises:
            AlreadyExists: the name is taken.
        """

    def namespace(self, name: NamespaceName) -> Namespace | None:
        """The namespace, or None."""

    def namespaces(self) -> tuple[Namespace, ...]:
        """All, by name, with their counts."""

    def add_token(self, token: Token) -> None:
        """Stores a new token."""

    def token(self, token_id: str) -> Token | None:
        """The token of that id, also when expired or revoked."""

    def tokens(self, namespace: NamespaceName | None) -> tuple[Token, ...]:
        """Tokens of one namespace, or of all; newest first."""

    def revoke_token(self, token_id: str, now: datetime) -> Token | None:
        """The token, revoked; None where there is none."""

    def use_token(self, token_id: str, now: datetime) -> None:
        """Moves last_used_at."""

    def audit(self, event: AuditEvent) -> None:
        """Adds an event to the trail."""

    def trail(self, namespace: NamespaceName | None, limit: int) -> tuple[AuditEvent, ...]:
        """Events, newest first."""


# ---------------------------------------------------------------- store: work beside the requests


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
        """Writes progress or outcome; False where the lease is another's by now (then stop)."""

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


# ---------------------------------------------------------------- store: lifecycle


@dataclass(frozen=True, slots=True, kw_only=True)
class LifePage:
    """Lives of one project and type, oldest first; ``next`` is where the following page starts, None on the last."""

    lives: tuple[Life, ...]
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorGroup:
    """Active memories of one project and type with a direction, oldest first.

    ``fresh``: those that changed since the watermark.
    """

    ids: tuple[MemoryId, ...]
    vectors: Matrix
    fresh: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Departure:
    """``memory``, as it was read, leaves search with ``status`` because of ``act``; ``winner`` takes its place."""

    memory: Memory
    status: Status
    act: Act
    winner: MemoryId | None = None


class LifecycleReader(MemoryReader, Protocol):
    """One consistent view of one namespace, for what looks at all of it."""

    def groups(self, project: str | None) -> tuple[tuple[str, MemoryType, int], ...]:
        """Project, type and count of active memories."""

    def lives(self, project: str, type_: MemoryType, *, after: int, limit: int) -> LifePage:
        """The next lives of active memories; the first page starts after 0."""

    def vector_group(self, project: str, type_: MemoryType, space: str, *, since: int) -> VectorGroup | None:
        """The vectors of that space; None where no memory of the group changed after the watermark ``since``."""

    def watermarks(self) -> tuple[int, int]:
        """The watermark of the last clean, and that of now."""

    def run(self, run_id: str) -> Run | None:
        """The run of this namespace, or None."""

    def runs(self, limit: int) -> tuple[Run, ...]:
        """Runs of this namespace, newest first."""

    def runs_of(self, memory: MemoryId) -> tuple[str, ...]:
        """Ids of the runs that changed or made the memory and were not undone."""

    def by_key_anywhere(self, key: str) -> Memory | None:
        """The active memory of that key, whatever its project; None where there is none or more than one."""

    def run_items(self, run_id: str, limit: int) -> tuple[RunItem, ...]:
        """What the run did and was not undone; members before what they became."""


class LifecycleUnit(LifecycleReader, MemoryUnit, Protocol):
    """One transaction of a run on one namespace."""

    def begin_run(self, run_id: str, now: datetime, *, answers_saves: bool) -> None:
        """Writes the run down, once; where it ``answers_saves``, those counted so far are its own from now on."""

    def count_run(self, run_id: str, counts: Mapping[str, int]) -> None:
        """Adds to the run's counts."""

    def end_run(
        self, run_id: str, now: datetime, *, duration_ms: int, cleaned: int | None = None, plan: Sequence[str] = ()
    ) -> None:
        """Writes the run's end down, and the ``plan`` of a dry run; ``cleaned`` moves the watermark."""

    def depart(self, run_id: str, departures: Sequence[Departure], now: datetime) -> frozenset[MemoryId]:
        """Takes memories out of search, with history and links; those that were edited or used since are left.

        Returns:
            The memories that left.
        """

    def made(self, run_id: str, memory: MemoryId) -> None:
        """Notes that the run made that memory."""

    def put_back(self, run_id: str, memory: MemoryId) -> PutBack:
        """Undoes what the run did to one memory: the state before, to the byte, and its history without the act."""

    def undone(self, run_id: str, now: datetime, actor: str) -> None:
        """Writes down that the run was undone, and by whom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check found wrong; ``count`` rows of ``part`` (rows, vectors, full_text, links, file)."""

    part: str
    problem: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """What was looked at and what is wrong; clean when ``findings`` is empty."""

    memories: int
    vectors: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """Facts about the store itself."""

    url: str
    schema: int
    bytes: int
    backend: str


Progress = Callable[[int, int], None]
"""Called with (done, total) during long work."""


class Store(Protocol):
    """The one store. Every unit is one transaction; units are used by one thread each, many at a time."""

    def read(self, scope: Scope) -> AbstractContextManager[MemoryReader]:
        """A consistent view of one namespace.

        Raises:
            NotFound: there is no such namespace.
        """

    def write(self, scope: Scope, actor: Actor) -> AbstractContextManager[MemoryUnit]:
        """A transaction on one namespace.

        Raises:
            NotFound: there is no such namespace.
            Unavailable: another writer held the store too long (STORE_BUSY), or the disk is full (STORE_FULL).
        """

    def access(self) -> AbstractContextManager[AccessUnit]:
        """A transaction on namespaces and tokens."""

    def work(self) -> AbstractContextManager[WorkUnit]:
        """A transaction on background bookkeeping."""

    def info(self) -> StoreInfo:
        """Facts about the store."""

    def backup(self, target: Path) -> int:
        """Writes a consistent copy to ``target`` (must not exist) while others read and write; its bytes."""

    def check(self, progress: Progress | None = None) -> CheckReport:
        """Compares rows, vectors, full text and links with each other; changes nothing."""

    def repair(self, progress: Progress | None = None) -> CheckReport:
        """Rebuilds full text and queues missing vectors from the rows, which it never touches; the report after it."""

    def scrub(self) -> bool:
        """Overwrites what was erased where the store still keeps a copy of it; False where readers stand in the way."""

    def close(self) -> None:
        """Lets go of the file."""


class LifecycleStore(Store, Protocol):
    """A store whose namespaces are looked after. The in-memory one is not: nothing in it lives long enough to age."""

    def survey(self, scope: Scope) -> AbstractContextManager[LifecycleReader]:
        """A consistent view of one namespace for maintenance; errors as ``read``."""

    def maintain(self, scope: Scope, actor: Actor) -> AbstractContextManager[LifecycleUnit]:
        """A transaction of maintenance on one namespace; errors as ``write``."""

    def writes_of_others(self) -> int:
        """A number that changes whenever anybody else has written to the store."""


# ---------------------------------------------------------------- summaries


class Summariser(Protocol):
    """Says in a few sentences what many memories say; a language model, and off unless somebody configures one."""

    def __call__(self, text: str) -> str:
        """The summary of a consolidated text.

        Raises:
            Unavailable: no usable answer in time.
        """


# ---------------------------------------------------------------- jobs


class JobQueue(Protocol):
    """Hands work to workers. At least once: jobs are idempotent."""

    def send(self, job_id: str, kind: JobKind) -> None:
        """Asks some worker to run the job.

        Raises:
            Unavailable: the broker is away (BROKER_AWAY).
        """


ExportStream = Iterator[tuple[Memory, tuple[Revision, ...]]]
