"""A circuit breaker: a provider that keeps failing is left alone for a while.

Closed, it lets calls pass; after some failures in a row it opens and refuses them; when its time is over one call goes
through on trial and decides. Knows no provider. Safe for many threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from perdure.errors import Reason, Unavailable

FAILURES: Final = 3
OPEN_S: Final = 5.0
OPEN_MAX_S: Final = 60.0


class Breaker:
    """Counts failures in a row.

    Args:
        now: Monotonic seconds.
        on_change: Told 0 when it closes, 1 when it opens, 0.5 on trial.
        failures: Failures in a row that open it.
        open_s: How long it stays open the first time; each failed trial doubles it, up to 60 s.
    """

    def __init__(
        self,
        now: Callable[[], float],
        *,
        on_change: Callable[[float], None] = lambda _openness: None,
        failures: int = FAILURES,
        open_s: float = OPEN_S,
    ) -> None:
        self._now = now
        self._on_change = on_change
        self._most = failures
        self._first_s = open_s
        self._open_s = open_s
        self._failed = 0
        self._until: float | None = None
        self._trial = False
        self._lock = threading.Lock()

    def admit(self) -> None:
        """Let a call pass; ``succeeded``, ``failed`` or ``gave_up`` must follow.

        Raises:
            Unavailable: it is open, or on trial by another call (CIRCUIT_OPEN).
        """
        with self._lock:
            if self._until is None:
                return
            left_s = self._until - self._now()
            if left_s <= 0 and not self._trial:
                self._trial = True
                self._on_change(0.5)
                return
        raise Unavailable(
            "The embedding provider failed several times in a row and is left alone for a while.",
            reason=Reason.CIRCUIT_OPEN,
            retry_after_s=round(max(left_s, 1.0), 3),
        )

    def succeeded(self) -> None:
        """The call worked."""
        with self._lock:
            self._failed, self._trial, self._open_s = 0, False, self._first_s
            if self._until is not None:
                self._until = None
                self._on_change(0.0)

    def failed(self) -> None:
        """The call failed by the provider's fault."""
        with self._lock:
            self._failed += 1
            if self._trial:
                self._open_s = min(2 * self._open_s, OPEN_MAX_S)
            if self._trial or self._failed >= self._most:
                self._trial = False
                self._until = self._now() + self._open_s
                self._on_change(1.0)

    def gave_up(self) -> None:
        """The call says nothing about the provider."""
        with self._lock:
            self._trial = False
