"""Sentences of a text in any language, and when two of them say the same.

Parting is lossless: the pieces, put together, are the text. A dot inside a version, a path, a URL or a number ends
nothing, nor does one of an abbreviation. Judging is strict: only what differs in case, punctuation, articles and
courtesy is the same; a different number, name, negation or word order is another statement.
"""

from __future__ import annotations

import re
import unicodedata

_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_END = re.compile(r"[。！？｡]+[」』”’）】]*\s*|[.!?…؟।]+[\"'”’»)\]]*(?:\s+|$)")
_ABBREVIATIONS = frozenset(
    """
    e.g i.e etc vs cf al approx ca dr mr mrs ms prof st no nr fig vol pp resp incl excl min max dept inc ltd co corp jr
    sr jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun a.m p.m u.s u.k
    z.b d.h u.a bzw usw ggf evtl vgl bspw abs str tel s.o s.u o.ä
    """.split()  # noqa: SIM905 - a list to read, not to quote
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“„«]+$")
_LEAD = re.compile(r"^(?:#{1,6}\s+|[-*+•]\s+|>\s*|\d{1,3}[.)]\s+|\d{4}-\d\d-\d\d:\s+)+")
_DAY_LINE = re.compile(r"\d{4}-\d\d-\d\d:$")
_TRIM = "\"'“”‘’„«»()[]{}<>,;:!?.…。，、；：！？｡（）「」『』【】*_`~ \t"
_SPACES = re.compile(r"\s+")
_FILLERS = frozenset(
    """
    a an the that please just really basically note remember der die das den dem des ein eine einen einem einer eines
    bitte
    """.split()  # noqa: SIM905 - a list to read, not to quote
)
_REPEATABLE_WORDS_MIN = 4
_REPEATABLE_CHARS_MIN = 12
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_CONTRACTIONS = (
    (re.compile(r"\b(can)['’]t\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"\b(won)['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
    (re.compile(r"\bcannot\b", re.IGNORECASE), "can not"),
    (re.compile(r"['’](?:re)\b", re.IGNORECASE), " are"),
    (re.compile(r"['’](?:ll)\b", re.IGNORECASE), " will"),
    (re.compile(r"['’](?:ve)\b", re.IGNORECASE), " have"),
)


def pieces(text: str) -> tuple[str, ...]:
    """``text`` in sentences, each with the white space after it; put together they are ``text``.

    A line's end ends a sentence; a fenced block of code is one piece.
    """
    answer: list[str] = []
    at = 0
    while (opening := _FENCE.search(text, at)) is not None:
        closing = _FENCE.search(text, opening.end())
        end = text.find("\n", closing.end()) if closing else -1
        end = len(text) if end < 0 else end + 1
        answer.extend(_prose(text[at : opening.start()]))
        answer.append(text[opening.start() : end])
        at = end
    answer.extend(_prose(text[at:]))
    return tuple(answer)


def said(piece: str) -> str:
    """What a piece says, as a key: equal for pieces that say the same, empty for one that says nothing.

    A code block, and any word in mixed or upper case (an identifier, an acronym), counts letter for letter.
    """
    text = unicodedata.normalize("NFC", piece).strip()
    if _FENCE.match(text):
        return text
    text = _LEAD.sub("", text)
    if _DAY_LINE.match(text):
        return ""
    for pattern, plain in _CONTRACTIONS:
        text = pattern.sub(plain, text)
    words = (_word(word, first=place == 0) for place, word in enumerate(_SPACES.split(text)))
    return " ".join(word for word in words if word and word not in _FILLERS)


def stands_alone(piece: str) -> bool:
    """True for a sentence that means the same wherever it stands, so that it need not be said twice.

    An item of a list, a heading, a line of code, "It failed." take their sense from what is around them.
    """
    if _ITEM.match(piece) or _FENCE.match(piece) or piece[:1] in " \t#>|":
        return False
    key = said(piece)
    return key.count(" ") + 1 >= _REPEATABLE_WORDS_MIN or (not key.isascii() and len(key) >= _REPEATABLE_CHARS_MIN)


def _prose(text: str) -> list[str]:
    return [piece for line in text.splitlines(keepends=True) for piece in _line(line)]


def _line(line: str) -> list[str]:
    if not line.strip():
        return [line]
    answer: list[str] = []
    start = 0
    for match in _END.finditer(line):
        if match.end() < len(line.rstrip()) and _ends(line, match):
            answer.append(line[start : match.end()])
            start = match.end()
    answer.append(line[start:])
    return answer


def _ends(line: str, match: re.Match[str]) -> bool:
    if not match[0].startswith("."):
        return True
    word_match = _LAST_WORD.search(line, 0, match.start())
    if word_match is None:
        return False
    word = word_match[0]
    after = line[match.end() :]
    if match[0].rstrip() == "." and (word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isalpha())):
        return False
    # "am 3. Mai", "1. first": a short number with a dot counts, it does not close
    if word.isdigit() and len(word) <= 2:
        return False
    return not after[:1].islower()


def _word(word: str, *, first: bool) -> str:
    core = word.strip(_TRIM)
    if not core:
        # A sign that stands alone says something ("→", "&&"), punctuation does not.
        return "" if all(unicodedata.category(char)[0] == "P" for char in word) else word
    # A leading dot belongs to what it names: ".env", ".5".
    if word[: word.index(core)][-1:] == "." and core.isascii():
        core = "." + core
    if len(core) == 1 and core.isupper() and not first:
        return core  # "plan A" is not "plan"
    return core.lower() if core.islower() or core.istitle() or not core.isascii() else core
