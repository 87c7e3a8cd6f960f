"""Reading and writing the memories of one namespace."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from perdure.domain.memory import Filter, LinkKind, Memory, MemoryId, MemoryType, Revision
from perdure.domain.namespace import Scope
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalQuery
from perdure.domain.recall.contrast import Centre
from perdure.domain.vectors import Vector


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


ExportStream = Iterator[tuple[Memory, tuple[Revision, ...]]]
