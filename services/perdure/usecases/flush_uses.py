"""Write the counts of deliveries into the store, in one small transaction."""

from __future__ import annotations

from perdure.errors import Unavailable
from perdure.ports import Store
from perdure.usecases.use_log import UseLog


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
