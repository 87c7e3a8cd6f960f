"""YAML edited as text: one entry of one map put in or taken out, every other byte kept.

Pure. PyYAML's reader says where things stand; the text is cut and joined by lines. Edits only a map written in block
style, as Goose writes it, and refuses the rest. Each edit is proved by reading both texts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from perdure.installer.refusal import Refused

_UNIT = "  "


def read(text: str, container: Sequence[str], name: str) -> tuple[bool, Any]:
    """Whether the container is there, and the entry of that name (None where there is none).

    Raises:
        Refused: the text is not YAML, or has something else where the container should be.
    """
    plain = _parse(text)
    for key in container:
        if key not in plain:
            return False, None
        plain = plain[key]
        if plain is None:
            return True, None
        if not isinstance(plain, dict):
            raise Refused(f'"{key}" in it is not a map')
    return True, plain.get(name)


def put(text: str, container: Sequence[str], name: str, entry: Mapping[str, Any]) -> str:
    """``text`` with the entry of that name set.

    Raises:
        Refused: as ``read``, or the edit cannot be proved.
    """
    there, old = read(text, container, name)
    if old is not None:
        before = _parse(text)
        bare = remove(text, container, name, with_container=False)
        return _proved(put(bare, container, name, entry), _with(before, container, name, entry))
    newline = "\r\n" if "\r\n" in text else "\n"
    (key,) = container
    expected = _with(_parse(text), container, name, entry)
    if not there:
        head = text if not text or text.endswith("\n") else text + newline
        block = f"{key}:\n" + _block(name, entry, _UNIT)
        return _proved(head + block.replace("\n", newline), expected)
    found, value = _place(text, key)
    indent = _UNIT
    if isinstance(value, yaml.MappingNode):
        if value.flow_style or not value.value:
            raise Refused(f'"{key}" in it is written on one line, which is not edited; see --print')
        indent = " " * value.value[0][0].start_mark.column
    end = _line_end(text, found.end_mark.index)
    head = text[:end] if text[:end].endswith("\n") else text[:end] + newline
    return _proved(head + _block(name, entry, indent).replace("\n", newline) + text[end:], expected)


def remove(text: str, container: Sequence[str], name: str, *, with_container: bool) -> str:
    """``text`` without the entry of that name; with ``with_container``, also without a container left empty.

    Raises:
        Refused: as ``put``.
    """
    _there, old = read(text, container, name)
    if old is None:
        return text
    (key,) = container
    found, value = _place(text, key)
    if not isinstance(value, yaml.MappingNode) or value.flow_style:
        raise Refused(f'"{key}" in it is written on one line, which is not edited')
    node = next(pair for pair in value.value if pair[0].value == name)
    plain = _parse(text)
    rest = {other: entry for other, entry in plain[key].items() if other != name}
    expected = {**plain, key: rest or None}
    start, end = _line_start(text, node[0].start_mark.index), _line_end(text, _leaf_end(text, node[1]))
    text_after = text[:start] + text[end:]
    if not rest and with_container:
        expected = {other: entry for other, entry in plain.items() if other != key}
        first = _line_start(text, found.start_mark.index)
        if text[first:start].strip() == f"{key}:":
            text_after = text[:first] + text[end:]
        else:
            expected = {**plain, key: None}
    return _proved(text_after, expected)


def _parse(text: str) -> dict[str, Any]:
    try:
        plain = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        raise Refused("it is not YAML" + (f" (line {mark.line + 1})" if mark else "")) from None
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise Refused("it does not hold a map")
    return plain


def _place(text: str, key: str) -> tuple[yaml.Node, yaml.Node]:
    """Key and value of the top map's member."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    found = [pair for pair in pairs if pair[0].value == key]
    if len(found) != 1 or (isinstance(root, yaml.MappingNode) and root.flow_style):
        raise Refused("it is written in a way that is not edited; see --print")
    key_node, value_node = found[0]
    return key_node, value_node


def _block(name: str, entry: Mapping[str, Any], indent: str) -> str:
    """The entry in block style; strings are quoted as JSON has them, which YAML reads the same."""
    lines = [f"{indent}{name}:"]
    for key, value in entry.items():
        if isinstance(value, Mapping) and value:
            lines.append(f"{indent}{_UNIT}{key}:")
            lines += [f"{indent}{_UNIT * 2}{inner}: {_quoted(text)}" for inner, text in value.items()]
        else:
            lines.append(f"{indent}{_UNIT}{key}: {_quoted(value)}")
    return "".join(line + "\n" for line in lines)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _leaf_end(text: str, node: yaml.Node) -> int:
    """Where the last scalar of a node ends; the end of a block node itself lies behind the space after it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _leaf_end(text, last[1] if isinstance(last, tuple) else last)
    end = node.end_mark.index
    # a block scalar, and an empty one, end where the next line begins
    return end - 1 if end and text[end - 1 : end] == "\n" else int(end)


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _line_end(text: str, index: int) -> int:
    newline = text.find("\n", index)
    return len(text) if newline < 0 else newline + 1


def _with(plain: Mapping[str, Any], container: Sequence[str], name: str, entry: Any) -> dict[str, Any]:
    (key,) = container
    return {**plain, key: {**(plain.get(key) or {}), name: dict(entry)}}


def _proved(text: str, expected: dict[str, Any]) -> str:
    if _parse(text) != expected:
        raise Refused("it cannot be edited without changing something else")
    return text
