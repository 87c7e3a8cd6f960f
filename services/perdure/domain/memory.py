"""What a memory is: its fields, their limits, its states.

Knows no storage, search or transport. Source of every limit: docs/reference/limits.md and the design, section 4.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType

from perdure.domain.namespace import NamespaceName

MemoryId = NewType("MemoryId", str)
"""UUIDv7 in lower-case hex with dashes."""

GLOBAL_PROJECT = "_global"

CONTENT_BYTES_MAX = 32 * 1024
PROJECT_CHARS_MAX = 200
KEY_CHARS_MAX = 200
LIST_ITEMS_MAX = 64
LIST_ITEM_CHARS_MAX = 300
SUMMARY_CHARS_MAX = 80


class MemoryType(enum.StrEnum):
    """What kind of statement a memory is."""

    FACT = "fact"
    DECISION = "decision"
    PREFERENCE = "preference"
    TASK = "task"
    CONTEXT = "context"


class Provenance(enum.StrEnum):
    """How a memory came to be; decides the confidence it starts with."""

    SAVE = "save"
    CHECKPOINT = "checkpoint"
    DEBATE = "debate"
    HUMAN = "human"
    CONSOLIDATION = "consolidation"
    IMPORT = "import"


class Tier(enum.StrEnum):
    """Core memories survive where regular ones fade."""

    REGULAR = "regular"
    CORE = "core"


class Status(enum.StrEnum):
    """Where a memory is in its life. Only active ones are found by default."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"
    CONSOLIDATED = "consolidated"


class LinkKind(enum.StrEnum):
    """Directed links between memories; each is stored once and read from both ends."""

    SUPERSEDES = "supersedes"
    CONSOLIDATED_FROM = "consolidated_from"
    RELATED = "related"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a memory was said: host program, agent, session, actor. All optional, each up to 200 characters."""

    host: str = ""
    agent: str = ""
    session: str = ""
    actor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a caller says: the fields from which text hash, vector and full text are made."""

    content: str
    type: MemoryType = MemoryType.FACT
    project: str = GLOBAL_PROJECT
    key: str | None = None
    problem: str | None = None
    solution: str | None = None
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One stored statement with provenance, confidence and lifecycle.

    Times are aware UTC with microseconds. ``revision`` starts at 1 and rises with each edit; ``updated_at``
    moves on edits only. ``space`` is the fingerprint of its vector's embedding space, or None while it has no
    vector. Links are ids in the same namespace.
    """

    id: MemoryId
    namespace: NamespaceName
    statement: Statement
    summary: str
    provenance: Provenance
    confidence: float
    tier: Tier
    importance: float
    status: Status
    created_at: datetime
    updated_at: datetime
    last_accessed_at: datetime
    expires_at: datetime | None = None
    access_count: int = 0
    shown_count: int = 0
    revision: int = 1
    origin: Origin = field(default_factory=Origin)
    stub: str | None = None
    space: str | None = None
    supersedes: tuple[MemoryId, ...] = ()
    superseded_by: MemoryId | None = None
    consolidated_from: tuple[MemoryId, ...] = ()
    consolidated_into: MemoryId | None = None
    related: tuple[MemoryId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The state of a memory before an edit, with who edited it, when and why.

    ``why`` is one word of: replaced, merged, superseded, updated, archived, restored, consolidated, compacted, undone.
    """

    memory: MemoryId
    revision: int
    at: datetime
    actor: str
    why: str
    before: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions on memories; all given ones must hold. They act inside each search arm, before its top-k.

    ``projects`` any of; ``not_projects`` none of; ``types`` any of; ``keys`` any of, exactly;
    ``tags``/``concepts``/``files`` all of, compared case-insensitively; ``created_from`` inclusive, ``created_to``
    exclusive; ``statuses`` any of. ``as_of`` hides memories whose ``expires_at`` is not after it.
    """

    projects: tuple[str, ...] = ()
    not_projects: tuple[str, ...] = ()
    types: tuple[MemoryType, ...] = ()
    tags: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    created_from: datetime | None = None
    created_to: datetime | None = None
    tiers: tuple[Tier, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    as_of: datetime | None = None
    keys: tuple[str, ...] = ()
