from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from anthropic.lib.tools import ToolError

from perdure.domain.text import clean, one_line
from perdure.memory_tool import AsyncPerdureMemoryTool, PerdureMemoryTool
from perdure.memory_tool.commands import ROUNDS_MAX, Commands
from perdure.memory_tool.documents import Document, MovedOn, Refused, Written
from perdure.memory_tool.exact import packed, unpacked
from perdure.memory_tool.paths import key_of, normal, path_of
from support.memory_tool_world import TEXTS, DocumentsInMemory


@pytest.mark.requirement("I4-MEMTOOL-02")
@pytest.mark.parametrize(
    "path",
    ["/memories/../secret", "/memories/../../etc/passwd", "/memories/a/../../b", "/etc/passwd", "memories/a", ""],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda commands, path: commands.view(path),
        lambda commands, path: commands.create(path, "x"),
        lambda commands, path: commands.str_replace(path, "a", "b"),
        lambda commands, path: commands.insert(path, 0, "x"),
        lambda commands, path: commands.delete(path),
        lambda commands, path: commands.rename(path, "/memories/b"),
        lambda commands, path: commands.rename("/memories/kept", path),
    ],
)
def test_no_command_leaves_memories(path: str, call: Callable[[Commands, str], str]) -> None:
    documents = DocumentsInMemory()
    commands = Commands(documents)
    commands.create("/memories/kept", "kept")
    before = dict(documents.kept)
    with pytest.raises(Refused, match=r"would escape /memories directory|must start with /memories"):
        call(commands, path)
    assert documents.kept == before


def test_a_path_too_long_for_a_key_is_refused_with_the_limit() -> None:
    with pytest.raises(Refused, match="199 characters"):
        normal("/memories/" + "n" * 190)
    assert normal("/memories/" + "n" * 189)


def test_a_key_gives_every_path_back() -> None:
    dice = random.Random(7)
    for _ in range(2000):
        path = "/memories/" + "".join(dice.choices("ab %2\te\u0301 /日\u212b#\"'~\u00a0", k=dice.randint(1, 12)))
        assert path_of(key_of(path)) == path
        assert one_line(key_of(path)) == key_of(path)


def test_a_text_comes_back_to_the_last_character() -> None:
    dice = random.Random(11)
    letters = 'ab\n\r\t "\\u0041\x00\x85\u2028e\u0301\u212b\u1112\u1161\u11ab日😀\ufeff\u3000'
    made = ["".join(dice.choices(letters, k=dice.randint(0, 30))) for _ in range(3000)]
    for text in [*TEXTS, *made, " " * 400 + "x"]:
        content, tags = packed(text)
        assert clean(content).strip() == content != ""
        assert unpacked(content, tags) == text


def test_an_ordinary_file_is_kept_as_it_reads() -> None:
    assert packed("# Notes\n\n- uses Postgres 16\n") == ("# Notes\n\n- uses Postgres 16", ("edges:..%0A",))


def test_a_directory_that_only_its_files_tell_of_is_a_directory() -> None:
    documents = DocumentsInMemory()
    documents.create("/memories/plans/q1.md", "ship")
    commands = Commands(documents)
    assert commands.view("/memories").splitlines()[2:] == ["4K\t/memories/plans/", "4B\t/memories/plans/q1.md"]
    with pytest.raises(Refused, match="is not a file"):
        commands.insert("/memories/plans", 0, "x")
    assert (
        commands.rename("/memories/plans", "/memories/old") == "Successfully renamed /memories/plans to /memories/old"
    )
    assert commands.view("/memories/old/q1.md").endswith("\tship")
    assert commands.delete("/memories/old") == "Successfully deleted /memories/old"
    assert commands.view("/memories").count("\n") == 1


class Blanking(DocumentsInMemory):
    """A store that keeps no password."""

    def create(self, path: str, text: str) -> Written:
        super().create(path, text.replace("hunter2", "[redacted:password]"))
        return Written(text, ("password",) if "hunter2" in text else ())

    def edit(self, document: Document, text: str) -> Written:
        written = super().edit(document, text.replace("hunter2", "[redacted:password]"))
        return Written(written.text, ("password",) if "hunter2" in text else ())


@pytest.mark.requirement("I4-MEMTOOL-04")
def test_the_model_is_told_when_a_secret_was_blanked_and_what_the_file_says_now() -> None:
    commands = Commands(Blanking())
    said = commands.create("/memories/login", "user ada\npassword hunter2\n")
    assert said.startswith("File created successfully at: /memories/login\nPerdure blanked")
    assert "password" in said
    assert "[redacted:password]" in commands.view("/memories/login")
    said = commands.str_replace("/memories/login", "user ada", "key hunter2")
    assert "hunter2" not in said
    assert "     1\tkey [redacted:password]" in said


class Contested(DocumentsInMemory):
    """Somebody else edits each document right before we do, ``times`` times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def edit(self, document: Document, text: str) -> Written:
        if self.times:
            self.times -= 1
            super().edit(document, document.text + f"theirs {self.times}\n")
            raise MovedOn
        return super().edit(document, text)


@pytest.mark.requirement("I4-MEMTOOL-03")
def test_an_edit_that_meets_another_loses_neither() -> None:
    commands = Commands(documents := Contested(times=2))
    commands.create("/memories/log", "first\n")
    commands.insert("/memories/log", 1, "ours")
    assert documents.find(["/memories/log"])["/memories/log"].text == "first\nours\ntheirs 1\ntheirs 0\n"


def test_an_edit_that_always_comes_second_says_so() -> None:
    commands = Commands(Contested(times=ROUNDS_MAX))
    commands.create("/memories/log", "first\n")
    with pytest.raises(Refused, match="being changed by somebody else"):
        commands.insert("/memories/log", 0, "ours")


def test_clearing_leaves_an_empty_directory() -> None:
    tool = PerdureMemoryTool(documents=DocumentsInMemory())
    tool.call({"command": "create", "path": "/memories/a/b", "file_text": "x"})
    assert tool.clear_all_memory() == "All memory cleared"
    assert str(tool.call({"command": "view", "path": "/memories"})).count("\n") == 1
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}


@pytest.mark.requirement("I4-MEMTOOL-01")
async def test_the_asynchronous_tool_does_and_says_the_same() -> None:
    documents, other = DocumentsInMemory(), DocumentsInMemory()
    tool, sync = AsyncPerdureMemoryTool(documents=documents), PerdureMemoryTool(documents=other)
    for command in (
        {"command": "create", "path": "/memories/a/b.md", "file_text": "one\ntwo\n"},
        {"command": "insert", "path": "/memories/a/b.md", "insert_line": 1, "insert_text": "between"},
        {"command": "str_replace", "path": "/memories/a/b.md", "old_str": "two", "new_str": "three"},
        {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/c"},
        {"command": "view", "path": "/memories/c/b.md", "view_range": [2, -1]},
        {"command": "view", "path": "/memories"},
        {"command": "delete", "path": "/memories/c"},
    ):
        assert await tool.call(command) == sync.call(command)
    assert documents.kept == other.kept
    with pytest.raises(ToolError, match="does not exist"):
        await tool.call({"command": "view", "path": "/memories/c"})
    assert await tool.clear_all_memory() == "All memory cleared"
