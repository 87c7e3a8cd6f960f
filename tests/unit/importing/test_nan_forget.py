from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from perdure.domain.memory import MemoryType, Provenance, Status, Tier
from perdure.importing.draft import Kind
from support.memory_world import MemoryWorld
from support.moving_in import (
    NAN_FORGET_ROW,
    NAN_FORGET_ROWS,
    A,
    B,
    C,
    D,
    E,
    fingerprints,
    here,
    kept,
    nan_forget,
    read,
    take_in,
    write,
)


@pytest.fixture
def database(home: Path) -> Path:
    return nan_forget(home / ".nan-forget" / "memories.db")


@pytest.mark.requirement("I4-MOVE-01")
def test_every_field_that_has_a_place_here_comes_over(world: MemoryWorld, home: Path, database: Path) -> None:
    assert take_in(world, read("nan-forget", here(home)).drafts).created == 4
    memories = kept(world)
    decision = memories["We use Postgres 16 because of its JSON path queries."]
    said = decision.statement
    assert decision.id == A
    assert (said.type, said.project, said.tags) == (MemoryType.DECISION, "shop", ("db", "postgres"))
    assert (said.problem, said.solution) == ("Reports were slow", "jsonb_path_ops")
    assert (said.files, said.concepts) == (("src/db.ts",), ("database",))
    assert (decision.confidence, decision.tier, decision.access_count) == (0.95, Tier.CORE, 7)
    assert decision.provenance is Provenance.IMPORT
    assert decision.created_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert decision.updated_at == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert decision.last_accessed_at == datetime(2026, 4, 1, 10, tzinfo=UTC)
    assert decision.origin.host == "nan-forget"
    assert decision.space is None  # its vectors are of another model; ours is made from the text
    archived = memories["The old cluster ran in Dublin."]
    assert (archived.status, archived.expires_at) == (Status.ARCHIVED, datetime(2026, 9, 1, tzinfo=UTC))


def test_what_was_consolidated_is_linked_to_what_it_became_although_the_original_had_no_link_back(
    world: MemoryWorld, home: Path, database: Path
) -> None:
    take_in(world, read("nan-forget", here(home)).drafts)
    memories = kept(world)
    part, whole = memories["Deploys go out on Tuesdays."], memories["Deploys go out on Tuesdays and Thursdays."]
    assert (part.status, part.consolidated_into) == (Status.CONSOLIDATED, D)
    assert (whole.consolidated_from, whole.statement.project, whole.origin.actor) == ((C,), "_global", "ada")


@pytest.mark.requirement("I4-MOVE-02")
def test_moving_in_twice_takes_in_nothing_and_undoes_no_edit(world: MemoryWorld, home: Path, database: Path) -> None:
    drafts = read("nan-forget", here(home)).drafts
    take_in(world, drafts)
    before = kept(world)
    report = take_in(world, read("nan-forget", here(home)).drafts)
    assert (report.created, report.merged, report.unchanged) == (0, 0, 4)
    assert kept(world) == before
    # its every search moves updated_at, which must not bring the old words back
    from perdure.domain.saving import Edit

    world.update(world.me, before["The old cluster ran in Dublin."].id, Edit(content="The cluster ran in Cork."))
    touched = [replace(draft, updated_at=datetime(2027, 1, 1, tzinfo=UTC)) for draft in drafts]
    assert take_in(world, touched).merged == 0
    assert "The cluster ran in Cork." in kept(world)


@pytest.mark.requirement("I4-MOVE-03")
def test_a_dry_run_writes_nothing(world: MemoryWorld, home: Path, database: Path) -> None:
    report = take_in(world, read("nan-forget", here(home)).drafts, dry_run=True)
    assert (report.created, report.dry_run) == (4, True)
    assert kept(world) == {}


@pytest.mark.requirement("I4-MOVE-04")
@pytest.mark.parametrize("log", [False, True])
def test_the_database_is_byte_identical_after_and_the_log_is_read_too(home: Path, log: bool) -> None:
    path = nan_forget(home / ".nan-forget" / "memories.db", log=log)
    if log:
        assert path.stat().st_size < 100_000  # the rows are in the log only
    before = fingerprints(home)
    assert len(read("nan-forget", here(home)).drafts) == 4
    assert fingerprints(home) == before


def test_the_export_gives_the_same_memories_as_the_database(world: MemoryWorld, home: Path, database: Path) -> None:
    rows: list[dict[str, Any]] = [
        {
            name: json.loads(value) if name in ("tags", "files", "concepts", "consolidated_from") else value
            for name, value in (NAN_FORGET_ROW | row).items()
        }
        for row in NAN_FORGET_ROWS
    ]
    export = write(home / "export.json", json.dumps(rows))
    take_in(world, read("nan-forget", here(home)).drafts)
    report = take_in(world, read("nan-forget", here(home), export).drafts)
    assert (report.unchanged, report.created) == (4, 0)


@pytest.mark.requirement("I4-MOVE-05")
def test_a_bad_row_is_reported_with_its_place_and_stops_nothing(world: MemoryWorld, home: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": A, "content": "Good."},
        {"id": B, "content": "   "},
        {"id": C, "content": "Odd.", "type": "banana", "confidence": 7, "created_at": "yesterday", "tags": "not json"},
        {"id": D, "content": "Huge. " + "words and words. " * 3000},
        {"id": E, "content": "Key AKIA" + "IOSFODNN7EXAMPLQ leaked."},
    ]
    found = read("nan-forget", here(home), nan_forget(home / "memories.db", rows))
    assert found.said(Kind.LOST) == [f"memories.db, memory {B}: it has no content"]
    changed = "\n".join(found.said(Kind.CHANGED))
    assert "its type is none of the five" in changed
    assert "its confidence is not between 0 and 1" in changed
    assert "its created_at is no time" in changed
    assert "it became 2 memories" in changed
    report = take_in(world, found.drafts)
    assert (report.created, report.failed) == (5, 0)
    memories = kept(world)
    assert memories["Odd."].statement.type is MemoryType.FACT
    assert not any("AKIAIOSFODNN7" in text for text in memories)
    assert sum(len(text) for text in memories if text.startswith(("Huge", "words"))) > 50_000


def test_a_damaged_database_yields_what_can_be_read_and_says_so(home: Path) -> None:
    rows = [{"id": f"{n:08x}-0000-4000-8000-000000000000", "content": f"Fact {n} holds. " * 40} for n in range(400)]
    path = nan_forget(home / "memories.db", rows)
    raw = bytearray(path.read_bytes())
    page = raw.index(b"Fact 300 holds.") // 4096 * 4096
    raw[page : page + 4096] = b"\xff" * 4096
    path.write_bytes(bytes(raw))
    found = read("nan-forget", here(home), path)
    assert any("cannot be read" in said for said in found.said(Kind.LOST))
    assert len(found.drafts) > 200


@pytest.mark.parametrize("raw", [b"", b"SQLite format 3\x00 but no more", b"{not json", b"[1, 2]", b'{"memories": 3}'])
def test_a_file_that_is_no_store_is_told_of_in_a_sentence(home: Path, raw: bytes) -> None:
    path = home / "memories.db"
    path.write_bytes(raw)
    found = read("nan-forget", here(home), path)
    assert found.drafts == []
    assert found.said(Kind.LOST)


def test_an_old_database_without_the_later_columns_is_read(home: Path) -> None:
    import apsw

    path = home / "memories.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT, type TEXT, project TEXT)")
    connection.execute("INSERT INTO memories VALUES (?, 'Old but true.', 'fact', 'shop')", (A,))
    connection.close()
    (draft,) = read("nan-forget", here(home), path).drafts
    assert (draft.content, draft.confidence, draft.created_at) == ("Old but true.", 0.5, None)


def test_an_export_that_its_limit_cut_short_is_told_of(home: Path) -> None:
    rows = [{"id": str(n), "content": f"Fact {n}."} for n in range(10_000)]
    found = read("nan-forget", here(home), write(home / "export.json", json.dumps(rows)))
    assert len(found.drafts) == 10_000
    assert any("stops at 10,000" in said for said in found.said(Kind.NOTE))


def test_a_folder_is_as_good_as_the_file_in_it(home: Path, database: Path) -> None:
    assert len(read("nan-forget", here(home), database.parent).drafts) == 4


@pytest.mark.requirement("I4-MOVE-02")
def test_an_older_truth_that_moves_in_yields_to_the_newer_one_and_stays_so(world: MemoryWorld, home: Path) -> None:
    # long, and of the same day, so that the stand-in for a model sees two like texts
    text = "The orders service of the shop stores all its data in the production database which is Postgres 1"
    world.say(f"{text}6", project="shop")
    old = [{"id": A, "content": f"{text}4", "created_at": "2026-12-01T01:00:00Z"}]
    path = nan_forget(home / "memories.db", old)
    for created in (1, 0):
        assert take_in(world, read("nan-forget", here(home), path).drafts).created == created
        world.drain()
        status = {text[-2:]: memory.status for text, memory in kept(world).items()}
        assert status == {"16": Status.ACTIVE, "14": Status.SUPERSEDED}
