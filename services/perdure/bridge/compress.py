"""Claude Code's memory files as stubs: which files may shrink to a line, because memory holds their whole text.

``plan`` decides, ``compress_files`` finds, keeps and replaces, ``compress_gateway`` asks memory. A text counts as held
where a memory, fetched, contains it from its first to its last character, or where the parts that a long file was
saved as make it up; one that is merely similar does not. Front matter stays in the file, and so does every file of
which this cannot be shown.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from perdure.bridge.compress_files import Found

BEGINNING = "[absorbed→"
PREFIX = "[absorbed→Perdure v"
POINTER_CHARS = 140
QUESTION_CHARS = 600

NOT_STORED = "not_stored"
NOT_SMALLER = "not_smaller"
ALREADY = "already_compressed"
EMPTY = "empty"

_FRONT = re.compile(r"\A\ufeff?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_GAP = re.compile(r"\s*")

Memory = Mapping[str, Any]


class Memories(Protocol):
    """What is asked of memory. Every method raises ``Unanswered`` where it does not answer."""

    def keyed(self, keys: Sequence[str]) -> Sequence[Memory]:
        """The active memories of these keys, in every project."""

    def like(self, text: str) -> Sequence[Memory]:
        """Active memories that a search for ``text`` finds, in full."""

    def get(self, memory: str) -> Memory | None:
        """The memory of this id as it is now; None where there is none."""


class Unanswered(Exception):
    """Memory did not answer; the text is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Shrink:
    """``stub`` takes the place of the file's bytes; ``held_by`` are the ids of the memories that hold its text."""

    found: Found
    stub: bytes
    held_by: tuple[str, ...]

    @property
    def bytes_saved(self) -> int:
        """How much smaller the file becomes."""
        return len(self.found.content) - len(self.stub)


@dataclass(frozen=True, slots=True)
class Left:
    """A file that stays as it is, and why: one of the constants here and in ``compress_files``."""

    path: str
    why: str


def plan(found: Iterable[Found | Left], memories: Memories) -> tuple[list[Shrink], list[Left]]:
    """Which files become stubs, and which stay.

    Raises:
        Unanswered: memory is away; nothing can be shown then.
    """
    shrinks: list[Shrink] = []
    left: list[Left] = []
    for item in found:
        decided = item if isinstance(item, Left) else _decide(item, memories)
        if isinstance(decided, Shrink):
            shrinks.append(decided)
        else:
            left.append(decided)
    return shrinks, left


def still_held(shrink: Shrink, memories: Memories) -> bool:
    """Whether the memories, fetched anew, hold the file's text still."""
    now = [memory for held in shrink.held_by if (memory := memories.get(held)) is not None]
    _, body = parted(shrink.found.text)
    return bool(_holders(plain(body), [memory for memory in now if memory.get("status") == "active"]))


def parted(text: str) -> tuple[str, str]:
    """The front matter of a file, with its fences, and the rest."""
    match = _FRONT.match(text)
    end = match.end() if match else 0
    return text[:end], text[end:]


def plain(text: str) -> str:
    """``text`` as a memory keeps one: one kind of line end, no control characters, normal form C, bare ends."""
    return unicodedata.normalize("NFC", _CONTROLS.sub("", _LINE_ENDS.sub("\n", text))).strip().removeprefix("\ufeff")


def stub_of(text: str, version: int, held_by: Sequence[str]) -> str:
    """What stands in a file for ``text``: its first line, and where the whole is."""
    line = next((stripped for raw in text.split("\n") if (stripped := raw.strip())), "")
    if len(line) > POINTER_CHARS:
        end = POINTER_CHARS - 1
        while end and unicodedata.combining(line[end]):
            end -= 1
        line = line[:end].rstrip() + "…"
    where = "memory" if len(held_by) == 1 else "memories"
    return f"{PREFIX}{version}] {line}\n(the whole text: {where} {', '.join(held_by)}; memory_get reads it)\n"


def _decide(found: Found, memories: Memories) -> Shrink | Left:
    front, rest = parted(found.text)
    body = plain(rest)
    if not body:
        return Left(found.path, EMPTY)
    if body.startswith(BEGINNING):
        return Left(found.path, ALREADY)
    holders = _holders(body, memories.keyed(_keys(found.name))) or _holders(body, memories.like(body[:QUESTION_CHARS]))
    if not holders:
        return Left(found.path, NOT_STORED)
    ids = tuple(str(memory["id"]) for memory in holders)
    stub = stub_of(body, int(holders[0]["revision"]), ids)
    line_end = "\r\n" if "\r\n" in found.text else "\n"
    content = (front + stub.replace("\n", line_end)).encode()
    if len(content) >= len(found.content):
        return Left(found.path, NOT_SMALLER)
    return Shrink(found, content, ids)


def _keys(name: str) -> list[str]:
    """Under which a file is saved by hooks and imports: its name in the memory folder, and numbers for its parts."""
    key = f"memory/{name}"[-192:]
    return [key, *(f"{key}#{number}" for number in range(2, 41))]


def _holders(body: str, memories: Sequence[Memory]) -> list[Memory]:
    """One memory that contains the text, or those that make it up in order; empty where it is not all there."""
    for memory in memories:
        if body in plain(str(memory.get("content", ""))):
            return [memory]
    for project in dict.fromkeys(memory.get("project") for memory in memories):
        parts = [memory for memory in memories if memory.get("project") == project]
        if used := _made_up(body, parts):
            return used
    return []


def _made_up(body: str, parts: Sequence[Memory]) -> list[Memory]:
    """Those of ``parts`` whose contents, one after another with white space between, are the whole of ``body``."""
    texts = [plain(str(part.get("content", ""))) for part in parts]
    used: list[Memory] = []
    at = 0
    while at < len(body):
        following = [(len(text), index) for index, text in enumerate(texts) if text and body.startswith(text, at)]
        if not following:
            return []
        length, index = max(following)
        used.append(parts[index])
        at = _end(body, at + length)
    return used


def _end(body: str, at: int) -> int:
    match = _GAP.match(body, at)
    return match.end() if match else at
