"""Installers of two predecessors harmed settings; each way they did is tried here, and does no harm.

NaN Forget (section 7 of its account) and Builderforce Memory (sections 6 and 9.4).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from perdure.cli.failure import Exit
from perdure.cli.main import run

GUARDED = """{
  // the deny list is there for a reason
  "permissions": {"deny": ["Bash(rm -rf:*)"]},
  "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]}
}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    hosts = ("PERDURE_", "XDG_", "CODEX_", "CLAUDE_", "CLINE_")
    for name in [name for name in os.environ if name.startswith(hosts)]:
        monkeypatch.delenv(name)
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(work)
    return home


def written(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-NF-09")
def test_settings_with_comments_guards_and_deny_lists_are_kept(home: Path) -> None:
    """NaN Forget replaced a project's settings wholesale, and wiped a person's that had comments."""
    gemini = put(home / ".gemini" / "settings.json", GUARDED)
    claude = put(home / ".claude" / "settings.json", GUARDED)

    assert run(["connect"]) == Exit.OK

    assert gemini.read_text(encoding="utf-8").startswith(GUARDED.rstrip("}\n"))
    assert '"perdure"' in gemini.read_text(encoding="utf-8")
    assert "deny list is there for a reason" in claude.read_text(encoding="utf-8")
    assert '"guard"' in claude.read_text(encoding="utf-8")


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-NF-07")
def test_what_is_told_as_connected_is_in_the_file_that_the_host_reads(home: Path) -> None:
    """NaN Forget printed success and wrote nothing; and wrote Claude Desktop's entry where nobody reads it."""
    (home / ".claude").mkdir()
    (home / ".config" / "Claude").mkdir(parents=True)

    assert run(["connect"]) == Exit.OK

    assert "perdure" in json.loads((home / ".claude.json").read_text(encoding="utf-8"))["mcpServers"]
    if sys.platform.startswith("linux"):
        desktop = home / ".config" / "Claude" / "claude_desktop_config.json"
        assert "perdure" in json.loads(desktop.read_text(encoding="utf-8"))["mcpServers"]


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-NF-07", "I4-DEFECT-BF-23")
def test_nothing_is_written_into_the_folder_it_is_called_from(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty XDG_CONFIG_HOME made Builderforce write there; NaN Forget put .env, CLAUDE.md and hooks there."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "")

    assert run(["connect", "claude-desktop", "vscode", "zed", "opencode", "goose", "amp"]) == Exit.OK

    assert written(Path.cwd()) == []
    assert all(name.startswith((".config/", "Library/", ".copilot/")) for name in written(home))


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-BF-24")
def test_a_home_folder_is_no_sign_of_claude_code(home: Path) -> None:
    """Builderforce found Claude Code on every machine, since the folder of ~/.claude.json is the home."""
    assert run(["connect"]) == Exit.NOT_FOUND
    assert written(home) == []


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-BF-22")
def test_codexs_entry_is_brought_up_to_date(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builderforce called a changed Codex entry «skipped»."""
    path = put(home / ".codex" / "config.toml", 'model = "m"\n')
    run(["connect", "codex"])
    monkeypatch.setenv("PERDURE_HOME", "/elsewhere")

    assert run(["connect", "codex"]) == Exit.OK
    assert 'PERDURE_HOME = "/elsewhere"' in path.read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8").count("[mcp_servers.perdure]") == 1


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("# [mcp_servers.perdure]\n", 1),
        ('["mcp_servers"."perdure"]\ncommand = "/old/perdure-bridge"\n', 0),
    ],
)
@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-BF-26")
def test_toml_is_read_and_not_searched_for_words(home: Path, text: str, count: int) -> None:
    """Builderforce took a header in a comment for its own, and a quoted one for none."""
    path = put(home / ".codex" / "config.toml", text)

    assert run(["connect", "codex"]) == Exit.OK

    new = path.read_text(encoding="utf-8")
    assert new.count("# [mcp_servers.perdure]") == count
    assert "/old/" not in new


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-BF-26")
def test_the_pristine_version_survives_every_later_run(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builderforce overwrote its only backup in the second run."""
    path = put(home / ".cursor" / "mcp.json", '{"mcpServers": {}}')
    for port in ("4001", "4002", "4003"):
        monkeypatch.setenv("PERDURE_PORT", port)
        assert run(["connect"]) == Exit.OK

    backups = [place for place in path.parent.iterdir() if ".perdure-backup-" in place.name]
    assert [place.read_text(encoding="utf-8") for place in backups] == ['{"mcpServers": {}}']


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-BF-06")
def test_a_file_that_was_refused_shows_in_the_exit_status(home: Path) -> None:
    """Builderforce exited 0 after a host's error; and refused every JSON with comments."""
    put(home / ".cursor" / "mcp.json", "{")
    put(home / ".config" / "zed" / "settings.json", GUARDED)

    assert run(["connect"]) == Exit.ERROR
    assert '"perdure"' in (home / ".config" / "zed" / "settings.json").read_text(encoding="utf-8")


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-BF-26")
def test_an_interrupted_write_leaves_the_old_file_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builderforce wrote over the file in place."""
    path = put(home / ".cursor" / "mcp.json", GUARDED)

    def torn(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", torn)

    assert run(["connect"]) == Exit.ERROR
    assert path.read_text(encoding="utf-8") == GUARDED
    assert written(home) == [".cursor/mcp.json"]


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-NF-07")
def test_no_secret_is_written_in_clear(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN Forget wrote an API key into a .env of the project."""
    monkeypatch.setenv("PERDURE_TOKEN", "pdr_secret")

    arguments = ["--http", "https://m.example", "--token-env", "PERDURE_TOKEN"]
    assert run(["connect", "claude", "claude-desktop", "cursor", "codex", "goose", "zed", *arguments]) == Exit.OK

    assert len(written(home)) == 6
    for name in written(home):
        assert "pdr_secret" not in (home / name).read_text(encoding="utf-8")


@pytest.mark.requirement("CONNECT-08", "I4-DEFECT-NF-07", "I4-DEFECT-BF-06")
def test_there_is_a_way_out_and_a_look_beforehand(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither had an uninstall nor a dry run."""
    path = put(home / ".cursor" / "mcp.json", '{"mcpServers": {"a": {"command": "b"}}}')

    assert run(["connect", "--dry-run"]) == Exit.OK
    assert "+++" in capsys.readouterr().out
    assert run(["connect"]) == Exit.OK
    assert run(["disconnect"]) == Exit.OK
    assert path.read_text(encoding="utf-8") == '{"mcpServers": {"a": {"command": "b"}}}'
    assert written(home) == [".cursor/mcp.json"]
