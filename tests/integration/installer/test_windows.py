"""The shapes of commands on Windows: real programs, the hook's own settings, paths with spaces."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from perdure.cli.connecting import bridge
from perdure.hooks.main import arguments, settings_in
from perdure.installer.connection import carry_out
from perdure.installer.entry import BRIDGE, is_ours
from perdure.installer.hooking import is_our_hook, plan_hooks, runner_of
from perdure.installer.hosts import BY_ID
from perdure.installer.machine import System
from support.hook_payloads import DECISION, payload
from support.hook_process import run_hook
from support.machines import machine

PYTHON = Path("C:/Program Files/Python/python.exe")
PACKAGE = Path("C:/Program Files/Python/Lib/perdure")


@pytest.mark.requirement("I4-WINDOWS-01")
def test_the_bridge_is_a_real_program_and_never_a_script(tmp_path: Path) -> None:
    python = tmp_path / "python.exe"
    for name in (BRIDGE, f"{BRIDGE}.cmd"):
        (tmp_path / name).touch()
    bare = bridge({}, python=str(python), windows=True)
    (tmp_path / f"{BRIDGE}.exe").touch()
    found = bridge({}, python=str(python), windows=True, readonly=True)

    assert (bare.command, bare.args) == (str(python), ("-m", "perdure.bridge.main"))
    assert (found.command, found.args) == (str(tmp_path / f"{BRIDGE}.exe"), ("--readonly",))
    assert is_ours({"command": found.command, "args": list(found.args)})


@pytest.mark.requirement("I4-WINDOWS-01")
def test_hooks_are_told_of_a_chosen_home_without_a_program_to_set_it(tmp_path: Path) -> None:
    here = machine(tmp_path, System.WINDOWS)
    variables = {"PERDURE_HOME": "C:\\My Memory"}
    runner = runner_of(PYTHON, PACKAGE, variables, System.WINDOWS, readonly=True)
    for host in ("claude-code", "codex"):
        plan = plan_hooks(BY_ID[host], here, runner)
        assert plan is not None
        carry_out(plan, private=True)

    claude = json.loads((here.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    handler = claude["hooks"]["SessionStart"][0]["hooks"][0]
    assert handler["command"] == str(PYTHON)
    assert "PERDURE_HOME=C:\\My Memory" in handler["args"]
    assert arguments(handler["args"][4:]) == ("claude", "session-start")
    codex = json.loads((here.home / ".codex" / "hooks.json").read_text(encoding="utf-8"))
    (group,) = codex["hooks"]["UserPromptSubmit"]
    line = group["hooks"][0]["command"]
    assert line.startswith(f'"{PYTHON}" -I -S ')
    assert '"PERDURE_HOME=C:\\My Memory" --readonly --host codex UserPromptSubmit' in line
    assert "env" not in line.split()
    assert is_our_hook(group)


def test_the_hook_takes_its_home_from_its_command_line(tmp_path: Path) -> None:
    words = [f"PERDURE_HOME={tmp_path / 'of the line'}", "PERDURE_PORT=9", "--host", "claude", "stop"]
    assert settings_in(words) == {"PERDURE_HOME": str(tmp_path / "of the line"), "PERDURE_PORT": "9"}
    assert arguments(words) == ("claude", "stop")
    hook = [sys.executable, "-m", "perdure.hooks", *words]
    body = payload("claude", "Stop", cwd=str(tmp_path), last_assistant_message=DECISION)
    done = run_hook("claude", "stop", body, home=tmp_path / "other", url="http://127.0.0.1:9", words=hook)

    assert (done.returncode, done.stdout) == (0, b"")
    assert list((tmp_path / "of the line" / "spool").glob("*.json"))
    assert not (tmp_path / "other").exists()
