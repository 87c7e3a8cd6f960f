"""mem0: its history database, OpenMemory's database and backup, and the JSON of ``get_all`` or a platform export.

The vectors and the metadata of a self-hosted mem0 are in a vector store of its user's choice, which is not read; the
history beside it has every text and its times.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from perdure.domain.memory import GLOBAL_PROJECT, Status
from perdure.importing.draft import Draft, Item, Kind, Remark, Unreadable, identity, moment, words
from perdure.importing.files import JSON_BYTES_MAX, columns_of, database, is_sqlite, rows_of, text_of
from perdure.importing.here import Here
from perdure.importing.text import parts_of

NAME = "mem0"
_LISTS = ("results", "memories", "data")
_STATES = {"active": Status.ACTIVE, "paused": Status.ARCHIVED, "archived": Status.ARCHIVED}
Row = tuple[str, Mapping[str, Any]]


def places(here: Here) -> list[Path]:
    """The history database in ``MEM0_DIR`` or ``~/.mem0``."""
    path = here.directory("MEM0_DIR", ".mem0") / "history.db"
    return [path] if path.is_file() else []


def read(path: Path, _here: Here) -> Iterator[Item]:
    """The memories of a database, a backup or an export.

    Raises:
        Unreadable: it is none of these.
    """
    if path.is_dir():
        path /= "history.db"
    if is_sqlite(path):
        rows = _of_database(path)
    elif path.is_file() and zipfile.is_zipfile(path):
        rows = _of_backup(path)
    else:
        rows = _of_text(text_of(path, bytes_max=JSON_BYTES_MAX), path.name)
    ignored: set[str] = set()
    for item in rows:
        if isinstance(item, Remark):
            yield item
        else:
            yield from _items(*item, ignored)
    if ignored:
        yield Remark(
            Kind.NOTE, path.name, f"metadata with no place here was not taken in: {', '.join(sorted(ignored))}"
        )


# ------------------------------------------------------------ databases


def _of_database(path: Path) -> Iterator[Row | Remark]:
    with database(path) as connection:
        if {"memory_id", "new_memory", "event"} <= set(columns_of(connection, "history")):
            yield from _history(path, connection)
        elif {"content", "state"} <= set(columns_of(connection, "memories")):
            yield from _open_memory(path, connection)
        else:
            raise Unreadable(f"{path} is neither mem0's history nor OpenMemory's database.")


def _history(path: Path, connection: Any) -> Iterator[Row | Remark]:
    columns = tuple(n for n in columns_of(connection, "history") if n != "id")
    now: dict[str, dict[str, Any]] = {}
    for row in rows_of(connection, "history", columns):
        if isinstance(row, str):
            yield Remark(Kind.LOST, path.name, row)
            continue
        one = str(row["memory_id"])
        first = now.get(one, {}).get("created_at") or row.get("created_at")
        gone = row["event"] == "DELETE" or bool(row.get("is_deleted"))
        now[one] = {
            "id": one,
            "memory": None if gone else row["new_memory"],
            "created_at": first,
            "updated_at": row.get("updated_at") or row.get("created_at"),
            "actor": row.get("actor_id"),
            "gone": gone,
        }
    yield Remark(
        Kind.NOTE,
        path.name,
        "the history has texts and times; users, agents and metadata are in mem0's vector store: to have them too, "
        "import the JSON that get_all answers",
    )
    for one, row in now.items():
        place = f"{path.name}, memory {one}"
        if row["gone"]:
            yield Remark(Kind.LEFT_OUT, place, "it was deleted")
        else:
            yield place, row


def _open_memory(path: Path, connection: Any) -> Iterator[Row | Remark]:
    names: dict[str, dict[str, str]] = {"apps": {}, "users": {}, "categories": {}}
    for table, column in (("apps", "name"), ("users", "user_id"), ("categories", "name")):
        if column in columns_of(connection, table):
            for row in rows_of(connection, table, ("id", column)):
                if isinstance(row, dict):
                    names[table][str(row["id"])] = str(row[column])
    labels: dict[str, list[str]] = {}
    if "memory_id" in columns_of(connection, "memory_categories"):
        for row in rows_of(connection, "memory_categories", ("memory_id", "category_id")):
            label = names["categories"].get(str(row["category_id"])) if isinstance(row, dict) else None
            if label and isinstance(row, dict):
                labels.setdefault(str(row["memory_id"]), []).append(label)
    there = columns_of(connection, "memories")
    wanted = ("id", "content", "state", "created_at", "updated_at", "metadata", "app_id", "user_id")
    for row in rows_of(connection, "memories", tuple(n for n in wanted if n in there)):
        if isinstance(row, str):
            yield Remark(Kind.LOST, path.name, row)
            continue
        yield (
            f"{path.name}, memory {row['id']}",
            {
                **row,
                "agent_id": names["apps"].get(str(row.get("app_id"))),
                "user_id": names["users"].get(str(row.get("user_id"))),
                "categories": labels.get(str(row["id"]), []),
            },
        )


# ------------------------------------------------------------ files


def _of_backup(path: Path) -> Iterator[Row | Remark]:
    """OpenMemory's backup: a ZIP with ``memories.jsonl.gz`` and ``memories.json``."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.rpartition("/")[2]: name for name in archive.namelist()}
            inner = names.get("memories.jsonl.gz") or names.get("memories.json")
            if inner is None:
                raise Unreadable(f"{path} is no backup of OpenMemory: it holds no memories.json.")
            if archive.getinfo(inner).file_size > JSON_BYTES_MAX:
                raise Unreadable(f"{path} is larger than an import takes.")
            raw = archive.read(inner)
        if inner.endswith(".gz"):
            with gzip.GzipFile(fileobj=io.BytesIO(raw)) as file:
                raw = file.read(JSON_BYTES_MAX + 1)
            if len(raw) > JSON_BYTES_MAX:
                raise Unreadable(f"{path} is larger than an import takes.")
        text = raw.decode("utf-8-sig")
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, RuntimeError) as error:
        raise Unreadable(f"{path} cannot be read as a backup ({error}).") from error
    yield from _of_text(text, inner)


def _of_text(text: str, name: str) -> Iterator[Row | Remark]:
    """JSON of a list or an object that holds one, else JSON Lines."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        if isinstance(value.get("relations"), list) and value["relations"]:
            yield Remark(Kind.LEFT_OUT, name, f"{len(value['relations'])} relations of mem0's graph")
        value = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), [value])
    if isinstance(value, list):
        for number, row in enumerate(value, 1):
            yield from _checked(row, f"{name}, entry {number}")
        return
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    rows: list[Row | Remark] = []
    for number, line in lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        rows += _checked(row, f"{name}, line {number}")
    if not any(isinstance(row, tuple) for row in rows):
        raise Unreadable(f"{name} holds no memories as mem0 writes them.")
    yield from rows


def _checked(row: Any, place: str) -> Iterator[Row | Remark]:
    if isinstance(row, dict):
        yield place, row
    else:
        yield Remark(Kind.LOST, place, "it is no JSON object")


# ------------------------------------------------------------ one memory


def _items(place: str, row: Mapping[str, Any], ignored: set[str]) -> Iterator[Item]:
    content = next((row[n] for n in ("memory", "content", "text", "data") if isinstance(row.get(n), str)), "")
    state = str(row.get("state") or "active")
    if state == "deleted" or row.get("deleted_at"):
        yield Remark(Kind.LEFT_OUT, place, "it was deleted")
        return
    if not content.strip():
        yield Remark(Kind.LOST, place, "it has no text")
        return
    if state not in _STATES:
        yield Remark(Kind.CHANGED, place, "its state is none we know; it is archived")
    metadata = _metadata(row.get("metadata"))
    project = metadata.get("project")
    ignored |= {str(name)[:40] for name in metadata if name not in ("project", "category", "categories", "tags")}
    parts = parts_of(content)
    if len(parts) > 1:
        yield Remark(Kind.CHANGED, place, f"its text is too long for one memory; it became {len(parts)}")
    one = row.get("id") or content
    created = moment(row.get("created_at"))
    for number, part in enumerate(parts, 1):
        yield Draft(
            id=identity(NAME, one) if number == 1 else identity(NAME, one, number),
            place=place,
            host=NAME,
            content=part,
            project=project if isinstance(project, str) and project.strip() else GLOBAL_PROJECT,
            tags=words([*words(row.get("categories")), *_labels(metadata)]),
            status=_STATES.get(state, Status.ARCHIVED),
            created_at=created,
            updated_at=moment(row.get("updated_at")) or created,
            expires_at=moment(row.get("expiration_date")),
            agent=str(row.get("agent_id") or ""),
            session=str(row.get("run_id") or ""),
            actor=str(row.get("user_id") or row.get("actor") or ""),
        )


def _metadata(value: object) -> dict[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def _labels(metadata: Mapping[str, Any]) -> list[str]:
    return [item for name in ("category", "categories", "tags") for item in words(metadata.get(name))]
