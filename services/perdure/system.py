"""The machine's own clock and randomness, behind the ports ``Clock`` and ``Ids``."""

from __future__ import annotations

import os
import secrets
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta

from perdure.domain.memory import MemoryId

_ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789"


class SystemClock:
    """Wall clock in UTC, moved by ``offset_s`` seconds (tests and demonstrations only)."""

    def __init__(self, offset_s: float = 0.0) -> None:
        self._offset = timedelta(seconds=offset_s)

    def now(self) -> datetime:
        """Now, aware UTC."""
        return datetime.now(UTC) + self._offset


class RandomIds:
    """Ids from the operating system's randomness; UUIDv7 that rise within one process. Safe for many threads.

    Source: RFC 9562, section 5.7 and 6.2 (method 1: a 12-bit counter in rand_a).
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last_ms = 0
        self._counter = 0

    def memory(self) -> MemoryId:
        """A new UUIDv7; greater than every one made before by this object."""
        with self._lock:
            now_ms = time.time_ns() // 1_000_000
            if now_ms > self._last_ms:
                self._last_ms = now_ms
                self._counter = int.from_bytes(os.urandom(2), "big") & 0x3FF
            else:
                self._counter += 1
                if self._counter > 0xFFF:
                    self._last_ms += 1
                    self._counter = 0
            millis, counter = self._last_ms, self._counter
        tail = int.from_bytes(os.urandom(8), "big") & ((1 << 62) - 1)
        value = (millis & ((1 << 48) - 1)) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail
        return MemoryId(str(uuid.UUID(int=value)))

    def job(self) -> str:
        """A new job id."""
        return str(self.memory())

    def token(self) -> tuple[str, str]:
        """A new token's id (12 lower-case letters and digits) and its secret (43 URL-safe characters, 256 bits)."""
        return "".join(secrets.choice(_ID_ALPHABET) for _ in range(12)), secrets.token_urlsafe(32)
