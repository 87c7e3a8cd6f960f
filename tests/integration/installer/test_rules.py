"""Rules in the files that tools read: on request only, theirs untouched, and out again."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from perdure.cli.failure import Exit
from perdure.cli.main import run
from perdure.installer import files
from perdure.installer.connection import Outcome, carry_out
from perdure.installer.hosts import BY_ID, HOSTS
from perdure.installer.machine import Scope
from perdure.installer.rules import BEGIN, END, RULES, block, plan_no_rules, plan_rules, put, removed
from support.machines import machine

THEIRS = "# House rules\n\n- Tabs.\n"
PROJECT_FILES = {
    "claude": "CLAUDE.md",
    "codex": "AGENTS.md",
    "gemini": "GEMINI.md",
    "cursor": ".cursor/rules/perdure.mdc",
}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, called from a folder within it."""
    hosts = ("PERDURE_", "XDG_", "CODEX_", "CLAUDE_", "CLINE_")
    for name in [name for name in os.environ if name.startswith(hosts)]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    git = home / "checkout" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = git@example.org:acme/shop.git\n')
    (git.parent / "deep").mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(git.parent / "deep")
    return git.parent


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


@pytest.mark.parametrize("host", PROJECT_FILES)
@pytest.mark.parametrize(
    "theirs",
    [
        None,
        b"",
        THEIRS.encode(),
        THEIRS.encode().rstrip(),
        b"\xef\xbb\xbf" + THEIRS.replace("\n", "\r\n").encode(),
        b"latin \xe9\xff without an end",
    ],
    ids=["none", "empty", "plain", "no final newline", "bom and crlf", "no utf-8"],
)
@pytest.mark.requirement("I4-RULES-01")
def test_the_block_comes_and_goes_and_leaves_every_byte(shop: Path, host: str, theirs: bytes | None) -> None:
    path = shop / PROJECT_FILES[host]
    if theirs is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(theirs)
        path.chmod(0o640)
    before = tree(shop)

    assert run(["rules", "add", host]) == Exit.OK
    written = path.read_bytes()
    assert written.startswith(theirs or b"") and written.count(BEGIN.encode()) == 1
    assert b"`memory_search`" in written and b"`shop`" in written
    assert [kept.content for kept in files.backups(path)] == ([] if theirs is None else [theirs])
    assert run(["rules", "add", host]) == Exit.OK
    assert path.read_bytes() == written
    assert run(["rules", "add", host, "--readonly"]) == Exit.OK
    assert b"memory_save" not in path.read_bytes()
    if theirs is not None:
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert run(["rules", "remove"]) == Exit.OK

    assert tree(shop) == before
    assert sorted(place.name for place in shop.iterdir()) == sorted(
        {".git", "deep", *(Path(name).parts[0] for name in before)}
    )


@pytest.mark.requirement("I4-RULES-02")
def test_nothing_is_written_without_being_asked(shop: Path) -> None:
    assert run(["connect", "claude", "cursor", "codex", "gemini"]) == Exit.OK
    assert run(["connect", "claude", "cursor", "codex", "gemini", "--project"]) == Exit.OK
    assert [name for name in tree(shop.parent) if name.endswith((".md", ".mdc"))] == []


@pytest.mark.requirement("I4-RULES-02")
def test_connecting_with_rules_writes_the_persons_files_or_the_projects_and_disconnecting_takes_them_out(
    shop: Path,
) -> None:
    home = shop.parent
    (home / ".claude").mkdir()
    (home / ".claude" / "CLAUDE.md").write_text(THEIRS)
    assert run(["connect", "claude", "codex", "cursor", "zed", "--rules"]) == Exit.OK
    assert {name for name in tree(home) if name.endswith((".md", ".mdc"))} == {".claude/CLAUDE.md", ".codex/AGENTS.md"}
    assert "project's name" not in (home / ".claude" / "CLAUDE.md").read_text()

    assert run(["connect", "claude", "codex", "cursor", "--project", "--rules", "--readonly"]) == Exit.OK
    assert {name for name in tree(shop) if name.endswith((".md", ".mdc"))} == {
        "CLAUDE.md", "AGENTS.md", ".cursor/rules/perdure.mdc",
    }  # fmt: skip
    assert "memory_save" not in (shop / "AGENTS.md").read_text()

    assert run(["disconnect", "--project"]) == Exit.OK
    assert tree(shop) == {}
    assert run(["disconnect"]) == Exit.OK
    assert tree(home) == {".claude/CLAUDE.md": THEIRS.encode()}


def test_hosts_that_read_one_file_get_it_once_and_a_link_leads_to_it(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "AGENTS.md").write_text(THEIRS)
    (shop / "CLAUDE.md").symlink_to("AGENTS.md")

    assert run(["rules", "add", "codex", "zed", "claude"]) == Exit.OK

    assert capsys.readouterr().out.splitlines() == [f"rules, AGENTS.md\tadded\t{shop / 'AGENTS.md'}"]
    assert (shop / "CLAUDE.md").is_symlink()
    assert (shop / "AGENTS.md").read_text().count(BEGIN) == 1
    assert run(["rules", "remove", "claude"]) == Exit.OK
    assert (shop / "AGENTS.md").read_text() == THEIRS


def test_a_dry_run_shows_the_lines_and_writes_nothing(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "CLAUDE.md").write_text(THEIRS)
    before = tree(shop)

    assert run(["rules", "add", "claude", "--dry-run"]) == Exit.OK

    shown = capsys.readouterr().out
    assert f"+++ {shop / 'CLAUDE.md'}" in shown and f"+{BEGIN}" in shown and " - Tabs." in shown
    assert "would be added" in shown
    assert tree(shop) == before


def test_the_block_can_be_shown_for_pasting(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "add", "gemini", "--json"]) == Exit.OK
    (told,) = json.loads(capsys.readouterr().out)["hosts"]
    assert told == {
        "host": "gemini", "part": "rules", "outcome": "added", "file": str(shop / "GEMINI.md"), "why": None,
    }  # fmt: skip
    assert run(["rules", "show"]) == Exit.OK
    out, err = capsys.readouterr()
    assert (out, err) == (block("shop") + "\n", f"In: {shop / 'GEMINI.md'}\n")
    assert run(["rules", "show", "--json", "--global"]) == Exit.OK
    assert json.loads(capsys.readouterr().out) == {"block": block(), "files": []}


@pytest.mark.parametrize(
    "text", [f"{END}\n{BEGIN}\n", f"{BEGIN}\n", f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", "\0", "UTF-16"]
)
def test_a_file_whose_block_cannot_be_told_is_refused_and_untouched(
    shop: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = shop / "CLAUDE.md"
    path.write_bytes(text.encode("utf-16") if text == "UTF-16" else text.encode())
    before = tree(shop)

    assert run(["rules", "add", "claude", "codex"]) == Exit.ERROR
    assert "was left as it was" in capsys.readouterr().err
    assert path.read_bytes() == before["CLAUDE.md"]
    assert BEGIN in (shop / "AGENTS.md").read_text(), "one bad file keeps no other from being written"
    assert run(["rules", "remove"]) == Exit.ERROR
    assert tree(shop) == before


def test_a_home_is_no_project_and_a_host_without_such_a_file_is_told(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["rules", "add", "claude-desktop"]) == Exit.ERROR
    assert run(["rules", "add", "cursor", "--global"]) == Exit.ERROR
    monkeypatch.chdir(shop.parent)
    assert run(["rules", "add", "codex"]) == Exit.ERROR
    err = capsys.readouterr().err
    assert "no project here" in err and "reads no file of rules" in err
    assert tree(shop.parent) == {}


def test_an_empty_project_is_not_taken_for_a_folder_of_ours(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = shop.parent / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    for command in (["rules", "add", "codex"], ["rules", "remove"], ["connect", "claude", "--project"]):
        assert run(command) == Exit.OK
    assert run(["disconnect", "--project"]) == Exit.OK
    assert list(empty.iterdir()) == []


def test_every_host_reads_a_file_or_says_that_it_reads_none(tmp_path: Path) -> None:
    here = machine(tmp_path)
    here.project.mkdir()
    for host in HOSTS:
        plan = carry_out(plan_rules(host, here, Scope.PROJECT, block()), private=False)
        assert (plan.outcome is Outcome.REFUSED) == (host.id == "claude-desktop")
    assert set(RULES) <= set(BY_ID)
    for host in HOSTS:
        carry_out(plan_no_rules(host, here, Scope.PROJECT), private=False)
    assert tree(here.project) == {}


def test_lines_that_only_quote_a_marker_are_not_ours() -> None:
    theirs = f"See `{BEGIN}` and\n  {END}\n".encode()
    assert removed(put(theirs, block())) == theirs
    assert removed(theirs) == theirs
