from __future__ import annotations

import gzip
import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from perdure.domain.memory import Provenance, Status
from perdure.importing.draft import Kind
from support.memory_world import MemoryWorld
from support.moving_in import A, B, C, fingerprints, here, kept, read, take_in, write

EVENTS = (
    (A, None, "Likes pour-over coffee", "ADD", "2026-01-01T08:00:00-08:00", None, 0),
    (A, "Likes pour-over coffee", "Likes espresso", "UPDATE", "2026-01-01T08:00:00-08:00", "2026-02-01 00:00:00", 0),
    (B, None, "Lives in Cork", "ADD", "2026-01-02 03:04:05", None, 0),
    (C, None, "Owns a boat", "ADD", "2026-01-03T00:00:00+00:00", None, 0),
    (C, "Owns a boat", None, "DELETE", "2026-01-03T00:00:00+00:00", "2026-03-01T00:00:00+00:00", 1),
)  # fmt: skip


@pytest.fixture
def history(home: Path) -> Path:
    path = home / ".mem0" / "history.db"
    path.parent.mkdir()
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT, "
        "created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
    )
    for number, event in enumerate(EVENTS):
        connection.execute(
            "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'ada', 'user')", (f"e{9 - number}", *event)
        )
    connection.close()
    return path


@pytest.mark.requirement("I4-MOVE-01")
def test_the_history_gives_the_present_texts_with_their_times(world: MemoryWorld, home: Path, history: Path) -> None:
    found = read("mem0", here(home))
    assert take_in(world, found.drafts).created == 2
    memories = kept(world)
    assert set(memories) == {"Likes espresso", "Lives in Cork"}
    espresso = memories["Likes espresso"]
    assert (espresso.id, espresso.provenance, espresso.origin.actor) == (A, Provenance.IMPORT, "ada")
    assert espresso.created_at == datetime(2026, 1, 1, 16, tzinfo=UTC)
    assert espresso.updated_at == datetime(2026, 2, 1, tzinfo=UTC)
    assert memories["Lives in Cork"].created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert found.said(Kind.LEFT_OUT) == [f"history.db, memory {C}: it was deleted"]


@pytest.mark.requirement("I4-MOVE-02")
def test_history_and_export_are_the_same_memories(world: MemoryWorld, home: Path, history: Path) -> None:
    take_in(world, read("mem0", here(home)).drafts)
    export = {
        "results": [
            {"id": A, "memory": "Likes espresso", "user_id": "ada", "created_at": "2026-01-01T08:00:00-08:00"},
            {"id": B, "memory": "Lives in Cork", "user_id": "ada", "created_at": "2026-01-02T03:04:05Z"},
        ]
    }
    report = take_in(world, read("mem0", here(home), write(home / "all.json", json.dumps(export))).drafts)
    assert (report.created, report.unchanged) == (0, 2)


ROW: dict[str, Any] = {
    "id": A, "memory": "Likes espresso", "user_id": "ada", "agent_id": "chef", "run_id": "r1", "hash": "x",
    "metadata": {"project": "cafe", "category": "taste", "mood": "good"}, "categories": ["food"],
    "created_at": "2026-01-01T00:00:00Z", "updated_at": None, "expiration_date": "2027-01-01",
}  # fmt: skip


@pytest.mark.parametrize(
    "text", [json.dumps([ROW]), json.dumps({"memories": [ROW]}), json.dumps({"results": [ROW]}), json.dumps(ROW) + "\n"]
)
def test_every_form_of_its_json_is_read(home: Path, text: str) -> None:
    found = read("mem0", here(home), write(home / "m.json", text))
    (draft,) = found.drafts
    assert (draft.project, draft.tags, draft.actor, draft.agent, draft.session) == (
        "cafe",
        ("food", "taste"),
        "ada",
        "chef",
        "r1",
    )
    assert draft.expires_at == datetime(2027, 1, 1, tzinfo=UTC)
    assert found.said(Kind.NOTE) == ["m.json: metadata with no place here was not taken in: mood"]


def test_openmemorys_database_is_read_with_its_states(home: Path) -> None:
    path = home / "openmemory.db"
    connection = apsw.Connection(str(path))
    connection.execute(
        "CREATE TABLE users (id CHAR(32), user_id VARCHAR); CREATE TABLE apps (id CHAR(32), name VARCHAR);"
        "CREATE TABLE categories (id CHAR(32), name VARCHAR);"
        "CREATE TABLE memory_categories (memory_id CHAR(32), category_id CHAR(32));"
        "CREATE TABLE memories (id CHAR(32), user_id CHAR(32), app_id CHAR(32), content VARCHAR, vector VARCHAR, "
        "metadata JSON, state VARCHAR(8), created_at DATETIME, updated_at DATETIME);"
        "INSERT INTO users VALUES ('u', 'ada'); INSERT INTO apps VALUES ('p', 'cursor');"
        "INSERT INTO categories VALUES ('c', 'food');"
    )
    for one, state in ((A, "active"), (B, "paused"), (C, "deleted")):
        bare = one.replace("-", "")
        row = (bare, f"Text {state}", state)
        connection.execute(
            "INSERT INTO memories VALUES (?, 'u', 'p', ?, NULL, '{}', ?, '2026-01-01 00:00:00.5', '2026-01-02')", row
        )
        connection.execute("INSERT INTO memory_categories VALUES (?, 'c')", (bare,))
    connection.close()
    found = read("mem0", here(home), path)
    assert [(d.id, d.status, d.agent, d.actor, d.tags) for d in found.drafts] == [
        (A, Status.ACTIVE, "cursor", "ada", ("food",)),
        (B, Status.ARCHIVED, "cursor", "ada", ("food",)),
    ]
    assert len(found.said(Kind.LEFT_OUT)) == 1


def test_openmemorys_backup_is_read(home: Path) -> None:
    row = {"id": A, "content": "Likes espresso", "state": "active", "app": "cursor", "categories": ["food"]}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("memories.json", "{}")
        archive.writestr("memories.jsonl.gz", gzip.compress((json.dumps(row) + "\n").encode()))
    path = home / "backup.zip"
    path.write_bytes(buffer.getvalue())
    (draft,) = read("mem0", here(home), path).drafts
    assert (draft.id, draft.content, draft.tags) == (A, "Likes espresso", ("food",))


@pytest.mark.requirement("I4-MOVE-04")
@pytest.mark.requirement("I4-MOVE-05")
def test_what_is_not_understood_is_reported_and_nothing_is_touched(home: Path, history: Path) -> None:
    write(home / "m.jsonl", json.dumps({"memory": "Good"}) + "\n{broken\n" + json.dumps({"memory": " "}) + "\n")
    write(home / "none.json", "nothing of the kind")
    (home / "bad.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    before = fingerprints(home)
    found = read("mem0", here(home), history, home / "m.jsonl", home / "none.json", home / "bad.zip")
    assert {draft.content for draft in found.drafts} == {"Likes espresso", "Lives in Cork", "Good"}
    assert len(found.said(Kind.LOST)) == 4
    assert fingerprints(home) == before
