"""One table of folders, every surface: hooks, command line, bridge and installer name the same project.

The repositories are made by git itself.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.hooks.conftest import saves, stored
from perdure.bridge.workplace import Workplace
from perdure.cli.words import chosen_project
from perdure.installer.machine import this_machine
from support.hook_payloads import DECISION, payload
from support.hook_process import run_hook
from support.rest_gateway import RestGateway, serving

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git makes the repositories")

GLOBAL = "_global"
FOLDERS = {
    # folder: project, its top
    "home/checkout": ("shop", "home/checkout"),
    "home/checkout/packages/web": ("shop", "home/checkout"),
    "home/fix": ("shop", "home/fix"),
    "home/fix/packages": ("shop", "home/fix"),
    "home/checkout/libs/money": ("money-lib", "home/checkout/libs/money"),
    "home/checkout/apps/till": ("Ladenkasse", "home/checkout/apps/till"),
    "home/checkout/apps/till/src": ("Ladenkasse", "home/checkout/apps/till"),
    "home/local": ("local", "home/local"),
    "home/tree": ("bare", "home/tree"),
    "home/tool/src/deep": ("tool", "home/tool"),
    "home/notes": ("notes", "home/notes"),
    "home": (GLOBAL, "home"),
}


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of the table."""
    top = tmp_path_factory.mktemp("same").resolve()
    home = top / "home"
    home.mkdir()

    def git(folder: Path, *words: str) -> None:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always")
        subprocess.run(
            ["git", *identity, *words],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"},
            check=True,
            capture_output=True,
        )

    def repository(name: str) -> Path:
        folder = top / name
        folder.mkdir(parents=True)
        git(folder, "init", "-q")
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
        return folder

    library = repository("elsewhere/money-lib")
    shop = repository("home/checkout")
    git(shop, "remote", "add", "upstream", "https://example.org/other/fork.git")
    git(shop, "remote", "add", "origin", "git@example.org:acme/shop.git")
    git(shop, "submodule", "add", "-q", str(library), "libs/money")
    git(shop, "worktree", "add", "-q", str(home / "fix"))
    repository("home/local")
    git(home, "clone", "-q", "--bare", str(library), str(top / "elsewhere" / "bare.git"))
    git(top / "elsewhere" / "bare.git", "remote", "remove", "origin")
    git(top / "elsewhere" / "bare.git", "worktree", "add", "-q", str(home / "tree"))
    (home / "tool").mkdir()
    (home / "tool" / "Cargo.toml").touch()
    for folder in FOLDERS:
        (top / folder).mkdir(parents=True, exist_ok=True)
    (shop / "apps" / "till" / ".perdure.toml").write_text('project = "Ladenkasse"\n', encoding="utf-8")
    return top


@pytest.fixture
def gateway() -> Iterator[RestGateway]:
    def prepare(rest: RestGateway) -> None:
        rest.routes["POST /memories/batch"] = stored

    yield from serving(prepare)


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.requirement("I4-PROJECT-01")
def test_every_surface_names_the_same_project(
    folder: str, top: Path, gateway: RestGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, root = FOLDERS[folder]
    here = top / folder
    monkeypatch.setenv("HOME", str(top / "home"))
    monkeypatch.chdir(here)

    assert chosen_project(None, everywhere=False) == project
    assert this_machine().project == top / root
    in_the_bridge = "" if project == GLOBAL else project
    assert Workplace({}).project == in_the_bridge
    monkeypatch.chdir(top)
    assert Workplace({"CLAUDE_PROJECT_DIR": str(here)}).project == in_the_bridge
    body = payload("claude", "Stop", cwd=str(here), last_assistant_message=DECISION)
    run_hook("claude", "stop", body, home=tmp_path / "memory", url=gateway.url, HOME=str(top / "home"))
    assert [memory["project"] for memory in saves(gateway)] == [project]
