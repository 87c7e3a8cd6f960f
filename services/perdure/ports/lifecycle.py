"""Looking after one namespace, and who words what is consolidated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from perdure.domain.memory import Memory, MemoryId, MemoryType, Status
from perdure.domain.retention import Life
from perdure.domain.runs import Act, PutBack, Run, RunItem
from perdure.domain.vectors import Matrix
from perdure.ports.memories import MemoryReader, MemoryUnit


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


class Summariser(Protocol):
    """Says in a few sentences what many memories say; a language model, and off unless somebody configures one."""

    def __call__(self, text: str) -> str:
        """The summary of a consolidated text.

        Raises:
            Unavailable: no usable answer in time.
        """
