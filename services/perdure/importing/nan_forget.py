"""NaN Forget's ``memories.db`` and the JSON of its ``export``.

Its vectors are not read: they were made by other rules, and are made anew here. Two of its habits matter: it archives
what it consolidated without a link back, and its export stops at 10,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from perdure.domain.memory import GLOBAL_PROJECT, MemoryType, Status, Tier
from perdure.importing.draft import Draft, Item, Kind, Remark, Unreadable, identity, key_of, moment, share, words
from perdure.importing.files import columns_of, database, is_sqlite, json_of, rows_of
from perdure.importing.here import Here
from perdure.importing.text import parts_of

NAME = "nan-forget"
EXPORT_ROWS_MAX = 10_000
_TABLE = "memories"
_COLUMNS = (
    "id", "user_id", "content", "type", "status", "project", "tags", "source", "created_at", "updated_at",
    "expires_at", "access_count", "last_accessed", "consolidated_from", "problem", "solution", "files", "concepts",
    "confidence", "provenance", "tier",
)  # fmt: skip
_COUNT_MAX = 2**53 - 1


def places(here: Here) -> list[Path]:
    """Its database, where it always is."""
    return [path for path in (here.home / ".nan-forget" / "memories.db",) if path.is_file()]


def read(path: Path, _here: Here) -> Iterator[Item]:
    """The memories of a database, or of an export's JSON.

    Raises:
        Unreadable: it is neither.
    """
    if path.is_dir():
        path /= "memories.db"
    rows = _of_database(path) if is_sqlite(path) else _of_export(path)
    taken: list[tuple[str, Mapping[str, Any]]] = []
    for item in rows:
        if isinstance(item, Remark):
            yield item
        else:
            taken.append(item)
    made_one_of = {str(old) for _, row in taken for old in words(row.get("consolidated_from"))}
    for place, row in taken:
        yield from _items(place, row, made_one_of)


def _of_database(path: Path) -> Iterator[tuple[str, Mapping[str, Any]] | Remark]:
    with database(path) as connection:
        there = columns_of(connection, _TABLE)
        if not {"id", "content"} <= set(there):
            raise Unreadable(f"{path} has no table of memories as NaN Forget makes it.")
        columns = tuple(name for name in _COLUMNS if name in there)
        for row in rows_of(connection, _TABLE, columns):
            if isinstance(row, str):
                yield Remark(Kind.LOST, path.name, row)
            else:
                yield f"{path.name}, memory {row['id']}", row


def _of_export(path: Path) -> Iterator[tuple[str, Mapping[str, Any]] | Remark]:
    value = json_of(path)
    rows = value.get("memories") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise Unreadable(f"{path} is no export of NaN Forget: it holds no array of memories.")
    if len(rows) == EXPORT_ROWS_MAX:
        yield Remark(
            Kind.NOTE, path.name, "its export stops at 10,000 memories; import memories.db itself to have all of them"
        )
    for number, row in enumerate(rows, 1):
        if isinstance(row, dict):
            yield f"{path.name}, entry {number}", row
        else:
            yield Remark(Kind.LOST, f"{path.name}, entry {number}", "it is no object")


def _items(place: str, row: Mapping[str, Any], made_one_of: set[str]) -> Iterator[Item]:
    content = row.get("content")
    if not isinstance(content, str) or not content.strip():
        yield Remark(Kind.LOST, place, "it has no content")
        return
    doubts: list[str] = []
    created = _time(row, "created_at", doubts)
    state = _status(row, made_one_of, doubts)
    parts = parts_of(content)
    if len(parts) > 1:
        doubts.append(f"its content is longer than a memory may be; it became {len(parts)} memories")
    old = str(row.get("id") or content)
    for number, part in enumerate(parts, 1):
        yield Draft(
            id=identity(NAME, old) if number == 1 else identity(NAME, old, number),
            place=place,
            host=NAME,
            content=part,
            type=_type(row, doubts) if number == 1 else _type(row, []),
            project=str(row.get("project") or GLOBAL_PROJECT),
            key=key_of(row["key"]) if isinstance(row.get("key"), str) and number == 1 else None,
            problem=_text(row, "problem"),
            solution=_text(row, "solution"),
            concepts=words(row.get("concepts")),
            files=words(row.get("files")),
            tags=words(row.get("tags")),
            confidence=_share(row, "confidence", doubts if number == 1 else []),
            tier=Tier.CORE if row.get("tier") == "core" else Tier.REGULAR,
            status=state,
            created_at=created,
            updated_at=_time(row, "updated_at", doubts if number == 1 else []),
            last_accessed_at=_time(row, "last_accessed", []) or _time(row, "last_accessed_at", []) or created,
            expires_at=_time(row, "expires_at", doubts if number == 1 else []),
            access_count=_count(row.get("access_count")),
            agent=str(row.get("source") or ""),
            actor="" if row.get("user_id") in (None, "", "default") else str(row["user_id"]),
            consolidated_from=tuple(identity(NAME, item) for item in words(row.get("consolidated_from"))),
        )
    for doubt in doubts:
        yield Remark(Kind.CHANGED, place, doubt)


def _status(row: Mapping[str, Any], made_one_of: set[str], doubts: list[str]) -> Status:
    given = row.get("status") or "active"
    if given == "active":
        return Status.ACTIVE
    if given == "consolidated" or str(row.get("id")) in made_one_of:
        return Status.CONSOLIDATED
    if given == "superseded":
        return Status.SUPERSEDED
    if given != "archived":
        doubts.append("its status is none we know; it is archived")
    return Status.ARCHIVED


def _type(row: Mapping[str, Any], doubts: list[str]) -> MemoryType:
    given = row.get("type") or "fact"
    try:
        return MemoryType(given)
    except ValueError:
        doubts.append("its type is none of the five (NaN Forget did not check); it is a fact")
        return MemoryType.FACT


def _time(row: Mapping[str, Any], name: str, doubts: list[str]) -> Any:
    given = row.get(name)
    found = moment(given)
    if found is None and given not in (None, ""):
        doubts.append(f"its {name} is no time")
    return found


def _share(row: Mapping[str, Any], name: str, doubts: list[str]) -> float:
    given = row.get(name)
    found = share(given)
    if found is None:
        if given is not None:
            doubts.append(f"its {name} is not between 0 and 1; it is 0.5")
        return 0.5
    return found


def _text(row: Mapping[str, Any], name: str) -> str | None:
    given = row.get(name)
    return given if isinstance(given, str) and given.strip() else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _COUNT_MAX else 0
