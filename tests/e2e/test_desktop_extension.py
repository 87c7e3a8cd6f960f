"""What goes into the extension for Claude Desktop runs by itself; packing it is `make mcpb` (it needs npm)."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from perdure import __version__
from support.bridge_process import BridgeProcess
from support.stack import ROOT, running

LIST = {"name": "memory_search", "arguments": {"query": "where do the harbour cranes stand"}}


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that is packed."""
    specification = importlib.util.spec_from_file_location("assemble", ROOT / "deploy" / "mcpb" / "assemble.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    folder = tmp_path_factory.mktemp("extension")
    assert module.assemble(folder) == __version__
    return folder


def command(extension: Path, python: str = sys.executable) -> list[str]:
    manifest = json.loads((extension / "manifest.json").read_text("utf-8"))
    arguments = [item.replace("${__dirname}", str(extension)) for item in manifest["server"]["mcp_config"]["args"]]
    # without site-packages and without our checkout: the standard library and the extension are all there is
    return [python, "-S", "-E", *arguments]


@pytest.fixture
def alone(tmp_path: Path) -> str:
    """A Python without the services' commands beside it, as a desktop program finds one."""
    python = tmp_path / "bin" / "python3"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    return str(python)


@pytest.mark.requirement("I4-MCPB-01")
def test_the_manifest_says_this_version_and_the_tools_that_there_are(extension: Path) -> None:
    manifest = json.loads((extension / "manifest.json").read_text("utf-8"))
    assert manifest["version"] == __version__
    assert {"memory_save", "memory_search", "memory_get"} <= {tool["name"] for tool in manifest["tools"]}
    assert all(tool["description"] for tool in manifest["tools"])
    assert manifest["user_config"]["token"]["sensitive"] is True
    assert (extension / manifest["server"]["entry_point"]).is_file()
    assert (extension / manifest["icon"]).is_file()
    assert {path.suffix for path in (extension / "server").rglob("*") if path.is_file()} == {".py", ".json"}


@pytest.mark.e2e
@pytest.mark.requirement("I4-MCPB-02")
def test_the_extension_saves_and_finds_over_a_running_perdure(extension: Path) -> None:
    with (
        running(without=("worker", "beat", "broker", "maintenance")) as stack,
        # what the person left empty arrives as the host makes it: empty, or the placeholder itself
        BridgeProcess(
            command(extension),
            PERDURE_HOME=str(stack.home),
            PERDURE_PORT=str(stack.port),
            PERDURE_URL="",
            PERDURE_TOKEN="${user_config.token}",
        ) as bridge,
    ):
        assert bridge.initialize()["result"]["serverInfo"]["name"] == "perdure"
        names = {tool["name"] for tool in bridge.ask("tools/list")["result"]["tools"]}
        assert {"memory_save", "memory_search", "memory_start"} <= names
        said = {"name": "memory_save", "arguments": {"content": "The harbour cranes stand on pier seven"}}
        assert bridge.ask("tools/call", said)["result"]["isError"] is False
        found: dict[str, Any] = bridge.ask("tools/call", LIST)["result"]
        assert "pier seven" in json.dumps(found)


def test_without_the_services_it_says_that_they_are_not_installed(extension: Path, alone: str, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": str(tmp_path), "PERDURE_HOME": str(tmp_path / "home")}
    with BridgeProcess(command(extension, alone), PERDURE_AUTOSTART="1", PERDURE_PORT="9", **environment) as bridge:
        bridge.initialize()
        answer = bridge.ask("tools/call", {"name": "memory_start", "arguments": {}}, timeout_s=60)["result"]
        assert answer["isError"] is True
        assert "they are not installed here" in answer["content"][0]["text"]


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for `perdure` is a script with a #! line")
def test_it_starts_the_services_by_the_command_that_the_person_has(extension: Path, alone: str, tmp_path: Path) -> None:
    folder = tmp_path / ".local" / "bin"
    folder.mkdir(parents=True)
    stand_in = folder / "perdure"
    stand_in.write_text('#!/bin/sh\necho "$@" > "$PERDURE_HOME/started"\n')
    stand_in.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    environment = {"HOME": str(tmp_path), "PATH": str(tmp_path), "PERDURE_HOME": str(home)}
    with BridgeProcess(command(extension, alone), PERDURE_AUTOSTART="1", PERDURE_PORT="9", **environment) as bridge:
        bridge.initialize()
        bridge.send("tools/list")
        pause = threading.Event()
        for _ in range(500):
            if (home / "started").exists() and (home / "started").read_text():
                break
            pause.wait(0.02)
        assert (home / "started").read_text() == "up --detach\n"


def test_an_old_python_is_told_what_is_needed(extension: Path) -> None:
    entry = extension / "server" / "main.py"
    program = f"import runpy, sys; sys.version_info = (3, 9, 6); runpy.run_path({str(entry)!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], capture_output=True, text=True, timeout=60, env=dict(os.environ)
    )
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed" in done.stderr
