"""Bring an archived, superseded or consolidated memory back into searches."""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.memory import LinkKind, Memory, MemoryId, Status
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.errors import FailedPrecondition, Reason
from perdure.ports import Clock, Store
from perdure.usecases.find import found
from perdure.usecases.permission import require


class Restore:
    """Restores one memory."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, memory: MemoryId, *, expected_revision: int | None = None) -> Memory:
        """The memory, active. What had superseded it stays active too, and is linked as related from now on.

        Raises:
            NotFound: this namespace has none of that id (MEMORY_NOT_FOUND).
            FailedPrecondition: it is active (NOT_ARCHIVED).
            Conflict: ``expected_revision`` is not the present one (REVISION_MOVED).
            AlreadyExists: another active memory of its project has its key by now (KEY_TAKEN).
            PermissionDenied: the caller may not write.
        """
        require(caller, TokenScope.WRITE)
        with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
            before = found(unit, memory, expected_revision=expected_revision)
            if before.status is Status.ACTIVE:
                raise FailedPrecondition(
                    "This memory is active; there is nothing to restore.", reason=Reason.NOT_ARCHIVED
                )
            after = replace(
                before,
                status=Status.ACTIVE,
                superseded_by=None,
                consolidated_into=None,
                updated_at=self._clock.now(),
            )
            written = unit.change(before, after, why="restored")
            if before.superseded_by is not None:
                unit.unlink(LinkKind.SUPERSEDES, before.superseded_by, before.id)
                unit.link(LinkKind.RELATED, before.superseded_by, before.id)
            if before.consolidated_into is not None:
                unit.unlink(LinkKind.CONSOLIDATED_FROM, before.consolidated_into, before.id)
            return unit.get(written.id) or written
