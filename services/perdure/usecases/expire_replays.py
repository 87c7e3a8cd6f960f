"""Forget the answers of expired idempotency keys, in small transactions."""

from __future__ import annotations

from perdure.ports import Clock, Job, Store
from perdure.usecases.run_job import Report

BATCH = 500


class ExpireReplays:
    """Runner of ``JobKind.EXPIRE_IDEMPOTENCY``."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, job: Job, report: Report) -> str:
        """Forget them all; a sentence with how many."""
        del job  # takes no parameters
        forgotten = 0
        while True:
            with self._store.work() as unit:
                batch = unit.expire_replays(self._clock.now(), BATCH)
            forgotten += batch
            report(forgotten, forgotten)
            if batch < BATCH:
                return f"{forgotten} answers forgotten"
