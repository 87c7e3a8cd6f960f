"""The experience service as far as the gateway's own tests need it: what was served, and when it is away."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from perdure.domain.experience.learning import Usage
from perdure.domain.namespace import Caller
from perdure.errors import PerdureError


class FakeExperience:
    """Keeps what clients were served. ``fails`` is raised while it is set; any other question is a test's mistake."""

    def __init__(self) -> None:
        self.served: list[tuple[str, str, int, int]] = []
        self.fails: PerdureError | None = None

    async def record_usage(self, caller: Caller, client: str, *, calls: int, tokens_served: int) -> None:
        if self.fails is not None:
            raise self.fails
        self.served.append((caller.namespace, client, calls, tokens_served))

    async def usage(self, caller: Caller, *, days: int = 0) -> tuple[Usage, ...]:
        day = datetime.now(UTC).date().isoformat()
        return tuple(
            Usage(client=client, day=day, calls=calls, tokens_served=tokens, tokens_whole=1000 * calls)
            for namespace, client, calls, tokens in self.served
            if namespace == caller.namespace
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the fake does not know {name}")
