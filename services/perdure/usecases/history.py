"""What a memory was before its edits."""

from __future__ import annotations

from perdure.domain.memory import Memory, MemoryId, Revision
from perdure.domain.namespace import Caller, TokenScope
from perdure.ports import Store
from perdure.usecases.find import found
from perdure.usecases.permission import require


class ReadHistory:
    """Reads a memory's revisions. No count moves."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, caller: Caller, memory: MemoryId) -> tuple[Memory, tuple[Revision, ...]]:
        """The memory as it is, and its earlier states, newest first.

        Raises:
            NotFound: this namespace has none of that id (MEMORY_NOT_FOUND).
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        with self._store.read(caller.scope) as reader:
            return found(reader, memory), reader.history(memory)
