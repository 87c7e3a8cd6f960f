"""``perdure connect --commands``: the slash command, on request, beside the person's own and gone again."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from perdure.cli.main import COMMANDS, root
from perdure.installer.commands import FOLDERS, claude_text, is_ours, marked
from perdure.installer.hosts import BY_ID

ROOT = Path(__file__).parents[3]
FILES = {
    "claude-code": ".claude/commands/perdure.md",
    "codex": ".codex/skills/perdure/SKILL.md",
    "cursor": ".cursor/commands/perdure.md",
    "gemini": ".gemini/commands/perdure.toml",
    "opencode": ".config/opencode/commands/perdure.md",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PERDURE_HOME", str(tmp_path / ".perdure"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PERDURE_URL", "PERDURE_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(root, list(arguments))


def outcomes(result: Result) -> dict[str, str]:
    return {plan["host"]: plan["outcome"] for plan in json.loads(result.stdout)["hosts"] if plan["part"] == "commands"}


def test_every_host_in_the_table_is_a_host() -> None:
    assert FILES.keys() == FOLDERS.keys() <= BY_ID.keys()


@pytest.mark.requirement("I4-PLUGIN-03")
@pytest.mark.parametrize("host", FILES)
def test_the_command_is_put_in_only_on_request_and_taken_out_again(home: Path, host: str) -> None:
    file = home / FILES[host]
    beside = file.parent.parent / "perdure-notes.md" if host == "codex" else file.parent / "mine.md"
    beside.parent.mkdir(parents=True)
    beside.write_text("mine")
    run("connect", host, "--json")
    assert not file.exists()
    assert outcomes(run("connect", host, "--commands", "--json")) == {host: "added"}
    before = file.read_bytes()
    assert is_ours(before.decode())
    assert outcomes(run("connect", host, "--commands", "--json")) == {host: "unchanged"}
    assert outcomes(run("disconnect", host, "--json")) == {host: "removed"}
    assert not file.exists()
    assert beside.read_text() == "mine"


@pytest.mark.requirement("I4-PLUGIN-03")
def test_a_command_of_theirs_or_one_that_they_changed_is_left_alone(home: Path) -> None:
    file = home / FILES["claude-code"]
    file.parent.mkdir(parents=True)
    for text in ("mine\n", marked(claude_text(), "<!-- {} -->").replace("stats", "statistics")):
        file.write_text(text)
        result = run("connect", "claude-code", "--commands", "--json")
        assert outcomes(result) == {"claude-code": "refused"}
        assert outcomes(run("disconnect", "claude-code", "--json")) == {}
        assert file.read_text() == text


def test_an_older_one_of_ours_is_brought_up_to_date(home: Path) -> None:
    file = home / FILES["gemini"]
    file.parent.mkdir(parents=True)
    file.write_text(marked('prompt = "old"\n', "# {}"))
    assert outcomes(run("connect", "gemini", "--commands", "--json")) == {"gemini": "updated"}
    assert "perdure stats" in file.read_text()


def test_a_dry_run_shows_it_and_writes_nothing(home: Path) -> None:
    result = run("connect", "cursor", "--commands", "--dry-run")
    assert "run `perdure stats`" in result.stdout
    assert not (home / ".cursor").exists()


def test_a_host_without_a_folder_for_commands_gets_none(home: Path) -> None:
    assert outcomes(run("connect", "zed", "--commands", "--json")) == {}


def test_it_is_not_for_a_projects_files(home: Path) -> None:
    result = run("connect", "claude-code", "--commands", "--project")
    assert result.exit_code != 0
    assert not (home / ".claude").exists()


@pytest.mark.requirement("I4-PLUGIN-02")
@pytest.mark.parametrize("host", FILES)
def test_each_form_is_valid_and_names_commands_that_there_are(home: Path, host: str) -> None:
    run("connect", host, "--commands", "--json")
    text = (home / FILES[host]).read_text("utf-8")
    if host == "gemini":
        parsed = tomllib.loads(text)
        assert parsed.keys() == {"description", "prompt"}
        assert "{{args}}" in parsed["prompt"]
    elif host != "cursor":
        front = yaml.safe_load(text.split("---\n", 2)[1])
        assert front["description"]
        assert ("$ARGUMENTS" in text) is (host != "codex")
    assert set(re.findall(r"`perdure ([a-z-]+)", text)) <= COMMANDS.keys()


def test_the_plugins_command_is_the_same() -> None:
    assert (ROOT / "deploy" / "claude-plugin" / "commands" / "perdure.md").read_text("utf-8") == claude_text()
