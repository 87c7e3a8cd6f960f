"""The shapes of the lifecycle's answers, for OpenAPI."""

from __future__ import annotations

from perdure.gateway.routes.answers import MemoryOut, Out


class RunItemOut(Out):
    """What a run did to one memory."""

    memory: str
    act: str
    summary: str
    winner: str | None = None


class RunOut(Out):
    """A run of maintenance; ``saves`` are those it answers for."""

    id: str
    tasks: list[str]
    trigger: str
    actor: str
    state: str
    created_at: str
    dry_run: bool
    attempts: int
    done: int
    total: int
    saves: int
    message: str
    counts: dict[str, int]
    project: str | None = None
    began_at: str | None = None
    ended_at: str | None = None
    error: str | None = None
    plan: list[str] | None = None
    undone_at: str | None = None
    undone_by: str | None = None
    items: list[RunItemOut] | None = None


class RunsOut(Out):
    """Runs, newest first."""

    runs: list[RunOut]


class Consolidated(Out):
    """What consolidation did."""

    clusters_found: int
    memories_consolidated: int
    new_memories_created: int
    duration_ms: int
    dry_run: bool
    run: RunOut


class Cleaned(Out):
    """What cleaning did."""

    archived_decayed: int
    archived_expired: int
    archived_deduped: int
    memory_md_synced: bool
    duration_ms: int
    dry_run: bool
    run: RunOut


class Undone(Out):
    """What an undo put back; ``left``: how many it could not, by reason."""

    undone: str
    restored: int
    removed: int
    left: dict[str, int]
    run: RunOut


class EventOut(Out):
    """What will happen, and when, at the first run after it."""

    what: str
    at: str


class ForecastOut(Out):
    """What a memory weighs, by factors, and what happens to it if nobody uses it."""

    id: str
    memory: MemoryOut
    decay_weight: float
    frequency_boost: float
    confidence_boost: float
    importance_boost: float
    weight: float
    idle_days: float
    events: list[EventOut]
    runs: list[str]
    half_life_days: float | None = None
    stays_because: str | None = None


class CompactedItem(Out):
    """A memory that has a stub."""

    id: str
    stub: str
    bytes_saved: int
    key: str | None = None


class SkippedItem(Out):
    """A memory left as it is: not_found, already_compacted, not_smaller, probe_failed."""

    memory: str
    reason: str


class CompactedOut(Out):
    """What was compacted."""

    compacted: list[CompactedItem]
    skipped: list[SkippedItem]
    bytes_saved: int
    dry_run: bool


class ContentRestored(Out):
    """Ids of memories whose text is home; names that match none."""

    restored: list[str]
    unmatched: list[str]


class Erased(Out):
    """How many memories were erased."""

    erased: int
