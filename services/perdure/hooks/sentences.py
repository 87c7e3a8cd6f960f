"""Sentences of a turn, in any of the seven languages, with versions, paths, dates and abbreviations whole."""

from __future__ import annotations

import re

_END = re.compile(r"[。！？｡]+[」』”’）)]*|[.!?…؟।]+[\"'”’»)\]*_`]*(?=\s|$)|[;；](?=\s*\n)")
_LEAD = re.compile(r"^(?:\s*(?:#{1,6}\s+|[-*+•·–—]\s+|>\s?|\d{1,3}[.)]\s+|[（(]\d{1,2}[)）]\s*|\[[ xX]\]\s+))+")
_ITEM = re.compile(r"^\s*(?:#{1,6}\s|[-*+•·]\s|>\s?|\d{1,3}[.)]\s|\|)")
_TABLE = re.compile(r"^\s*\|")
_CODE_LINE = re.compile(
    r"^(?:[$>%]\s|\s{4,}\S|at\s+\S+\(|File \"|Traceback|diff --git|@@ |[+-]{3} |import\s|from\s+\S+\s+import\s|"
    r"(?:const|let|var|def|class|function|public|private|return|export)\s.*[={(:;]\s*$|[{}\[\]();,]+$|"
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*\s+\[?(?:INFO|WARN|ERROR|DEBUG))"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'“„«]+$")
_LABEL = re.compile(r"^[A-ZÄÖÜÀ-Ý][\w ÄÖÜäöüßà-ÿ-]{0,24}:$")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ABBREVIATIONS = _words(
    "e.g i.e etc vs cf al approx dr mr mrs ms prof st no nr fig vol pp ca resp incl excl min max dept inc ltd co corp "
    "jr sr jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k z.b d.h u.a bzw usw ggf evtl vgl bspw abs str tel "
    "s.o s.u o.ä v ver p.ej ej sr sra ud uds pág núm p.ex cf m mme т.е т.д т.п др см напр г гг стр рис руб тыс т"
)
_GERMAN_MONTH = re.compile(
    r"\s+(?:januar|jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|uhr|quartal)",
    re.IGNORECASE,
)
_WRAPPED_CHARS = 60
"""A line at least this long that ends in the middle of a sentence was wrapped."""
_WORD_CHARS = 40
"""How far to look around a full stop."""
_CHARS_MAX = 200_000


def sentences_of(text: str) -> list[str]:
    """The sentences of ``text`` in order, without marks of lists, headings and quotations; code and tables left out."""
    found: list[str] = []
    for line in _lines(text[:_CHARS_MAX]):
        found += [sentence for part in _split(line) if (sentence := _bare(part))]
    return found


def _lines(text: str) -> list[str]:
    """Lines, with those of a wrapped paragraph put together again."""
    lines: list[str] = []
    joinable = False
    for raw in text.splitlines():
        line = raw.rstrip()
        if not line.strip() or _TABLE.match(line) or _CODE_LINE.match(line):
            joinable = False
            continue
        if joinable and not _ITEM.match(line):
            lines[-1] = f"{lines[-1]} {line.strip()}"
        else:
            lines.append(line)
        joinable = len(line) >= _WRAPPED_CHARS and line[-1] not in ".!?…:;。！？："
    return lines


def _split(line: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in _END.finditer(line):
        if match.end() < len(line) and not _ends(line, match):
            continue
        parts.append(line[start : match.end()])
        start = match.end()
    return [*parts, line[start:]]


def _ends(line: str, match: re.Match[str]) -> bool:
    """Whether a sentence ends there, and not an abbreviation, an initial, a German date or a list's number."""
    if not match[0].startswith(".") or len(match[0].rstrip("\"'”’»)]*_`")) > 1:
        return True
    start = match.start()
    last = _LAST_WORD.search(line, max(0, start - _WORD_CHARS), start)
    word = last[0] if last else ""
    if word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    rest = line[match.end() : match.end() + _WORD_CHARS]
    number = len(word) <= 2 and start - len(word) < _WORD_CHARS and not line[: start - len(word)].strip()
    if word.isdigit() and (number or _GERMAN_MONTH.match(rest)):
        return False
    following = rest.lstrip()[:1]
    return not (following.islower() and following.isascii())


def _bare(part: str) -> str:
    line = " ".join(_LEAD.sub("", part).split())
    line = line.replace("**", "").replace("__", "").strip("*_ ")
    return "" if _LABEL.match(line) else line
