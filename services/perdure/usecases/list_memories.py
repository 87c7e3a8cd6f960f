"""Memories by filter, newest first, a page at a time."""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.memory import Filter, Status
from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.statement import as_stored
from perdure.errors import InvalidArgument, Reason
from perdure.ports import Clock, Page, Position, Store
from perdure.usecases.permission import require

LIMIT_MAX = 500


class ListMemories:
    """Pages through memories. No count moves."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, filter_: Filter, *, limit: int, after: Position | None = None) -> Page:
        """The next ``limit`` memories (1 to 500). A list of active memories leaves expired ones out.

        Raises:
            InvalidArgument: the limit is out of its range (OUT_OF_RANGE).
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        if not 1 <= limit <= LIMIT_MAX:
            raise InvalidArgument(
                f"A page holds 1 to {LIMIT_MAX} memories.",
                reason=Reason.OUT_OF_RANGE,
                details={"field": "limit", "limit": limit},
            )
        filter_ = as_stored(filter_)
        if filter_.as_of is None and filter_.statuses == (Status.ACTIVE,):
            filter_ = replace(filter_, as_of=self._clock.now())
        with self._store.read(caller.scope) as reader:
            return reader.page(filter_, after=after, limit=limit)
