"""Claude Code's memory files compressed over a running Perdure, by the command line and by the bridge's tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.bridge_process import BridgeProcess
from support.stack import Stack, running

pytestmark = pytest.mark.e2e

BODY = "# Deploying\n\n" + "\n".join(
    f"{n}. On host h{n} run `deploy --step {n}` and wait for the light." for n in range(30)
)


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running(without=("worker", "beat", "broker", "maintenance")) as started:
        yield started


@pytest.fixture
def memory_file(stack: Stack, tmp_path: Path) -> Path:
    path = tmp_path / "projects" / "-work-shop" / "memory" / "deploy.md"
    path.parent.mkdir(parents=True)
    (path.parent / "MEMORY.md").write_text("- [deploy](deploy.md)\n")
    path.write_text(f"---\nname: deploy\ntype: project\n---\n\n{BODY}\n")
    stack.env["CLAUDE_CONFIG_DIR"] = str(tmp_path)
    return path


def store(stack: Stack, content: str) -> None:
    body = {"content": content, "project": "shop", "key": "memory/deploy.md", "type": "context"}
    assert stack.call("POST", "/memories", body).status == 201


@pytest.mark.requirement("I4-COMPRESS-01", "I4-COMPRESS-02", "I4-COMPRESS-04")
def test_the_command_line_compresses_what_is_stored_and_takes_it_back(stack: Stack, memory_file: Path) -> None:
    before = memory_file.read_bytes()
    store(stack, BODY.replace("h29", "h30"))
    said = stack.perdure("compress", "--apply")
    assert said.returncode == 0
    assert "its whole text is in no memory" in said.stdout
    assert memory_file.read_bytes() == before

    store(stack, BODY)
    said = stack.perdure("compress")
    assert "would become a stub" in said.stdout
    assert memory_file.read_bytes() == before

    said = stack.perdure("compress", "--apply", "--json")
    report = json.loads(said.stdout)
    assert [item["file"] for item in report["compressed"]] == [str(memory_file)]
    held = report["compressed"][0]["memories"][0]
    assert stack.call("GET", f"/memories/{held}?peek=true").json["content"] == BODY
    assert "\n[absorbed→Perdure v" in memory_file.read_text("utf-8")
    assert (memory_file.parent / "MEMORY.md").read_text() == "- [deploy](deploy.md)\n"

    said = stack.perdure("compress", "--undo")
    assert (said.returncode, memory_file.read_bytes()) == (0, before)
    assert stack.perdure("compress", "--undo").returncode == 3
    counted = stack.call("GET", f"/memories/{held}?peek=true").json
    assert counted["access_count"] == 0  # verifying is not use


@pytest.mark.requirement("I4-COMPRESS-06")
def test_the_bridges_tool_does_the_same_and_nothing_unless_told_to(stack: Stack, memory_file: Path) -> None:
    before = memory_file.read_bytes()
    store(stack, BODY)
    config = str(memory_file.parents[3])
    with BridgeProcess(PERDURE_URL=stack.url, PERDURE_HOME=str(stack.home), CLAUDE_CONFIG_DIR=config) as bridge:
        bridge.initialize()
        assert "memory_compress" in {tool["name"] for tool in bridge.ask("tools/list")["result"]["tools"]}
        for arguments in ({}, {"dry_run": True}):
            answer = bridge.ask("tools/call", {"name": "memory_compress", "arguments": arguments})["result"]
            assert "1 memory file would be compressed" in answer["content"][0]["text"]
            assert memory_file.read_bytes() == before
        answer = bridge.ask("tools/call", {"name": "memory_compress", "arguments": {"dry_run": "no"}})["result"]
        assert answer["isError"] is True
        answer = bridge.ask("tools/call", {"name": "memory_compress", "arguments": {"dry_run": False}})["result"]
        assert answer["isError"] is False
        assert "1 memory file is compressed" in answer["content"][0]["text"]
        assert "--undo" in answer["content"][0]["text"]
    assert "[absorbed→Perdure v" in memory_file.read_text("utf-8")
    assert stack.perdure("compress", "--undo").returncode == 0
    assert memory_file.read_bytes() == before


def test_with_the_gateway_away_no_file_is_touched(stack: Stack, memory_file: Path) -> None:
    before = memory_file.read_bytes()
    config = str(memory_file.parents[3])
    with BridgeProcess(
        PERDURE_URL="http://127.0.0.1:9", PERDURE_HOME=str(stack.home), CLAUDE_CONFIG_DIR=config
    ) as bridge:
        bridge.initialize()
        answer = bridge.ask("tools/call", {"name": "memory_compress", "arguments": {"dry_run": False}})["result"]
        assert answer["isError"] is True
        assert "No file was touched." in answer["content"][0]["text"]
    assert memory_file.read_bytes() == before
