"""Counts of deliveries, kept in memory and written in batches off the request path.

A crash loses the last few seconds of counts and nothing else. ``accessed`` moves access_count and last_accessed_at,
``shown`` moves shown_count only.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from datetime import datetime

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import NamespaceName
from perdure.ports import Use


class UseLog:
    """Collects uses from any thread; ``take`` empties it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._uses: dict[tuple[NamespaceName, MemoryId], Use] = {}

    def accessed(self, namespace: NamespaceName, memories: Iterable[MemoryId], at: datetime) -> None:
        """Notes a delivery in full of each memory."""
        self._note(namespace, memories, at, accessed=1, shown=0)

    def shown(self, namespace: NamespaceName, memories: Iterable[MemoryId], at: datetime) -> None:
        """Notes that a summary of each memory was shown."""
        self._note(namespace, memories, at, accessed=0, shown=1)

    def take(self) -> tuple[Use, ...]:
        """Everything noted since the last call."""
        with self._lock:
            uses, self._uses = self._uses, {}
        return tuple(uses.values())

    def put_back(self, uses: Iterable[Use]) -> None:
        """Notes again what could not be written."""
        with self._lock:
            for use in uses:
                self._add(use)

    def _note(
        self, namespace: NamespaceName, memories: Iterable[MemoryId], at: datetime, *, accessed: int, shown: int
    ) -> None:
        with self._lock:
            for memory in memories:
                self._add(Use(namespace=namespace, memory=memory, accessed=accessed, shown=shown, at=at))

    def _add(self, use: Use) -> None:
        key = (use.namespace, use.memory)
        before = self._uses.get(key)
        if before is not None:
            use = Use(
                namespace=use.namespace,
                memory=use.memory,
                accessed=before.accessed + use.accessed,
                shown=before.shown + use.shown,
                at=max(before.at, use.at),
            )
        self._uses[key] = use
