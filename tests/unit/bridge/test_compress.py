"""Memory files become stubs only where their whole text is shown to be in memory, and come back byte for byte."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from perdure.bridge import compress_files
from perdure.bridge.compress import Memory, Unanswered, plain, stub_of
from perdure.bridge.compress_run import Report, compress
from perdure.domain.compaction.stub import is_stub
from perdure.domain.compaction.stub import stub_of as domain_stub
from perdure.domain.text import clean
from perdure.hooks import memory_files

FRONT = "---\nname: deploy\ndescription: how we deploy\ntype: project\n---\n\n"
BODY = "Deploys go out on Thursdays.\n\n" + "\n".join(f"Step {number}: check host h{number}." for number in range(120))


class Store:
    """Memory as a list; knows the files that hooks saved by their keys, and finds everything else by search."""

    def __init__(self) -> None:
        self.memories: list[dict[str, Any]] = []
        self.before_get: Callable[[], None] = lambda: None

    def add(self, content: str, **more: Any) -> dict[str, Any]:
        memory = {
            "id": f"01900000-0000-7000-8000-{len(self.memories):012d}",
            "content": clean(content).strip(),
            "project": "shop",
            "revision": 3,
            "status": "active",
            **more,
        }
        self.memories.append(memory)
        return memory

    def save_file(self, path: Path) -> None:
        """As the hook saves it."""
        name = memory_files.relative_name(str(path))
        for saved in memory_files.memories_of(
            str(path), name, path.read_text("utf-8"), project="shop", host="claude", session=""
        ):
            self.add(saved["content"], key=saved["key"])

    def keyed(self, keys: Sequence[str]) -> Sequence[Memory]:
        return [memory for memory in self.memories if memory.get("key") in keys]

    def like(self, text: str) -> Sequence[Memory]:
        return [memory for memory in self.memories if memory["content"][:20] == text[:20] or "near" in memory]

    def get(self, memory: str) -> Memory | None:
        self.before_get()
        return next((item for item in self.memories if item["id"] == memory), None)


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    (tmp_path / ".claude" / "projects" / "-work-shop" / "memory").mkdir(parents=True)
    return tmp_path / ".claude" / "projects"


def write(projects: Path, text: str | bytes, name: str = "deploy.md") -> Path:
    path = projects / "-work-shop" / "memory" / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def run(projects: Path, store: Store, *, dry_run: bool = False) -> Report:
    return compress([projects], projects.parents[1] / "home", store, dry_run=dry_run)


def reasons(report: Report) -> dict[str, str]:
    return {Path(item.path).name: item.why for item in report.left}


@pytest.mark.requirement("I4-COMPRESS-01")
def test_a_file_that_the_hook_saved_becomes_a_stub_with_its_front_matter(projects: Path, store: Store) -> None:
    path = write(projects, FRONT + BODY + "\n")
    store.save_file(path)
    report = run(projects, store)
    assert [item.found.path for item in report.shrunk] == [str(path)]
    text = path.read_text("utf-8")
    assert text.startswith(f"{FRONT.rstrip()}\n[absorbed→Perdure v3] Deploys go out on Thursdays.\n(the whole text: ")
    assert store.memories[0]["id"] in text
    assert report.bytes_saved == len((FRONT + BODY + "\n").encode()) - len(text.encode()) > 0


@pytest.mark.requirement("I4-COMPRESS-02")
def test_nothing_is_written_unless_asked_for(projects: Path, store: Store) -> None:
    path = write(projects, FRONT + BODY)
    store.save_file(path)
    report = run(projects, store, dry_run=True)
    assert len(report.shrunk) == 1
    assert path.read_text("utf-8") == FRONT + BODY
    assert not (projects.parents[1] / "home").exists()


@pytest.mark.requirement("I4-COMPRESS-01")
@pytest.mark.parametrize(
    "stored",
    [
        BODY[:2000].rsplit("\n", 1)[0],  # the predecessor compared the first 2,000 characters only
        BODY.replace("h7.", "h8."),  # all but one character
        BODY.replace("Thursdays", "[redacted:password]"),
        BODY.upper(),
        BODY.replace("\n", " "),
    ],
)
def test_a_text_that_is_merely_similar_holds_no_file(projects: Path, store: Store, stored: str) -> None:
    path = write(projects, BODY)
    store.add(stored, key="memory/deploy.md")
    store.add(stored + " ", near=True)
    report = run(projects, store)
    assert report.shrunk == []
    assert reasons(report) == {"deploy.md": "not_stored"}
    assert path.read_text("utf-8") == BODY


def test_a_memory_without_a_key_that_contains_the_text_holds_it_too(projects: Path, store: Store) -> None:
    path = write(projects, BODY)
    store.add(f"{BODY}\n\nand something said later")
    assert len(run(projects, store).shrunk) == 1
    assert is_stub(path.read_text("utf-8"))


@pytest.mark.requirement("I4-COMPRESS-01")
def test_the_parts_of_a_long_file_hold_it_together_and_not_if_one_is_missing(projects: Path, store: Store) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 300 for number in range(60))
    path = write(projects, text)
    store.save_file(path)
    assert len(store.memories) >= 3
    lost = store.memories.pop(1)
    assert reasons(run(projects, store)) == {"deploy.md": "not_stored"}
    store.memories.append(lost)
    report = run(projects, store)
    assert len(report.shrunk[0].held_by) == len(store.memories)
    assert all(memory["id"] in path.read_text("utf-8") for memory in store.memories)


def test_line_ends_and_normal_forms_do_not_count_and_undo_brings_them_back(projects: Path, store: Store) -> None:
    text = (FRONT + BODY + "\ncafe\u0301\n").replace("\n", "\r\n")
    path = write(projects, text)
    store.save_file(path)
    report = run(projects, store)
    assert path.read_bytes().count(b"\n") == path.read_bytes().count(b"\r\n") > 0
    compress_files.undo(projects.parents[1] / "home", report.run)
    assert path.read_bytes() == text.encode()


@pytest.mark.requirement("I4-COMPRESS-03")
def test_the_index_is_never_touched(projects: Path, store: Store) -> None:
    for name in ("MEMORY.md", "memory.md"):
        path = write(projects, BODY, name)
        store.add(BODY, key=f"memory/{name}")
        report = run(projects, store)
        assert report.shrunk == report.left == []
        assert path.read_text("utf-8") == BODY
        path.unlink()


@pytest.mark.requirement("I4-COMPRESS-03")
def test_links_are_not_followed(projects: Path, store: Store, tmp_path: Path) -> None:
    elsewhere = tmp_path / "notes.md"
    elsewhere.write_text(BODY)
    memory = projects / "-work-shop" / "memory"
    (memory / "soft.md").symlink_to(elsewhere)
    os.link(elsewhere, memory / "hard.md")
    real = tmp_path / "real" / "memory"
    real.mkdir(parents=True)
    (real / "deploy.md").write_text(BODY)
    (projects / "-linked-project").symlink_to(real.parent)
    (projects / "-linked-memory").mkdir()
    (projects / "-linked-memory" / "memory").symlink_to(real)
    store.add(BODY)
    report = run(projects, store)
    assert report.shrunk == []
    assert {item.why for item in report.left} == {"link"}
    assert len(report.left) == 4
    assert elsewhere.read_text() == (real / "deploy.md").read_text() == BODY


def test_what_is_no_text_is_short_or_a_stub_already_stays(projects: Path, store: Store) -> None:
    write(projects, b"\xff\xfe\x00", "binary.md")
    write(projects, "ok", "short.md")
    write(projects, FRONT, "empty.md")
    write(projects, stub_of(BODY, 1, ["x"]), "stub.md")
    store.add("ok", near=True)
    report = run(projects, store)
    assert reasons(report) == {
        "binary.md": "not_text",
        "short.md": "not_smaller",
        "empty.md": "empty",
        "stub.md": "already_compressed",
    }


@pytest.mark.requirement("I4-COMPRESS-04")
def test_a_file_is_kept_before_it_is_replaced_and_undo_gives_back_every_byte(projects: Path, store: Store) -> None:
    paths = [write(projects, f"\ufeff{FRONT}{BODY} {name}\n\n\n", name) for name in ("a.md", "b.md")]
    paths[0].chmod(0o640)
    os.utime(paths[0], ns=(1_700_000_000_000_000_000, 1_700_000_000_000_000_000))
    for path in paths:
        store.save_file(path)
    before = [path.read_bytes() for path in paths]
    report = run(projects, store)
    home = projects.parents[1] / "home"
    assert len(report.shrunk) == 2
    assert stat.S_IMODE(paths[0].stat().st_mode) == 0o640
    assert stat.S_IMODE((home / "compressed").stat().st_mode) == 0o700
    assert compress_files.runs(home) == [report.run]
    back, left = compress_files.undo(home, report.run)
    assert (back, left) == ([str(path) for path in paths], [])
    assert [path.read_bytes() for path in paths] == before
    assert paths[0].stat().st_mtime_ns == 1_700_000_000_000_000_000
    assert compress_files.runs(home) == []


@pytest.mark.requirement("I4-COMPRESS-04")
def test_undo_leaves_alone_what_was_changed_since(projects: Path, store: Store) -> None:
    paths = [write(projects, f"{BODY} {name}", name) for name in ("a.md", "b.md")]
    for path in paths:
        store.save_file(path)
    report = run(projects, store)
    paths[0].write_text("mine now\n")
    home = projects.parents[1] / "home"
    back, left = compress_files.undo(home, report.run)
    assert back == [str(paths[1])]
    assert left == [(str(paths[0]), "changed")]
    assert paths[0].read_text() == "mine now\n"
    assert compress_files.runs(home) == [report.run]  # it can be tried again


def test_undo_refuses_a_copy_that_is_damaged_and_a_run_that_is_none(projects: Path, store: Store) -> None:
    path = write(projects, BODY)
    store.save_file(path)
    report = run(projects, store)
    home = projects.parents[1] / "home"
    stub = path.read_bytes()
    (home / "compressed" / report.run / "00001").write_bytes(b"x")
    with pytest.raises(compress_files.Unkept, match="damaged"):
        compress_files.undo(home, report.run)
    assert path.read_bytes() == stub
    for name in ("none", "../compressed", ""):
        with pytest.raises(compress_files.Unkept, match="no run"):
            compress_files.undo(home, name)


@pytest.mark.requirement("I4-COMPRESS-04")
def test_a_file_or_memory_that_changes_meanwhile_stays(projects: Path, store: Store) -> None:
    path = write(projects, BODY)
    store.save_file(path)
    store.before_get = lambda: write(projects, BODY + "\nnew line") and None
    assert reasons(run(projects, store)) == {"deploy.md": "changed"}
    assert path.read_text() == BODY + "\nnew line"
    for change in ({"content": "other"}, {"status": "archived"}):
        store.memories.clear()
        store.before_get = lambda: None
        write(projects, BODY)
        memory = store.add(BODY, key="memory/deploy.md")

        def meanwhile(memory: dict[str, Any] = memory, change: dict[str, str] = change) -> None:
            memory.update(change)

        store.before_get = meanwhile
        assert reasons(run(projects, store)) == {"deploy.md": "not_stored"}
        assert path.read_text() == BODY


def test_a_disk_that_is_full_changes_no_file(projects: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(projects, BODY)
    store.save_file(path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    report = run(projects, store)
    assert "No space left" in report.stopped
    assert report.shrunk == []
    assert path.read_text() == BODY
    assert [item.name for item in path.parent.iterdir()] == ["deploy.md"]


def test_without_memory_no_file_is_touched(projects: Path, store: Store) -> None:
    path = write(projects, BODY)

    def away(keys: Sequence[str]) -> Sequence[Memory]:
        raise Unanswered("Perdure does not answer.")

    store.keyed = away  # type: ignore[method-assign]
    with pytest.raises(Unanswered):
        run(projects, store)
    assert path.read_text() == BODY


def test_running_again_changes_nothing(projects: Path, store: Store) -> None:
    path = write(projects, FRONT + BODY)
    store.save_file(path)
    run(projects, store)
    stub = path.read_bytes()
    again = run(projects, store)
    assert (again.shrunk, reasons(again), path.read_bytes()) == ([], {"deploy.md": "already_compressed"}, stub)


@pytest.mark.requirement("I4-COMPRESS-05")
def test_a_stub_never_replaces_the_memory_that_holds_its_text(projects: Path, store: Store) -> None:
    path = write(projects, FRONT + BODY)
    store.save_file(path)
    run(projects, store)
    name = memory_files.relative_name(str(path))

    def saved() -> list[tuple[str, str]]:
        found = memory_files.memories_of(
            str(path), name, path.read_text("utf-8"), project="shop", host="claude", session=""
        )
        return [(item["key"], item["content"]) for item in found]

    assert saved() == []
    path.write_text(path.read_text("utf-8") + "\nAnd never on Fridays.\n", "utf-8")
    assert saved() == [("memory/deploy.md+", "how we deploy\n\nAnd never on Fridays.")]


@pytest.mark.parametrize("text", ["short", "x" * 200, "\n\n  # Title  \nmore", "日本語" * 60, "é" * 139 + "tail" * 9])
def test_a_stub_is_what_the_lifecycle_writes(text: str) -> None:
    stub = stub_of(plain(text), 7, ["id"])
    assert stub.split("\n")[0] == domain_stub(text, 7)
    assert is_stub(stub)
    assert stub.split("\n")[1].startswith(memory_files.STUB_POINTER)
    assert stub.startswith(memory_files.STUB)


@pytest.mark.parametrize("text", ["a\r\nb\rc\x0bd", "e\u0301\u212b", " \x00x\x1b ", "\u2028y\x85z"])
def test_a_text_is_compared_in_the_form_in_which_memories_are_kept(text: str) -> None:
    assert plain(text) == clean(text).strip()
