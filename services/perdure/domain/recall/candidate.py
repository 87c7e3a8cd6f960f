"""What ranking knows of a memory before its text is read.

A candidate is a memory before ranking; an arm is the source that found it (dense, lexical).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from perdure.domain.memory import MemoryId, MemoryType


@dataclass(frozen=True, slots=True)
class DenseHit:
    """A memory near the query's vector; ``similarity`` is the cosine in [-1, 1]."""

    id: MemoryId
    similarity: float


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """A memory that holds words of the query; ``bm25`` >= 0, higher is better."""

    id: MemoryId
    bm25: float


@dataclass(frozen=True, slots=True)
class LexicalAnswer:
    """Hits, best first, and the query's ceiling.

    ``ceiling`` = sum over the query's terms of idf(term)·(k1 + 1): the BM25 no text can exceed; 0 without terms.
    """

    hits: tuple[LexicalHit, ...]
    ceiling: float


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One term of a lexical query: ``text`` is matched as a phrase of tokens, or as a prefix where ``prefix``."""

    text: str
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class LexicalQuery:
    """Terms joined by OR; empty matches nothing."""

    terms: tuple[QueryTerm, ...]


@dataclass(frozen=True, slots=True)
class LexicalText:
    """A memory's text as full text sees it.

    ``words``: the text without its CJK runs. ``parts``: CJK bigrams and the parts of identifiers.
    """

    words: str
    parts: str


@dataclass(frozen=True, slots=True)
class Card:
    """The columns of a memory that its score depends on; ``importance`` is 0 where its text is a stub without text."""

    id: MemoryId
    project: str
    type: MemoryType
    confidence: float
    importance: float
    access_count: int
    last_accessed_at: datetime
