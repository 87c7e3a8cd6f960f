"""Erase every memory of a project, or of a namespace, for ever."""

from __future__ import annotations

from perdure.domain.memory import Filter, Status
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.errors import InvalidArgument, Reason
from perdure.ports import Clock, LifecycleStore
from perdure.usecases.erasing import erase
from perdure.usecases.permission import require
from perdure.usecases.yielding import Yielding

BATCH = 50


class EraseMany:
    """Erases in bounded transactions; asked again, it goes on where it was."""

    def __init__(self, store: LifecycleStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, *, project: str | None, confirm: str) -> int:
        """How many memories were erased, whatever their status.

        Args:
            caller: Whose namespace.
            project: Only this one; None is the whole namespace, which takes an administrator.
            confirm: The project's name, or the namespace's.

        Raises:
            InvalidArgument: ``confirm`` is not the name of what would be erased (FIELD_INVALID).
            PermissionDenied: the caller may not write, or not administrate.
        """
        require(caller, TokenScope.WRITE if project is not None else TokenScope.ADMIN)
        name = str(caller.namespace) if project is None else project
        if confirm != name:
            raise InvalidArgument(
                "Confirm with the name of what is to be erased; nothing was.",
                reason=Reason.FIELD_INVALID,
                details={"field": "confirm"},
            )
        filter_ = Filter(projects=() if project is None else (project,), statuses=tuple(Status))
        erased = 0
        yielding = Yielding(self._store.writes_of_others)
        while True:
            with yielding, self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
                page = unit.page(filter_, after=None, limit=BATCH)
                now = self._clock.now()
                for memory in page.memories:
                    present = unit.get(memory.id)  # one before it may have taken it along
                    erased += 0 if present is None else erase(unit, present, now)
            if page.next is None:
                break
        self._store.scrub()
        return erased
