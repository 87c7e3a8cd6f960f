"""How much time a call has left."""

from __future__ import annotations

from typing import Protocol

DEFAULT_S = 30.0
"""Time for a call whose caller set no deadline."""


class HasTime(Protocol):
    """The part of a gRPC servicer's context that is needed here."""

    def time_remaining(self) -> float | None:
        """Seconds until the caller's deadline; None where it set none."""


def time_left_s(call: HasTime, *, default_s: float = DEFAULT_S) -> float:
    """Seconds left for the RPC being served, >= 0; ``default_s`` where its caller set no deadline."""
    left = call.time_remaining()
    # without a deadline gRPC answers None or a time centuries away
    return default_s if left is None or left > 366 * 86400 else max(0.0, left)
