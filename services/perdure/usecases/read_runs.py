"""What maintenance did in a namespace."""

from __future__ import annotations

from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.runs import Run, RunItem
from perdure.errors import InvalidArgument, NotFound, Reason
from perdure.ports import LifecycleStore
from perdure.usecases.permission import require

PAGE_MAX = 200
ITEMS_MAX = 500


class ReadRuns:
    """Lists runs and shows one."""

    def __init__(self, store: LifecycleStore) -> None:
        self._store = store

    def list(self, caller: Caller, limit: int) -> tuple[Run, ...]:
        """Runs, newest first.

        Raises:
            InvalidArgument: ``limit`` is not 1 to 200 (OUT_OF_RANGE).
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        if not 1 <= limit <= PAGE_MAX:
            raise InvalidArgument(
                f"limit must be 1 to {PAGE_MAX}.", reason=Reason.OUT_OF_RANGE, details={"field": "limit"}
            )
        with self._store.survey(caller.scope) as reader:
            return reader.runs(limit)

    def get(self, caller: Caller, run_id: str) -> tuple[Run, tuple[RunItem, ...]]:
        """The run with its progress, and the first 500 of what it did.

        Raises:
            NotFound: this namespace has no run of that id (JOB_NOT_FOUND).
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        with self._store.survey(caller.scope) as reader:
            run = reader.run(run_id)
            if run is None:
                raise NotFound("There is no such run.", reason=Reason.JOB_NOT_FOUND)
            return run, reader.run_items(run_id, ITEMS_MAX)
