"""``perdure connect`` and ``disconnect`` as a person runs them, in a home of their own."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from perdure.cli import connecting
from perdure.cli.failure import Exit
from perdure.cli.main import run
from perdure.installer.entry import BRIDGE


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


Command = Callable[..., Ran]
PRISTINE = '{\n  "mcpServers": {\n    "github": {"command": "gh", "env": {"TOKEN": "ghp_secret"}}\n  }\n}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    hosts = ("PERDURE_", "XDG_", "CODEX_", "CLAUDE_", "CLINE_")
    for name in [name for name in os.environ if name.startswith(hosts)]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    project = home / "code" / "deep"
    project.mkdir(parents=True)
    (home / "code" / ".git").mkdir()
    (home / "code" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(project)
    return home


@pytest.fixture
def perdure(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    def command(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "stdin", io.StringIO())
        status = run(arguments)
        out, err = capsys.readouterr()
        return Ran(int(status), out, err)

    return command


def cursor(home: Path, text: str | None = PRISTINE) -> Path:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    if text is not None:
        path.write_text(text, encoding="utf-8")
    return path


def files_below(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts
    )


def test_connect_finds_what_is_here_and_disconnect_takes_it_back(perdure: Command, home: Path) -> None:
    path = cursor(home)

    connected = perdure("connect")
    entry = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["perdure"]
    disconnected = perdure("disconnect")

    assert connected.status == Exit.OK
    assert connected.out.splitlines() == [
        f"Cursor\tconnected\t{path}",
        f"Cursor, hooks\tconnected\t{path.with_name('hooks.json')}",
    ]
    assert Path(entry["command"]).is_absolute()
    assert "env" not in entry
    assert disconnected.status == Exit.OK
    assert path.read_text(encoding="utf-8") == PRISTINE
    assert files_below(home) == [".cursor/mcp.json"]


def test_the_command_is_the_bridge_beside_this_python(home: Path) -> None:
    start = connecting.bridge({})

    assert Path(start.command).parent == Path(sys.executable).parent
    assert Path(start.command).name == BRIDGE or start.args == ("-m", "perdure.bridge.main")


def test_without_the_script_the_module_is_started(tmp_path: Path) -> None:
    start = connecting.bridge({}, python=str(tmp_path / "python3"))

    assert (start.command, start.args) == (str(tmp_path / "python3"), ("-m", "perdure.bridge.main"))


def test_a_chosen_home_and_port_go_along_but_no_address_and_no_token(
    perdure: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cursor(home, None)
    monkeypatch.setenv("PERDURE_HOME", str(home / "memory"))
    monkeypatch.setenv("PERDURE_PORT", "4567")
    monkeypatch.setenv("PERDURE_URL", "https://elsewhere.example")
    monkeypatch.setenv("PERDURE_TOKEN", "pdr_secret")

    ran = perdure("connect", "cursor")

    entry = json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["perdure"]
    assert entry["env"] == {"PERDURE_HOME": str(home / "memory"), "PERDURE_PORT": "4567"}
    assert "pdr_secret" not in ran.out + ran.err
    assert "PERDURE_URL is set" in ran.err


@pytest.mark.requirement("CONNECT-07")
def test_a_dry_run_shows_a_diff_and_writes_nothing(perdure: Command, home: Path) -> None:
    path = cursor(home)

    ran = perdure("connect", "--dry-run")

    assert ran.status == Exit.OK
    assert f"+++ {path}" in ran.out
    assert '+    "perdure": {' in ran.out
    assert "ghp_secret" not in ran.out
    assert "would be connected" in ran.out
    assert path.read_text(encoding="utf-8") == PRISTINE
    assert files_below(home) == [".cursor/mcp.json"]


def test_disconnects_dry_run_writes_nothing_either(perdure: Command, home: Path) -> None:
    path = cursor(home)
    perdure("connect")
    before = path.read_bytes()

    ran = perdure("disconnect", "--dry-run")

    assert '-    "perdure": {' in ran.out
    assert path.read_bytes() == before


@pytest.mark.requirement("CONNECT-07")
def test_the_printed_entry_is_whole_and_nothing_is_written(perdure: Command, home: Path) -> None:
    ran = perdure("connect", "--print", "codex")

    assert ran.status == Exit.OK
    assert ran.out.startswith("[mcp_servers.perdure]\ncommand = ")
    assert files_below(home) == []


@pytest.mark.requirement("CONNECT-05")
def test_an_address_with_a_token_is_written_by_the_variables_name(
    perdure: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = cursor(home, None)
    monkeypatch.setenv("TEAM_TOKEN", "pdr_secret")

    ran = perdure("connect", "cursor", "--http", "https://m.example", "--token-env", "TEAM_TOKEN")

    assert json.loads(path.read_text(encoding="utf-8"))["mcpServers"]["perdure"] == {
        "url": "https://m.example/mcp",
        "headers": {"Authorization": "Bearer ${env:TEAM_TOKEN}"},
    }
    assert "pdr_secret" not in ran.out + ran.err


def test_a_token_for_a_variables_name_is_refused_and_not_repeated(perdure: Command, home: Path) -> None:
    ran = perdure("connect", "cursor", "--http", "https://m.example", "--token-env", "pdr_secret-1")

    assert ran.status == Exit.USAGE
    assert "pdr_secret" not in ran.out + ran.err


@pytest.mark.parametrize(
    "arguments",
    [("nonesuch",), ("--all", "cursor"), ("--token-env", "X"), ("cursor", "--http", "not an address")],
)
def test_wrong_usage_is_told_and_writes_nothing(perdure: Command, home: Path, arguments: tuple[str, ...]) -> None:
    ran = perdure("connect", *arguments)

    assert ran.status == Exit.USAGE
    assert files_below(home) == []


def test_nothing_here_is_told(perdure: Command, home: Path) -> None:
    ran = perdure("connect")

    assert ran.status == Exit.NOT_FOUND
    assert "No AI tool was found here" in ran.err
    assert files_below(home) == []
    assert perdure("disconnect").status == Exit.OK


@pytest.mark.requirement("CONNECT-02")
def test_one_bad_file_keeps_no_other_from_being_connected_but_shows_in_the_status(perdure: Command, home: Path) -> None:
    path = cursor(home, "{ not json")
    (home / ".codex").mkdir()

    ran = perdure("connect")

    assert ran.status == Exit.ERROR
    assert "Cursor was left as it was: it is not JSON (line 1)" in ran.err
    assert path.read_text(encoding="utf-8") == "{ not json"
    assert "Codex\tconnected" in ran.out


def test_programs_get_json(perdure: Command, home: Path) -> None:
    path = cursor(home)

    told = json.loads(perdure("connect", "--json").out)
    listed = json.loads(perdure("connect", "--list", "--json").out)

    assert told == {
        "dry_run": False,
        "hosts": [
            {"host": "cursor", "part": part, "outcome": "connected", "file": str(path.with_name(name)), "why": None}
            for part, name in (("server", "mcp.json"), ("hooks", "hooks.json"))
        ],
    }
    assert [row["host"] for row in listed["hosts"] if row["here"]] == ["cursor"]


def test_a_projects_file_is_written_at_its_top(perdure: Command, home: Path) -> None:
    ran = perdure("connect", "claude", "vscode", "--project")

    assert ran.status == Exit.OK
    assert files_below(home) == ["code/.mcp.json", "code/.vscode/mcp.json"]
    perdure("disconnect", "--project")
    assert files_below(home) == []


def test_a_file_with_secrets_stays_as_private_as_it_was_and_so_does_its_backup(perdure: Command, home: Path) -> None:
    path = cursor(home)
    path.chmod(0o600)

    perdure("connect")

    modes = {stat.S_IMODE(place.stat().st_mode) for place in path.parent.iterdir()}
    assert modes == {0o600}


def test_setup_asks_nobody_where_there_is_nobody(perdure: Command, home: Path) -> None:
    ran = perdure("setup")

    assert ran.status == Exit.USAGE
    assert "--yes" in ran.err
    assert files_below(home) == []


def test_hooks_are_left_out_on_request_for_a_project_and_for_a_perdure_elsewhere(perdure: Command, home: Path) -> None:
    cursor(home, None)
    for arguments in (("--no-hooks",), ("--project",), ("--http", "https://m.example")):
        assert perdure("connect", "cursor", *arguments).status == Exit.OK

    assert files_below(home) == [".cursor/mcp.json", "code/.cursor/mcp.json"]


def test_server_and_hooks_share_a_file_and_leave_it_as_it_was(perdure: Command, home: Path) -> None:
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n\t"theme": "dark", // mine\n\t"hooks": {"AfterTool": []}\n}\n', encoding="utf-8")
    before = path.read_bytes()

    perdure("connect", "gemini")
    assert "AfterAgent" in path.read_text(encoding="utf-8")
    assert perdure("connect", "gemini").out.count("unchanged") == 2
    perdure("disconnect")

    assert path.read_bytes() == before
    assert files_below(home) == [".gemini/settings.json"]


def test_a_chosen_home_goes_along_to_the_hooks(perdure: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERDURE_HOME", "/elsewhere/my memory")

    perdure("connect", "claude", "codex")

    claude = json.loads((home / ".claude" / "settings.json").read_text(encoding="utf-8"))
    handler = claude["hooks"]["SessionStart"][0]["hooks"][0]
    codex = json.loads((home / ".codex" / "hooks.json").read_text(encoding="utf-8"))
    for line in (handler["command"], codex["hooks"]["Stop"][0]["hooks"][0]["command"]):
        assert line.startswith("/usr/bin/env 'PERDURE_HOME=/elsewhere/my memory' ")


@pytest.mark.requirement("I4-HOSTS-01")
def test_a_person_is_told_that_claude_code_reads_no_settings_with_comments(perdure: Command, home: Path) -> None:
    settings = home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{\n  // mine\n  "model": "opus"\n}\n', encoding="utf-8")

    for _time in range(2):
        told = perdure("connect", "claude").err
        assert f"It ignores the whole of {settings}" in told
    assert "// mine" in settings.read_text(encoding="utf-8")

    settings.write_text(settings.read_text(encoding="utf-8").replace("// mine", ""), encoding="utf-8")
    assert "ignores" not in perdure("connect", "claude").err


@pytest.mark.requirement("I4-HOSTS-03")
def test_vscode_shares_the_hooks_of_copilot_which_stay_while_either_is_connected(perdure: Command, home: Path) -> None:
    hooks = home / ".copilot" / "hooks" / "perdure.json"

    perdure("connect", "vscode")
    assert "--host copilot sessionStart" in hooks.read_text(encoding="utf-8")
    # its own traces alone do not make it find Copilot CLI
    assert "Copilot" not in perdure("connect", "--all").out
    assert not (home / ".copilot" / "mcp-config.json").exists()

    written = hooks.read_bytes()
    assert "unchanged" in perdure("connect", "copilot").out
    assert hooks.read_bytes() == written
    perdure("disconnect", "vscode")
    assert hooks.read_bytes() == written
    perdure("disconnect", "copilot")
    assert not hooks.exists()


class Terminal(io.StringIO):
    """A person who has typed the answers already."""

    def isatty(self) -> bool:
        return True


def test_setup_takes_no_for_an_answer(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = cursor(home)
    (home / ".codex").mkdir()
    monkeypatch.setattr(sys, "stdin", Terminal("n\nn\ny\n"))

    assert run(["setup"]) == Exit.OK

    told = capsys.readouterr().out
    assert "the first tool that needs them starts them" in told
    assert path.read_text(encoding="utf-8") == PRISTINE
    assert "[mcp_servers.perdure]" in (home / ".codex" / "config.toml").read_text(encoding="utf-8")
    assert not (home / ".perdure").exists()
