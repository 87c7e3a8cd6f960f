"""A question that only the memory itself can answer: its most identifying token, blanked.

A memory may be compacted if asking the question brings it back first and the token with it; then the stub in the
context costs nothing that a search does not give back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from perdure.domain.text import normalised

BLANK = "____"
QUESTION_CHARS = 400

_TOKEN = re.compile(r"[^\s\"'“”‘’«»()\[\]{}<>,;!?。，、；！？（）「」『』]+")
_EDGE = ".:…-_*`~|#="
_WORD_CHARS_MIN = 4
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


@dataclass(frozen=True, slots=True)
class Probe:
    """``question`` is asked; the memory passes if it comes back first and its text holds ``token``."""

    question: str
    token: str


def probe_of(content: str, key: str | None, rarity: Callable[[str], float]) -> Probe | None:
    """The probe of a text; None where it has no token that identifies it.

    Args:
        content: The full text.
        key: The memory's key; a token in it would give itself away.
        rarity: How rare a token is in the namespace, >= 0, greater is rarer.
    """
    tokens = [token for raw in _TOKEN.findall(content) if (token := raw.strip(_EDGE))]
    counts = Counter(normalised(token) for token in tokens)
    hidden = normalised(key or "")
    candidates = [
        token
        for token in dict.fromkeys(tokens)
        if counts[normalised(token)] == 1 and _identifies(token) and normalised(token) not in hidden
    ]
    # A token that is part of another word of the text would stand in the question all the same.
    for token in sorted(candidates, key=lambda item: -(rarity(item) + _shape(item))):
        question = _blanked(content, token)
        if normalised(token) not in normalised(question.replace(BLANK, " ")):
            return Probe(question=question, token=token)
    return None


def passes(probe: Probe, found: str | None) -> bool:
    """True where the text that came back holds the token, letter for letter but for case and width."""
    return found is not None and normalised(probe.token) in normalised(found)


def _blanked(content: str, token: str) -> str:
    at = content.index(token)
    start = max(0, min(at - QUESTION_CHARS // 2, len(content) - QUESTION_CHARS))
    window = content[start:at] + BLANK + content[at + len(token) : start + QUESTION_CHARS]
    return " ".join(window.split())


def _identifies(token: str) -> bool:
    return len(token) >= _WORD_CHARS_MIN or any(char.isdigit() for char in token) or bool(_WIDE.search(token))


def _shape(token: str) -> float:
    """Bonus for what looks like a name: digits, inner punctuation, inner capitals; length decides between equals."""
    bonus = min(len(token), 40) / 100
    if any(char.isdigit() for char in token):
        bonus += 2.0
    if any(char in "./_-:@#\\" for char in token[1:-1]):
        bonus += 1.5
    if any(char.isupper() for char in token[1:]):
        bonus += 1.0
    return bonus
