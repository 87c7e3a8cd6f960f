"""How much of an answer a model is given.

Knows lengths and rough token counts; knows no tokenizer and no memory.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain.text import cut

HITS_DEFAULT = 5
HIT_CHARS_DEFAULT = 500
HIT_OVERHEAD_TOKENS = 40
"""Id, date, project and fence around each text."""

_LEAST_CHARS = 40
"""A text cut to less than this says nothing; it is left out."""

_ELLIPSIS = "…"
_PIECE = re.compile(
    "(?P<word>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<space>[^\\S\n]+)"
    "|(?P<wide>[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff])"
    "|(?P<letters>[^\\W\\d_]+)|(?P<emoji>[\U0001f000-\U0001faff])|(?P<other>.)",
    re.DOTALL,
)
_CHARS_PER_TOKEN = {"word": 5.0, "digits": 2.5, "space": 16.0, "wide": 0.9, "letters": 2.5, "emoji": 0.4, "other": 1.0}

_ASCII_KINDS = bytes(
    ord("a" if char.isalpha() else "0" if char.isdigit() else " " if char.isspace() and char != "\n" else ".")
    for char in map(chr, range(128))
) + bytes(128)
"""Letters, digits, spaces and the rest, as ``_PIECE`` has them; what is not ASCII never gets here."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """One text as the model gets it; ``shortened`` texts end in ``…`` and the whole is behind ``memory_get``."""

    text: str
    shortened: bool


def fit(
    texts: Sequence[str],
    *,
    hits: int = HITS_DEFAULT,
    hit_chars: int = HIT_CHARS_DEFAULT,
    max_tokens: int | None = None,
    overhead_tokens: int = HIT_OVERHEAD_TOKENS,
) -> tuple[Fitted, ...]:
    """The first ``hits`` texts, each shortened to ``hit_chars``, as many as ``max_tokens`` holds.

    The text that no longer fits whole is shortened to what is left where that is worth reading; what follows it is left
    out. Cuts fall between graphemes. The results stand for the first texts, in order.

    Args:
        texts: Best first.
        hits: How many at most, >= 0.
        hit_chars: Characters of each at most, the ellipsis included, >= 1.
        max_tokens: Estimated tokens of all together, ``overhead_tokens`` for each included; None for no limit.
        overhead_tokens: What the frame around each text costs.
    """
    fitted: list[Fitted] = []
    left = math.inf if max_tokens is None else float(max_tokens)
    for text in texts[: max(hits, 0)]:
        item = _shortened(text, hit_chars)
        cost = overhead_tokens + estimate_tokens(item.text)
        if cost > left:
            item = _squeezed(text, hit_chars, int(left) - overhead_tokens)
            if item.text:
                fitted.append(item)
            break
        fitted.append(item)
        left -= cost
    return tuple(fitted)


def estimate_tokens(text: str) -> int:
    """About how many tokens a model reads in ``text``; rather too many than too few, in any script.

    Five letters of an English word, two and a half of another alphabet, or one CJK character make a token; the figures
    err upwards for the tokenizers in common use.
    """
    if text.isascii():
        return _tokens_of_ascii(text)
    # no piece but a space goes across a space or a quote (JSON has more of these), and spaces count nothing
    plain: list[str] = []
    rest: list[str] = []
    for part in text.replace('"', ' " ').split(" "):
        (plain if part.isascii() else rest).append(part)
    return _tokens_of_ascii(" ".join(plain)) + _tokens_of_pieces(" ".join(rest))


def _tokens_of_pieces(text: str) -> int:
    total = 0
    for match in _PIECE.finditer(text):
        kind = match.lastgroup or "other"
        total += math.ceil((match.end() - match.start()) / _CHARS_PER_TOKEN[kind]) if kind != "space" else 0
    return total


def _tokens_of_ascii(text: str) -> int:
    """The same number at a tenth of the time; every answer of a search is counted."""
    kinds = text.encode("ascii").translate(_ASCII_KINDS)
    words = kinds.replace(b"0", b" ").replace(b".", b" ").split()
    digits = kinds.replace(b"a", b" ").replace(b".", b" ").split()
    return (
        kinds.count(b".")
        + sum([math.ceil(size / _CHARS_PER_TOKEN["word"]) * often for size, often in Counter(map(len, words)).items()])
        + sum(
            [math.ceil(size / _CHARS_PER_TOKEN["digits"]) * often for size, often in Counter(map(len, digits)).items()]
        )
    )


def _shortened(text: str, chars: int) -> Fitted:
    if len(text) <= chars:
        return Fitted(text, False)
    return Fitted(cut(text, chars - len(_ELLIPSIS)).rstrip() + _ELLIPSIS, True)


def _squeezed(text: str, chars: int, tokens: int) -> Fitted:
    """The longest beginning of at most ``tokens`` tokens; empty where that is not worth reading."""
    low, high = 0, min(chars, len(text))
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(_shortened(text, middle).text) <= tokens:
            low = middle
        else:
            high = middle - 1
    return _shortened(text, low) if low >= _LEAST_CHARS else Fitted("", True)
