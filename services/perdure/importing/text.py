"""Texts of notes: sections by headings, parts that fit a memory, what is not the author's taken out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from perdure.hooks.fences import without_injected

PART_BYTES_MAX = 30 * 1024
"""Below the 32 KiB of a memory."""
SECTION_CHARS = 2_000
"""A note up to this length is one memory; a longer one is one memory a section, which searches find better."""

_HEADING = re.compile(r"^(#{1,6})[ \t](.+)$")
_FENCE = re.compile(r"^[ \t]*(```|~~~)")
_MANAGED = re.compile(r"<!-- perdure[:\w -]*begin\b.*?<!-- perdure[:\w -]*end\b[^\n]*?-->", re.DOTALL)
_ENGRAM = re.compile(r"^- \[\w+\] .*\((?:engram|perdure):[0-9a-f-]{8,}\)[ \t]*$", re.MULTILINE)
_SLUG = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with the headings above it, outermost first (empty for what stands before any), and its own text."""

    path: tuple[str, ...]
    body: str

    @property
    def title(self) -> str:
        """The headings on one line."""
        return " › ".join(self.path)

    @property
    def text(self) -> str:
        """Headings and text."""
        return f"{self.title}\n\n{self.body}" if self.path else self.body


def own_words(text: str) -> str:
    """``text`` without blocks that Perdure or NaN Forget keeps in files: memories must not feed on themselves."""
    text = _ENGRAM.sub("", _MANAGED.sub("", text))
    # code is a note's own here, so only our fenced blocks and hosts' are taken out, and not what stands in code
    return without_injected(text) if "<perdure-" in text else text


def sections_of(text: str) -> list[Section]:
    """The sections of a Markdown text that have a text of their own; headings inside code are none."""
    found: list[Section] = []
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""

    def close() -> None:
        body = "\n".join(lines).strip()
        if body:
            found.append(Section(tuple(title for _, title in path), body))
        lines.clear()

    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark:
            fence = "" if fence == mark[1] else fence or mark[1]
        heading = None if fence else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        close()
        level = len(heading[1])
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, _title(heading[2])))
    close()
    return found


def _title(rest: str) -> str:
    """A heading without marks at its end; by hand, since a pattern takes n² steps for n blanks."""
    title = rest.strip()
    return title.rstrip("#").rstrip() or title[:1]


def unused(key: str, used: dict[str, int]) -> str:
    """``key``, or ``key~2`` and so on where it is taken.

    Args:
        key: What it would be.
        used: The keys that are taken, each with its highest number; the answer is added.
    """
    number = used.get(key, 0) + 1
    found = key if number == 1 else f"{key}~{number}"
    while found != key and found in used:  # a title may end like that itself
        number += 1
        found = f"{key}~{number}"
    used[key] = number
    used.setdefault(found, 1)
    return found


def parts_of(text: str) -> list[str]:
    """``text`` in parts that fit a memory, cut between paragraphs, lines or words; all of it."""
    parts: list[str] = []
    data = text.encode("utf-8", "replace")
    start = 0  # and not the rest of `data`, which would be copied for each part
    while len(data) - start > PART_BYTES_MAX:
        window = data[start : start + PART_BYTES_MAX]
        half = PART_BYTES_MAX // 2
        at = next((found for mark in (b"\n\n", b"\n", b" ") if (found := window.rfind(mark, half)) > 0), 0)
        if at == 0:
            at = PART_BYTES_MAX
            while data[start + at] & 0xC0 == 0x80:  # inside a character
                at -= 1
        parts.append(data[start : start + at].decode("utf-8").strip())
        start += at
    parts.append(data[start:].decode("utf-8").strip())
    return [part for part in parts if part]


def slug(text: str, *, chars_max: int = 60) -> str:
    """``text`` as part of a key or a file's name: lower case, its words with dashes between."""
    return _SLUG.sub("-", text.casefold()).strip("-_")[:chars_max].rstrip("-_")
