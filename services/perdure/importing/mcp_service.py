"""The other product that people call the MCP memory: mcp-memory-service, by its SQLite database or its JSON export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from perdure.domain.memory import GLOBAL_PROJECT
from perdure.importing.draft import Draft, Item, Kind, Remark, Unreadable, identity, moment, words
from perdure.importing.files import columns_of, database, rows_of
from perdure.importing.here import Here
from perdure.importing.notes import type_of
from perdure.importing.text import parts_of

HOST = "mcp-memory-service"
FILE = "sqlite_vec.db"
_TABLE = "memories"
_COLUMNS = (
    "content_hash", "content", "tags", "memory_type", "created_at", "updated_at", "created_at_iso", "updated_at_iso",
    "deleted_at", "store",
)  # fmt: skip


def places(here: Here) -> list[Path]:
    """Its database where its settings say, else where it is by default on each system."""
    named = here.environment.get("MCP_MEMORY_SQLITE_PATH", "").strip()
    if named:
        return [path for path in (Path(named).expanduser(),) if path.is_file()]
    folders = (
        here.directory("MCP_MEMORY_BASE_DIR", ".local/share/mcp-memory"),
        here.home / "Library" / "Application Support" / "mcp-memory",
        here.home / "AppData" / "Local" / "mcp-memory",
    )
    return [folder / FILE for folder in folders if (folder / FILE).is_file()][:1]


def of_database(path: Path) -> Iterator[Item]:
    """The memories of its database; the vectors beside them are not read.

    Raises:
        Unreadable: it is another product's.
    """
    with database(path) as connection:
        there = columns_of(connection, _TABLE)
        if not {"content", "content_hash"} <= set(there):
            raise Unreadable(f"{path} is not the database of {HOST}.")
        for row in rows_of(connection, _TABLE, tuple(name for name in _COLUMNS if name in there)):
            if isinstance(row, str):
                yield Remark(Kind.LOST, path.name, row)
            else:
                yield from _items(f"{path.name}, memory {str(row['content_hash'])[:12]}", row)


def of_export(rows: list[Any], name: str) -> Iterator[Item]:
    """The memories of its export."""
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict):
            yield from _items(f"{name}, memory {number}", row)
        else:
            yield Remark(Kind.LOST, f"{name}, memory {number}", "it is no object")


def _items(place: str, row: Mapping[str, Any]) -> Iterator[Item]:
    content = row.get("content")
    if row.get("deleted_at"):
        yield Remark(Kind.LEFT_OUT, place, "it was deleted")
        return
    if not isinstance(content, str) or not content.strip():
        yield Remark(Kind.LOST, place, "it has no content")
        return
    store = row.get("store")
    told = str(row.get("memory_type") or "")
    created = moment(row.get("created_at")) or moment(row.get("created_at_iso"))
    parts = parts_of(content)
    if len(parts) > 1:
        yield Remark(Kind.CHANGED, place, f"its content is too long for one memory; it became {len(parts)}")
    for number, part in enumerate(parts, 1):
        yield Draft(
            id=identity(HOST, row.get("content_hash") or content, number),
            place=place,
            host=HOST,
            content=part,
            type=type_of(told),
            project=store if isinstance(store, str) and store not in ("", "default") else GLOBAL_PROJECT,
            tags=words([*words(row.get("tags")), told]),
            created_at=created,
            updated_at=moment(row.get("updated_at")) or moment(row.get("updated_at_iso")) or created,
        )
