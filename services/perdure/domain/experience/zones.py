"""Time zones of the IANA database."""

from __future__ import annotations

from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


@lru_cache(maxsize=256)
def zone_of(name: str) -> ZoneInfo | None:
    """The zone of that name; None where there is none."""
    if not name or name.startswith(("/", ".")) or ".." in name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def is_zone(name: str) -> bool:
    """True for a zone that this machine knows."""
    return zone_of(name) is not None
