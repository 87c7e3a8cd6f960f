from __future__ import annotations

import json
from pathlib import Path

import pytest

from perdure.installer.entry import Launch, Remote, is_ours
from perdure.installer.hosts import ALIASES, BY_ID, HOSTS, Host
from perdure.installer.machine import Scope, System
from perdure.installer.refusal import Refused
from support.machines import BRIDGE, machine

by_host = pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.id)
systems = pytest.mark.parametrize("system", System, ids=lambda system: system.value)


@by_host
@systems
@pytest.mark.requirement("CONNECT-06")
def test_no_host_is_seen_on_an_empty_machine(host: Host, system: System, tmp_path: Path) -> None:
    assert not host.is_here(machine(tmp_path, system))


@by_host
@systems
@pytest.mark.requirement("CONNECT-06")
def test_every_host_has_a_file_below_home(host: Host, system: System, tmp_path: Path) -> None:
    here = machine(tmp_path, system)

    assert host.file(here, Scope.USER).is_relative_to(here.home)


@by_host
@systems
def test_a_host_is_seen_by_its_own_traces(host: Host, system: System, tmp_path: Path) -> None:
    here = machine(tmp_path, system)
    for sign in host.signs:
        sign(here).mkdir(parents=True, exist_ok=True)
        assert host.is_here(here)


def test_antigravity_is_not_taken_for_gemini_nor_the_home_for_claude_code(tmp_path: Path) -> None:
    here = machine(tmp_path)
    (here.home / ".gemini" / "config").mkdir(parents=True)

    assert [host.id for host in HOSTS if host.is_here(here)] == ["antigravity"]


def test_a_program_on_the_path_is_a_trace(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)

    assert BY_ID["codex"].is_here(machine(tmp_path, PATH=str(program.parent)))


@pytest.mark.parametrize("value", ["", "relative/path", "  "])
@by_host
def test_a_variable_that_names_no_absolute_folder_is_no_folder(host: Host, value: str, tmp_path: Path) -> None:
    names = ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CLINE_MCP_SETTINGS_PATH", "APPDATA", "LOCALAPPDATA")
    plain = host.file(machine(tmp_path), Scope.USER)

    assert host.file(machine(tmp_path, **dict.fromkeys(names, value)), Scope.USER) == plain


def test_hosts_follow_the_folders_that_their_variables_name(tmp_path: Path) -> None:
    here = machine(
        tmp_path, XDG_CONFIG_HOME=str(tmp_path / "xdg"), CODEX_HOME=str(tmp_path / "cx"), CLAUDE_CONFIG_DIR="/cc"
    )

    assert BY_ID["codex"].file(here, Scope.USER) == tmp_path / "cx" / "config.toml"
    assert BY_ID["claude-code"].file(here, Scope.USER) == Path("/cc/.claude.json")
    assert BY_ID["opencode"].file(here, Scope.USER) == tmp_path / "xdg" / "opencode" / "opencode.json"


def test_claude_desktop_from_the_store_reads_its_private_folder(tmp_path: Path) -> None:
    here = machine(tmp_path, System.WINDOWS)
    plain = BY_ID["claude-desktop"].file(here, Scope.USER)
    package = here.home / "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"
    package.parent.mkdir(parents=True)

    assert plain == here.home / "AppData/Roaming/Claude/claude_desktop_config.json"
    assert BY_ID["claude-desktop"].file(here, Scope.USER) == package / "claude_desktop_config.json"


def test_opencode_and_cline_are_edited_where_they_already_keep_their_settings(tmp_path: Path) -> None:
    here = machine(tmp_path)
    commented = here.home / ".config/opencode/opencode.jsonc"
    commented.parent.mkdir(parents=True)
    commented.write_text("{}", encoding="utf-8")
    older = here.home / ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
    older.mkdir(parents=True)

    assert BY_ID["opencode"].file(here, Scope.USER) == commented
    assert BY_ID["cline"].file(here, Scope.USER) == older / "settings/cline_mcp_settings.json"


@by_host
def test_every_entry_is_known_as_ours_and_never_switches_the_services_start_off(host: Host) -> None:
    entry = host.entry(BRIDGE, BRIDGE)

    assert is_ours(entry)
    assert "PERDURE_URL" not in json.dumps(entry)
    assert "TOKEN" not in json.dumps(entry)
    assert BRIDGE.command in json.dumps(entry)


@by_host
def test_an_address_reaches_every_host_and_the_token_only_by_its_variables_name(host: Host) -> None:
    entry = host.entry(Remote("https://m.example/mcp", "PERDURE_TOKEN"), BRIDGE)
    text = json.dumps(entry)

    assert is_ours(entry)
    assert "https://m.example/mcp" in text
    if host.reference is None:
        # the bridge reads it from its own environment or the token's file
        assert BRIDGE.command in text
        assert "TOKEN" not in text
    else:
        assert host.reference.format("PERDURE_TOKEN") in text


@by_host
def test_another_variable_is_refused_where_nothing_could_read_it(host: Host) -> None:
    remote = Remote("https://m.example/mcp", "TEAM_TOKEN")
    if host.reference is None:
        with pytest.raises(Refused, match="PERDURE_TOKEN"):
            host.entry(remote, BRIDGE)
    else:
        assert "TEAM_TOKEN" in json.dumps(host.entry(remote, BRIDGE))


def test_the_shapes_that_hosts_insist_on() -> None:
    start = Launch("/b", (), {"PERDURE_HOME": "/h"})
    remote = Remote("https://m/mcp", "T")

    assert BY_ID["opencode"].entry(start, BRIDGE) == {
        "type": "local",
        "command": ["/b"],
        "environment": {"PERDURE_HOME": "/h"},
        "enabled": True,
    }
    assert BY_ID["codex"].entry(remote, BRIDGE) == {"url": "https://m/mcp", "bearer_token_env_var": "T"}
    assert BY_ID["windsurf"].entry(remote, BRIDGE) == {
        "serverUrl": "https://m/mcp",
        "headers": {"Authorization": "Bearer ${env:T}"},
    }
    assert BY_ID["claude-code"].entry(remote, BRIDGE) == {
        "type": "http",
        "url": "https://m/mcp",
        "headers": {"Authorization": "Bearer ${T}"},
    }
    assert BY_ID["cline"].entry(Remote("https://m/mcp"), BRIDGE)["type"] == "streamableHttp"
    assert BY_ID["copilot"].entry(start, BRIDGE)["tools"] == ["*"]
    assert BY_ID["zed"].entry(start, BRIDGE)["source"] == "custom"
    assert BY_ID["opencode"].entry(remote, BRIDGE)["headers"] == {"Authorization": "Bearer {env:T}"}


def test_other_words_for_a_host_lead_to_one() -> None:
    assert set(ALIASES.values()) <= set(BY_ID)
    assert not set(ALIASES) & set(BY_ID)
