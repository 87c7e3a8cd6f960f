"""Runs of maintenance: what set one off, what it did, whether it was undone. Values only."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import NamespaceName

SAVES_PER_RUN = 10
"""Every so many saves of a namespace, whatever surface they came by, a run is due."""

PERIOD = timedelta(hours=24)
"""And after so long, whichever is first."""


class Task(enum.StrEnum):
    """What a run does."""

    CONSOLIDATE = "consolidate"
    CLEAN = "clean"


class Trigger(enum.StrEnum):
    """What set a run off."""

    SAVES = "saves"
    DAY = "day"
    REQUEST = "request"


class Act(enum.StrEnum):
    """What a run did to one memory."""

    MADE = "made"
    CONSOLIDATED = "consolidated"
    DECAYED = "decayed"
    EXPIRED = "expired"
    INTERFERES = "interferes"


class PutBack(enum.StrEnum):
    """What undoing one act came to."""

    DONE = "done"
    CHANGED_SINCE = "changed_since"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run. ``state`` is its job's: queued, running, succeeded, failed, cancelled.

    ``counts`` by name: clusters_found, memories_consolidated, new_memories_created, archived_decayed, archived_expired,
    archived_deduped, skipped, duration_ms. ``saves`` are those that it answers for. ``plan``: the first lines of what a
    dry run would do.
    """

    id: str
    namespace: NamespaceName
    tasks: tuple[Task, ...]
    trigger: Trigger
    actor: str
    state: str
    created_at: datetime
    project: str | None = None
    dry_run: bool = False
    began_at: datetime | None = None
    ended_at: datetime | None = None
    attempts: int = 0
    done: int = 0
    total: int = 0
    saves: int = 0
    message: str = ""
    error: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    plan: tuple[str, ...] = ()
    undone_at: datetime | None = None
    undone_by: str | None = None

    @property
    def finished(self) -> bool:
        """True where nothing more will happen to it."""
        return self.state in ("succeeded", "failed", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunItem:
    """What a run did to one memory; ``winner`` is what took its place."""

    memory: MemoryId
    act: Act
    summary: str
    winner: MemoryId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReport:
    """What an undo did: memories put back, merged ones taken away, and how many were left as they are, by reason."""

    restored: int = 0
    removed: int = 0
    left: Mapping[str, int] = field(default_factory=dict)
