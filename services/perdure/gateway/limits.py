"""How often somebody may ask: token buckets by name, kept in memory, forgotten when idle longest."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

NAMES_MAX = 10_000
"""Buckets kept; a flood of new names pushes out the idlest, never grows the process."""


class Buckets:
    """One bucket a name, of ``per_minute`` requests, refilled evenly."""

    def __init__(self, per_minute: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._now = now
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_s(self, name: str) -> float:
        """Seconds until ``name`` may ask again, 0 where it may now; takes nothing."""
        if self._per_minute <= 0:
            return 0.0
        level = self._level(name, self._now())
        return 0.0 if level >= 1 else (1 - level) * 60 / self._per_minute

    def take(self, name: str) -> float:
        """Takes one request from the bucket and answers 0, or takes nothing and answers the seconds to wait."""
        if self._per_minute <= 0:
            return 0.0
        now = self._now()
        level = self._level(name, now)
        if level < 1:
            self._keep(name, level, now)
            return (1 - level) * 60 / self._per_minute
        self._keep(name, level - 1, now)
        return 0.0

    def _level(self, name: str, now: float) -> float:
        level, at = self._levels.get(name, (float(self._per_minute), now))
        return min(float(self._per_minute), level + (now - at) * self._per_minute / 60)

    def _keep(self, name: str, level: float, now: float) -> None:
        self._levels[name] = (level, now)
        self._levels.move_to_end(name)
        while len(self._levels) > NAMES_MAX:
            self._levels.popitem(last=False)
