"""Hooks in each host's real file: beside the person's own, once, and out again."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import perdure
from perdure.hooks.specs import SPECS
from perdure.installer import files
from perdure.installer.connection import Outcome, Plan, carry_out
from perdure.installer.hooking import Runner, hooks_file, is_our_hook, plan_hooks, plan_unhook, runner_of
from perdure.installer.hosts import BY_ID, HOSTS, Host
from perdure.installer.machine import Machine, System
from perdure.installer.refusal import Refused
from perdure.installer.showing import diff
from support.machines import machine

RUNNER = Runner(("/opt/perdure/bin/perdure-hook",), System.LINUX)
HOOKED = [host for host in HOSTS if host.hooks is not None]
by_host = pytest.mark.parametrize("host", HOOKED, ids=lambda host: host.id)

THEIRS = """{
  "permissions": {"deny": ["Bash(rm:*)"]}, // reason
  "hooks": {
    // guards
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard --token abc"}]}],
    "EVENT": [
      {"matcher": "", "hooks": [{"type": "command", "command": "theirs"}]}, // first
    ],
    "Empty": [],
  },
}
"""


THEIRS_IN_A_LIST = """{
  "version": "v1", // theirs
  "hooks": [
    // guards
    {"name": "guard", "trigger": "PreToolUse", "action": {"type": "command", "command": "guard --token abc"}},
    {"name": "them", "trigger": "Stop", "action": {"type": "command", "command": "theirs"}}, // last
  ],
}
"""


def body(host: Host) -> str:
    assert host.hooks is not None
    if "list" in SPECS[host.hooks]:
        return THEIRS_IN_A_LIST
    return THEIRS.replace("EVENT", SPECS[host.hooks]["events"][1]["event"])


def place(host: Host, here: Machine) -> Path:
    path = hooks_file(host, here)
    assert path is not None
    return path


def hook(host: Host, here: Machine, runner: Runner = RUNNER) -> Plan:
    plan = plan_hooks(host, here, runner)
    assert plan is not None
    return carry_out(plan, private=True)


def unhook(host: Host, here: Machine) -> Plan:
    plan = plan_unhook(host, here)
    assert plan is not None
    return carry_out(plan, private=True)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@by_host
@pytest.mark.requirement("CONNECT-09")
def test_hooks_come_and_go_and_leave_every_byte_of_the_others(host: Host, newline: str, tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = place(host, here)
    content = b"\xef\xbb\xbf" + body(host).replace("\n", newline).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)

    assert hook(host, here).outcome is Outcome.CONNECTED
    connected = path.read_bytes()
    assert b"guard --token abc" in connected
    assert connected.count(b"/opt/perdure/bin/perdure-hook") >= len(SPECS[str(host.hooks)]["events"])
    assert hook(host, here).outcome is Outcome.UNCHANGED
    assert hook(host, here, Runner(("/new/perdure-hook",), System.LINUX)).outcome is Outcome.UPDATED
    assert b"/opt/perdure" not in path.read_bytes()
    assert len(files.backups(path)) == 1
    assert unhook(host, here).outcome is Outcome.DISCONNECTED

    assert path.read_bytes() == content
    assert [found.name for found in path.parent.iterdir()] == [path.name]


@by_host
def test_what_was_changed_in_between_stays(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = place(host, here)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body(host), encoding="utf-8")
    hook(host, here)
    path.write_text(path.read_text(encoding="utf-8").replace('"theirs"', '"theirs too"'), encoding="utf-8")

    unhook(host, here)

    assert path.read_text(encoding="utf-8") == body(host).replace('"theirs"', '"theirs too"')


@by_host
def test_a_file_that_was_not_there_goes_again(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)

    assert hook(host, here).outcome is Outcome.CONNECTED
    hooks = json.loads(place(host, here).read_text(encoding="utf-8"))["hooks"]
    events = {element["trigger"] for element in hooks} if isinstance(hooks, list) else set(hooks)
    assert events == {row["event"] for row in SPECS[str(host.hooks)]["events"]}
    assert unhook(host, here).outcome is Outcome.DISCONNECTED
    assert [found for found in here.home.rglob("*") if found.is_file()] == []
    assert unhook(host, here).outcome is Outcome.NOT_CONNECTED


@pytest.mark.parametrize("text", ["{", '{"hooks": []}', '{"hooks": {"%s": {}}}'])
@by_host
def test_a_file_of_another_shape_is_refused_and_untouched(host: Host, text: str, tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = place(host, here)
    if "list" in SPECS[str(host.hooks)]:
        text = text.replace("[]", "{}")
    content = text.replace("%s", SPECS[str(host.hooks)]["events"][0]["event"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")

    assert hook(host, here).outcome is Outcome.REFUSED
    assert path.read_text(encoding="utf-8") == content


@by_host
def test_a_diff_of_hooks_shows_nobody_elses_commands(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = place(host, here)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(body(host), encoding="utf-8")
    plan = plan_hooks(host, here, RUNNER)
    assert plan is not None

    assert "perdure-hook" in diff(plan)
    assert "token abc" not in diff(plan)


def test_a_group_that_runs_ours_and_anothers_is_nobodys_to_cut() -> None:
    ours, theirs = {"command": "/x/perdure-hook --host codex Stop"}, {"command": "theirs"}

    assert is_our_hook({"hooks": [ours]})
    assert not is_our_hook({"hooks": [theirs]})
    assert not is_our_hook({"command": "/x/perdure-hook-wrapper.sh"})
    assert not is_our_hook({"command": "/usr/bin/python3 /x/other/hooks/__main__.py"})
    assert is_our_hook({"command": "python -I -S '/my venv/lib/perdure/hooks/__main__.py' --host codex Stop"})
    assert is_our_hook({"command": "py.exe", "args": ["-I", "C:\\v\\perdure\\hooks\\__main__.py", "--host", "claude"]})
    assert is_our_hook(
        {"trigger": "Stop", "action": {"type": "command", "command": "/x/perdure-hook --host kiro Stop"}}
    )
    assert not is_our_hook({"trigger": "Stop", "action": {"type": "agent", "prompt": "perdure-hook"}})
    assert is_our_hook({"bash": "'/my dir/perdure-hook' --host copilot x"})
    assert is_our_hook({"command": "/usr/bin/python3", "args": ["-m", "perdure.hooks", "--host", "claude", "stop"]})
    with pytest.raises(Refused):
        is_our_hook({"hooks": [ours, theirs]})


@pytest.mark.requirement("I4-HOSTS-02")
def test_what_vscode_reads_too_is_a_whole_command_line(tmp_path: Path) -> None:
    here = machine(tmp_path)
    spaced = Runner(("/opt/my tools/perdure-hook",), System.LINUX)
    hook(BY_ID["claude-code"], here, spaced)
    hook(BY_ID["copilot"], here, spaced)

    claude = json.loads((here.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    copilot = json.loads((here.home / ".copilot" / "hooks" / "perdure.json").read_text(encoding="utf-8"))
    assert claude["hooks"]["UserPromptSubmit"] == [
        {
            "hooks": [
                {
                    "type": "command",
                    "command": "'/opt/my tools/perdure-hook' --host claude UserPromptSubmit",
                    "timeout": 5,
                }
            ]
        }
    ]
    assert copilot["version"] == 1
    assert copilot["hooks"]["sessionEnd"][0]["bash"].startswith("'/opt/my tools/perdure-hook' --host copilot ")


def test_on_windows_claude_gets_a_program_and_its_arguments(tmp_path: Path) -> None:
    here = machine(tmp_path)
    hook(BY_ID["claude-code"], here, Runner(("C:/tools/perdure-hook.exe",), System.WINDOWS))

    claude = json.loads((here.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    handler = claude["hooks"]["Stop"][0]["hooks"][0]
    assert (handler["command"], handler["args"]) == ("C:/tools/perdure-hook.exe", ["--host", "claude", "stop"])


def test_a_moved_folder_is_followed(tmp_path: Path) -> None:
    here = machine(tmp_path, CLAUDE_CONFIG_DIR=str(tmp_path / "cc"), CODEX_HOME="relative")

    assert place(BY_ID["claude-code"], here) == tmp_path / "cc" / "settings.json"
    assert place(BY_ID["codex"], here) == here.home / ".codex" / "hooks.json"


def test_what_is_written_is_a_program_that_answers_its_host(tmp_path: Path) -> None:
    here = machine(tmp_path)
    package = Path(perdure.__file__).parent
    hook(BY_ID["claude-code"], here, runner_of(Path(sys.executable), package, {"PERDURE_PORT": "1"}, System.LINUX))
    settings = json.loads((here.home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    handler = settings["hooks"]["SessionStart"][0]["hooks"][0]

    ran = subprocess.run(
        shlex.split(handler["command"]),
        input=json.dumps({"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(tmp_path)}),
        env={"HOME": str(here.home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
