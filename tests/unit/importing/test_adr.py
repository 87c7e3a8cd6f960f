from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure.domain.memory import MemoryType, Provenance, Status, Tier
from perdure.importing.draft import Kind
from support.memory_world import MemoryWorld
from support.moving_in import fingerprints, here, kept, read, take_in, write

NYGARD = """# 1. Use MySQL

Date: 2024-01-02

## Status

Superseded by [2. Use Postgres](0002-use-postgres.md)

## Context

Orders must be kept somewhere.

## Decision

We will use MySQL 8.

## Consequences

One server more.
"""
SECOND = """# 2. Use Postgres

Date: 2025-03-04

## Status

Accepted

Supersedes [1. Use MySQL](0001-use-mysql.md)

## Context

JSON queries are slow.

## Decision

We will use Postgres 16.
"""
MADR = """---
status: rejected
date: 2025-05-06
---

# Use a graph store

## Context and Problem Statement

Who knows whom?

## Considered Options

* Neo4j
* a table

## Decision Outcome

Chosen option: "a table", because it is there.
"""


@pytest.fixture
def records(home: Path) -> Path:
    root = home / "code" / "shop"
    write(root / "pyproject.toml", "")
    folder = root / "docs" / "adr"
    write(folder / "0001-use-mysql.md", NYGARD)
    write(folder / "0002-use-postgres.md", SECOND)
    write(folder / "0003-graph-store.md", MADR)
    write(folder / "README.md", "# Decisions\n\nAn index.\n")
    write(folder / "notes.md", "Some notes of mine.\n")
    return root


@pytest.mark.requirement("I4-MOVE-01")
def test_decisions_their_reasons_days_and_fates_come_over(world: MemoryWorld, home: Path, records: Path) -> None:
    found = read("adr", here(home, records))
    assert take_in(world, found.drafts).created == 3
    by_key = {memory.statement.key: memory for memory in kept(world).values()}
    first, second, third = (
        by_key[f"adr/{name}"] for name in ("0001-use-mysql.md", "0002-use-postgres.md", "0003-graph-store.md")
    )
    assert second.statement.content == "Use Postgres\n\nDecision:\nWe will use Postgres 16."
    assert second.statement.problem == "JSON queries are slow."
    assert (second.statement.type, second.statement.project) == (MemoryType.DECISION, "shop")
    assert (second.tier, second.confidence, second.provenance) == (Tier.CORE, 0.85, Provenance.IMPORT)
    assert second.created_at == datetime(2025, 3, 4, tzinfo=UTC)
    assert (first.status, first.superseded_by, second.supersedes) == (Status.SUPERSEDED, second.id, (first.id,))
    assert (third.status, third.created_at) == (Status.ARCHIVED, datetime(2025, 5, 6, tzinfo=UTC))
    assert third.statement.content.index("Chosen option") < third.statement.content.index("Neo4j")


@pytest.mark.requirement("I4-MOVE-02")
def test_moving_in_twice_takes_in_nothing(world: MemoryWorld, home: Path, records: Path) -> None:
    take_in(world, read("adr", here(home, records)).drafts)
    report = take_in(world, read("adr", here(home, records / "docs")).drafts)
    assert (report.created, report.merged, report.unchanged) == (0, 0, 3)


@pytest.mark.requirement("I4-MOVE-04")
@pytest.mark.requirement("I4-MOVE-05")
def test_what_is_no_record_is_reported_and_nothing_is_touched(home: Path, records: Path) -> None:
    before = fingerprints(home)
    found = read("adr", here(home, records))
    assert [said.partition(":")[0] for said in found.said(Kind.LOST)] == ["notes.md"]
    assert found.said(Kind.LEFT_OUT) == ["README.md: it is an index or a template"]
    assert fingerprints(home) == before
