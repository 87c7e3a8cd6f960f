"""Counts the tokens that memory served, by client, and hands the counts on in batches.

A crash loses the last few seconds of counts and nothing else; a service that is away makes them wait.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import structlog
from fastapi import Request

from perdure.domain.namespace import Caller, NamespaceName
from perdure.domain.recall.budget import estimate_tokens
from perdure.errors import DeadlineExceeded, PerdureError, Unavailable
from perdure.gateway.backends_experience import Experience

FLUSH_S = 5.0
CLIENTS_MAX = 2_000
"""Counts kept while the service is away; more clients than this at once are not told apart by name."""

OTHERS = "others"
CLIENT_CHARS_MAX = 100


@dataclass(frozen=True, slots=True)
class _Count:
    caller: Caller
    calls: int
    tokens: int


def client_of(request: Request) -> str:
    """What a REST client calls itself: its user agent without version and comment."""
    return request.headers.get("user-agent", "").split("/")[0].split(" ")[0]


class Meter:
    """Collects counts; ``running`` hands them on while it is entered."""

    def __init__(self, experience: Experience) -> None:
        self._experience = experience
        self._log = structlog.get_logger("perdure.gateway")
        self._counts: dict[tuple[NamespaceName, str], _Count] = {}

    def served(self, caller: Caller, client: str, text: str) -> None:
        """Notes an answer to ``client``, which is what the client calls itself."""
        name = " ".join(client.split())[:CLIENT_CHARS_MAX] or "unknown"
        key = (caller.namespace, name)
        if key not in self._counts and len(self._counts) >= CLIENTS_MAX:
            key = (caller.namespace, OTHERS)
        before = self._counts.get(key)
        self._counts[key] = _Count(
            caller,
            (before.calls if before else 0) + 1,
            (before.tokens if before else 0) + estimate_tokens(text),
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hands counts on every few seconds, and once more at the end."""
        task = asyncio.ensure_future(self._run())
        try:
            yield
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            await self.flush()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_S)
            await self.flush()

    async def flush(self) -> None:
        """Hands on what there is; what cannot be handed on now waits, what is refused is dropped."""
        counts, self._counts = self._counts, {}
        for (namespace, client), count in counts.items():
            try:
                await self._experience.record_usage(count.caller, client, calls=count.calls, tokens_served=count.tokens)
            except (Unavailable, DeadlineExceeded):
                self._put_back(namespace, client, count)
            except PerdureError as refusal:
                self._log.warning("usage.was_refused", code=refusal.code.value, reason=refusal.reason.value)

    def _put_back(self, namespace: NamespaceName, client: str, count: _Count) -> None:
        newer = self._counts.get((namespace, client))
        if newer is not None:
            count = replace(newer, calls=newer.calls + count.calls, tokens=newer.tokens + count.tokens)
        self._counts[namespace, client] = count
