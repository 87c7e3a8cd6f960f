"""What else has to go when a memory is erased.

What was made of a memory holds its words: it is taken apart, its other originals come back. What a memory was made of
is its archive: erased with it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from perdure.domain.memory import Memory, MemoryId, Status
from perdure.errors import AlreadyExists
from perdure.ports import MemoryUnit


def erase(unit: MemoryUnit, memory: Memory, now: datetime) -> int:
    """Erase ``memory`` with all that holds its words; how many memories that were."""
    erased = 0
    for original in memory.consolidated_from:
        kept = unit.get(original)
        if kept is not None:
            erased += erase(unit, replace(kept, consolidated_into=None), now)
    if memory.consolidated_into is not None:
        erased += _take_apart(unit, memory.consolidated_into, memory.id, now)
    return erased + unit.purge(memory.id)


def _take_apart(unit: MemoryUnit, made: MemoryId, but: MemoryId, now: datetime) -> int:
    """Erase what was made of several, and bring the others back; what was made of that again goes first."""
    memory = unit.get(made)
    if memory is None:
        return 0
    erased = 0 if memory.consolidated_into is None else _take_apart(unit, memory.consolidated_into, made, now)
    for original in memory.consolidated_from:
        kept = unit.get(original)
        if original == but or kept is None or kept.status is not Status.CONSOLIDATED:
            continue
        try:
            unit.change(
                kept, replace(kept, status=Status.ACTIVE, consolidated_into=None, updated_at=now), why="restored"
            )
        except AlreadyExists:
            # its text or key is another active memory's: it stays out of search, and can be found as archived
            unit.change(
                kept, replace(kept, status=Status.ARCHIVED, consolidated_into=None, updated_at=now), why="archived"
            )
    return erased + unit.purge(made)
