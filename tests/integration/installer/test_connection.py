"""Every host's real file, on disk: connected, connected again, disconnected."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from perdure.installer import files
from perdure.installer.connection import Outcome, Plan, carry_out, plan_connect, plan_disconnect
from perdure.installer.entry import Launch, Remote
from perdure.installer.hosts import BY_ID, HOSTS, Form, Host
from perdure.installer.machine import Machine, Scope, System
from perdure.installer.showing import diff
from support.machines import BRIDGE, machine

by_host = pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.id)

JSON_BODY = """{
  // mine, do not touch
  "permissions": {"deny": ["Bash(rm:*)"], "allow": ["mcp__other__*"]},
  "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "guard.sh"}]}]}, /* guard */
  "CONTAINER": {
    "github": {"command": "gh-mcp", "env": {"GITHUB_TOKEN": "ghp_abcdefghijklmnopqrstuvwxyz0123456789"}}, // ✓ 日本
  },
  "last": "word",
}
"""
TOML_BODY = """model = "gpt-5" # mine

[mcp_servers.github]
command = "gh-mcp"
env = { GITHUB_TOKEN = "ghp_abcdefghijklmnopqrstuvwxyz0123456789" }

[[hooks.Stop]]
command = "guard.sh" # ✓ 日本
"""
YAML_BODY = """GOOSE_MODEL: gpt-5 # mine
extensions:
  # first
  github:
    cmd: gh-mcp
    envs:
      GITHUB_TOKEN: ghp_abcdefghijklmnopqrstuvwxyz0123456789
    enabled: true # ✓ 日本
last: word
"""
VARIANTS = {
    "plain": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "tabs": lambda text: text.replace("  ", "\t").encode(),
    "no final newline": lambda text: text.rstrip("\n").encode(),
}


def body(host: Host) -> str:
    match host.form:
        case Form.JSON:
            return JSON_BODY.replace("CONTAINER", host.container[0])
        case Form.TOML:
            return TOML_BODY
        case Form.YAML:
            return YAML_BODY


def connect(host: Host, here: Machine, target: Launch | Remote = BRIDGE, scope: Scope = Scope.USER) -> Plan:
    return carry_out(plan_connect(host, here, scope, target, BRIDGE), private=scope is Scope.USER)


def disconnect(host: Host, here: Machine, scope: Scope = Scope.USER) -> Plan:
    return carry_out(plan_disconnect(host, here, scope), private=scope is Scope.USER)


def laid(host: Host, here: Machine, content: bytes) -> Path:
    path = host.file(here, Scope.USER)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def is_connected(host: Host, text: str) -> bool:
    return BRIDGE.command in text


def tree(top: Path) -> dict[str, bytes]:
    return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}


@pytest.mark.parametrize("variant", VARIANTS)
@by_host
@pytest.mark.requirement("CONNECT-01", "CONNECT-03")
def test_settings_come_through_connect_and_disconnect_byte_for_byte(host: Host, variant: str, tmp_path: Path) -> None:
    if host.form is Form.YAML and variant == "tabs":
        pytest.skip("YAML has no tabs")
    here = machine(tmp_path)
    content = VARIANTS[variant](body(host))
    path = laid(host, here, content)
    before = tree(here.home)

    assert connect(host, here).outcome is Outcome.CONNECTED
    connected = path.read_bytes()
    assert connected != content
    assert connect(host, here).outcome is Outcome.UNCHANGED
    assert connect(host, here, Launch("/new/bin/perdure-bridge")).outcome is Outcome.UPDATED
    assert connect(host, here).outcome is Outcome.UPDATED
    assert path.read_bytes() == connected
    assert [backup.content for backup in files.backups(path)] == [content]
    assert disconnect(host, here).outcome is Outcome.DISCONNECTED

    assert tree(here.home) == before
    assert disconnect(host, here).outcome is Outcome.NOT_CONNECTED


@by_host
def test_what_the_host_writes_in_between_stays(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = laid(host, here, body(host).encode())
    connect(host, here)
    path.write_text(path.read_text(encoding="utf-8").replace("gh-mcp", "gh-mcp-2"), encoding="utf-8")

    assert disconnect(host, here).outcome is Outcome.DISCONNECTED
    assert path.read_text(encoding="utf-8") == body(host).replace("gh-mcp", "gh-mcp-2")
    assert [backup.content for backup in files.backups(path)] == [body(host).encode()]


@pytest.mark.parametrize("system", System, ids=lambda system: system.value)
@by_host
def test_a_host_without_a_file_gets_one_and_loses_it_again(host: Host, system: System, tmp_path: Path) -> None:
    here = machine(tmp_path, system)

    assert connect(host, here).outcome is Outcome.CONNECTED
    path = host.file(here, Scope.USER)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tree(here.home)) == [str(path.relative_to(here.home))]
    disconnect(host, here)
    assert tree(here.home) == {}


@pytest.mark.parametrize("empty", ["", "{}", "{ }\n", "{\r\n}\r\n", "// nothing yet\n{\n  // here\n}\n"])
@pytest.mark.parametrize("host", [host for host in HOSTS if host.form is Form.JSON], ids=lambda host: host.id)
def test_an_empty_file_is_as_empty_afterwards(host: Host, empty: str, tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = laid(host, here, empty.encode())

    connect(host, here)
    disconnect(host, here)

    assert path.read_bytes() == empty.encode()


@by_host
@pytest.mark.requirement("CONNECT-02")
def test_an_unreadable_file_is_refused_and_untouched(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    for content in (b'{"a": [1, }', b"\xff\xfe{}", b"\t[[[: {\n"):
        path = laid(host, here, content)
        before = tree(here.home)

        plan = connect(host, here)

        assert plan.outcome is Outcome.REFUSED
        assert plan.why
        assert disconnect(host, here).outcome is Outcome.REFUSED
        assert tree(here.home) == before
        assert path.read_bytes() == content


@by_host
@pytest.mark.requirement("CONNECT-03")
def test_anothers_entry_of_our_name_is_never_touched(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    text = body(host).replace("github", "perdure")
    path = laid(host, here, text.encode())

    assert connect(host, here).outcome is Outcome.REFUSED
    assert disconnect(host, here).outcome is Outcome.NOT_CONNECTED
    assert path.read_text(encoding="utf-8") == text


@by_host
def test_a_link_is_followed_and_the_mode_kept(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = host.file(here, Scope.USER)
    real = tmp_path / "dotfiles" / "settings"
    real.parent.mkdir()
    path.parent.mkdir(parents=True, exist_ok=True)
    real.write_bytes(body(host).encode())
    real.chmod(0o640)
    path.symlink_to(real)

    connect(host, here)

    assert path.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert real.read_bytes() != body(host).encode()
    disconnect(host, here)
    assert real.read_bytes() == body(host).encode()


@pytest.mark.requirement("CONNECT-04")
def test_each_pristine_version_is_kept_once(tmp_path: Path) -> None:
    host, here = BY_ID["cursor"], machine(tmp_path)
    first, second = b'{"mcpServers": {"a": {}}}', b'{"mcpServers": {"a": {}, "b": {}}}'
    path = laid(host, here, first)
    for _time in range(3):
        connect(host, here)
    path.write_bytes(second)
    connect(host, here)
    connect(host, here, Launch("/new/perdure-bridge"))

    kept = {backup.content for backup in files.backups(path)}
    assert kept == {first, second}


@by_host
def test_a_kept_version_with_our_entry_is_no_version_to_go_back_to(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    path = laid(host, here, body(host).encode())
    connect(host, here)
    for backup in files.backups(path):
        backup.path.unlink()
    assert disconnect(host, here).outcome is Outcome.DISCONNECTED
    assert [is_connected(host, backup.text) for backup in files.backups(path)] == [True]
    connect(host, here)
    for backup in files.backups(path):
        if not is_connected(host, backup.text):
            backup.path.unlink()

    assert disconnect(host, here).outcome is Outcome.DISCONNECTED
    assert path.read_text(encoding="utf-8") == body(host)


def test_a_file_that_changes_under_our_hands_is_not_overwritten(tmp_path: Path) -> None:
    host, here = BY_ID["claude-code"], machine(tmp_path)
    path = laid(host, here, b"{}")
    plan = plan_connect(host, here, Scope.USER, BRIDGE, BRIDGE)
    path.write_bytes(b'{"numStartups": 2}')

    assert carry_out(plan, private=True).outcome is Outcome.REFUSED
    assert path.read_bytes() == b'{"numStartups": 2}'
    assert connect(host, here).outcome is Outcome.CONNECTED


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    host, here = BY_ID["cursor"], machine(tmp_path)
    path = laid(host, here, b"{}")
    path.parent.chmod(0o500)

    assert connect(host, here).outcome is Outcome.REFUSED
    assert path.read_bytes() == b"{}"


def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    host, here = BY_ID["cursor"], machine(tmp_path)
    host.file(here, Scope.USER).mkdir(parents=True)

    assert connect(host, here).outcome is Outcome.REFUSED


@by_host
def test_a_project_has_its_own_file_or_says_that_it_cannot(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    plan = connect(host, here, scope=Scope.PROJECT)

    if host.project_file is None:
        assert plan.outcome is Outcome.REFUSED
    else:
        assert tree(here.home) == {}
        assert list(tree(here.project)) == [host.project_file]
        disconnect(host, here, Scope.PROJECT)
        assert tree(here.project) == {}


@by_host
@pytest.mark.requirement("CONNECT-05")
def test_a_diff_shows_our_entry_and_nobody_elses_values(host: Host, tmp_path: Path) -> None:
    here = machine(tmp_path)
    for text in (body(host), body(host).replace("\n", " ") if host.form is Form.JSON else body(host)):
        text = text.replace("// mine, do not touch", "").replace("// ✓ 日本", "")
        laid(host, here, text.encode())

        shown = diff(plan_connect(host, here, Scope.USER, BRIDGE, BRIDGE))

        assert BRIDGE.command in shown
        for secret in ("ghp_", "guard.sh", "Bash("):
            assert secret not in shown


def test_a_token_in_an_older_entry_of_ours_is_replaced_and_not_shown(tmp_path: Path) -> None:
    host, here = BY_ID["cursor"], machine(tmp_path)
    older: Any = b'{"mcpServers": {"perdure": {"url": "https://m/mcp", "headers": {"Authorization": "Bearer pdr_x"}}}}'
    path = laid(host, here, older)
    plan = plan_connect(host, here, Scope.USER, Remote("https://m/mcp", "PERDURE_TOKEN"), BRIDGE)

    assert "pdr_x" not in diff(plan)
    assert carry_out(plan, private=True).outcome is Outcome.UPDATED
    assert b"pdr_x" not in path.read_bytes()
    assert b"Bearer ${env:PERDURE_TOKEN}" in path.read_bytes()
