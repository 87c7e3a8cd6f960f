"""Answers about the lifecycle of memories. Values only; the rules are in ``retention`` and ``compaction``."""

from __future__ import annotations

from dataclasses import dataclass

from perdure.domain.memory import Memory, MemoryId
from perdure.domain.retention import Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """A memory, the factors of its score that depend on no question, its future, and the runs that changed it."""

    memory: Memory
    future: Forecast
    frequency_boost: float
    confidence_boost: float
    importance_boost: float
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedMemory:
    """A memory that has a stub; ``bytes_saved`` UTF-8 bytes less in a context."""

    id: MemoryId
    key: str | None
    stub: str
    bytes_saved: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedMemory:
    """A memory, as it was asked for, that was left as it is; ``reason`` is one of ``compaction.plan.Skip``."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What was compacted, and what was not."""

    compacted: tuple[CompactedMemory, ...]
    skipped: tuple[SkippedMemory, ...]

    @property
    def bytes_saved(self) -> int:
        """UTF-8 bytes that contexts no longer carry."""
        return sum(item.bytes_saved for item in self.compacted)
