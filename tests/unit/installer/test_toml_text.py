from __future__ import annotations

import tomllib

import pytest

from perdure.installer import toml_text
from perdure.installer.refusal import Refused

PATH = ("mcp_servers",)
ENTRY = {"command": "/b", "args": ["x"], "env": {"A": "1"}}


def put(text: str) -> str:
    return toml_text.put(text, PATH, "perdure", ENTRY)


def cut(text: str) -> str:
    return toml_text.remove(text, PATH, "perdure", with_container=False)


@pytest.mark.parametrize("text", ["a = ", "[x", "a = 1\na = 2\n", "mcp_servers = 3\n", "[[mcp_servers]]\n"])
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        put(text)


@pytest.mark.parametrize(
    "text",
    [
        "[mcp_servers.perdure]\ncommand = '/o/perdure-bridge' # m\n[mcp_servers.perdure.env]\nB = '2'\n\n[z]\na = 1\n",
        '["mcp_servers".\'perdure\']\ncommand = "/old/perdure-bridge"\n[z]\na = 1\n',
        '[mcp_servers]\nperdure = { command = "/old/perdure-bridge" }\n[z]\na = 1\n',
        'mcp_servers.perdure.command = "/old/perdure-bridge"\n[z]\na = 1\n',
        'mcp_servers = { perdure = { command = "/old/perdure-bridge" } }\n[z]\na = 1\n',
    ],
)
def test_an_older_entry_is_found_in_any_spelling(text: str) -> None:
    new = tomllib.loads(put(text))

    assert new == {"mcp_servers": {"perdure": ENTRY}, "z": {"a": 1}}
    assert tomllib.loads(cut(text)).get("mcp_servers", {}) == {}
    assert tomllib.loads(cut(text))["z"] == {"a": 1}


def test_a_header_in_a_comment_or_a_string_is_no_header() -> None:
    text = '# [mcp_servers.perdure]\nx = """\n[mcp_servers.perdure]\n"""\n'

    assert toml_text.read(text, PATH, "perdure") == (False, None)
    assert cut(put(text)) == text


def test_an_inline_table_of_servers_takes_one_more() -> None:
    text = 'mcp_servers = { a = { command = "x" } } # mine\n'

    assert tomllib.loads(put(text))["mcp_servers"] == {"a": {"command": "x"}, "perdure": ENTRY}
    assert "# mine" in put(text)


def test_comments_behind_our_table_stay() -> None:
    text = "[mcp_servers.perdure]\ncommand = '/b'\n\n# about z\n[z]\n"

    assert cut(text) == "\n# about z\n[z]\n"
