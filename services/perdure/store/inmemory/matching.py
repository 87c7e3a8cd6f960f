"""Filters and BM25, as plain as they can be: what the other backends' fast paths are compared with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from perdure.domain.memory import Filter, Memory
from perdure.domain.recall.candidate import LexicalQuery, QueryTerm
from perdure.store.inmemory.state import Text
from perdure.store.tokens import Tokens

K1 = 1.2
B = 0.75
_IDF_MIN = 1e-6

Tokenised = tuple[tuple[str, ...], bool]
"""A term's tokens, and whether the last one is a prefix."""


def passes(memory: Memory, filter_: Filter) -> bool:
    """Whether every given condition holds."""
    statement = memory.statement
    return (
        (not filter_.statuses or memory.status in filter_.statuses)
        and (not filter_.projects or statement.project in filter_.projects)
        and statement.project not in filter_.not_projects
        and (not filter_.keys or statement.key in filter_.keys)
        and (not filter_.types or statement.type in filter_.types)
        and (not filter_.tiers or memory.tier in filter_.tiers)
        and (filter_.created_from is None or memory.created_at >= filter_.created_from)
        and (filter_.created_to is None or memory.created_at < filter_.created_to)
        and (filter_.as_of is None or memory.expires_at is None or memory.expires_at > filter_.as_of)
        and _holds(statement.tags, filter_.tags)
        and _holds(statement.concepts, filter_.concepts)
        and _holds(statement.files, filter_.files)
    )


def _holds(items: Iterable[str], wanted: Iterable[str]) -> bool:
    return {item.casefold() for item in wanted} <= {item.casefold() for item in items}


def tokenised(query: LexicalQuery, tokens: Tokens) -> tuple[Tokenised, ...]:
    """The distinct terms that hold a token."""
    found: dict[Tokenised, QueryTerm] = {}
    for term in query.terms:
        parts = tokens(term.text)
        if parts:
            found.setdefault((parts, term.prefix), term)
    return tuple(found)


def occurrences(text: Text, term: Tokenised) -> int:
    """How often the term stands in a text, over both columns."""
    return _occurrences(text.words, term) + _occurrences(text.parts, term)


def _occurrences(column: Sequence[str], term: Tokenised) -> int:
    tokens, prefix = term
    count, size = 0, len(tokens)
    for start in range(len(column) - size + 1):
        window = tuple(column[start : start + size])
        if window == tokens or (prefix and window[:-1] == tokens[:-1] and window[-1].startswith(tokens[-1])):
            count += 1
    return count


def idf(texts: int, holding: int) -> float:
    """FTS5's inverse document frequency."""
    return max(_IDF_MIN, math.log((texts - holding + 0.5) / (holding + 0.5)))


def bm25(counts: Sequence[int], idfs: Sequence[float], length: int, average: float) -> float:
    """FTS5's score, higher is better. ``length`` counts all tokens of the text, its two scope tokens among them."""
    norm = K1 * (1 - B + B * length / average)
    return sum(weight * count * (K1 + 1) / (count + norm) for count, weight in zip(counts, idfs, strict=True))


def length(text: Text) -> int:
    """Tokens of a text as FTS5 counts them: both columns and the tokens of its namespace and project."""
    return len(text.words) + len(text.parts) + 2
