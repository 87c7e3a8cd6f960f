"""The first sentence of a text, short enough for a list.

Knows where sentences end in several languages; knows no memory.
"""

from __future__ import annotations

import re

from perdure.domain.memory import SUMMARY_CHARS_MAX
from perdure.domain.text import cut

_LEAD = re.compile(r"^(?:#{1,6}\s+|[-*+•]\s+|>\s*|\d{1,3}[.)]\s+)+")
_END = re.compile(r"[。！？｡]+[」』”’）]*|[.!?…؟।]+[\"'”’»)\]]*(?=\s|$)")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ABBREVIATIONS = _words(
    "e.g i.e etc vs cf al approx dr mr mrs ms prof st no nr fig vol pp ca resp incl excl min max dept inc ltd co "
    "corp jr sr jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun a.m p.m u.s u.k z.b "
    "d.h u.a bzw usw ggf evtl vgl bspw abs str tel s.o s.u o.ä"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“„«]+$")
_GERMAN_MONTH = re.compile(
    r"\s+(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|uhr|quartal)",
    re.IGNORECASE,
)
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_ELLIPSIS = "…"
_LOOK_AHEAD_CHARS = 400
"""A sentence that does not end here is cut anyway."""


def summarise(content: str) -> str:
    """The first sentence of ``content``, at most 80 characters, on one line.

    A dot inside a version, a path or a URL ends no sentence, nor does one of an abbreviation or a German date. A
    longer sentence is cut between words and ends in ``…``. Marks of a heading, list or quotation are left out.

    Args:
        content: Clean text (``text.clean``).

    Returns:
        Empty only where ``content`` is blank.
    """
    line = _first_line(content)[:_LOOK_AHEAD_CHARS]
    sentence = " ".join(_first_sentence(line).split())
    return sentence if len(sentence) <= SUMMARY_CHARS_MAX else _shortened(sentence)


def _first_line(content: str) -> str:
    fallback = ""
    for raw in content.split("\n"):
        stripped = raw.strip()
        if not stripped:
            continue
        fallback = fallback or stripped
        if (line := _LEAD.sub("", stripped).strip()) and any(char.isalnum() for char in line):
            return line
    return fallback


def _first_sentence(line: str) -> str:
    for match in _END.finditer(line):
        if match.end() == len(line):
            break
        if _ends_sentence(line, match):
            return line[: match.end()]
    return line


def _ends_sentence(line: str, match: re.Match[str]) -> bool:
    if not match[0].startswith("."):
        return True
    before = line[: match.start()]
    word_match = _LAST_WORD.search(before)
    if word_match is None:
        return False
    word = word_match[0]
    if match[0] == "." and (word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isalpha())):
        return False
    if word.isdigit() and len(word) <= 2:
        after = line[match.end() :]
        return not (_GERMAN_MONTH.match(after) or after.lstrip()[:1].islower())
    return True


def _shortened(sentence: str) -> str:
    head = cut(sentence, SUMMARY_CHARS_MAX - len(_ELLIPSIS))
    end = len(head)
    while end > 0 and not _may_part(sentence, end):
        end -= 1
    head = head[:end].rstrip(" ,;:-–—、，") if end else head
    return (head or sentence[: SUMMARY_CHARS_MAX - len(_ELLIPSIS)]) + _ELLIPSIS


def _may_part(sentence: str, at: int) -> bool:
    before, after = sentence[at - 1], sentence[at]
    return before.isspace() or after.isspace() or bool(_WIDE.match(before) or _WIDE.match(after))
