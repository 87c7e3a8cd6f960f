"""The lexical arm: FTS5 and BM25.

FTS5 counts words over the whole file; ``scope`` is a column with one token per namespace, of weight 0, that cuts the
work of a small tenant in a large store down to its own rows.
"""

from __future__ import annotations

import hashlib
import math
import threading
from collections import OrderedDict
from dataclasses import replace

from perdure.domain.memory import Filter, MemoryId
from perdure.domain.recall.candidate import LexicalAnswer, LexicalHit, LexicalQuery, QueryTerm
from perdure.store.sqlite.conditions import conditions, is_wide
from perdure.store.sqlite.driver import Connection
from perdure.store.sqlite.rows import to_list_of_numbers
from perdure.store.tokens import Tokens

K1 = 1.2
"""FTS5's constant."""

_IDF_MIN = 1e-6
_EXACT_ROWS = 1000
"""Stores up to this size count each query's words anew; larger ones keep counts until the store has grown by 1 %."""
_KEPT_COUNTS = 4096
_SCOPE_SHARE = 8
"""A namespace with less than 1/8 of the store's memories is searched through ``scope``. Measured at 100 000 rows: the
intersection costs 80 ns a row of the namespace, a join 250 ns a matching row."""


def scope_token(namespace: int) -> str:
    """The token that marks the texts of a namespace."""
    return f"ns{namespace}"


def project_token(namespace: int, project: str) -> str:
    """The token that marks the texts of a project; digits, which no stemmer shortens."""
    digest = hashlib.sha256(project.encode()).digest()[:8]
    return f"{scope_token(namespace)}p{int.from_bytes(digest, 'big')}"


def scope_text(namespace: int, project: str) -> str:
    """What stands in ``scope`` beside a text."""
    return f"{scope_token(namespace)} {project_token(namespace, project)}"


class Frequencies:
    """In how many texts a term stands; kept for large stores. Safe for many threads."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, bool], tuple[int, int]] = OrderedDict()

    def usable(self, query: LexicalQuery) -> tuple[tuple[QueryTerm, tuple[str, ...]], ...]:
        """The distinct terms that hold a token, with their tokens."""
        found: dict[tuple[tuple[str, ...], bool], QueryTerm] = {}
        for term in query.terms:
            tokens = self._tokens(term.text)
            if tokens:
                found.setdefault((tokens, term.prefix), term)
        return tuple((term, tokens) for (tokens, _), term in found.items())

    def count(self, connection: Connection, term: QueryTerm, tokens: tuple[str, ...], texts: int) -> int:
        """Texts among ``texts`` that hold ``term``."""
        name = ("\x00".join(tokens), term.prefix)
        if texts > _EXACT_ROWS:
            with self._lock:
                kept = self._kept.get(name)
            if kept is not None and abs(texts - kept[1]) * 100 <= kept[1]:
                return kept[0]
        if len(tokens) == 1 and not term.prefix:
            found = connection.execute("SELECT doc FROM vocabulary WHERE term = ?", (tokens[0],)).get or 0
        else:
            expression = "{words parts}: (" + quoted(term) + ")"
            found = connection.execute("SELECT count(*) FROM full_text WHERE full_text MATCH ?", (expression,)).get
        if texts > _EXACT_ROWS:
            with self._lock:
                self._kept[name] = (found, texts)
                while len(self._kept) > _KEPT_COUNTS:
                    self._kept.popitem(last=False)
        return int(found)


def quoted(term: QueryTerm) -> str:
    """``term`` as FTS5 reads it: never as syntax."""
    text = term.text.replace("\x00", " ").replace('"', '""')
    return f'"{text}" *' if term.prefix else f'"{text}"'


def idf(texts: int, holding: int) -> float:
    """FTS5's inverse document frequency, > 0."""
    return max(_IDF_MIN, math.log((texts - holding + 0.5) / (holding + 0.5))) if holding <= texts else _IDF_MIN


def search(
    connection: Connection,
    frequencies: Frequencies,
    query: LexicalQuery,
    filter_: Filter,
    *,
    namespace: int,
    size: int,
    limit: int,
    written: bool,
) -> LexicalAnswer:
    """The ``limit`` best texts of a namespace that pass the filter, equal ones in the order they came.

    Args:
        connection: Inside a transaction.
        frequencies: Counts of terms.
        query: Terms, joined by OR.
        filter_: Acts before the limit.
        namespace: The namespace's number.
        size: How many memories it holds.
        limit: How many to find, >= 1.
        written: Whether this transaction itself has changed texts.
    """
    terms = frequencies.usable(query)
    texts = _texts(connection, written=written)
    if not terms or not texts or not size:
        return LexicalAnswer((), 0.0)
    ceiling = sum(idf(texts, frequencies.count(connection, term, tokens, texts)) * (K1 + 1) for term, tokens in terms)
    expression = "{words parts}: (" + " OR ".join(quoted(term) for term, _ in terms) + ")"
    scope = scope_token(namespace) if size * _SCOPE_SHARE < texts else ""
    rest = filter_
    if len(filter_.projects) == 1:
        scope = project_token(namespace, filter_.projects[0])
        rest = replace(filter_, projects=())
    if scope:
        expression = f'scope: "{scope}" AND {expression}'
    found = None
    if is_wide(rest) and (scope or size == texts):
        found = _best_of_all(connection, expression, filter_, namespace, limit)
    if found is None:
        found = _best_that_pass(connection, expression, filter_, namespace, limit)
    hits = tuple(LexicalHit(MemoryId(id_), max(0.0, -score)) for id_, score in found)
    # Counts may be 1 % old, and no hit may pass the ceiling.
    return LexicalAnswer(hits, max(ceiling, hits[0].bm25 if hits else 0.0))


def _texts(connection: Connection, *, written: bool) -> int:
    """How many texts FTS5 counts: the first number of its averages record, the N of its own BM25."""
    if written:  # the record is written at the commit
        return int(connection.execute("SELECT sum(memories) FROM namespace").get)
    block = connection.execute("SELECT block FROM full_text_data WHERE id = 1").get
    value = 0
    for byte in block or b"":
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value


def _best_of_all(
    connection: Connection, expression: str, filter_: Filter, namespace: int, limit: int
) -> list[tuple[str, float]] | None:
    """Rank without looking at memories, then filter; None where too few of the best pass, so that nothing is known."""
    fetched = connection.execute(
        "SELECT rowid, bm25(full_text, 1.0, 1.0, 0.0) AS score FROM full_text WHERE full_text MATCH ? "
        "ORDER BY score, rowid LIMIT ?",
        (expression, limit * 2),
    ).fetchall()
    where, values = conditions(filter_, namespace)
    passing: dict[int, str] = dict(
        connection.execute(
            f'SELECT m."row", m.id FROM json_each(?) c CROSS JOIN memory m ON m."row" = c.value WHERE {where}',
            (to_list_of_numbers(row for row, _ in fetched), *values),
        )
    )
    found = [(passing[row], score) for row, score in fetched if row in passing]
    return found[:limit] if len(found) >= limit or len(fetched) < limit * 2 else None


def _best_that_pass(
    connection: Connection, expression: str, filter_: Filter, namespace: int, limit: int
) -> list[tuple[str, float]]:
    where, values = conditions(filter_, namespace)
    return list(
        connection.execute(
            "SELECT m.id, bm25(full_text, 1.0, 1.0, 0.0) AS score FROM full_text "
            f'CROSS JOIN memory m ON m."row" = full_text.rowid WHERE full_text MATCH ? AND {where} '
            "ORDER BY score, full_text.rowid LIMIT ?",
            (expression, *values, limit),
        )
    )
