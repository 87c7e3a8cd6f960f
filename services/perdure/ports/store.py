"""The one store, as a whole."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from perdure.domain.namespace import Actor, Scope
from perdure.ports.access import AccessUnit
from perdure.ports.lifecycle import LifecycleReader, LifecycleUnit
from perdure.ports.memories import MemoryReader, MemoryUnit
from perdure.ports.work import WorkUnit


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
