"""Writes that run to their end although the client hung up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Shield:
    """Keeps writes alive after their request was cancelled, and waits for them at the end."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    async def __call__(self, write: Coroutine[Any, Any, T]) -> T:
        """The result of ``write``; a cancellation of the caller leaves it running."""
        task = asyncio.ensure_future(write)
        self._running.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def drain(self, timeout_s: float) -> None:
        """Waits for writes still running, ``timeout_s`` seconds at most."""
        if self._running:
            await asyncio.wait(self._running, timeout=timeout_s)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # read it, so that an error nobody waits for any more is not reported as lost
            task.exception()
