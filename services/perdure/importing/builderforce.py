"""Builderforce Memory's ``memory.json``, with the originals of what it compacted from ``memory.archive.json``.

It stores key, content, tags and importance and nothing else: no times, no expiry, no type.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from perdure.importing.draft import Draft, Item, Kind, Remark, Unreadable, identity, key_of, moment, share, words
from perdure.importing.files import changed_at, json_of
from perdure.importing.here import Here
from perdure.importing.text import parts_of

NAME = "builderforce"
STUB = "[absorbed→Evermind"
FILE = "memory.json"
ARCHIVE = "memory.archive.json"
_LISTS = ("entries", "rows", "memories", "facts", "archive")


def places(here: Here) -> list[Path]:
    """Its snapshot: where a variable says, else where it is now, else where it was once."""
    known = (
        here.directory("BUILDERFORCE_MEMORY_FILE", f".builderforce-memory/{FILE}"),
        here.home / ".builderforce-memory" / FILE,
        here.home / ".claude" / "builderforce-memory" / FILE,
    )
    return [path for path in known if path.is_file()][:1]


def read(path: Path, _here: Here) -> Iterator[Item]:
    """The entries of a snapshot, each key once, as the last one has it.

    Raises:
        Unreadable: it is no snapshot.
    """
    if path.is_dir():
        path /= FILE
    rows = _rows(json_of(path))
    if rows is None:
        raise Unreadable(f"{path} is no snapshot of Builderforce Memory: it holds no array of entries.")
    written = changed_at(path)
    yield Remark(
        Kind.NOTE,
        path.name,
        "Builderforce stores no times and no expiry: the file's own time stands for when each was written, none ends",
    )
    originals: dict[str, str] = {}
    archive = path.with_name(path.stem + ".archive.json") if path.name != FILE else path.with_name(ARCHIVE)
    if archive.is_file():
        try:
            originals = _originals(json_of(archive))
        except Unreadable as fault:
            yield Remark(Kind.LOST, archive.name, str(fault))
    last: dict[str, tuple[str, dict[str, Any]]] = {}
    for number, row in enumerate(rows, 1):
        place = f"{path.name}, entry {number}"
        if not isinstance(row, dict):
            yield Remark(Kind.LOST, place, "it is no object")
            continue
        key = row.get("key")
        name = str(key) if isinstance(key, str | int) and str(key).strip() else f"\0{number}"
        if name in last:
            yield Remark(Kind.LEFT_OUT, last[name][0], "a later entry has the same key")
        last[name] = (place, row)
    for name, (place, row) in last.items():
        yield from _items(name, place, row, originals, written)


def _rows(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for name in _LISTS:
            found = value.get(name)
            if isinstance(found, list):
                return found
            if isinstance(found, dict):
                return _keyed(found)
        if value and all(isinstance(item, str | dict) for item in value.values()):
            return _keyed(value)
    return None


def _keyed(value: dict[str, Any]) -> list[Any]:
    return [{"key": key, **(item if isinstance(item, dict) else {"content": item})} for key, item in value.items()]


def _originals(value: Any) -> dict[str, str]:
    """Full texts by key, and by the first line that a stub shows."""
    found: dict[str, str] = {}
    for row in _rows(value) or []:
        text = _content(row) if isinstance(row, dict) else ""
        if text and not text.lstrip().startswith(STUB):
            found[str(row.get("key") or row.get("id") or "").removeprefix("mem:")] = text
    return found


def _content(row: dict[str, Any]) -> str:
    for name in ("content", "value", "text"):
        given = row.get(name)
        if isinstance(given, str):
            return given
        if given is not None:
            return json.dumps(given, ensure_ascii=False)
    return ""


def _items(name: str, place: str, row: dict[str, Any], originals: dict[str, str], written: datetime) -> Iterator[Item]:
    content = _content(row)
    if not content.strip():
        yield Remark(Kind.LOST, place, "it has no content")
        return
    importance = share(row.get("importance"))
    if importance is None:
        if row.get("importance") is not None:
            yield Remark(Kind.CHANGED, place, "its importance is not between 0 and 1; it is 0.5")
        importance = 0.5
    if content.lstrip().startswith(STUB):
        original = originals.get(name) or _by_first_line(content, originals)
        if original is None:
            importance /= 2
            yield Remark(Kind.CHANGED, place, "only its one-line stub is left; the archive has no original of it")
        else:
            content = original
    key = None if name.startswith("\0") else key_of(name)
    if key is None and not name.startswith("\0"):
        yield Remark(Kind.CHANGED, place, "its key is longer than 200 characters; it has none here")
    created = moment(row.get("timestamp")) or written
    parts = parts_of(content)
    if len(parts) > 1:
        yield Remark(Kind.CHANGED, place, f"its content is too long for one memory; it became {len(parts)}")
    for number, part in enumerate(parts, 1):
        yield Draft(
            # a new text is a new thing that takes the key over; the old one stays in the key's history
            id=identity(NAME, name if key else "", part),
            place=place,
            host=NAME,
            content=part,
            key=key if number == 1 or key is None else key_of(f"{key}#{number}"),
            tags=words(row.get("tags")),
            importance=importance,
            created_at=created,
            updated_at=max(created, written),
        )


def _by_first_line(stub: str, originals: dict[str, str]) -> str | None:
    """The one original that begins as the stub says it does."""
    said = stub.partition("]")[2].strip().removesuffix("…").strip()
    fitting = [text for text in originals.values() if said and text.strip().startswith(said)]
    return fitting[0] if len(fitting) == 1 else None
