"""Erase a memory everywhere, for ever."""

from __future__ import annotations

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.ports import Clock, Store
from perdure.usecases.erasing import erase
from perdure.usecases.find import found
from perdure.usecases.permission import require


class Purge:
    """Erases one memory, its history, vectors, full text and links, and what holds its words."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, memory: MemoryId, *, expected_revision: int | None = None) -> None:
        """Erase it, whatever its status, with what it was made of; what was made of it is taken apart.

        Raises:
            NotFound: this namespace has none of that id (MEMORY_NOT_FOUND).
            Conflict: ``expected_revision`` is not the present one (REVISION_MOVED).
            PermissionDenied: the caller may not write.
        """
        require(caller, TokenScope.WRITE)
        with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
            erase(unit, found(unit, memory, expected_revision=expected_revision), self._clock.now())
        self._store.scrub()
