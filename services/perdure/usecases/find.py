"""The memory a caller means, or the one error for every way of not having it."""

from __future__ import annotations

from perdure.domain.memory import Memory, MemoryId
from perdure.errors import Conflict, NotFound, Reason
from perdure.ports import MemoryReader


def found(reader: MemoryReader, memory: MemoryId, *, expected_revision: int | None = None) -> Memory:
    """The memory of that id in the reader's namespace.

    Args:
        reader: A view or a transaction.
        memory: Any text; what is no id is not found either.
        expected_revision: The revision the caller has read; None takes whatever is there.

    Raises:
        NotFound: this namespace has none of that id; another tenant's is not found either.
        Conflict: its revision is another by now (REVISION_MOVED).
    """
    kept = reader.get(memory)
    if kept is None:
        raise NotFound("There is no memory with this id.", reason=Reason.MEMORY_NOT_FOUND)
    if expected_revision is not None and kept.revision != expected_revision:
        raise Conflict(
            f"The memory is at revision {kept.revision} by now; read it again, then repeat the change.",
            reason=Reason.REVISION_MOVED,
            details={"revision": kept.revision, "expected_revision": expected_revision},
        )
    return kept
