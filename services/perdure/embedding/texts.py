"""What is embedded: texts, their side of a search, their windows.

Knows how a text is cleaned and cut; knows no model, only a function that counts tokens.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from dataclasses import dataclass

from perdure.domain.vectors import Vector
from perdure.errors import InvalidArgument, Reason

WINDOWS_MAX = 8
"""Windows of one text at most: 4096 tokens, some 16 KiB of English, up to 10 s of CPU; what is beyond is left out."""

TEXTS_MAX = 256
"""Texts of one request at most (the protocol's promise)."""

_BREAKS = (re.compile(r"\n"), re.compile(r"[.!?;]\s|[。！？；]"), re.compile(r"\s|[、，,]"))


class Kind(enum.StrEnum):
    """Which side of a search a text is on."""

    DOCUMENT = "document"
    QUERY = "query"


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text's vector: float32, (dimension,), unit length; read-only.

    ``truncated``: part of the text was left out. ``windows``: pieces whose vectors were averaged, >= 1.
    """

    vector: Vector
    truncated: bool
    windows: int
    cached: bool = False


@dataclass(frozen=True, slots=True)
class Windows:
    """Pieces of one text with their tokens, and whether the end of the text was left out."""

    pieces: tuple[str, ...]
    tokens: tuple[int, ...]
    truncated: bool


def clean(text: str) -> str:
    """``text`` as an engine may see it: NUL and lone surrogates gone, no blanks at the ends.

    A NUL ends a text for the C engine without a word, a lone surrogate cannot be encoded.

    Raises:
        InvalidArgument: nothing is left (TEXT_UNUSABLE); an empty text has a valid vector that means nothing.
    """
    usable = text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8").strip()
    if not usable:
        raise InvalidArgument("An empty text has no vector.", reason=Reason.TEXT_UNUSABLE)
    return usable


def windows(text: str, count: Callable[[str], int], limit: int, most: int = WINDOWS_MAX) -> Windows:
    """``text`` in pieces of at most ``limit`` tokens, cut at line, sentence or word ends where there are any.

    Args:
        text: A cleaned text.
        count: Tokens of a text, prefix and special tokens included; rises with the text.
        limit: Tokens of one piece at most, >= 16.
        most: Pieces at most, >= 1.
    """
    total = count(text)
    if total <= limit:
        return Windows((text,), (total,), False)
    pieces: list[str] = []
    tokens: list[int] = []
    rest = text
    while rest and len(pieces) < most:
        end = _fitting(rest, count, limit)
        piece = rest[:end].strip()
        if piece:
            pieces.append(piece)
            tokens.append(count(piece))
        rest = rest[end:].lstrip()
    return Windows(tuple(pieces), tuple(tokens), bool(rest))


def estimated_tokens(text: str) -> int:
    """Tokens of ``text`` for a model whose tokenizer is out of reach; errs upwards.

    A token is about 4 ASCII characters of prose and 2.5 of code; other scripts take up to one a character.
    """
    ascii_chars = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return 4 + (2 * ascii_chars + 4) // 5 + (len(text) - ascii_chars)


def _fitting(text: str, count: Callable[[str], int], limit: int) -> int:
    """Characters of the longest prefix of at most ``limit`` tokens, moved back to a good end; >= 1."""
    # a token is seldom longer than 8 characters, so the search never counts a 32 KiB text twice
    low, high = 1, min(len(text), 8 * limit)
    if count(text[:high]) <= limit:
        low = high
    while high - low > 1:
        middle = (low + high) // 2
        if count(text[:middle]) <= limit:
            low = middle
        else:
            high = middle
    if low == len(text):
        return low
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, low // 2, low)]
        if ends:
            return ends[-1]
    return low
