"""Write the counts of deliveries into the store, in one small transaction, and the questions that were used."""

from __future__ import annotations

from perdure.domain.namespace import Actor, Scope
from perdure.errors import NotFound, Unavailable
from perdure.ports import ExperienceStore, Store
from perdure.usecases.question_log import QuestionLog
from perdure.usecases.use_log import UseLog

QUERIES_KEPT = 5000
"""Used questions of a namespace, the newest; 8 MB at 384 dimensions."""


class FlushUses:
    """Empties the use log into the store."""

    def __init__(self, store: Store, log: UseLog) -> None:
        self._store = store
        self._log = log

    def __call__(self) -> int:
        """How many memories' counts were written; 0 where the store is busy, and then they wait for the next time."""
        uses = self._log.take()
        if not uses:
            return 0
        try:
            with self._store.work() as unit:
                unit.record_uses(uses)
        except Unavailable:
            self._log.put_back(uses)
            return 0
        return len(uses)


class FlushQuestions:
    """Empties the log of used questions into the store."""

    def __init__(self, store: ExperienceStore, log: QuestionLog) -> None:
        self._store = store
        self._log = log

    def __call__(self) -> int:
        """How many were written; where the store is busy they wait for the next time."""
        written = 0
        for namespace, used in self._log.take().items():
            try:
                with self._store.experience(Scope(namespace), Actor(name="used_queries", kind="job")) as unit:
                    unit.note_queries(used, keep=QUERIES_KEPT)
            except Unavailable:
                self._log.put_back(namespace, used)
            except NotFound:
                continue  # the namespace is gone, and its questions with it
            else:
                written += len(used)
        return written
