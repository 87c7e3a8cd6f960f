"""A file's text as a memory's content, and back to the last character.

A memory's content is cleaned when it is saved: no white space at its ends, one kind of line end, normal form C. Most
files differ from that by the line feed at their end only. Then the content is the text without white space at its ends,
which a tag keeps. Whatever else would change is written as an escape, and the content stands in quotation marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, unquote

from perdure.domain.memory import LIST_ITEM_CHARS_MAX
from perdure.domain.text import clean

_EDGES = "edges:"
_BETWEEN = ".."
_ESCAPE = re.compile(r"\\(?:\\|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_JAMO = range(0x1160, 0x1200)


def packed(text: str) -> tuple[str, tuple[str, ...]]:
    """Content and tags from which ``unpacked`` makes ``text`` again; cleaning leaves both as they are."""
    core = text.strip()
    if core and clean(core) == core and not _framed(core):
        lead = text[: len(text) - len(text.lstrip())]
        tail = text[len(text.rstrip()) :]
        edges = f"{_EDGES}{quote(lead, safe='')}{_BETWEEN}{quote(tail, safe='')}"
        if not lead and not tail:
            return core, ()
        if len(edges) <= LIST_ITEM_CHARS_MAX:
            return core, (edges,)
    framed = f'"{"".join(_escaped(char) if _delicate(char) else char for char in text)}"'
    if clean(framed) != framed:
        framed = f'"{"".join(char if char.isascii() and not _delicate(char) else _escaped(char) for char in text)}"'
    return framed, ()


def unpacked(content: str, tags: Iterable[str]) -> str:
    """The text that ``packed`` was given; content that was never packed is its own text."""
    if _framed(content):
        return _ESCAPE.sub(_unescaped, content[1:-1])
    for tag in tags:
        lead, between, tail = tag.removeprefix(_EDGES).partition(_BETWEEN)
        if tag.startswith(_EDGES) and between:
            return unquote(lead) + content + unquote(tail)
    return content


def _framed(content: str) -> bool:
    return len(content) >= 2 and content[0] == content[-1] == '"'


def _delicate(char: str) -> bool:
    """Whether cleaning may change the character, alone or together with its neighbours."""
    if char in "\n\t":
        return False
    if char.isascii():
        return char == "\\" or not char.isprintable()
    return (
        unicodedata.category(char)[0] in "MC"
        or char in "\u2028\u2029"
        or ord(char) in _JAMO
        or unicodedata.normalize("NFC", char) != char
    )


def _escaped(char: str) -> str:
    if char == "\\":
        return "\\\\"
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code is None:
        return "\\"
    return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else match[0]
