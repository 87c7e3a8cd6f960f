"""``perdure setup --yes`` in an empty home, and the entry that it wrote, started as the host would start it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from support.stack import free_port

pytestmark = pytest.mark.e2e

WAIT_S = 120


def perdure(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "perdure.cli", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        cwd=environment["HOME"],
    )


def asked(entry: dict[str, Any], environment: dict[str, str], *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers of the command in an entry, started with nothing but a host's environment."""
    given = {"HOME": environment["HOME"], "PATH": environment["PATH"], **entry.get("env", {})}
    with subprocess.Popen(
        [entry["command"], *entry["args"]], env=given, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answers = []
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        process.wait(WAIT_S)
    return answers


@pytest.mark.requirement("CONNECT-10", "I4-READONLY-01")
def test_setup_starts_and_connects_and_what_it_wrote_works() -> None:
    with tempfile.TemporaryDirectory(prefix="perdure-setup-") as folder:
        home = Path(folder) / "home"
        (home / ".cursor").mkdir(parents=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PERDURE_", "XDG_"))}
        environment |= {
            "HOME": str(home),
            "PATH": "/usr/bin:/bin",
            "PERDURE_HOME": str(Path(folder) / "memory"),
            "PERDURE_PORT": str(free_port()),
            "PERDURE_EMBEDDING_PROVIDER": "test",
        }
        try:
            ran = perdure(environment, "setup", "--yes")
            assert ran.returncode == 0, ran.stderr
            assert "Done." in ran.stdout
            entry = json.loads((home / ".cursor" / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["perdure"]
            hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
            _welcome, tools = asked(
                entry,
                environment,
                {"id": 1, "method": "initialize", "params": hello},
                {"method": "notifications/initialized"},
                {"id": 2, "method": "tools/list", "params": {}},
            )
            assert "memory_search" in {tool["name"] for tool in tools["result"]["tools"]}
            assert perdure(environment, "connect", "cursor", "--readonly").returncode == 0
            entry = json.loads((home / ".cursor" / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["perdure"]
            save = {"name": "memory_save", "arguments": {"content": "We use Postgres 16."}}
            welcome, tools, refused, found = asked(
                entry,
                environment,
                {"id": 1, "method": "initialize", "params": hello},
                {"method": "notifications/initialized"},
                {"id": 2, "method": "tools/list", "params": {}},
                {"id": 3, "method": "tools/call", "params": save},
                {"id": 4, "method": "tools/call", "params": {"name": "memory_search", "arguments": {"query": "x"}}},
            )
            assert "memory_save" not in welcome["result"]["instructions"]
            assert all(tool["annotations"]["readOnlyHint"] for tool in tools["result"]["tools"])
            assert refused["result"]["isError"] and not found["result"]["isError"]
            again = perdure(environment, "setup", "--yes")
            assert "The services run already" in again.stdout
            assert "unchanged" in again.stdout  # what only reads goes on doing so
            assert "updated" in perdure(environment, "connect", "cursor", "--no-readonly").stdout
            assert perdure(environment, "disconnect").returncode == 0
            assert [path for path in home.rglob("*") if path.is_file()] == []
        finally:
            perdure(environment, "down")
