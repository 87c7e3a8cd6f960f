"""The in-memory store: the plain reference that the conformance suite compares other backends with.

Writers take turns and copy the state; a reader keeps the state it began with. Nothing outlives the process.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from perdure.domain.namespace import Actor, Scope
from perdure.errors import FailedPrecondition, Reason
from perdure.ports import (
    AccessUnit,
    CheckReport,
    Clock,
    Finding,
    MemoryReader,
    MemoryUnit,
    Progress,
    StoreInfo,
    WorkUnit,
)
from perdure.store.inmemory.bookkeeping import InMemoryAccess, InMemoryWork
from perdure.store.inmemory.state import State, empty
from perdure.store.inmemory.unit import InMemoryReader, InMemoryUnit, Means
from perdure.store.tokens import Tokens
from perdure.system import RandomIds, SystemClock


class InMemoryStore:
    """A ``Store`` in dictionaries."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._means = Means(Tokens(), clock or SystemClock(), RandomIds())
        self._state = empty(self._means.clock.now())
        self._writing = threading.Lock()
        self._open = True

    @contextmanager
    def read(self, scope: Scope) -> Iterator[MemoryReader]:
        """A consistent view of one namespace."""
        self._refuse_closed()
        yield InMemoryReader(self._state, scope, self._means)

    @contextmanager
    def write(self, scope: Scope, actor: Actor) -> Iterator[MemoryUnit]:
        """A transaction on one namespace."""
        with self._changed() as state:
            yield InMemoryUnit(state, scope, actor, self._means)

    @contextmanager
    def access(self) -> Iterator[AccessUnit]:
        """A transaction on namespaces and tokens."""
        with self._changed() as state:
            yield InMemoryAccess(state)

    @contextmanager
    def work(self) -> Iterator[WorkUnit]:
        """A transaction on background bookkeeping."""
        with self._changed() as state:
            yield InMemoryWork(state, self._means.clock)

    @contextmanager
    def _changed(self) -> Iterator[State]:
        self._refuse_closed()
        with self._writing:
            state = self._state.copy()
            yield state
            self._state = state

    def info(self) -> StoreInfo:
        """Facts about the store."""
        return StoreInfo(url="memory:", schema=0, bytes=0, backend="memory")

    def backup(self, target: Path) -> int:
        """Refuses: there is no file to copy."""
        raise FailedPrecondition(
            "A store in memory has no file to back up.", reason=Reason.UNEXPECTED, details={"file": target.name}
        )

    def check(self, progress: Progress | None = None) -> CheckReport:
        """Compares rows, vectors, full text and links with each other; changes nothing."""
        state = self._state
        counts = {
            ("full_text", "has no text"): len(state.memories.keys() - state.texts.keys()),
            ("full_text", "belongs to no memory"): len(state.texts.keys() - state.memories.keys()),
            ("vectors", "belongs to no memory of its namespace"): sum(
                (namespace, id_) not in state.memories for namespace, id_, _ in state.vectors
            ),
            ("links", "an end is missing or in another namespace"): sum(
                (namespace, end) not in state.memories for namespace, _, *ends in state.links for end in ends
            ),
        }
        if progress is not None:
            progress(len(state.memories), len(state.memories))
        findings = tuple(
            Finding(part=part, problem=problem, count=count) for (part, problem), count in counts.items() if count
        )
        return CheckReport(memories=len(state.memories), vectors=len(state.vectors), findings=findings)

    def repair(self, progress: Progress | None = None) -> CheckReport:
        """The report; every write keeps all tables together, so there is nothing to rebuild."""
        return self.check(progress)

    def scrub(self) -> bool:
        """True: nothing of what was erased is kept."""
        return True

    def close(self) -> None:
        """Ends it; what it held is gone."""
        self._open = False

    def _refuse_closed(self) -> None:
        if not self._open:
            raise FailedPrecondition("The store is closed; open it anew.", reason=Reason.UNEXPECTED)
