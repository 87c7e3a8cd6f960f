"""``import --from``, ``export`` in its forms and setup's third step, against a scripted gateway."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from integration.cli.conftest import Command
from perdure.cli.words import SOURCES
from support.moving_in import A, fingerprints, nan_forget, write
from support.rest_gateway import Answered, Asked, RestGateway

REPORT: dict[str, Any] = {
    "read": 4, "created": 4, "unchanged": 0, "merged": 0, "failed": 0, "problems": [], "dry_run": False,
}  # fmt: skip
MEMORY = {
    "id": A, "namespace": "default", "project": "shop", "type": "fact", "content": "Ports begin at 4000",
    "summary": "Ports begin at 4000", "tags": [], "created_at": "2026-03-01T10:00:00Z",
}  # fmt: skip


def echo(asked: Asked) -> dict[str, Any]:
    lines = asked.raw.count(b"\n")
    return {**REPORT, "read": lines, "created": lines, "dry_run": ("dry_run", "true") in asked.query}


@pytest.fixture
def taking(gateway: RestGateway) -> RestGateway:
    gateway.routes["POST /memories/import"] = echo
    return gateway


@pytest.mark.requirement("I4-MOVE-08")
def test_what_is_found_by_itself_is_sent_as_lines_with_its_times(
    perdure: Command, taking: RestGateway, tmp_path: Path
) -> None:
    nan_forget(tmp_path / ".nan-forget" / "memories.db")
    before = fingerprints(tmp_path / ".nan-forget")
    ran = perdure("import", "--from", "nan-forget")
    assert ran.status == 0, ran.err
    assert "Took in 4 memories of NaN Forget: 4 created" in ran.out
    lines = [json.loads(line) for line in taking.last.raw.splitlines()]
    assert lines[0]["id"] == A
    assert lines[0]["created_at"] == "2026-03-01T10:00:00Z"
    assert {line["provenance"] for line in lines} == {"import"}
    assert fingerprints(tmp_path / ".nan-forget") == before


@pytest.mark.requirement("I4-MOVE-03")
def test_a_dry_run_shows_what_would_come_and_no_secret(perdure: Command, taking: RestGateway, tmp_path: Path) -> None:
    secret = "AKIA" + "IOSFODNN7EXAMPLQ"
    rows = [{"id": A, "content": f"The key is {secret}\x1b[31m and red"}, {"id": "x", "content": " "}]
    path = nan_forget(tmp_path / "memories.db", rows)
    ran = perdure("import", "--from", "nan-forget", str(path), "--dry-run")
    assert taking.last.query == [("dry_run", "true")]
    assert "2026-03-01  shop [fact] The key is" in ran.out
    assert "Would take in 1 memory of" in ran.out
    assert secret not in ran.out
    assert "\x1b" not in ran.out
    assert "not understood: memories.db, memory x: it has no content" in ran.err
    assert ran.status == 1
    told = json.loads(perdure("import", "--from", "nan-forget", str(path), "--dry-run", "--json").out)
    assert (told["created"], told["dry_run"], len(told["preview"])) == (1, True, 1)
    assert told["not_understood"] == [{"place": "memories.db, memory x", "reason": "it has no content"}]


def test_a_line_that_the_gateway_refused_is_named_by_its_place_in_the_source(
    perdure: Command, gateway: RestGateway, tmp_path: Path
) -> None:
    trouble = {"line": 2, "reason": "secret_refused", "message": "looks like a secret"}
    gateway.routes["POST /memories/import"] = {**REPORT, "created": 3, "failed": 1, "problems": [trouble]}
    path = nan_forget(tmp_path / "memories.db")
    ran = perdure("import", "--from", "nan-forget", str(path))
    assert ran.status == 1
    assert "not taken in: memories.db, memory 00000002-1111-4222-8333-444444444444: looks like a secret" in ran.err


def test_a_project_can_be_said_for_all_of_it(perdure: Command, taking: RestGateway, tmp_path: Path) -> None:
    path = nan_forget(tmp_path / "memories.db")
    perdure("import", "--from", "nan-forget", str(path), "-p", "elsewhere")
    assert {json.loads(line)["project"] for line in taking.last.raw.splitlines()} == {"elsewhere"}


@pytest.mark.parametrize("name", ["nan-forget", "builderforce", "claude", "transcripts", "mem0", "mcp-memory", "adr"])
def test_where_nothing_is_found_it_says_where_it_looked(perdure: Command, gateway: RestGateway, name: str) -> None:
    ran = perdure("import", "--from", name)
    assert ran.status == 3
    assert "looked for" in ran.err
    assert f"perdure import --from {name} PATH" in ran.err
    assert gateway.asked == []


def test_wrong_words_are_wrong_usage(perdure: Command, gateway: RestGateway, tmp_path: Path) -> None:
    assert perdure("import").status == 2
    assert perdure("import", "a", "b").status == 2
    assert perdure("import", "--from", "nowhere").status == 2
    assert perdure("import", "--from", "adr", "--cap", "3").status == 2
    assert perdure("import", "--from", "markdown").status == 2
    assert perdure("import", "--from", "markdown", str(tmp_path / "gone")).status == 3
    assert perdure("export", "--format", "markdown").status == 2
    assert gateway.asked == []


@pytest.mark.requirement("I4-MOVE-07")
def test_markdown_goes_into_a_folder_of_this_user_alone(perdure: Command, gateway: RestGateway, tmp_path: Path) -> None:
    line = json.dumps(MEMORY).encode() + b"\n"
    gateway.routes["GET /memories/export"] = Answered(raw=line, content_type="application/x-ndjson")
    ran = perdure("export", "--format", "markdown", str(tmp_path / "out"), "-p", "shop")
    assert ran.status == 0, ran.err
    assert gateway.last.query == [("project", "shop"), ("history", "false")]
    (path,) = (tmp_path / "out").rglob("*.md")
    assert path.relative_to(tmp_path).as_posix() == "out/shop/ports-begin-at-4000-444444444444.md"
    assert path.read_text().endswith("---\n\nPorts begin at 4000\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert perdure("export", "--format", "markdown", str(tmp_path / "out")).status == 2


def test_a_block_goes_into_a_memory_md_and_the_rest_stays(
    perdure: Command, gateway: RestGateway, tmp_path: Path
) -> None:
    block = (
        "<!-- perdure:begin (written by perdure; edits inside are lost) -->\n## Memory: shop\n<!-- perdure:end -->\n"
    )
    gateway.routes["GET /memories/memory-md"] = Answered(raw=block.encode(), content_type="text/markdown")
    path = write(tmp_path / "MEMORY.md", "Mine.\n")
    assert perdure("export", "--format", "memory-md", str(path), "-p", "shop").status == 0
    assert gateway.last.query == [("project", "shop")]
    assert path.read_text() == "Mine.\n\n" + block
    assert perdure("export", "--format", "memory-md", str(path), "-p", "a", "-p", "b").status == 2


@pytest.mark.requirement("I4-MOVE-08")
def test_setup_takes_in_what_was_saved_on_purpose_and_names_the_rest(
    perdure: Command, taking: RestGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from perdure.cli import welcome

    monkeypatch.setattr(welcome, "_start", lambda *, yes: 0)
    monkeypatch.setattr(welcome, "_connect", lambda *, yes: 0)
    nan_forget(tmp_path / ".nan-forget" / "memories.db")
    write(tmp_path / ".claude" / "projects" / "-x" / "memory" / "a.md", "Something to keep.")
    write(tmp_path / ".claude" / "projects" / "-x" / "s.jsonl", "{}\n")
    assert "3." not in perdure("setup", "--yes", "--no-import").out
    ran = perdure("setup", "--yes")
    assert ran.status == 0, ran.err
    assert "Took in 4 memories of NaN Forget" in ran.out
    assert "Took in 1 memory of Claude Code's memory" in ran.out
    assert "perdure import --from transcripts --dry-run" in ran.out
    assert len([asked for asked in taking.asked if asked.path == "/memories/import"]) == 2


@pytest.mark.requirement("I4-MOVE-05")
def test_what_is_no_regular_file_is_told_of_and_holds_nothing_up(
    perdure: Command, taking: RestGateway, tmp_path: Path
) -> None:
    write(tmp_path / "notes" / "ports.md", "Ports begin at 4000")
    os.mkfifo(tmp_path / "notes" / "pipe.md")
    (tmp_path / "notes" / "zero.md").symlink_to("/dev/zero")
    ran = perdure("import", "--from", "markdown", str(tmp_path / "notes"))
    assert ran.status == 1
    assert "Took in 1 memory of Markdown files" in ran.out
    for name in ("pipe.md", "zero.md"):
        assert f"not understood: {name}: {tmp_path / 'notes' / name} is no regular file." in ran.err


@pytest.mark.parametrize("source", [name for name in SOURCES if name != "transcripts"])
def test_no_source_waits_for_a_fifo(perdure: Command, taking: RestGateway, tmp_path: Path, source: str) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    ran = perdure("import", "--from", source, str(tmp_path / "pipe.md"))
    assert ran.status == 1
    assert "not understood: pipe.md: " in ran.err


def test_a_transcript_that_is_a_fifo_is_told_of(perdure: Command, taking: RestGateway, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "session.jsonl")
    ran = perdure("import", "--from", "transcripts", str(tmp_path / "session.jsonl"))
    assert ran.status == 1
    assert "not understood: session.jsonl: " in ran.err
    assert "no regular file" in ran.err


def test_one_sees_what_a_long_import_is_at(perdure: Command, taking: RestGateway, tmp_path: Path) -> None:
    path = nan_forget(tmp_path / "memories.db")
    ran = perdure("import", "--from", "nan-forget", str(path), "--dry-run", "--json")
    assert ran.err.splitlines()[:2] == ["Reading NaN Forget …", "Checking 4 memories …"]
    assert json.loads(ran.out)["created"] == 4
