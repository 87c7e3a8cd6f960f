"""Write the block of ``MEMORY.md`` for a project: its best memories of that project alone."""

from __future__ import annotations

from perdure.domain.decay import confidence_boost, frequency_boost, importance_boost
from perdure.domain.memory import Filter, Memory
from perdure.domain.memory_md import LINES, block
from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.retention import life_of, weight_at
from perdure.ports import Clock, Position, Store
from perdure.usecases.permission import require

PAGE = 500
PAGES_MAX = 20
"""The newest 10,000 of a project are weighed; older ones among more than that are named by nobody."""


class RenderMemoryMd:
    """Renders the block. Showing a summary there is no use: nothing is counted."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, project: str) -> tuple[str, int]:
        """The block, markers included, and how many memories it names.

        Raises:
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        now = self._clock.now()
        filter_ = Filter(projects=(project,), as_of=now)
        best: list[tuple[float, Memory]] = []
        after: Position | None = None
        with self._store.read(caller.scope) as reader:
            for _ in range(PAGES_MAX):
                page = reader.page(filter_, after=after, limit=PAGE)
                best += [(self._worth(memory), memory) for memory in page.memories]
                best = sorted(best, key=lambda item: (-item[0], item[1].id))[:LINES]
                after = page.next
                if after is None:
                    break
        memories = [memory for _, memory in best]
        return block(project, memories), len(memories)

    def _worth(self, memory: Memory) -> float:
        return (
            weight_at(life_of(memory), self._clock.now())
            * frequency_boost(memory.access_count)
            * confidence_boost(memory.confidence)
            * importance_boost(memory.importance)
        )
