"""What a reader yields: drafts of memories, and remarks about what became none.

Pure values. Ids are made from where a thing stands in its source, the same each time, so that moving in twice changes
nothing.
"""

from __future__ import annotations

import enum
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from perdure.domain.memory import (
    GLOBAL_PROJECT,
    KEY_CHARS_MAX,
    LIST_ITEM_CHARS_MAX,
    LIST_ITEMS_MAX,
    PROJECT_CHARS_MAX,
    MemoryType,
    Status,
    Tier,
)

_NAMES = uuid.UUID("2f1d0c52-7b0e-5a8e-9d4e-6c6a3b1f8e77")
_ORIGIN_CHARS_MAX = 200
_MILLISECONDS_FROM = 1e11
"""A number from here on counts milliseconds: as seconds it would be the year 5138."""


class Kind(enum.StrEnum):
    """What a remark is about."""

    LOST = "not understood"  # it became no memory, and should have
    CHANGED = "taken in differently"  # it became a memory that is not all that it was
    LEFT_OUT = "left out"  # on purpose
    NOTE = "note"  # about the source as a whole


@dataclass(frozen=True, slots=True)
class Remark:
    """``place`` says where (file, line or entry), ``reason`` what and why; neither quotes what stands there."""

    kind: Kind
    place: str
    reason: str


class Unreadable(Exception):
    """A source as a whole cannot be read; the message is a sentence for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory as its source has it.

    Times are aware, or None where the source does not tell. ``last_accessed_at`` None: its clock of disuse starts now.
    ``provenance`` is ``import`` for everybody's but our own exports.
    """

    id: str
    place: str
    content: str
    host: str
    type: MemoryType = MemoryType.FACT
    project: str = GLOBAL_PROJECT
    key: str | None = None
    problem: str | None = None
    solution: str | None = None
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    confidence: float = 0.5
    importance: float = 0.5
    tier: Tier = Tier.REGULAR
    status: Status = Status.ACTIVE
    created_at: datetime | None = None
    updated_at: datetime | None = None
    last_accessed_at: datetime | None = None
    expires_at: datetime | None = None
    access_count: int = 0
    agent: str = ""
    session: str = ""
    actor: str = ""
    consolidated_from: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    own: dict[str, Any] | None = None
    """The whole line, for what Perdure wrote itself; the other fields are then for showing only."""

    def line(self, now: datetime) -> dict[str, Any]:
        """As the gateway's import takes it; ``now`` is when it was last used where the source does not tell."""
        if self.own is not None:
            return _clean({**self.own, "project": self.project})
        created = self.created_at or self.updated_at or now
        line: dict[str, Any] = {
            "id": self.id,
            "content": self.content,
            "type": self.type.value,
            "project": (self.project or GLOBAL_PROJECT)[:PROJECT_CHARS_MAX],
            "provenance": "import",
            "confidence": self.confidence,
            "importance": self.importance,
            "tier": self.tier.value,
            "status": self.status.value,
            "concepts": list(_fitting(self.concepts)),
            "files": list(_fitting(self.files)),
            "tags": list(_fitting(self.tags)),
            "created_at": _iso(created),
            "updated_at": _iso(max(created, self.updated_at or created)),
            "last_accessed_at": _iso(self.last_accessed_at or now),
            "access_count": self.access_count,
            "origin": {
                name: value[:_ORIGIN_CHARS_MAX]
                for name, value in (
                    ("host", self.host), ("agent", self.agent), ("session", self.session), ("actor", self.actor),
                )
                if value
            },
        }  # fmt: skip
        optional = {
            "key": self.key,
            "problem": self.problem,
            "solution": self.solution,
            "expires_at": _iso(self.expires_at) if self.expires_at else None,
            "consolidated_from": list(self.consolidated_from),
            "supersedes": list(self.supersedes),
            "related": list(self.related),
        }
        line.update({name: value for name, value in optional.items() if value})
        return _clean(line)


Item = Draft | Remark


def identity(source: str, *parts: object) -> str:
    """The id of the thing at ``parts`` in ``source``; a UUID there stays what it is, so that links hold."""
    if len(parts) == 1:
        try:
            return str(uuid.UUID(str(parts[0])))
        except ValueError:
            pass
    return str(uuid.uuid5(_NAMES, json.dumps([source, *map(str, parts)])))


def moment(value: object) -> datetime | None:
    """A time as other programs write it: ISO 8601, seconds or milliseconds since 1970; without a zone it is UTC."""
    if isinstance(value, bool) or value in (None, ""):
        return None
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
        text = str(value).strip()
        if text.replace(".", "", 1).isdigit() and len(text.partition(".")[0]) >= 9:
            return moment(float(text))
        found = datetime.fromisoformat(text.replace("/", "-"))
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def share(value: object) -> float | None:
    """A number in [0, 1], or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number <= 1 else None


def words(value: object) -> tuple[str, ...]:
    """A list of short texts, however it was written: a list, JSON of a list, or words with commas between."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                return words(json.loads(text))
            except (ValueError, RecursionError):
                text = text.strip("[]")
        value = text.split(",")
    if not isinstance(value, Iterable) or isinstance(value, dict):
        return ()
    found = (" ".join(str(item).split()) for item in value if isinstance(item, str | int | float))
    return tuple(dict.fromkeys(item for item in found if item))


def key_of(text: str) -> str | None:
    """``text`` as a key, or None where it is too long or empty."""
    plain = " ".join(text.split())
    return plain if 0 < len(plain) <= KEY_CHARS_MAX else None


def _clean(line: dict[str, Any]) -> dict[str, Any]:
    """``line`` without halves of characters, which no JSON reader takes."""
    return {name: _whole(value) for name, value in line.items()}


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return _clean(value)
    return [_whole(item) for item in value] if isinstance(value, list) else value


def _fitting(items: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(item[:LIST_ITEM_CHARS_MAX] for item in items[:LIST_ITEMS_MAX])


def _iso(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
