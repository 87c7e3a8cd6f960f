"""Say what a memory weighs now, why, and what will happen to it if nobody uses it."""

from __future__ import annotations

from perdure.domain.decay import confidence_boost, frequency_boost, importance_boost
from perdure.domain.lifecycle import Foreseen
from perdure.domain.memory import MemoryId
from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.retention import forecast
from perdure.ports import Clock, LifecycleStore
from perdure.usecases.find import found
from perdure.usecases.permission import require


class Foresee:
    """Forecasts one memory; looking does not count as a use."""

    def __init__(self, store: LifecycleStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, memory: MemoryId) -> Foreseen:
        """The forecast.

        Raises:
            NotFound: this namespace has none of that id (MEMORY_NOT_FOUND).
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        with self._store.survey(caller.scope) as reader:
            kept = found(reader, memory)
            runs = reader.runs_of(memory)
        return Foreseen(
            memory=kept,
            future=forecast(kept, self._clock.now()),
            frequency_boost=frequency_boost(kept.access_count),
            confidence_boost=confidence_boost(kept.confidence),
            importance_boost=importance_boost(kept.importance),
            runs=runs,
        )
