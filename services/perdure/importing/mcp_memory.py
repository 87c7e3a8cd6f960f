"""The knowledge graph of the reference MCP memory server: JSON Lines of entities and relations.

Each observation becomes a memory of its own, named for its entity, so that a search finds the one that bears on it;
each relation a sentence. The file has no times. What mcp-memory-service keeps or exports is known by its form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from perdure.domain.memory import MemoryType
from perdure.importing import mcp_service
from perdure.importing.draft import Draft, Item, Kind, Remark, Unreadable, identity, words
from perdure.importing.files import JSON_BYTES_MAX, changed_at, is_sqlite, text_of
from perdure.importing.here import Here
from perdure.importing.text import parts_of

NAME = "mcp-memory"


def places(here: Here) -> list[Path]:
    """The file that ``MEMORY_FILE_PATH`` names; by default it lies in the server's own folder, which we cannot know."""
    given = here.environment.get("MEMORY_FILE_PATH", "").strip()
    return [path for path in (Path(given).expanduser(),) if given and path.is_file()] + mcp_service.places(here)


def read(path: Path, _here: Here) -> Iterator[Item]:
    """Observations and relations of a graph, from its file or from what ``read_graph`` answers.

    Raises:
        Unreadable: it holds neither an entity nor a relation.
    """
    if is_sqlite(path):
        yield from mcp_service.of_database(path)
        return
    text = text_of(path, bytes_max=JSON_BYTES_MAX)
    exported = _exported(text)
    if exported is not None:
        yield from mcp_service.of_export(exported, path.name)
        return
    written = changed_at(path)
    rows = _graph(text)
    if rows is None:
        rows = _lines(text)
    known = 0
    lost: list[Remark] = []
    for number, row in rows:
        place = f"{path.name}, {number}"
        kind = row.get("type") if isinstance(row, dict) else None
        items: list[Item] = []
        if isinstance(row, dict) and kind == "entity":
            items = list(_entity(row, place, written))
        elif isinstance(row, dict) and kind == "relation":
            items = list(_relation(row, place, written))
        else:
            lost.append(Remark(Kind.LOST, place, "it is neither an entity nor a relation"))
        known += any(isinstance(item, Draft) for item in items)
        yield from items
    if not known and lost:
        raise Unreadable(f"{path} is no knowledge graph: it holds no entity and no relation.")
    yield Remark(Kind.NOTE, path.name, "the graph has no times: the file's own time stands for when each was written")
    yield from lost


def _exported(text: str) -> list[Any] | None:
    """The memories of an export of mcp-memory-service, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    rows = value.get("memories") if isinstance(value, dict) and "export_metadata" in value else None
    return rows if isinstance(rows, list) else None


def _lines(text: str) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError):
                yield f"line {number}", None


def _graph(text: str) -> Iterator[tuple[str, Any]] | None:
    """The rows of one JSON object with ``entities`` and ``relations``, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("entities"), list):
        return None
    relations = value.get("relations")
    rows = [("entity", row) for row in value["entities"]]
    rows += [("relation", row) for row in relations] if isinstance(relations, list) else []
    return iter(
        [
            (f"{kind} {n}", {**row, "type": kind} if isinstance(row, dict) else None)
            for n, (kind, row) in enumerate(rows, 1)
        ]
    )


def _entity(row: dict[str, Any], place: str, written: datetime) -> Iterator[Item]:
    name, kind = _word(row.get("name")), _word(row.get("entityType"))
    said = row.get("observations")
    if not name or (said is not None and not isinstance(said, list)):
        yield Remark(Kind.LOST, place, "the entity has no name, or its observations are no list")
        return
    tags = (kind,) if kind else ()
    if not said and kind:
        yield _draft(place, written, ("is", name), f"{name} is of the kind {kind}.", (name,), tags)
    for number, observation in enumerate(said or [], 1):
        if not isinstance(observation, str) or not observation.strip():
            yield Remark(Kind.LOST, f"{place}, observation {number}", "it is no text")
            continue
        for part in parts_of(observation):
            yield _draft(place, written, ("says", name, part), f"{name}: {part}", (name,), tags, _type(kind))


def _relation(row: dict[str, Any], place: str, written: datetime) -> Iterator[Item]:
    start, end, kind = (_word(row.get(name)) for name in ("from", "to", "relationType"))
    if not (start and end and kind):
        yield Remark(Kind.LOST, place, "the relation lacks an end or a kind")
        return
    content = f"{start} {kind.replace('_', ' ')} {end}."
    yield _draft(place, written, ("relation", start, kind, end), content, (start, end), ("relation", kind))


def _draft(
    place: str,
    written: datetime,
    parts: tuple[str, ...],
    content: str,
    concepts: tuple[str, ...],
    tags: tuple[str, ...],
    kind: MemoryType = MemoryType.FACT,
) -> Draft:
    return Draft(
        id=identity(NAME, *parts),
        place=place,
        host=NAME,
        content=content,
        type=kind,
        concepts=words(list(concepts)),
        tags=words(list(tags)),
        created_at=written,
        updated_at=written,
    )


def _type(kind: str) -> MemoryType:
    try:
        return MemoryType(kind.casefold())
    except ValueError:
        return MemoryType.FACT


def _word(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
