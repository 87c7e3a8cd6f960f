from __future__ import annotations

import pytest

from perdure.hooks.front_matter import split
from perdure.hooks.memory_files import PART_BYTES_MAX, memories_of, relative_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/me/.claude/projects/-home-me-app/memory/testing.md", "testing.md"),
        ("C:\\Users\\Ann Lee\\.claude\\projects\\C--app\\memory\\db\\pool.MD", "db/pool.MD"),
        ("/home/me/.codex/memories/style.md", "style.md"),
        ("/home/me/.claude/projects/x/memory/MEMORY.md", ""),
        ("/home/me/app/docs/memory/leaks.md", ""),
        ("/home/me/.claude/projects/x/memory/notes.txt", ""),
        ("/home/me/.claude/agents/memory.md", ""),
        ("testing.md", ""),
    ],
)
@pytest.mark.requirement("HOOK-FILES-01")
def test_memory_files_are_known_by_their_place(path: str, name: str) -> None:
    assert relative_name(path) == name


def one(text: str) -> dict[str, object]:
    (memory,) = memories_of("/h/.claude/m/memory/a.md", "a.md", text, project="p", host="claude", session="s")
    return memory


@pytest.mark.requirement("HOOK-FILES-01")
def test_front_matter_gives_type_name_and_description() -> None:
    memory = one(
        "---\nname: Testing\ndescription: 'How we test: no mocks'\n"
        'metadata:\n  type: feedback\ntags: [ci, "a, b"]\n---\n'
        "- integration tests use a real database\n- --- is not a fence here\n"
    )
    assert memory["type"] == "preference"
    assert memory["concepts"] == ["Testing"]
    assert memory["tags"] == ["memory-file", "ci", "a, b"]
    assert memory["key"] == "memory/a.md"
    assert memory["content"] == (
        "How we test: no mocks\n\n- integration tests use a real database\n- --- is not a fence here"
    )


@pytest.mark.parametrize(
    "body",
    [
        "- a list first",
        "--- dashes and text",
        "no front matter\n---\nbut a rule",
        "# Heading\n\ntext",
        "\ufeff日本語の本文",
    ],
)
def test_any_body_is_taken_whole(body: str) -> None:
    assert one(body)["content"] == body.removeprefix("\ufeff")


@pytest.mark.parametrize(
    ("yaml", "expected"),
    [
        ("description: >\n  one\n  two\ntype: user", {"description": "one two", "type": "user"}),
        ("description: |\n  one\n  two", {"description": "one\ntwo"}),
        ("tags:\n  - a\n  - 'b c'", {"tags": ["a", "b c"]}),
        ('"quoted name": "a \\"b\\"" # note', {"quoted name": 'a "b"'}),
        ("url: http://x.org/#part # comment", {"url": "http://x.org/#part"}),
        ("type: fact\nnested:\n  type: user", {"type": "fact"}),
        ("long: first\n  second", {"long": "first second"}),
        ("tags: [a,\n  b]", {"tags": ["a", "b"]}),
        ("type: fact\n: broken\n  - odd\n\tx", {"type": "fact"}),
    ],
)
def test_front_matter_is_read_as_people_write_it(yaml: str, expected: dict[str, object]) -> None:
    assert split(f"---\n{yaml}\n---\nbody\n") == (expected, "body\n")
    assert split(f"---\r\n{yaml}\r\n---\r\nbody\r\n".replace("\n\n", "\n"))[1].strip() == "body"


def test_front_matter_without_an_end_is_body() -> None:
    text = "---\ntype: fact\nno end"
    assert split(text) == ({}, text)


def test_a_file_without_text_makes_no_memory() -> None:
    assert memories_of("a.md", "a.md", "---\ntype: fact\n---\n\n", project="p", host="h", session="s") == []


def test_a_long_file_becomes_several_memories_that_hold_all_of_it() -> None:
    text = "\n\n".join(f"Absatz {number}: " + "ü日" * 60 for number in range(400))
    parts = memories_of("a.md", "a.md", text, project="p", host="h", session="s")
    assert len(parts) > 2
    assert all(len(part["content"].encode()) <= PART_BYTES_MAX for part in parts)
    assert "".join("".join(part["content"] for part in parts).split()) == "".join(text.split())
    assert [part["key"] for part in parts][:2] == ["memory/a.md", "memory/a.md#2"]
    (solid,) = {
        len(p["content"].encode()) <= PART_BYTES_MAX
        for p in memories_of("a.md", "a.md", "日" * 30000, project="p", host="h", session="s")
    }
    assert solid
