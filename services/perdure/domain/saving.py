"""What goes into a save and what comes out of it.

Values only. The rules that turn one into the other: ``resolution``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime

from perdure.domain.memory import GLOBAL_PROJECT, MemoryId, MemoryType, Origin, Provenance, Statement

BATCH_MAX = 500


class Outcome(enum.StrEnum):
    """What a save did."""

    CREATED = "created"
    UNCHANGED = "unchanged"
    MERGED = "merged"
    REPLACED = "replaced"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a caller wants to be remembered. None takes the provenance's default confidence, or importance 0.5."""

    statement: Statement
    provenance: Provenance = Provenance.SAVE
    confidence: float | None = None
    importance: float | None = None
    expires_at: datetime | None = None
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a finished task taught."""

    task_summary: str
    problem: str
    solution: str
    files: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    project: str = GLOBAL_PROJECT
    tags: tuple[str, ...] = ()
    origin: Origin = field(default_factory=Origin)
    confidence: float | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Changes to a memory: None keeps a field, ``clear`` empties key, problem, solution or expires_at.

    ``expected_revision`` None edits whatever is there.
    """

    content: str | None = None
    type: MemoryType | None = None
    project: str | None = None
    key: str | None = None
    problem: str | None = None
    solution: str | None = None
    concepts: tuple[str, ...] | None = None
    files: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    provenance: Provenance | None = None
    confidence: float | None = None
    importance: float | None = None
    expires_at: datetime | None = None
    clear: frozenset[str] = frozenset()
    expected_revision: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveResult:
    """What a save did, and to which memories.

    ``id`` is the memory that now holds the statement. ``embedded`` False: its vector is still to come and words find
    it meanwhile. ``truncated``: the text was longer than the model reads in one piece. ``redacted``: kinds of secrets
    that were blanked. ``replayed``: the answer of an earlier call with the same idempotency key.
    """

    outcome: Outcome
    id: MemoryId
    project: str
    summary: str
    revision: int
    embedded: bool
    superseded: tuple[MemoryId, ...] = ()
    related: tuple[MemoryId, ...] = ()
    truncated: bool = False
    redacted: tuple[str, ...] = ()
    replayed: bool = False
    nearest_similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one item of a batch was not stored."""

    code: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProblem:
    """Why one line of an import was not taken in; ``line`` counts from 1."""

    line: int
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What an import did; ``problems`` are the first 100."""

    read: int = 0
    created: int = 0
    unchanged: int = 0
    merged: int = 0
    failed: int = 0
    problems: tuple[ImportProblem, ...] = ()
    dry_run: bool = False
