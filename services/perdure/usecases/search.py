"""Answer a question: both arms, one ranking, three depths.

The query's vector is asked for while words are searched. Filters act inside the arms. With a project, each arm looks
once inside it and, at depth 2 and 3, once outside it: two disjoint parts of one pass. A memory is read in full only
once it is a hit. No view of the store is held open across the wait for the vector.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from perdure.domain.memory import Filter, Memory, MemoryId
from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.recall import pipeline
from perdure.domain.recall.answer import (
    DEPTH_DEFAULT,
    LIMIT_MAX,
    QUERY_CHARS_MAX,
    Answer,
    DenseSkip,
    Hit,
    Question,
)
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalHit
from perdure.domain.recall.fusion import CANDIDATES
from perdure.domain.recall.lexical import query_terms
from perdure.domain.recall.pipeline import Ranked
from perdure.domain.text import clean
from perdure.domain.vectors import Space, Vector, unit
from perdure.errors import InvalidArgument, PerdureError, Reason
from perdure.ports import Clock, Embedder, MemoryReader, Store
from perdure.usecases.permission import require
from perdure.usecases.use_log import UseLog


@dataclass(frozen=True, slots=True)
class _Part:
    """One disjoint part of what is searched; ``widened``: outside the project that was asked for."""

    filter: Filter
    widened: bool = False


@dataclass(frozen=True, slots=True)
class _QueryVector:
    vector: Vector
    space: Space


@dataclass(slots=True)
class _Timer:
    """Milliseconds by part."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + (time.perf_counter() - start) * 1000


@dataclass(frozen=True, slots=True)
class _Found:
    """What the arms brought, and everything of it that ranking needs."""

    dense: tuple[DenseHit, ...]
    lexical: LexicalAnswer
    inside: frozenset[MemoryId]
    cards: Mapping[MemoryId, Card]
    similarities: Mapping[MemoryId, float]


class Search:
    """Finds memories by meaning and by words."""

    def __init__(
        self, store: Store, embedder: Embedder, uses: UseLog, clock: Clock, pool: Executor, *, query_wait_s: float
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._uses = uses
        self._clock = clock
        self._pool = pool
        self._query_wait_s = query_wait_s

    def __call__(self, caller: Caller, question: Question) -> Answer:
        """What was found, and which arms ran; no hits where nothing is relevant enough.

        Raises:
            InvalidArgument: the query is empty or too long, depth is not 1 to 3, or limit is not 1 to 50.
            NotFound: there is no such namespace.
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        timer = _Timer()
        with timer.part("total"):
            now = self._clock.now()
            query = _checked(question)
            answer = self._answer(caller, replace(question, query=query), now, timer)
            self._count(caller, question, answer, now)
        return replace(answer, timings_ms=timer.spent)

    def _answer(self, caller: Caller, question: Question, now: datetime, timer: _Timer) -> Answer:
        waiting = self._pool.submit(self._query_vector, question.query, timer)
        parts = _parts(question, now)
        with self._store.read(caller.scope) as reader:
            with timer.part("lexical"):
                terms = query_terms(question.query)
                lexical = [reader.lexical(terms, part.filter, limit=CANDIDATES) for part in parts]
            active = reader.active_space()
            unembedded = sum(reader.unembedded(part.filter) for part in parts)
        asked, skipped = _usable(waiting, active)
        with self._store.read(caller.scope) as reader:
            with timer.part("dense"):
                dense = [
                    reader.dense(asked.vector, asked.space.fingerprint, part.filter, limit=CANDIDATES) if asked else ()
                    for part in parts
                ]
            with timer.part("rank"):
                found = _gather(reader, parts, dense, lexical, asked)
                hits = self._hits(reader, question, found, asked, now)
        return replace(
            hits,
            dense_ran=asked is not None,
            lexical_ran=bool(terms.terms),
            dense_skipped=skipped,
            unembedded=unembedded,
        )

    def _query_vector(self, query: str, timer: _Timer) -> _QueryVector | None:
        with timer.part("query_vector"):
            try:
                answer = self._embedder.query(query, timeout_s=self._query_wait_s)
            except PerdureError:
                return None  # whatever is wrong with the embedder, words answer
        return _QueryVector(answer.vectors[0], answer.space)

    # ------------------------------------------------------------ stages

    def _hits(
        self, reader: MemoryReader, question: Question, found: _Found, asked: _QueryVector | None, now: datetime
    ) -> Answer:
        ranked = pipeline.rank(
            cards=found.cards,
            dense=found.dense,
            lexical=found.lexical,
            similarities=found.similarities,
            floor=asked.space.thresholds.floor if asked else None,
            now=now,
        )
        vectors: Mapping[MemoryId, Vector] = {}
        if asked and ranked:
            vectors = reader.vectors([entry.id for entry in ranked], asked.space.fingerprint)
        inside = [entry for entry in ranked if entry.id in found.inside]
        recognised = pipeline.diverse(inside, vectors, question.limit)
        if question.depth == 1:
            return Answer(stage=1, recognition=self._full(reader, recognised, found.inside))
        recalled = recognised if len(inside) == len(ranked) else pipeline.diverse(ranked, vectors, question.limit)
        hits = self._full(
            reader, [*recognised, *(entry for entry in recalled if entry not in recognised)], found.inside
        )
        by_id = {hit.memory.id: hit for hit in hits}
        recognition = tuple(by_id[entry.id] for entry in recognised if entry.id in by_id)
        recall = tuple(by_id[entry.id] for entry in recalled if entry.id in by_id)
        answer = Answer(stage=2, recognition=recognition, recall=recall)
        if question.depth == DEPTH_DEFAULT or not recall:
            return answer
        return replace(answer, stage=3, associations=self._associations(reader, question, answer, vectors, asked, now))

    def _associations(
        self,
        reader: MemoryReader,
        question: Question,
        answer: Answer,
        vectors: Mapping[MemoryId, Vector],
        asked: _QueryVector | None,
        now: datetime,
    ) -> tuple[Hit, ...]:
        """Neighbours of the centre of what was recalled, above the floor and not shown yet."""
        rows = [vectors[hit.memory.id] for hit in answer.recall if hit.memory.id in vectors]
        if asked is None or not rows:
            return ()
        centre = unit(np.mean(np.stack(rows), axis=0))
        shown = {hit.memory.id for hit in (*answer.recognition, *answer.recall)}
        parts = _parts(question, now)
        near = [
            hit
            for part in parts
            for hit in reader.dense(centre, asked.space.fingerprint, part.filter, limit=question.limit, exclude=shown)
            if hit.similarity > asked.space.thresholds.floor
        ]
        cards = reader.cards([hit.id for hit in near])
        entries = [pipeline.associated(cards[hit.id], hit.similarity, now) for hit in near if hit.id in cards]
        entries.sort(key=lambda entry: (-entry.score, entry.id))
        inside = {hit.id for hit in near if not question.project or cards[hit.id].project == question.project}
        return self._full(reader, entries[: question.limit], inside)

    @staticmethod
    def _full(
        reader: MemoryReader, entries: Sequence[Ranked], inside: frozenset[MemoryId] | set[MemoryId]
    ) -> tuple[Hit, ...]:
        memories: dict[MemoryId, Memory] = reader.get_many([entry.id for entry in entries]) if entries else {}
        return tuple(
            Hit(
                memory=memories[entry.id],
                score=entry.score,
                arm=entry.arm,
                parts=entry.parts,
                widened=entry.id not in inside,
            )
            for entry in entries
            if entry.id in memories
        )

    # ------------------------------------------------------------ counts

    def _count(self, caller: Caller, question: Question, answer: Answer, now: datetime) -> None:
        """In full counts as access; what is only shown, or came by association, never refreshes a memory."""
        full = () if question.depth == 1 or question.shown_only else answer.recall
        in_full = {hit.memory.id for hit in full}
        others = {hit.memory.id for hit in (*answer.recognition, *answer.recall, *answer.associations)} - in_full
        self._uses.accessed(caller.namespace, in_full, now)
        self._uses.shown(caller.namespace, others, now)


def _checked(question: Question) -> str:
    query = clean(question.query).strip()
    if not query:
        raise InvalidArgument("A search needs a query.", reason=Reason.FIELD_MISSING, details={"field": "query"})
    if len(query) > QUERY_CHARS_MAX:
        raise InvalidArgument(
            f"A query has at most {QUERY_CHARS_MAX} characters.", reason=Reason.TOO_LARGE, details={"field": "query"}
        )
    for name, value, most in (("depth", question.depth, 3), ("limit", question.limit, LIMIT_MAX)):
        if not 1 <= value <= most:
            raise InvalidArgument(
                f"'{name}' is 1 to {most}.", reason=Reason.OUT_OF_RANGE, details={"field": name, name: value}
            )
    return query


def _parts(question: Question, now: datetime) -> tuple[_Part, ...]:
    """The disjoint parts of what is searched: the project, then what lies outside it where the search may widen."""
    filter_ = replace(question.filter, as_of=question.filter.as_of or now)
    project = question.project
    if not project:
        return (_Part(filter_),)
    inside = replace(filter_, projects=(project,))
    allowed = not filter_.projects or project in filter_.projects
    parts = (_Part(inside),) if allowed and project not in filter_.not_projects else ()
    if question.depth == 1 or question.strict_project:
        return parts
    outside = replace(filter_, not_projects=(*filter_.not_projects, project))
    return (*parts, _Part(outside, widened=True))


def _usable(waiting: Future[_QueryVector | None], active: str | None) -> tuple[_QueryVector | None, DenseSkip]:
    """The query's vector where it can be compared with what is stored, or why not."""
    if active is None:
        waiting.cancel()
        return None, DenseSkip.NO_VECTORS
    asked = waiting.result()
    if asked is None:
        return None, DenseSkip.EMBEDDER_AWAY
    if asked.space.fingerprint != active:
        return None, DenseSkip.SPACE_CHANGED
    return asked, DenseSkip.NONE


def _gather(
    reader: MemoryReader,
    parts: Sequence[_Part],
    dense: Sequence[tuple[DenseHit, ...]],
    lexical: Sequence[LexicalAnswer],
    asked: _QueryVector | None,
) -> _Found:
    """The parts' hits joined, with the true cosine of those found by words only."""
    near = sorted((hit for hits in dense for hit in hits), key=lambda hit: (-hit.similarity, hit.id))
    words: list[LexicalHit] = sorted(
        (hit for answer in lexical for hit in answer.hits), key=lambda hit: (-hit.bm25, hit.id)
    )
    inside: set[MemoryId] = set()
    for part, part_dense, part_lexical in zip(parts, dense, lexical, strict=True):
        if not part.widened:
            inside.update(hit.id for hit in part_dense)
            inside.update(hit.id for hit in part_lexical.hits)
    similarities = {hit.id: hit.similarity for hit in near}
    missing = [hit.id for hit in words if hit.id not in similarities]
    if asked and missing:
        similarities |= reader.similarities(asked.vector, asked.space.fingerprint, missing)
    return _Found(
        dense=tuple(near),
        lexical=LexicalAnswer(tuple(words), max((answer.ceiling for answer in lexical), default=0.0)),
        inside=frozenset(inside),
        cards=reader.cards({*(hit.id for hit in near), *(hit.id for hit in words)}),
        similarities=similarities,
    )
