"""Issue 4, done when 2: for every host in the table, by the command itself, with entry, hooks and rules.

Settings with comments, foreign hooks, permissions and other servers come through ``connect`` and ``disconnect``
byte-identical outside of what is ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pytest

from integration.installer.test_connection import VARIANTS, body
from perdure.cli.failure import Exit
from perdure.cli.main import run
from perdure.hooks.specs import SPECS
from perdure.installer.hooking import hooks_file
from perdure.installer.hosts import HOSTS, Form, Host
from perdure.installer.machine import Machine, Scope, this_machine
from perdure.installer.rules import rules_of

FOREIGN_HOOKS = """{
  // guards of the house
  "version": 1,
  "permissions": {"deny": ["Bash(rm:*)"]},
  "hooks": {
    "OTHER": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard.sh --token abc"}]}],
    "EVENT": [
      {"command": "theirs.sh"}, /* first ✓ 日本 */
    ],
    "NONE": [],
  },
}
"""
FOREIGN_HOOKS_IN_A_LIST = """{
  "version": "v1", // of the house
  "hooks": [
    {"name": "guard", "trigger": "PreToolUse", "action": {"type": "command", "command": "guard.sh --token abc"}},
    {"name": "them", "trigger": "Stop", "action": {"type": "agent", "prompt": "theirs"}}, /* last ✓ 日本 */
  ],
}
"""
RULES = "# House rules\n\n- Tabs. ✓ 日本\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    for name in [name for name in os.environ if name.startswith(("PERDURE_", "XDG_", "CODEX_", "CLAUDE_", "CLINE_"))]:
        monkeypatch.delenv(name)
    (tmp_path / "home" / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path / "home" / "work")
    return this_machine()


def laid(host: Host, here: Machine, variant: str) -> list[Path]:
    """The host's files, each as somebody has it who uses all that the host can do."""
    texts = {}
    if (path := hooks_file(host, here)) is not None:
        events = [row["event"] for row in SPECS[str(host.hooks)]["events"]]
        hooks = FOREIGN_HOOKS.replace("EVENT", events[0]).replace("NONE", events[-1])
        texts[path] = FOREIGN_HOOKS_IN_A_LIST if "list" in SPECS[str(host.hooks)] else hooks
    texts[host.file(here, Scope.USER)] = body(host)
    if (place := rules_of(host).user_file) is not None:
        texts[place(here)] = RULES
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(VARIANTS[variant](text))
    return list(texts)


def tree(top: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(top)): (path.read_bytes(), path.stat().st_mode)
        for path in top.rglob("*")
        if path.is_file()
    }


def is_all_there(old: bytes, new: Iterable[int]) -> bool:
    """Whether ``new`` is ``old`` with something put in, and nothing taken out or changed."""
    rest = iter(new)
    return all(byte in rest for byte in old)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.id)
@pytest.mark.requirement("I4-DONE-02", "CONNECT-01")
def test_what_people_have_comes_through_every_way_of_connecting(host: Host, variant: str, here: Machine) -> None:
    if host.form is Form.YAML and variant == "tabs":
        pytest.skip("YAML has no tabs")
    paths = laid(host, here, variant)
    before = tree(here.home)
    theirs = {path: path.read_bytes() for path in paths}
    ways = (
        ["--rules"],
        ["--readonly"],
        ["--http", "https://m.example", "--token-env", "PERDURE_TOKEN"],
        ["--no-hooks", "--rules", "--readonly"],
        [],
    )
    for way in ways:
        assert run(["connect", host.id, *way]) == Exit.OK
        for path, old in theirs.items():
            assert is_all_there(old, path.read_bytes()), (way, path.name)
        connected = tree(here.home)
        assert run(["connect", host.id, *way]) == Exit.OK
        assert tree(here.home) == connected, "connecting again changes nothing"
    assert run(["connect", host.id, "--project"]) in (Exit.OK, Exit.ERROR)
    assert run(["disconnect", "--project"]) == Exit.OK
    assert tree(here.home) == connected
    assert run(["disconnect", host.id]) == Exit.OK
    assert tree(here.home) == before


def test_the_table_has_every_host_that_the_issue_names() -> None:
    assert [host.title for host in HOSTS] == [
        "Claude Code", "Claude Desktop", "Cursor", "Windsurf (Devin Desktop)", "VS Code", "Cline", "Gemini CLI",
        "Codex", "Copilot CLI", "opencode", "Zed", "JetBrains Junie", "Kiro", "Goose", "Warp", "Amp", "Antigravity",
    ]  # fmt: skip
