"""Moving in and out by the command line, through a real stack: what came from elsewhere is then found by search."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.moving_in import A, fingerprints, nan_forget, write
from support.stack import Stack, running, wait_until

pytestmark = pytest.mark.e2e

DECIDED = "We decided to use Valkey 8 instead of Redis for the session cache."
ADR = "# 1. Use Kafka\n\nDate: 2025-01-02\n\n## Status\n\nAccepted\n\n## Decision\n\nEvents go through Kafka 3.\n"


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running() as made:
        yield made


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which other products left their memories."""
    home = tmp_path_factory.mktemp("person")
    nan_forget(home / ".nan-forget" / "memories.db", log=True)
    entries = [{"key": "deploy", "content": "Deploys go through Argo.", "importance": 0.9}]
    write(home / ".builderforce-memory" / "memory.json", json.dumps(entries))
    claude = home / ".claude" / "projects" / "-gone-shop"
    write(claude / "memory" / "ports.md", "---\ntype: reference\n---\nStaging listens on port 8081.\n")
    turn = {"type": "user", "message": {"role": "user", "content": DECIDED}, "timestamp": "2026-02-03T04:05:06Z"}
    write(claude / "s.jsonl", json.dumps({**turn, "cwd": "/gone/shop", "sessionId": "s"}) + "\n")
    write(home / "shop" / "docs" / "adr" / "0001-use-kafka.md", ADR)
    write(home / "shop" / "pyproject.toml", "")
    return home


def perdure(stack: Stack, home: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("PERDURE_", "CLAUDE", "CODEX", "MEM0"))}
    return subprocess.run(
        [sys.executable, "-m", "perdure.cli.main", *arguments],
        env={**environment, **stack.environment(), "HOME": str(home)},
        cwd=cwd or home,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def report(ran: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert ran.returncode == 0, ran.stderr
    return dict(json.loads(ran.stdout))


SOURCES = [
    ("nan-forget", 4, "Which database do we use?", "We use Postgres 16 because of its JSON path queries."),
    ("builderforce", 1, "Argo deploys", "Deploys go through Argo."),
    ("claude", 1, "staging port", "Staging listens on port 8081."),
    ("transcripts", 1, "session cache Valkey", DECIDED),
    ("adr", 1, "Kafka events", "Use Kafka\n\nDecision:\nEvents go through Kafka 3."),
]


@pytest.mark.requirement("I4-MOVE-08")
@pytest.mark.parametrize(("name", "count", "query", "text"), SOURCES)
def test_what_another_tool_held_is_found_and_a_second_run_takes_in_nothing(
    stack: Stack, person: Path, name: str, count: int, query: str, text: str
) -> None:
    before = fingerprints(person)
    move = ("import", "--from", name, "--json")
    where = person / "shop" if name == "adr" else person
    looked = report(perdure(stack, person, *move, "--dry-run", cwd=where))
    assert (looked["created"], len(looked["preview"])) == (count, count)
    assert report(perdure(stack, person, *move, cwd=where))["created"] == count
    again = report(perdure(stack, person, *move, cwd=where))
    assert (again["created"], again["merged"], again["unchanged"]) == (0, 0, count)
    assert fingerprints(person) == before
    found = report(perdure(stack, person, "search", query, "--json"))
    assert text in json.dumps(found, ensure_ascii=False).replace("\\n", "\n")


@pytest.mark.requirement("I4-MOVE-01")
def test_times_are_kept_and_the_vector_is_made_here(stack: Stack, person: Path) -> None:
    report(perdure(stack, person, "import", "--from", "nan-forget", "--json"))
    memory = report(perdure(stack, person, "get", A, "--json"))
    assert memory["created_at"] == "2026-03-01T10:00:00Z"
    assert memory["provenance"] == "import"
    wait_until(lambda: report(perdure(stack, person, "get", A, "--json")).get("space"), what="its vector")


@pytest.mark.requirement("I4-MOVE-07")
def test_a_markdown_export_moves_a_whole_memory(stack: Stack, person: Path, tmp_path: Path) -> None:
    report(perdure(stack, person, "import", "--from", "nan-forget", "--json"))
    ran = perdure(stack, person, "export", "--format", "markdown", str(tmp_path / "out"))
    assert ran.returncode == 0, ran.stderr
    files = list((tmp_path / "out").rglob("*.md"))
    assert len(files) >= 4
    back = report(perdure(stack, person, "import", "--from", "markdown", str(tmp_path / "out"), "--json"))
    assert (back["unchanged"], back["created"], back["failed"]) == (len(files), 0, 0)
    with running() as other:
        moved = report(perdure(other, person, "import", "--from", "markdown", str(tmp_path / "out"), "--json"))
        assert (moved["created"], moved["failed"]) == (len(files), 0)
        here, there = (perdure(one, person, "get", A, "--json").stdout for one in (stack, other))
        bookkeeping = ("space", "access_count", "last_accessed_at")  # asking for it was a use
        assert {k: v for k, v in json.loads(there).items() if k not in bookkeeping} == {
            k: v for k, v in json.loads(here).items() if k not in bookkeeping
        }


@pytest.mark.requirement("I4-MOVE-08")
def test_setup_takes_in_what_is_on_the_machine_once(stack: Stack, tmp_path: Path) -> None:
    rows = [{"id": "0000000a-1111-4222-8333-444444444444", "content": "The otter audits the ledgers."}]
    nan_forget(tmp_path / ".nan-forget" / "memories.db", rows)
    before = fingerprints(tmp_path)
    for created in (1, 0):
        ran = perdure(stack, tmp_path, "setup", "--yes")
        assert ran.returncode == 0, ran.stderr
        assert f"Took in 1 memory of NaN Forget: {created} created" in ran.stdout
        assert "Done." in ran.stdout
    assert fingerprints(tmp_path) == before
    assert "otter" in perdure(stack, tmp_path, "search", "Who audits the ledgers?").stdout
