"""Putting our entry in and taking it out leaves generated documents as they were, without any backup's help."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.installer import jsonc, toml_text, yaml_text

ENTRY = {"command": "/opt/perdure/bin/perdure-bridge", "args": [], "env": {"PERDURE_HOME": "/home/ü/メモ"}}
WORDS = st.text(alphabet="abz é日\"\\/{}[]:,#'🙂", min_size=0, max_size=8)
KEYS = st.text(alphabet="abcxyz-_é日", min_size=1, max_size=6).filter(lambda key: key not in {"perdure", "mcpServers"})
COMMENTS = st.sampled_from(["", "", "// note", '// { "x": [', "/* a */", "/* two\n lines, } */", "// https://e.x/a,b"])


@st.composite
def values(draw: st.DrawFn, style: Style, depth: int = 0) -> str:
    kind = draw(st.sampled_from(["scalar", "scalar", "array", "object"] if depth < 2 else ["scalar"]))
    if kind == "scalar":
        plain = draw(st.one_of(WORDS, st.integers(-9, 9), st.booleans(), st.none()))
        return json.dumps(plain, ensure_ascii=draw(st.booleans()))
    if kind == "array":
        items = draw(st.lists(WORDS.map(json.dumps), max_size=3))
        return "[" + ", ".join(items) + "]"
    return draw(objects(style, depth + 1))


class Style:
    """How a document is laid out."""

    def __init__(self, newline: str, unit: str, one_line: bool, trailing: bool, comments: bool) -> None:
        self.newline, self.unit, self.one_line, self.trailing, self.comments = (
            newline,
            unit,
            one_line,
            trailing,
            comments,
        )


STYLES = st.builds(
    Style,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["  ", "    ", "\t"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@st.composite
def objects(draw: st.DrawFn, style: Style, depth: int, forced: dict[str, str] | None = None) -> str:
    keys = draw(st.lists(KEYS, min_size=0 if forced else 1, max_size=4, unique=True))
    members = {key: draw(values(style, depth)) for key in keys}
    if forced:
        at = draw(st.integers(0, len(members)))
        pairs = list(members.items())
        members = dict([*pairs[:at], *forced.items(), *pairs[at:]])
    if style.one_line:
        return "{" + ", ".join(f"{json.dumps(key)}: {value}" for key, value in members.items()) + "}"
    indent, lines = style.unit * (depth + 1), []
    for number, (key, value) in enumerate(members.items()):
        last = number == len(members) - 1
        comma = "," if not last or style.trailing else ""
        note = draw(COMMENTS) if style.comments else ""
        above = draw(COMMENTS) if style.comments else ""
        lines += [f"{indent}{above}"] if above else []
        lines.append(f"{indent}{json.dumps(key, ensure_ascii=False)}: {value}{comma}{' ' + note if note else ''}")
    if style.comments and draw(st.booleans()):
        lines.append(f"{indent}// last words")
    return "{\n" + "\n".join(lines) + "\n" + style.unit * depth + "}"


@st.composite
def json_documents(draw: st.DrawFn) -> str:
    style = draw(STYLES)
    forced = None
    if draw(st.booleans()):
        forced = {"mcpServers": draw(objects(style, 1))}
    text = draw(objects(style, 0, forced)) + draw(st.sampled_from(["", "\n", "\n\n"]))
    if style.comments:
        text = draw(st.sampled_from(["", "// head\n", "/* head */\n"])) + text
    return text.replace("\n", style.newline)


@given(json_documents())
@settings(max_examples=150, deadline=None, derandomize=True)
@pytest.mark.requirement("CONNECT-01")
def test_json_comes_through_byte_for_byte(text: str) -> None:
    had, _old = jsonc.read(text, ("mcpServers",), "perdure")
    put = jsonc.put(text, ("mcpServers",), "perdure", ENTRY)

    assert jsonc.read(put, ("mcpServers",), "perdure") == (True, ENTRY)
    assert jsonc.put(put, ("mcpServers",), "perdure", ENTRY) == put
    assert jsonc.remove(put, ("mcpServers",), "perdure", with_container=not had) == text


@given(json_documents(), st.integers(0, 3))
@settings(max_examples=60, deadline=None, derandomize=True)
@pytest.mark.requirement("CONNECT-03")
def test_updating_an_entry_changes_nothing_else(text: str, number: int) -> None:
    older = jsonc.put(text, ("mcpServers",), "perdure", {"command": "/old/perdure-bridge", "args": ["x"] * number})
    newer = jsonc.put(older, ("mcpServers",), "perdure", ENTRY)

    assert newer == jsonc.put(text, ("mcpServers",), "perdure", ENTRY)


TOML_LINES = st.sampled_from(
    [
        'model = "gpt-5"',
        "# a comment with [mcp_servers.perdure] in it",
        'notes = """\n[mcp_servers.perdure]\ncommand = "not really"\n"""',
        "list = [\n  1, # one\n  2,\n]",
        "point = { x = 1, y = 2 }",
        "word = 'C:\\\\path'",
        "",
        '"été" = 1',
    ]
)
TOML_TABLES = st.sampled_from(
    [
        '[mcp_servers.github]\ncommand = "x"\nargs = ["a", "b"] # keep\n\n[mcp_servers.github.env]\nTOKEN = "t"',
        '[profiles.fast]\nmodel = "m"',
        '[[hooks]]\nevent = "stop"\n[[hooks]]\nevent = "start"',
        "[ mcp_servers . \"other one\" ]\ncommand = 'y'",
        "[sandbox]\t# tab\n\tmode = 'ro'",
    ]
)


@st.composite
def toml_documents(draw: st.DrawFn) -> str:
    lines = draw(st.lists(TOML_LINES, max_size=5, unique=True))
    tables = draw(st.lists(TOML_TABLES, max_size=4, unique=True))
    text = (
        "\n".join(lines) + "\n" * bool(lines) + draw(st.sampled_from(["\n", ""])).join(f"{table}\n" for table in tables)
    )
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(toml_documents())
@settings(max_examples=100, deadline=None, derandomize=True)
@pytest.mark.requirement("CONNECT-01")
def test_toml_comes_through_byte_for_byte(text: str) -> None:
    had, _old = toml_text.read(text, ("mcp_servers",), "perdure")
    put = toml_text.put(text, ("mcp_servers",), "perdure", ENTRY)

    assert tomllib.loads(put.replace("\r\n", "\n"))["mcp_servers"]["perdure"] == ENTRY
    assert toml_text.put(put, ("mcp_servers",), "perdure", ENTRY) == put
    assert toml_text.remove(put, ("mcp_servers",), "perdure", with_container=not had) == text


YAML_TOP = st.sampled_from(
    [
        "GOOSE_MODEL: gpt-5\n",
        "# a comment\n",
        "GOOSE_PROVIDER: 'openai' # why\n",
        "notes: |\n  extensions:\n    perdure: no\n",
        "list:\n- a\n- b\n",
    ]
)
YAML_EXTENSIONS = st.sampled_from(
    [
        "",
        "extensions: # mine\n  # first\n  developer:\n    enabled: true\n    type: builtin\n",
        "extensions:\n    memory:\n        enabled: false\n        envs: {A: b}\n\n    other:\n        args:\n"
        "        - x\n",
        "extensions:\n",
    ]
)


@given(
    st.lists(YAML_TOP, max_size=4, unique=True),
    YAML_EXTENSIONS,
    st.lists(YAML_TOP, max_size=1),
    st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=60, deadline=None, derandomize=True)
@pytest.mark.requirement("CONNECT-01")
def test_yaml_comes_through_byte_for_byte(head: list[str], extensions: str, tail: list[str], newline: str) -> None:
    text = ("".join(head) + extensions + "".join(line for line in tail if line not in head)).replace("\n", newline)
    had, _old = yaml_text.read(text, ("extensions",), "perdure")
    put = yaml_text.put(text, ("extensions",), "perdure", ENTRY)

    plain: Any = yaml.safe_load(put)
    assert plain["extensions"]["perdure"] == ENTRY
    assert yaml_text.put(put, ("extensions",), "perdure", ENTRY) == put
    assert yaml_text.remove(put, ("extensions",), "perdure", with_container=not had) == text
