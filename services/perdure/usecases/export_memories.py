"""Hand out every memory with its history, as a stream.

Pages run newest first by creation, so a memory that is there throughout comes exactly once however many are saved or
edited meanwhile; each comes with its history from one consistent view. No view is held open while a client reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from perdure.domain.memory import Filter, Memory, Revision, Status
from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.statement import as_stored
from perdure.ports import ExportStream, Position, Store
from perdure.usecases.permission import require

PAGE = 200


class ExportMemories:
    """Streams memories. No count moves."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(
        self, caller: Caller, filter_: Filter, *, every_status: bool = False, without_history: bool = False
    ) -> ExportStream:
        """Memories that pass the filter, of any status where ``every_status``, each with its revisions newest first.

        Raises:
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        if every_status:
            filter_ = replace(filter_, statuses=tuple(Status))
        return self._stream(caller, as_stored(filter_), without_history)

    def _stream(
        self, caller: Caller, filter_: Filter, without_history: bool
    ) -> Iterator[tuple[Memory, tuple[Revision, ...]]]:
        after: Position | None = None
        while True:
            with self._store.read(caller.scope) as reader:
                page = reader.page(filter_, after=after, limit=PAGE)
                items = [
                    (memory, () if without_history or memory.revision == 1 else reader.history(memory.id))
                    for memory in page.memories
                ]
            yield from items
            if page.next is None:
                return
            after = page.next
