"""Without a project's name, commands that save or begin somewhere mean the project of the folder they are called in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from integration.cli.conftest import Command
from perdure.cli.failure import Exit
from support.rest_gateway import RestGateway

CHECKPOINT = ("checkpoint", "Done", "--problem", "P", "--solution", "S", "--concepts", "c")


@pytest.fixture
def shop(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git = home.parent / "checkout" / ".git"
    (git.parent / "deep").mkdir(parents=True)
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = git@example.org:acme/shop.git\n')
    monkeypatch.chdir(git.parent / "deep")
    return git.parent


@pytest.fixture
def serving(gateway: RestGateway) -> RestGateway:
    gateway.routes["POST /memories"] = gateway.routes["POST /memories/checkpoint"] = {"id": "0197-1"}
    gateway.routes["POST /memories/sync"] = {"message": "0 active memories."}
    gateway.routes["GET /memories/search"] = {"recall": [], "recognition": []}
    gateway.routes["GET /memories"] = {"memories": []}
    return gateway


@pytest.mark.requirement("I4-PROJECT-01")
def test_the_folders_project_is_meant(perdure: Command, serving: RestGateway, shop: Path) -> None:
    added = perdure("add", "We use pnpm")
    assert (serving.last.body["project"], "in project shop" in added.out) == ("shop", True)
    perdure(*CHECKPOINT)
    assert serving.last.body["project"] == "shop"
    perdure("sync")
    assert serving.last.body == {"project": "shop"}
    perdure("search", "pnpm", "--strict")
    assert sorted(serving.last.query) == [("project", "shop"), ("q", "pnpm"), ("strict", "true")]


def test_a_name_and_everywhere_come_first(perdure: Command, serving: RestGateway, shop: Path) -> None:
    for flag, project in (("-pother", "other"), ("--global", "_global"), ("-g", "_global")):
        added = perdure("add", "We use pnpm", flag)
        assert (serving.last.body["project"], "in project" in added.out) == (project, False)
        perdure(*CHECKPOINT, flag)
        assert serving.last.body["project"] == project
    perdure("sync", "-g")
    assert serving.last.body == {}
    perdure("search", "pnpm", "-g")
    assert serving.last.query == [("q", "pnpm")]
    perdure("sync", "-p", "_global")
    assert serving.last.body == {"project": "_global"}


def test_both_are_refused(perdure: Command, serving: RestGateway, shop: Path) -> None:
    assert perdure("add", "x", "-p", "a", "-g").status == Exit.USAGE
    assert serving.asked == []


def test_in_a_folder_that_is_nobodys_project_it_is_true_everywhere(perdure: Command, serving: RestGateway) -> None:
    perdure("add", "We use pnpm")
    assert serving.last.body["project"] == "_global"
    perdure("sync")
    assert serving.last.body == {}
    perdure("search", "pnpm")
    assert serving.last.query == [("q", "pnpm")]


def test_lists_and_upkeep_are_of_every_project(perdure: Command, serving: RestGateway, shop: Path) -> None:
    perdure("list")
    assert "project" not in dict(serving.last.query)


UNUSABLE = {
    "random bytes": (b"\x00\xff\xfe\x93project", "it is not UTF-8"),
    "no TOML": (b"project is shop", "it is not valid TOML"),
    "a path": (b'project = "../../etc"', "it is a path and no name"),
    "a list": (b'project = ["a"]', "it is no text"),
    "empty": (b'project = " "', "it is empty"),
    "huge": (b"# " + b"x" * 65536, "it is larger than 64 KiB"),
}


def unusable(folder: Path, kind: str) -> str:
    """A project file of this kind in a folder; why it is not used."""
    folder.mkdir()
    file = folder / ".perdure.toml"
    if kind == "a device":
        file.symlink_to("/dev/zero")
    elif kind == "a FIFO":
        os.mkfifo(file)
    else:
        file.write_bytes(UNUSABLE[kind][0])
        return UNUSABLE[kind][1]
    return "it is no regular file"


@pytest.mark.parametrize("kind", [*UNUSABLE, "a device", "a FIFO"])
def test_a_project_file_that_cannot_be_used_is_said_once_and_the_folder_counts(
    perdure: Command, serving: RestGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    why = unusable(tmp_path / "till", kind)
    monkeypatch.chdir(tmp_path / "till")
    file = str(tmp_path / "till" / ".perdure.toml")
    for words in (
        ("add", "Ports begin at 4000"),
        ("search", "ports"),
        ("sync",),
        CHECKPOINT,
        ("doctor",),
    ):
        err = perdure(*words).err
        told = [line for line in err.splitlines() if line.startswith("warning: ")]
        assert len(told) == 1, words
        assert file in told[0]
        assert why in told[0]
        assert told[0].endswith("This folder's project is till.")
    assert "warning: " not in perdure("add", "Ports begin at 4000", "-p", "shop").err


def test_a_project_file_that_can_be_used_is_not_spoken_of(
    perdure: Command, serving: RestGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".perdure.toml").write_text('project = "acme/shop"\n[hooks]\ncapture = false\n')
    monkeypatch.chdir(tmp_path)
    assert "warning: " not in perdure("sync").err
