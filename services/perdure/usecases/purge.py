"""Erase a memory everywhere, for ever."""

from __future__ import annotations

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.ports import Store
from perdure.usecases.find import found
from perdure.usecases.permission import require


class Purge:
    """Erases one memory, its history, vectors, full text and links."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, caller: Caller, memory: MemoryId, *, expected_revision: int | None = None) -> None:
        """Erase it, whatever its status.

        Raises:
            NotFound: this namespace has none of that id (MEMORY_NOT_FOUND).
            Conflict: ``expected_revision`` is not the present one (REVISION_MOVED).
            PermissionDenied: the caller may not write.
        """
        require(caller, TokenScope.WRITE)
        with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
            unit.purge(found(unit, memory, expected_revision=expected_revision).id)
