from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure.domain.memory import Provenance
from perdure.importing.draft import Kind
from support.memory_world import MemoryWorld
from support.moving_in import fingerprints, here, kept, read, take_in, write

WRITTEN = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
ENTRIES: list[dict[str, Any]] = [
    {"key": "db", "content": "Postgres 16 holds the orders.", "tags": ["db", "ops"], "importance": 0.9},
    {"key": "deploy", "content": "Deploys go out on Tuesdays."},
    {"key": "long", "content": "[absorbed→Evermind v3] The long story of the queue"},
]
ARCHIVE = [{"key": "long", "content": "The long story of the queue\n\nIt is RabbitMQ 3.13 with quorum queues."}]


@pytest.fixture
def snapshot(home: Path) -> Path:
    folder = home / ".builderforce-memory"
    write(folder / "memory.archive.json", json.dumps(ARCHIVE), at=WRITTEN)
    return write(folder / "memory.json", json.dumps(ENTRIES, indent=2), at=WRITTEN)


@pytest.mark.requirement("I4-MOVE-01")
def test_keys_tags_importance_and_the_compacted_originals_come_over(
    world: MemoryWorld, home: Path, snapshot: Path
) -> None:
    found = read("builderforce", here(home))
    assert take_in(world, found.drafts).created == 3
    memories = kept(world)
    orders = memories["Postgres 16 holds the orders."]
    assert (orders.statement.key, orders.statement.tags, orders.importance) == ("db", ("db", "ops"), 0.9)
    assert (orders.created_at, orders.provenance) == (WRITTEN, Provenance.IMPORT)
    assert memories[ARCHIVE[0]["content"]].statement.key == "long"
    assert any("no times and no expiry" in said for said in found.said(Kind.NOTE))


@pytest.mark.parametrize(
    "value",
    [
        {"entries": ENTRIES},
        {"version": 2, "entries": {row["key"]: row for row in ENTRIES}},
        [{"key": row["key"], "value": row["content"]} for row in ENTRIES],
    ],
)
def test_the_forms_that_other_readers_of_the_file_take_are_taken(home: Path, snapshot: Path, value: Any) -> None:
    write(snapshot, json.dumps(value))
    drafts = read("builderforce", here(home)).drafts
    assert [draft.key for draft in drafts] == ["db", "deploy", "long"]
    assert drafts[2].content == ARCHIVE[0]["content"]


def test_a_stub_without_an_original_is_taken_with_less_importance_and_said(home: Path, snapshot: Path) -> None:
    (snapshot.parent / "memory.archive.json").unlink()
    found = read("builderforce", here(home))
    assert found.drafts[2].importance == 0.25
    assert any("no original" in said for said in found.said(Kind.CHANGED))


@pytest.mark.requirement("I4-MOVE-02")
def test_moving_in_twice_takes_in_nothing_even_where_the_file_was_written_anew(
    world: MemoryWorld, home: Path, snapshot: Path
) -> None:
    take_in(world, read("builderforce", here(home)).drafts)
    write(snapshot, json.dumps(ENTRIES), at=datetime(2027, 1, 1, tzinfo=UTC))
    report = take_in(world, read("builderforce", here(home)).drafts)
    assert (report.created, report.merged, report.unchanged) == (0, 0, 3)


def test_a_changed_entry_takes_its_key_over_and_leaves_its_old_text_in_history(
    world: MemoryWorld, home: Path, snapshot: Path
) -> None:
    take_in(world, read("builderforce", here(home)).drafts)
    changed = [{**ENTRIES[0], "content": "Postgres 17 holds the orders."}, *ENTRIES[1:]]
    write(snapshot, json.dumps(changed), at=datetime(2027, 1, 1, tzinfo=UTC))
    assert take_in(world, read("builderforce", here(home)).drafts).merged == 1
    memory = kept(world)["Postgres 17 holds the orders."]
    assert [r.before.statement.content for r in world.history(world.me, memory.id)[1]] == [ENTRIES[0]["content"]]


@pytest.mark.requirement("I4-MOVE-05")
def test_what_is_not_understood_is_reported(home: Path) -> None:
    rows = [
        3,
        {"key": "empty", "content": ""},
        {"key": "number", "value": 42, "importance": 9},
        {"key": "x" * 300, "content": "Its key is too long."},
        {"key": "twice", "content": "first"},
        {"key": "twice", "content": "second"},
    ]
    found = read("builderforce", here(home), write(home / "memory.json", json.dumps(rows)))
    assert found.said(Kind.LOST) == ["memory.json, entry 1: it is no object", "memory.json, entry 2: it has no content"]
    assert [draft.content for draft in found.drafts] == ["42", "Its key is too long.", "second"]
    assert len(found.said(Kind.CHANGED)) == 2
    assert len(found.said(Kind.LEFT_OUT)) == 1


@pytest.mark.requirement("I4-MOVE-04")
def test_the_files_are_only_read(home: Path, snapshot: Path) -> None:
    before = fingerprints(home)
    read("builderforce", here(home))
    assert fingerprints(home) == before


def test_an_older_place_is_looked_at_where_the_present_one_is_empty(home: Path) -> None:
    write(home / ".claude" / "builderforce-memory" / "memory.json", json.dumps(ENTRIES))
    assert len(read("builderforce", here(home)).drafts) == 3
    elsewhere = write(home / "facts.json", json.dumps(ENTRIES[:1]))
    named = here(home, environment={"BUILDERFORCE_MEMORY_FILE": str(elsewhere)})
    assert len(read("builderforce", named).drafts) == 1


@pytest.mark.parametrize("text", ["", "{", "7", '"text"'])
def test_a_broken_snapshot_is_told_of_in_a_sentence(home: Path, text: str) -> None:
    found = read("builderforce", here(home), write(home / "memory.json", text))
    assert (found.drafts, len(found.said(Kind.LOST))) == ([], 1)
