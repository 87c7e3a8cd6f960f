"""Hide a memory from searches and lists; ``Restore`` brings it back."""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.memory import Memory, MemoryId, Status
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.errors import FailedPrecondition, Reason
from perdure.ports import Clock, Store
from perdure.usecases.find import found
from perdure.usecases.permission import require


class Archive:
    """Archives one memory."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, memory: MemoryId, *, expected_revision: int | None = None) -> Memory:
        """The memory after it.

        Raises:
            NotFound: this namespace has none of that id (MEMORY_NOT_FOUND).
            FailedPrecondition: it is out of search already (ALREADY_ARCHIVED).
            Conflict: ``expected_revision`` is not the present one (REVISION_MOVED).
            PermissionDenied: the caller may not write.
        """
        require(caller, TokenScope.WRITE)
        with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
            before = found(unit, memory, expected_revision=expected_revision)
            if before.status is not Status.ACTIVE:
                raise FailedPrecondition(
                    f"This memory is {before.status.value} already.",
                    reason=Reason.ALREADY_ARCHIVED,
                    details={"status": before.status.value},
                )
            after = replace(before, status=Status.ARCHIVED, updated_at=self._clock.now())
            return unit.change(before, after, why="archived")
