"""Deliver one memory in full."""

from __future__ import annotations

from perdure.domain.memory import Memory, MemoryId
from perdure.domain.namespace import Caller, TokenScope
from perdure.ports import Clock, Store
from perdure.usecases.find import found
from perdure.usecases.permission import require
from perdure.usecases.question_log import QuestionLog
from perdure.usecases.use_log import UseLog


class Get:
    """One memory by id, whatever its status."""

    def __init__(self, store: Store, uses: UseLog, clock: Clock, questions: QuestionLog | None = None) -> None:
        """``questions`` learns which question a memory answered; None keeps none."""
        self._store = store
        self._uses = uses
        self._clock = clock
        self._questions = questions

    def __call__(self, caller: Caller, memory: MemoryId, *, peek: bool = False) -> Memory:
        """The memory; counts as a use unless ``peek``.

        Raises:
            NotFound: this namespace has none of that id (MEMORY_NOT_FOUND).
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        with self._store.read(caller.scope) as reader:
            kept = found(reader, memory)
        if not peek:
            now = self._clock.now()
            self._uses.accessed(caller.namespace, [kept.id], now)
            if self._questions is not None:
                self._questions.read(caller, kept.id, now)
        return kept
