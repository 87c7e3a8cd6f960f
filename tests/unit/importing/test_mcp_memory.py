from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from perdure.domain.memory import Provenance
from perdure.importing.draft import Kind
from support.memory_world import MemoryWorld
from support.moving_in import fingerprints, here, kept, read, take_in, write

WRITTEN = datetime(2026, 5, 4, tzinfo=UTC)
ENTITIES: list[dict[str, Any]] = [
    {"name": "Ada", "entityType": "person", "observations": ["Speaks Irish", "Graduated\u2028in 2019"]},
    {"name": "Acme", "entityType": "company", "observations": []},
]
RELATIONS = [{"from": "Ada", "to": "Acme", "relationType": "works_at"}]


@pytest.fixture
def graph(home: Path) -> Path:
    rows = [{"type": "entity", **row} for row in ENTITIES] + [{"type": "relation", **row} for row in RELATIONS]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return write(home / "memory.jsonl", text, at=WRITTEN)


@pytest.mark.requirement("I4-MOVE-01")
def test_each_observation_and_relation_becomes_a_memory(world: MemoryWorld, home: Path, graph: Path) -> None:
    where = here(home, environment={"MEMORY_FILE_PATH": str(graph)})
    found = read("mcp-memory", where)
    assert take_in(world, found.drafts).created == 4
    memories = kept(world)
    irish = memories["Ada: Speaks Irish"]
    assert (irish.statement.concepts, irish.statement.tags) == (("Ada",), ("person",))
    assert (irish.created_at, irish.provenance) == (WRITTEN, Provenance.IMPORT)
    assert memories["Ada works at Acme."].statement.concepts == ("Ada", "Acme")
    assert "Acme is of the kind company." in memories
    assert any("no times" in said for said in found.said(Kind.NOTE))


@pytest.mark.requirement("I4-MOVE-02")
def test_moving_in_twice_and_from_what_read_graph_answers_is_the_same(
    world: MemoryWorld, home: Path, graph: Path
) -> None:
    take_in(world, read("mcp-memory", here(home), graph).drafts)
    answer = write(home / "graph.json", json.dumps({"entities": ENTITIES, "relations": RELATIONS}))
    for path in (graph, answer):
        report = take_in(world, read("mcp-memory", here(home), path).drafts)
        assert (report.created, report.merged, report.unchanged) == (0, 0, 4)


@pytest.mark.requirement("I4-MOVE-05")
def test_what_is_not_understood_is_reported(home: Path) -> None:
    rows = [
        json.dumps({"type": "entity", "name": "Ada", "observations": ["Good", 7]}),
        "{broken",
        json.dumps({"type": "entity", "observations": ["Whose?"]}),
        json.dumps({"type": "relation", "from": "Ada"}),
        json.dumps({"type": "cloud"}),
    ]
    found = read("mcp-memory", here(home), write(home / "memory.jsonl", "\n".join(rows)))
    assert [draft.content for draft in found.drafts] == ["Ada: Good"]
    assert len(found.said(Kind.LOST)) == 5


@pytest.mark.requirement("I4-MOVE-04")
def test_the_file_is_only_read(home: Path, graph: Path) -> None:
    before = fingerprints(home)
    read("mcp-memory", here(home), graph)
    assert fingerprints(home) == before


@pytest.mark.parametrize("text", ["[1]", "words\nand words", '{"a": 1}'])
def test_a_file_that_is_no_graph_is_told_of(home: Path, text: str) -> None:
    found = read("mcp-memory", here(home), write(home / "x.jsonl", text))
    assert (found.drafts, len(found.said(Kind.LOST))) == ([], 1)


SERVICE = """
CREATE TABLE memories (
  id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL, content TEXT NOT NULL, tags TEXT,
  memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, updated_at_iso TEXT,
  deleted_at REAL DEFAULT NULL, store TEXT DEFAULT 'default')
"""


def test_the_database_and_the_export_of_mcp_memory_service_are_the_same_memories(
    world: MemoryWorld, home: Path
) -> None:
    folder = home / ".local" / "share" / "mcp-memory"
    folder.mkdir(parents=True)
    connection = apsw.Connection(str(folder / "sqlite_vec.db"))
    connection.execute(SERVICE)
    made = datetime(2026, 1, 2, tzinfo=UTC).timestamp()
    for one, store, gone in (("a", "default", None), ("b", "shop", None), ("c", "default", made)):
        connection.execute(
            "INSERT INTO memories (content_hash, content, tags, memory_type, created_at, updated_at, deleted_at, store)"
            " VALUES (?, ?, 'x, y', 'decision', ?, ?, ?, ?)",
            (one, f"Text {one}", made, made + 60, gone, store),
        )
    connection.close()
    before = fingerprints(home)
    found = read("mcp-memory", here(home))
    assert fingerprints(home) == before
    assert take_in(world, found.drafts).created == 2
    memory = kept(world)["Text b"]
    assert (memory.statement.project, memory.statement.type.value) == ("shop", "decision")
    assert (memory.statement.tags, memory.created_at) == (("x", "y", "decision"), datetime(2026, 1, 2, tzinfo=UTC))
    assert len(found.said(Kind.LEFT_OUT)) == 1
    rows: list[Any] = [
        {"content": f"Text {one}", "content_hash": one, "tags": ["x", "y"], "memory_type": "decision", "store": store,
         "created_at": made, "updated_at": made + 60}
        for one, store in (("a", "default"), ("b", "shop"))
    ]  # fmt: skip
    export = write(home / "export.json", json.dumps({"export_metadata": {}, "memories": [*rows, 3]}))
    again = read("mcp-memory", here(home), export)
    report = take_in(world, again.drafts)
    assert (report.created, report.unchanged, len(again.said(Kind.LOST))) == (0, 2, 1)
