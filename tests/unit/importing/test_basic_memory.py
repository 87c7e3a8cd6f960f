from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure.domain.memory import MemoryType, Provenance
from perdure.importing.draft import Kind
from support.memory_world import MemoryWorld
from support.moving_in import fingerprints, here, kept, read, take_in, write

WRITTEN = datetime(2026, 5, 4, tzinfo=UTC)
NOTE = """---
title: Authentication
type: note
tags: [auth, backend]
permalink: design/authentication
created: 2026-01-02
---

# Authentication

Sessions live in the browser.

## Observations
- [decision] Tokens are JWTs #security
- [constraint] They end after 15 minutes (see the review)
- [ ] an open task of a person's

## Relations
- depends_on [[Users]]
- see [[No Such Note]]
"""
USERS = "---\ntitle: Users\ntags: auth\n---\n- [fact] A user has one e-mail address\n"


@pytest.fixture
def folder(home: Path) -> Path:
    write(home / "basic-memory" / "design" / "Authentication.md", NOTE, at=WRITTEN)
    write(home / "basic-memory" / "Users.md", USERS, at=WRITTEN)
    write(home / "basic-memory" / ".obsidian" / "x.md", "not a note", at=WRITTEN)
    return home / "basic-memory"


@pytest.mark.requirement("I4-MOVE-01")
def test_observations_bodies_and_relations_come_over(world: MemoryWorld, home: Path, folder: Path) -> None:
    found = read("basic-memory", here(home))
    assert take_in(world, found.drafts).failed == 0
    memories = kept(world)
    tokens = memories["Authentication: Tokens are JWTs #security"]
    assert (tokens.statement.type, tokens.statement.tags) == (
        MemoryType.DECISION,
        ("decision", "security", "auth", "backend"),
    )
    assert (tokens.created_at, tokens.updated_at) == (datetime(2026, 1, 2, tzinfo=UTC), WRITTEN)
    assert (tokens.provenance, tokens.statement.project) == (Provenance.IMPORT, "_global")
    assert "Authentication: They end after 15 minutes (see the review)" in memories
    body = next(memory for text, memory in memories.items() if "Sessions live" in text)
    assert "an open task" in body.statement.content
    assert "depends on Users" in body.statement.content
    assert body.statement.concepts == ("Authentication", "Users", "No Such Note")
    assert body.related == (memories["Users: A user has one e-mail address"].id,)


@pytest.mark.requirement("I4-MOVE-02")
def test_moving_in_twice_takes_in_nothing(world: MemoryWorld, home: Path, folder: Path) -> None:
    drafts = read("basic-memory", here(home)).drafts
    take_in(world, drafts)
    report = take_in(world, read("basic-memory", here(home)).drafts)
    assert (report.created, report.merged, report.unchanged) == (0, 0, len(drafts))


def test_the_projects_of_its_settings_are_found_and_named(home: Path) -> None:
    work = home / "notes" / "work"
    write(work / "Users.md", USERS)
    settings = {"projects": {"work": {"path": str(work)}, "gone": str(home / "gone")}, "default_project": "work"}
    write(home / ".basic-memory" / "config.json", json.dumps(settings))
    assert {draft.project for draft in read("basic-memory", here(home)).drafts} == {"work"}


@pytest.mark.requirement("I4-MOVE-04")
@pytest.mark.requirement("I4-MOVE-05")
def test_a_bad_file_is_reported_and_nothing_is_touched(home: Path, folder: Path) -> None:
    (folder / "bad.md").write_bytes(b"\xff\xfe")
    before = fingerprints(home)
    found = read("basic-memory", here(home))
    assert len(found.said(Kind.LOST)) == 1
    assert len(found.drafts) == 4
    assert fingerprints(home) == before
