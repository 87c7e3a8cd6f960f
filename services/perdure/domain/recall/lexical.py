"""Text and queries as full text sees them: words, CJK bigrams, parts of identifiers.

Both sides get the same treatment, so what is written can be found. Knows no engine; the tokenizer behind it must split
at everything that is neither letter nor digit and fold case (``unicode61`` does).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from perdure.domain.memory import GLOBAL_PROJECT, Statement
from perdure.domain.recall.candidate import LexicalQuery, LexicalText, QueryTerm

TERMS_MAX = 64
"""Terms of one query; the rest of a longer text adds cost and little evidence."""

_IDENTIFIER_CHARS_MAX = 80
_MIXED_PARTS_MAX = 6

_CJK_CLASS = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003134a"
)
_CJK_RUN = re.compile(f"[{_CJK_CLASS}]+")
_HIRAGANA = re.compile("[\u3041-\u309f\u30fc]+")
_TOKEN = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_ACCENTED = re.compile(
    "[\u0386-\u03ce\u1f00-\u1ffc\u0401\u0451\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670]"
)
_APOSTROPHE = re.compile(r"(?<=[^\W_])['’ʼ](?=[^\W_])")
_CHUNK = re.compile(r"\S+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_STOP_WORDS = _words(
    "a an and are as at be been but by can could did do does for from had has have he her his how i if in into "
    "is it its me my of on or our she so than that the their them then there these they this to us was we were "
    "what when where which who whom why will with would you your about s t re ve ll d m don doesn didn isn aren "
    "wasn weren couldn wouldn shouldn hasn haven"
)


def document_text(statement: Statement) -> LexicalText:
    """A memory's text for the full-text index: everything a person may remember it by, the summary left out.

    ``words`` is the text without its CJK runs. ``parts`` holds the bigrams of each run and its last character (so that
    one character finds it as a prefix), then the parts of identifiers: ``getUserById`` gives ``get User By Id``.
    """
    text = _folded(_joined(statement))
    parts: list[str] = []
    if not text.isascii():
        runs = _CJK_RUN.findall(text)
        if runs:
            text = _CJK_RUN.sub(" ", text)
            for run in runs:
                parts.extend(_bigrams(run))
                parts.append(run[-1])
    for token in _TOKEN.findall(text):
        if _is_mixed(token):
            parts.extend(_parts(token))
    return LexicalText(text, " ".join(parts))


def query_terms(query: str) -> LexicalQuery:
    """The terms of a query, joined by OR; at most 64, each once.

    A word is itself; stop words are left out unless nothing else is left. An identifier or a path is a phrase and its
    parts. A CJK run is its bigrams, a lone CJK character a prefix. Empty where the query holds no letter and no digit.
    """
    text = _APOSTROPHE.sub(" ", _folded(query))
    strong: dict[QueryTerm, None] = {}
    weak: dict[QueryTerm, None] = {}
    for term, is_weak in _terms(text):
        if term in strong or term in weak:
            continue
        (weak if is_weak else strong)[term] = None
        if len(strong) == TERMS_MAX:
            break
    return LexicalQuery(tuple(strong or weak)[:TERMS_MAX])


def _terms(text: str) -> Iterator[tuple[QueryTerm, bool]]:
    """Terms in the order of the text; the second value says that a term alone means little."""
    for chunk in _CHUNK.findall(text):
        if chunk.isascii() or not _CJK_RUN.search(chunk):
            yield from _word_terms(chunk)
            continue
        at = 0
        for run in _CJK_RUN.finditer(chunk):
            yield from _word_terms(chunk[at : run.start()])
            yield from _run_terms(run[0])
            at = run.end()
        yield from _word_terms(chunk[at:])


def _run_terms(run: str) -> Iterator[tuple[QueryTerm, bool]]:
    if len(run) == 1:
        yield QueryTerm(run, prefix=True), bool(_HIRAGANA.fullmatch(run))
        return
    for pair in _bigrams(run):
        # Two hiragana are mostly an ending or a particle: many rows, little evidence.
        yield QueryTerm(pair), bool(_HIRAGANA.fullmatch(pair))


def _word_terms(chunk: str) -> Iterator[tuple[QueryTerm, bool]]:
    tokens = _TOKEN.findall(chunk)
    if not tokens:
        return
    if len(tokens) == 1:
        word = tokens[0].lower()
        yield QueryTerm(word), word in _STOP_WORDS
    else:
        yield QueryTerm(" ".join(tokens).lower()), all(token.lower() in _STOP_WORDS for token in tokens)
        for token in tokens:
            word = token.lower()
            yield QueryTerm(word), word in _STOP_WORDS or (len(word) == 1 and word.isascii())
    for token in tokens:
        if _is_mixed(token):
            for part in _parts(token):
                word = part.lower()
                yield QueryTerm(word), word in _STOP_WORDS or (len(word) == 1 and word.isascii())


def _joined(statement: Statement) -> str:
    pieces = [statement.content]
    if statement.problem:
        pieces.append(statement.problem)
    if statement.solution:
        pieces.append(statement.solution)
    pieces.extend(statement.concepts)
    pieces.extend(statement.files)
    pieces.extend(statement.tags)
    if statement.key:
        pieces.append(statement.key)
    if statement.project != GLOBAL_PROJECT:
        pieces.append(statement.project)
    return "\n".join(pieces)


def _folded(text: str) -> str:
    """Full-width letters, half-width kana and composed forms as one form; case stays, as it marks parts.

    The tokenizer takes accents off Latin letters only. What people leave out in other scripts is taken off here:
    Greek accents, the two dots of the Cyrillic yo, and the vowel points of Hebrew and Arabic.
    """
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", text)
    return _ACCENTED.sub(_unaccented, text) if _ACCENTED.search(text) else text


def _unaccented(match: re.Match[str]) -> str:
    char = unicodedata.normalize("NFD", match[0])[0]
    return "" if unicodedata.category(char) in ("Mn", "Lm") else char


def _bigrams(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]


def _is_mixed(token: str) -> bool:
    """Whether a token has parts: a change of case inside, or letters beside digits; a hash or a number has none."""
    if token.isalpha():
        return not (token.islower() or token.isupper() or token[1:].islower()) and _has_parts(token)
    return not token.isdigit() and _has_parts(token)


def _has_parts(token: str) -> bool:
    if len(token) > _IDENTIFIER_CHARS_MAX:
        return False
    count = len(_PART.findall(token))
    # Digits and letters in quick turn are a hash or an id, whose parts would match by chance.
    limit = _MIXED_PARTS_MAX if any(char.isdigit() for char in token) else len(token)
    return 1 < count <= limit


def _parts(token: str) -> list[str]:
    return _PART.findall(token)
