"""TOML edited as text: one table put in or taken out, every other byte kept. ``tomlkit`` writes what is new.

Pure. Where the entry stands in a form that a text edit does not reach (dotted keys, an inline table), ``tomlkit`` does
the edit, which keeps comments and order. Each edit is proved with the standard library's reader.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tomlkit
import tomlkit.exceptions

from perdure.installer.refusal import Refused

_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Statement:
    """A header or a key with its value, from the start of its line to behind its newline; ``path`` of headers only."""

    start: int
    end: int
    path: tuple[str, ...] | None


def read(text: str, container: Sequence[str], name: str) -> tuple[bool, Any]:
    """Whether the container is there, and the entry of that name (None where there is none).

    Raises:
        Refused: the text is not TOML, or has something else where the container should be.
    """
    plain: Any = _parse(text)
    for key in container:
        if key not in plain:
            return False, None
        plain = plain[key]
        if not isinstance(plain, dict):
            raise Refused(f'"{key}" in it is not a table')
    return True, plain.get(name)


def put(text: str, container: Sequence[str], name: str, entry: Mapping[str, Any]) -> str:
    """``text`` with the entry of that name set.

    Raises:
        Refused: as ``read``, or the edit cannot be proved.
    """
    there, old = read(text, container, name)
    newline = "\r\n" if "\r\n" in text else "\n"
    expected = _with(_parse(text), (*container, name), dict(entry))
    path = (*container, name)
    block = _block(path, entry, newline)
    spans = _own_tables(text, path) if old is not None else []
    if old is None and not _closed(text, container):
        return _proved(_appended(text, block, newline), expected)
    if spans:
        start, _end = spans[0]
        tail = "".join(text[a:b] for a, b in _between(spans, len(text)))
        return _proved(text[:start] + block + tail, expected)
    return _proved(_by_tomlkit(text, path, dict(entry)), expected) if there else _refuse()


def remove(text: str, container: Sequence[str], name: str, *, with_container: bool) -> str:
    """``text`` without the entry of that name; with ``with_container``, also without a container left empty.

    Raises:
        Refused: as ``put``.
    """
    _there, old = read(text, container, name)
    if old is None:
        return text
    path = (*container, name)
    expected = _without(_parse(text), path)
    spans = _own_tables(text, path)
    if not spans:
        return _proved(_by_tomlkit(text, path, None), expected, without_empty=tuple(container))
    start, _end = spans[0]
    rest = "".join(text[a:b] for a, b in _between(spans, len(text)))
    head = text[:start]
    # the blank line that was put before the table goes with it
    for newline in ("\r\n", "\n"):
        if head.endswith(newline * 2) or head == newline:
            head = head.removesuffix(newline)
            break
    new = head + rest
    if with_container and (own := _own_tables(new, tuple(container), alone=True)) and not _at(expected, container):
        new = new[: own[0][0]] + new[own[0][1] :]
    return _proved(new, expected, without_empty=tuple(container))


def _parse(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise Refused("it is not TOML" + (f" (line {line.group(1)})" if line else "")) from None
    except RecursionError:
        raise Refused("it is nested too deeply") from None


def _refuse() -> str:
    raise Refused("it cannot be edited without changing something else")


def _block(path: Sequence[str], entry: Mapping[str, Any], newline: str) -> str:
    """The entry's table, and one below it for each map in it."""
    header = ".".join(tomlkit.key(part).as_string() for part in path)
    lines = [f"[{header}]"]
    below: list[str] = []
    for key, value in entry.items():
        if isinstance(value, Mapping):
            below += ["", *_block((*path, key), value, "\n").rstrip("\n").split("\n")]
        else:
            lines.append(f"{tomlkit.key(key).as_string()} = {tomlkit.item(value).as_string()}")
    return "".join(line + newline for line in (*lines, *below))


def _appended(text: str, block: str, newline: str) -> str:
    if not text:
        return block
    return text + ("" if text.endswith("\n") else newline) + newline + block


def _closed(text: str, container: Sequence[str]) -> bool:
    """Whether a table may not be added by a header of its own: the container is an inline table."""
    try:
        tomllib.loads(text.replace("\r\n", "\n") + "\n[" + ".".join((*container, '"perdure probe"')) + "]\n")
    except tomllib.TOMLDecodeError:
        return True
    return False


def _own_tables(text: str, path: tuple[str, ...], *, alone: bool = False) -> list[tuple[int, int]]:
    """Spans of the tables at ``path`` and, unless ``alone``, below it, without the space and comments behind them."""
    spans: list[tuple[int, int]] = []
    ours = False
    for statement in _statements(text):
        if statement.path is not None:
            ours = statement.path == path or (not alone and statement.path[: len(path)] == path)
            if ours and spans and not text[spans[-1][1] : statement.start].strip():
                spans[-1] = (spans[-1][0], statement.end)
                continue
            if ours:
                spans.append((statement.start, statement.end))
        elif ours:
            spans[-1] = (spans[-1][0], statement.end)
    return spans


def _between(spans: Sequence[tuple[int, int]], end: int) -> list[tuple[int, int]]:
    """What is left behind the first span."""
    starts = [stop for _start, stop in spans]
    ends = [start for start, _stop in spans[1:]] + [end]
    return list(zip(starts, ends, strict=True))


def _statements(text: str) -> list[_Statement]:
    """The statements of a text that is known to be TOML."""
    found: list[_Statement] = []
    position = 0
    while position < len(text):
        newline = text.find("\n", position)
        line_end = len(text) if newline < 0 else newline + 1
        content = text[position:line_end].strip()
        if not content or content.startswith("#"):
            position = line_end
            continue
        end = _statement_end(text, position)
        found.append(_Statement(position, end, _header(text[position:end]) if content.startswith("[") else None))
        position = end
    return found


def _statement_end(text: str, position: int) -> int:
    """Behind the newline that ends the statement: the first outside strings, brackets and comments."""
    depth = 0
    while position < len(text):
        character = text[position]
        if character in "\"'" and (match := _STRING.match(text, position)):
            position = match.end()
            continue
        if character == "#":
            newline = text.find("\n", position)
            position = len(text) if newline < 0 else newline
            continue
        depth += (character in "[{") - (character in "]}")
        position += 1
        if character == "\n" and depth <= 0:
            break
    return position


def _header(line: str) -> tuple[str, ...]:
    plain: Any = tomllib.loads(line.replace("\r\n", "\n"))
    path: list[str] = []
    while isinstance(plain, dict) and plain:
        key, plain = next(iter(plain.items()))
        path.append(key)
        if isinstance(plain, list):
            path.append("[]")  # an element of an array of tables is no table of that name
            break
    return tuple(path)


def _by_tomlkit(text: str, path: Sequence[str], entry: Mapping[str, Any] | None) -> str:
    try:
        document: Any = tomlkit.parse(text)
        place = document
        for key in path[:-1]:
            place = place[key]
        if entry is None:
            del place[path[-1]]
        else:
            table = tomlkit.inline_table()
            table.update(entry)
            place[path[-1]] = table
        return tomlkit.dumps(document)
    except (tomlkit.exceptions.TOMLKitError, KeyError, TypeError):
        return _refuse()


def _at(plain: Any, path: Sequence[str]) -> Any:
    for key in path:
        plain = plain.get(key, {})
    return plain


def _with(plain: Mapping[str, Any], path: Sequence[str], entry: Any) -> dict[str, Any]:
    if len(path) == 1:
        return {**plain, path[0]: entry}
    return {**plain, path[0]: _with(plain.get(path[0], {}), path[1:], entry)}


def _without(plain: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    if len(path) == 1:
        return {key: value for key, value in plain.items() if key != path[0]}
    return {**plain, path[0]: _without(plain[path[0]], path[1:])}


def _pruned(plain: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Without the container at ``path`` if it is empty: TOML has no word for a table that only its children made."""
    return _without(plain, path) if path and path[0] in plain and not _at(plain, path) else plain


def _proved(text: str, expected: dict[str, Any], *, without_empty: Sequence[str] = ()) -> str:
    if _pruned(_parse(text), without_empty) != _pruned(expected, without_empty):
        return _refuse()
    return text
