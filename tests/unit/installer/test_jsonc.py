from __future__ import annotations

import pytest

from perdure.installer import jsonc
from perdure.installer.refusal import Refused

PATH = ("mcpServers",)
ENTRY = {"command": "/b", "args": []}


def put(text: str) -> str:
    return jsonc.put(text, PATH, "perdure", ENTRY)


def cut(text: str, *, with_container: bool = True) -> str:
    return jsonc.remove(text, PATH, "perdure", with_container=with_container)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{'mcpServers': {}}",
        '{"a": 1} x',
        '{"a": 1 "b": 2}',
        "{a: 1}",
        '{"a": 01}',
        '{"a": NaN}',
        '{"a": "\t"}',
        '{"a": "\\x"}',
        "[]",
        '"text"',
        '{"mcpServers": []}',
        '{"mcpServers": null}',
        '{"a": 1, /* open',
        '{,"a": 1}',
        '{"a": ' + "[" * 5000 + "]" * 5000 + "}",
    ],
)
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        put(text)


def test_a_key_that_stands_twice_is_refused() -> None:
    with pytest.raises(Refused, match="twice"):
        put('{"mcpServers": {}, "mcpServers": {"a": 1}}')


@pytest.mark.parametrize("text", ["", "\n", "// only a comment", "/* a */\n"])
def test_a_file_without_a_value_gets_one(text: str) -> None:
    new = put(text)

    assert new.startswith(text)
    assert jsonc.read(new, PATH, "perdure") == (True, ENTRY)


def test_a_new_member_is_written_as_its_neighbours_are() -> None:
    text = '{\n\t"mcpServers": {\n\t\t"a": {"x": 1} // why\n\t}\n}\n'

    assert put(text) == (
        '{\n\t"mcpServers": {\n\t\t"a": {"x": 1}, // why\n\t\t"perdure": {\n\t\t\t"command": "/b",\n\t\t\t"args": []\n'
        "\t\t}\n\t}\n}\n"
    )


def test_a_comment_behind_our_entry_stays() -> None:
    text = '{\n  "mcpServers": {\n    "perdure": {"command": "/b"}, // theirs\n    "z": 1\n  }\n}'

    assert cut(text) == '{\n  "mcpServers": { // theirs\n    "z": 1\n  }\n}'


def test_nothing_slips_into_a_line_comment() -> None:
    text = '{"mcpServers": {"a": 1, // c\n"perdure": {"command": "/b"}, "z": 2}}'

    assert jsonc.read(cut(text), PATH, "z") == (True, 2)
    assert "// c\n" in cut(text)


def test_a_container_with_a_comment_in_it_stays() -> None:
    text = '{\n  "mcpServers": {\n    // my servers\n    "perdure": {"command": "/b"}\n  }\n}'

    assert cut(text) == '{\n  "mcpServers": {\n    // my servers\n  }\n}'


def test_an_entry_in_the_middle_goes_without_a_trace() -> None:
    text = '{\n  "mcpServers": {\n    "a": 1,\n    "perdure": {"command": "/b"},\n    "z": 2\n  }\n}\n'

    assert cut(text) == '{\n  "mcpServers": {\n    "a": 1,\n    "z": 2\n  }\n}\n'


def test_text_that_only_looks_like_our_entry_is_left_alone() -> None:
    text = '{\n  // "perdure": {"command": "/b"}\n  "note": "\\"mcpServers\\": {\\"perdure\\": 1}"\n}\n'

    assert cut(text) == text
    assert cut(put(text)) == text


def test_a_large_file_is_edited() -> None:
    text = '{"history": [' + ", ".join(f'"word {number}"' for number in range(50_000)) + "]}"

    assert cut(put(text)) == text
