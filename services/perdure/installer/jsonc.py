"""JSON with comments and trailing commas, edited as text: one member put in or taken out, every other byte kept.

Pure. Reads what the hosts read (JSON, line and block comments, trailing commas) and refuses the rest, such as single
quotes. Each edit is proved: the new text must mean what the old one meant, and the one member.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perdure.installer.refusal import Refused

_TOKEN = re.compile(
    r'(?P<space>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<string>"(?:[^"\\\x00-\x1f]|\\.)*")'
    r"|(?P<mark>[{}\[\],:])|(?P<scalar>[^\s{}\[\],:\"/]+)",
    re.DOTALL,
)
_DEPTH_MAX = 200
_UNIT = "  "


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Member:
    """One ``"key": value`` of an object, or one value of an array with an empty key; offsets into the text."""

    key: str
    start: int
    value: _Value
    comma: int | None


@dataclass(frozen=True, slots=True)
class _Value:
    """A value with its span; ``members`` is None unless it is an object, ``items`` unless it is an array."""

    start: int
    end: int
    plain: Any
    members: tuple[_Member, ...] | None = None
    items: tuple[_Member, ...] | None = None

    def member(self, key: str) -> _Member | None:
        """The member of that name.

        Raises:
            Refused: there are two; readers disagree on which counts.
        """
        found = [member for member in self.members or () if member.key == key]
        if len(found) > 1:
            raise Refused(f'it says "{key}" twice; remove one')
        return found[0] if found else None


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[_Token] = []
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._fault(position)
            kind = str(match.lastgroup)
            if kind not in {"space", "comment"}:
                self._tokens.append(_Token(kind, position, match.end(), match.group()))
            position = match.end()
        self._at = 0

    def read(self) -> _Value | None:
        """The document's value; None where there is nothing but space and comments."""
        if not self._tokens:
            return None
        value = self._value(0)
        if self._at < len(self._tokens):
            raise self._fault(self._tokens[self._at].start)
        return value

    def _fault(self, position: int) -> Refused:
        line = self._text.count("\n", 0, position) + 1
        return Refused(f"it is not JSON (line {line})")

    def _next(self) -> _Token:
        if self._at >= len(self._tokens):
            raise self._fault(len(self._text))
        self._at += 1
        return self._tokens[self._at - 1]

    def _peek(self) -> str:
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def _value(self, depth: int) -> _Value:
        if depth > _DEPTH_MAX:
            raise Refused("it is nested too deeply")
        token = self._next()
        match token.kind, token.text:
            case "mark", "{":
                return self._object(token, depth)
            case "mark", "[":
                return self._array(token, depth)
            case (("string" | "scalar"), _):
                return _Value(token.start, token.end, self._scalar(token))
        raise self._fault(token.start)

    def _scalar(self, token: _Token) -> Any:
        if token.text in {"NaN", "Infinity", "-Infinity"}:
            raise self._fault(token.start)
        try:
            return json.loads(token.text)
        except ValueError:
            raise self._fault(token.start) from None

    def _object(self, opening: _Token, depth: int) -> _Value:
        members: list[_Member] = []
        while self._peek() != "}":
            key = self._next()
            if key.kind != "string" or self._next().text != ":":
                raise self._fault(key.start)
            value = self._value(depth + 1)
            comma = self._comma("}")
            members.append(_Member(self._scalar(key), key.start, value, comma))
        closing = self._next()
        plain = {member.key: member.value.plain for member in members}
        return _Value(opening.start, closing.end, plain, tuple(members))

    def _array(self, opening: _Token, depth: int) -> _Value:
        items: list[_Member] = []
        while self._peek() != "]":
            value = self._value(depth + 1)
            items.append(_Member("", value.start, value, self._comma("]")))
        return _Value(opening.start, self._next().end, [item.value.plain for item in items], items=tuple(items))

    def _comma(self, closing: str) -> int | None:
        """Take the comma behind a value; without one the container must end."""
        if self._peek() == ",":
            return self._next().start
        if self._peek() != closing:
            raise self._fault(self._tokens[self._at].start if self._at < len(self._tokens) else len(self._text))
        return None


@functools.lru_cache(maxsize=4)  # one edit reads the same text several times, and Claude Code's file has megabytes
def _parse(text: str) -> _Value | None:
    root = _Reader(text).read()
    if root is not None and root.members is None:
        raise Refused("it does not hold a JSON object")
    return root


def _walk(root: _Value | None, container: Sequence[str]) -> tuple[_Value | None, Sequence[str]]:
    """As far as the file goes along ``container``: the last object found, and the keys that are not there."""
    place = root
    for depth, key in enumerate(container):
        member = place.member(key) if place is not None else None
        if member is None:
            return place, container[depth:]
        if member.value.members is None:
            raise Refused(f'"{key}" in it is not an object')
        place = member.value
    return place, ()


def read(text: str, container: Sequence[str], name: str) -> tuple[bool, Any]:
    """Whether the container is there, and the entry of that name (None where there is none).

    Raises:
        Refused: the text is not JSON, or has something else where the container should be.
    """
    place, missing = _walk(_parse(text), container)
    member = place.member(name) if place is not None and not missing else None
    return not missing and place is not None, member.value.plain if member else None


def put(text: str, container: Sequence[str], name: str, entry: Any) -> str:
    """``text`` with the entry of that name set.

    Raises:
        Refused: as ``read``, or the edit cannot be proved.
    """
    root = _parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    place, missing = _walk(root, container)
    value: Any = entry
    for key in reversed((*missing[1:], name) if missing else ()):
        value = {key: value}
    key = missing[0] if missing else name
    if place is None:
        head = text if not text or text.endswith("\n") else text + newline
        new = head + json.dumps({key: value}, indent=_UNIT, ensure_ascii=False).replace("\n", newline) + newline
    elif (old := place.member(key)) is not None:
        indent = _line_indent(text, old.start)
        new = text[: old.value.start] + _render(value, text, place, indent, newline) + text[old.value.end :]
    else:
        new = _inserted(text, place, key, value, newline)
    expected = _with(root.plain if root else {}, container, name, entry)
    return _proved(new, expected)


def remove(text: str, container: Sequence[str], name: str, *, with_container: bool) -> str:
    """``text`` without the entry of that name; with ``with_container``, also without a container left empty.

    Raises:
        Refused: as ``put``.
    """
    root = _parse(text)
    place, missing = _walk(root, container)
    if root is None or place is None or missing or place.member(name) is None:
        return text
    path = [*container, name]
    expected = _without(root.plain, path)
    text = _cut(text, path)
    while with_container and len(path) > 1 and not _at(expected, path[:-1]):
        if "/" in _inner(text, path[:-1]):
            break  # a comment of the person's stands in it
        path = path[:-1]
        expected = _without(expected, path)
        text = _cut(text, path)
    return _proved(text, expected)


def elements(text: str, container: Sequence[str], name: str) -> list[Any] | None:
    """The values of an array; None where there is none.

    Raises:
        Refused: the text is not JSON, or has something else where the array should be.
    """
    place, missing = _walk(_parse(text), container)
    member = place.member(name) if place is not None and not missing else None
    if member is None:
        return None
    if member.value.items is None:
        raise Refused(f'"{name}" in it is not a list')
    return [item.value.plain for item in member.value.items]


def append(text: str, container: Sequence[str], name: str, element: Any) -> str:
    """``text`` with one more value at the end of an array, which is made where it is missing.

    Raises:
        Refused: as ``elements``, or the edit cannot be proved.
    """
    there = elements(text, container, name)
    if there is None:
        return put(text, container, name, [element])
    root = _parse(text)
    place, _missing = _walk(root, container)
    member = place.member(name) if place is not None else None
    if root is None or member is None:
        raise Refused("it cannot be edited")
    newline = "\r\n" if "\r\n" in text else "\n"
    expected = _with(root.plain, container, name, [*there, element])
    return _proved(_inserted(text, member.value, None, element, newline), expected)


def drop(text: str, container: Sequence[str], name: str, element: Any) -> str:
    """``text`` without the last value of an array that equals ``element``; as it is where there is none.

    Raises:
        Refused: as ``append``.
    """
    there = elements(text, container, name) or []
    at = max((number for number, value in enumerate(there) if value == element), default=None)
    root = _parse(text)
    place, _missing = _walk(root, container)
    member = place.member(name) if place is not None else None
    if at is None or root is None or member is None or member.value.items is None:
        return text
    expected = _with(root.plain, container, name, [value for number, value in enumerate(there) if number != at])
    return _proved(_cut_out(text, member.value, member.value.items, at), expected)


def hidden(text: str) -> list[tuple[int, int, str | None]]:
    """What may hold something private: span and value of each string that is no key, and spans of comments.

    The text is one that could be edited. In order of appearance; None for a comment's value.
    """
    found: list[tuple[int, int, str | None]] = []
    tokens = [match for match in _TOKEN.finditer(text) if match.lastgroup != "space"]
    following = [*[match.group() for match in tokens if match.lastgroup != "comment"][1:], ""]
    position = 0
    for match in tokens:
        if match.lastgroup == "comment":
            found.append((match.start(), match.end(), None))
            continue
        after = following[position]
        position += 1
        if match.lastgroup == "string" and after != ":":
            found.append((match.start(), match.end(), json.loads(match.group())))
    return found


def _inserted(text: str, place: _Value, key: str | None, value: Any, newline: str) -> str:
    """``text`` with a new last member of ``place``, written as its neighbours are; without a key in an array."""
    closing = place.end - 1
    members = place.items or place.members or ()
    label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if not members:
        outer = _line_indent(text, place.start)
        indent = outer + _unit(text)
        head = text[:closing].rstrip(" \t\r\n")
        tail = text[len(head) : closing]
        tail = tail if newline in tail else newline + outer
        return f"{head}{newline}{indent}{label}{_render(value, text, None, indent, newline)}{tail}{text[closing:]}"
    last = members[-1]
    head = text[:closing].rstrip(" \t\r\n")
    comma = "," if last.comma is not None else ""
    if last.comma is None:
        head = head[: last.value.end] + "," + head[last.value.end :]
    tail = text[len(text[:closing].rstrip(" \t\r\n")) :]
    own = _own_indent(text, last.start)
    if own is None and _ends_in_line_comment(head):
        own = _line_indent(text, place.start) + _unit(text)
    if own is None:
        return f"{head} {label}{json.dumps(value, ensure_ascii=False)}{comma}{tail}"
    return f"{head}{newline}{own}{label}{_render(value, text, None, own, newline)}{comma}{tail}"


def _cut(text: str, path: Sequence[str]) -> str:
    """``text`` without the member at ``path``, which is there; comments around it stay."""
    place = _walk(_parse(text), path[:-1])[0]
    member = place.member(path[-1]) if place is not None else None
    if place is None or place.members is None or member is None:
        raise Refused("it cannot be edited")
    return _cut_out(text, place, place.members, place.members.index(member))


def _cut_out(text: str, place: _Value, members: Sequence[_Member], position: int) -> str:
    """``text`` without one member or value of ``place``."""
    member = members[position]
    head = text[: member.start].rstrip(" \t\r\n")
    gap = text[len(head) : member.start]
    rest = text[member.value.end if member.comma is None else member.comma + 1 :]
    if len(head) == place.start + 1 and rest.lstrip(" \t\r\n").startswith(("}", "]")):
        return head + rest.lstrip(" \t\r\n")
    if _ends_in_line_comment(head) and not rest.lstrip(" \t").startswith(("\n", "\r")):
        head += gap  # what follows must not become part of the comment
    elif not gap:
        rest = rest.lstrip(" \t")
    comma = members[position - 1].comma if position else None
    if comma is not None and member.comma is None:
        head = head[:comma] + head[comma + 1 :]
    return head + rest


def _ends_in_line_comment(head: str) -> bool:
    """Whether the end of ``head`` lies in a line comment."""
    if "//" not in head[head.rfind("\n") + 1 :]:
        return False
    position = 0
    while position < len(head):
        match = _TOKEN.match(head, position)
        if match is None:
            return False
        if match.end() == len(head):
            return match.lastgroup == "comment" and match.group().startswith("//")
        position = match.end()
    return False


def _inner(text: str, path: Sequence[str]) -> str:
    place = _walk(_parse(text), path)[0]
    return text[place.start + 1 : place.end - 1] if place is not None else ""


def _render(value: Any, text: str, place: _Value | None, indent: str, newline: str) -> str:
    """``value`` on lines indented as the file is; on one line where its object is on one."""
    if place is not None and place.members and _own_indent(text, place.members[-1].start) is None:
        return json.dumps(value, ensure_ascii=False)
    rendered = json.dumps(value, indent=_unit(text), ensure_ascii=False)
    return rendered.replace("\n", newline + indent)


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _own_indent(text: str, position: int) -> str | None:
    """The space before a member that begins its line; None for one that follows something."""
    start = text.rfind("\n", 0, position) + 1
    line = text[start:position]
    return line if start and not line.strip(" \t") else None


def _unit(text: str) -> str:
    """One step of indentation in this file."""
    root = _parse(text)
    first = root.members[0] if root is not None and root.members else None
    return (_own_indent(text, first.start) if first else None) or _UNIT


def _at(plain: Any, path: Sequence[str]) -> Any:
    for key in path:
        plain = plain[key]
    return plain


def _with(plain: Any, container: Sequence[str], name: str, entry: Any) -> Any:
    if not container:
        return {**plain, name: entry}
    return {**plain, container[0]: _with(plain.get(container[0], {}), container[1:], name, entry)}


def _without(plain: Any, path: Sequence[str]) -> Any:
    if len(path) == 1:
        return {key: value for key, value in plain.items() if key != path[0]}
    return {**plain, path[0]: _without(plain[path[0]], path[1:])}


def _proved(text: str, expected: Any) -> str:
    """``text``, if it means ``expected``; order counts, since JSON objects are compared as written."""
    root = _parse(text)
    if root is None or json.dumps(root.plain) != json.dumps(expected):
        raise Refused("it cannot be edited without changing something else")
    return text
