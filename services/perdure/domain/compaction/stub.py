"""The line that stands for a long memory in a context, and how to know one.

Format: ``[absorbed→Perdure v<N>] <first line>``. The predecessor's stubs (``[absorbed→Evermind v``) are known too, so
that what was compacted there is never taken for a memory's own words.
"""

from __future__ import annotations

import re

from perdure.domain.text import cut, normalised

PREFIX = "[absorbed→Perdure v"
BEGINNING = "[absorbed→"
"""How every stub begins, ours and the predecessor's; what stores look for."""

POINTER_CHARS = 140
POINTER_CHARS_MIN = 20

_STUB = re.compile(r"\s*\[absorbed→(?:Perdure|Evermind)\b(?: v(?P<version>[^\]\n]*))?\]?[ \t]*(?P<pointer>[^\n]*)")


def stub_of(content: str, version: int, *, chars: int = POINTER_CHARS) -> str:
    """The stub of ``content``.

    Args:
        content: The full text.
        version: Revision of the memory whose text the archive keeps.
        chars: Most characters of the first line, >= 20; a longer line is cut and ends in ``…``.
    """
    line = next((stripped for raw in content.split("\n") if (stripped := raw.strip())), "")
    limit = max(chars, POINTER_CHARS_MIN)
    if len(line) > limit:
        line = cut(line, limit - 1).rstrip() + "…"
    return f"{PREFIX}{version}] {line}".rstrip()


def is_stub(text: str) -> bool:
    """True for a text that is a stub of ours or of the predecessor."""
    return _STUB.match(text) is not None


def pointer(stub: str) -> str:
    """The first line that ``stub`` quotes, without its ``…``; empty where ``stub`` is none."""
    match = _STUB.match(stub)
    return match["pointer"].strip().removesuffix("…").rstrip() if match else ""


def points_at(stub: str, content: str) -> bool:
    """True where ``stub`` quotes the first line of ``content``."""
    quoted = normalised(pointer(stub))
    line = next((stripped for raw in content.split("\n") if (stripped := raw.strip())), "")
    return bool(quoted) and normalised(line).startswith(quoted)
