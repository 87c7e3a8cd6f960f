"""A clock that a test moves, and ids that a test can foretell."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime, timedelta

from perdure.domain.memory import MemoryId

BEGIN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class FakeClock:
    """Stands still until moved."""

    def __init__(self, now: datetime = BEGIN) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, **delta: float) -> None:
        """Moves on by ``timedelta(**delta)``."""
        self._now += timedelta(**delta)


class SequentialIds:
    """UUIDv7-shaped ids that count up; tokens that count up. Safe for many threads."""

    def __init__(self, start: int = 1) -> None:
        self._lock = threading.Lock()
        self._next = start

    def _number(self) -> int:
        with self._lock:
            number = self._next
            self._next += 1
            return number

    def memory(self) -> MemoryId:
        number = self._number()
        return MemoryId(str(uuid.UUID(int=number << 80 | 0x7 << 76 | 0b10 << 62 | number)))

    def job(self) -> str:
        return str(self.memory())

    def token(self) -> tuple[str, str]:
        number = self._number()
        return f"{number:012d}", f"{number:043d}"
