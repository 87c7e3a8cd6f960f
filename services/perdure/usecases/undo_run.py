"""Undo a run: every memory as it was before, those that the run made taken away.

Whatever somebody edited, restored or saved anew since is theirs and stays as it is; the report counts it.
"""

from __future__ import annotations

from collections import Counter

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.domain.runs import Act, PutBack, Run, UndoReport
from perdure.errors import FailedPrecondition, NotFound, Reason
from perdure.ports import Clock, LifecycleStore
from perdure.usecases.permission import require

BATCH = 50


class UndoRun:
    """Undoes runs of the caller's namespace."""

    def __init__(self, store: LifecycleStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, run_id: str) -> tuple[Run, UndoReport]:
        """The run after it, and what was done. A second undo finds nothing left to do.

        Raises:
            NotFound: this namespace has no run of that id (JOB_NOT_FOUND).
            FailedPrecondition: it is not over yet (JOB_UNFINISHED).
            PermissionDenied: the caller may not write.
        """
        require(caller, TokenScope.WRITE)
        with self._store.survey(caller.scope) as reader:
            run = reader.run(run_id)
        if run is None:
            raise NotFound("There is no such run.", reason=Reason.JOB_NOT_FOUND)
        if not run.finished:
            raise FailedPrecondition(
                "The run is not over yet; wait for its end or cancel it, then undo it.", reason=Reason.JOB_UNFINISHED
            )
        counts: Counter[str] = Counter()
        left: dict[MemoryId, PutBack] = {}
        actor = Actor(name=caller.actor)
        while batch := self._batch(caller, run_id, left):
            with self._store.maintain(caller.scope, actor) as unit:
                for memory, act in batch:
                    outcome = unit.put_back(run_id, memory)
                    if outcome is not PutBack.DONE:
                        left[memory] = outcome
                    else:
                        counts["removed" if act is Act.MADE else "restored"] += 1
        with self._store.maintain(caller.scope, actor) as unit:
            unit.undone(run_id, self._clock.now(), caller.actor)
            after = unit.run(run_id)
        report = UndoReport(
            restored=counts["restored"],
            removed=counts["removed"],
            left=Counter(str(reason) for reason in left.values()),
        )
        return after or run, report

    def _batch(self, caller: Caller, run_id: str, left: dict[MemoryId, PutBack]) -> list[tuple[MemoryId, Act]]:
        with self._store.survey(caller.scope) as reader:
            items = reader.run_items(run_id, len(left) + BATCH)
        return [(item.memory, item.act) for item in items if item.memory not in left]
