"""Count what is there."""

from __future__ import annotations

from perdure.domain.namespace import Caller, TokenScope
from perdure.ports import Stats, Store
from perdure.usecases.permission import require


class CountMemories:
    """Counts over the caller's namespace."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __call__(self, caller: Caller) -> tuple[Stats, str, int]:
        """Counts, the fingerprint of the space in use (empty before the first vector), the store's bytes.

        Raises:
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        with self._store.read(caller.scope) as reader:
            stats, space = reader.stats(), reader.active_space()
        return stats, space or "", self._store.info().bytes
