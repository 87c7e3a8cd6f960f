"""The time, and names nobody has used."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from perdure.domain.memory import MemoryId


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Now, aware UTC."""


class Ids(Protocol):
    """Makes names nobody has used."""

    def memory(self) -> MemoryId:
        """A new UUIDv7; sorts by the time it was made."""

    def job(self) -> str:
        """A new job id."""

    def token(self) -> tuple[str, str]:
        """A new token's id (12 lower-case characters) and secret (>= 43 URL-safe characters)."""
