"""Answer a question: both arms, one ranking, three depths.

The query's vector is asked for while words are searched. Filters act inside the arms. With a project, each arm brings
the best of that project and, at depth 2 and 3, the best of all: what is of other projects among these is "widened". A
memory is read in full only once it is a hit. No view of the store is held open across the wait for the vector.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from perdure.domain.adapter.residual import corrected
from perdure.domain.experience.learning import Adapter
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
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalQuery
from perdure.domain.recall.contrast import Contrast, contrast
from perdure.domain.recall.diversity import POOL_FACTOR
from perdure.domain.recall.fusion import CANDIDATES
from perdure.domain.recall.lexical import query_terms
from perdure.domain.recall.pipeline import Ranked
from perdure.domain.statement import as_stored
from perdure.domain.text import clean, one_line
from perdure.domain.vectors import Space, Vector, unit
from perdure.errors import InvalidArgument, PerdureError, Reason
from perdure.ports import Clock, Embedder, MemoryReader, Store
from perdure.usecases.permission import holds, require
from perdure.usecases.question_vectors import QuestionVectors
from perdure.usecases.search_procedures import Learning
from perdure.usecases.use_log import UseLog


@dataclass(frozen=True, slots=True)
class _Reach:
    """What is searched: ``inside`` the project that was asked for, and ``beyond`` it; None is not searched."""

    inside: Filter | None
    beyond: Filter | None = None

    @property
    def widest(self) -> Filter | None:
        """The filter that lets all of it through."""
        return self.beyond or self.inside


@dataclass(frozen=True, slots=True)
class _QueryVector:
    """The question as it is compared (``vector``), as the embedder gave it (``said``), and what corrected it."""

    vector: Vector
    space: Space
    said: Vector
    model: str | None = None


@dataclass(frozen=True, slots=True)
class _Near:
    """What the dense arm brought, nearest first; ``asked`` is None where it did not run."""

    skipped: DenseSkip
    asked: _QueryVector | None = None
    hits: tuple[DenseHit, ...] = ()


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
    cards: Mapping[MemoryId, Card]
    similarities: Mapping[MemoryId, float]
    vectors: Mapping[MemoryId, Vector]
    contrast: Contrast | None


class Search:
    """Finds memories by meaning and by words."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        uses: UseLog,
        clock: Clock,
        pool: Executor,
        *,
        query_wait_s: float,
        learning: Learning | None = None,
    ) -> None:
        self._store = store
        self._vector_of = QuestionVectors(embedder)
        self._uses = uses
        self._clock = clock
        self._pool = pool
        self._query_wait_s = query_wait_s
        self._learning = learning

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
            question = _checked(question)
            answer = self._answer(caller, question, now, timer)
            self._count(caller, question, answer, now)
        # a copy: a query vector that was not waited for may still note its time
        return replace(answer, timings_ms=dict(timer.spent))

    def _answer(self, caller: Caller, question: Question, now: datetime, timer: _Timer) -> Answer:
        reach = _reach(question, now)
        # both arms at once; the copied context carries the request id into the thread
        waiting = self._pool.submit(copy_context().run, self._dense_arm, caller, question.query, reach, timer)
        terms = query_terms(question.query)
        with self._store.read(caller.scope) as reader:
            with timer.part("lexical"):
                lexical = _words(reader, terms, reach)
            unembedded = reader.unembedded(reach.widest) if reach.widest else 0
        near = waiting.result()
        with self._store.read(caller.scope) as reader, timer.part("rank"):
            found = _gather(reader, near.hits, lexical, near.asked)
            answer = self._stages(reader, question, found, near.asked, now)
        if question.procedures and self._learning is not None and holds(caller, TokenScope.EXPERIENCE):
            with timer.part("procedures"):
                answer = self._with_procedures(self._learning, caller, question, answer, found, near.asked, now)
        self._remember(caller, answer, near.asked, now)
        return replace(
            answer,
            model=near.asked.model if near.asked else None,
            dense_ran=near.asked is not None,
            lexical_ran=bool(terms.terms),
            dense_skipped=near.skipped,
            unembedded=unembedded,
        )

    def _dense_arm(self, caller: Caller, query: str, reach: _Reach, timer: _Timer) -> _Near:
        """The query's vector and what is near it, or why not. No view of the store is held open while waiting."""
        active, model = self._compared_in(caller)
        if active is None:
            return _Near(DenseSkip.NO_VECTORS)
        with timer.part("query_vector"):
            try:
                answer = self._vector_of(query, space=active, timeout_s=self._query_wait_s)
            except PerdureError:
                return _Near(DenseSkip.EMBEDDER_AWAY)  # whatever is wrong with the embedder, words answer
        if answer.space.fingerprint != active:
            return _Near(DenseSkip.SPACE_CHANGED)
        said = answer.vectors[0]
        asked = _QueryVector(said, answer.space, said)
        if model is not None:
            asked = _QueryVector(corrected(model, said), answer.space, said, model.version)
        with self._store.read(caller.scope) as reader, timer.part("dense"):
            return _Near(DenseSkip.NONE, asked, _near(reader, asked, reach))

    def _compared_in(self, caller: Caller) -> tuple[str | None, Adapter | None]:
        """The space that is searched, and the namespace's private model for it."""
        if self._learning is None or self._learning.models is None:
            with self._store.read(caller.scope) as reader:
                return reader.active_space(), None
        with self._learning.view(caller.scope) as view:
            active = view.active_space()
            return active, self._learning.models.in_use(view, active) if active else None

    # ------------------------------------------------------------ experience

    def _with_procedures(
        self,
        learning: Learning,
        caller: Caller,
        question: Question,
        answer: Answer,
        found: _Found,
        asked: _QueryVector | None,
        now: datetime,
    ) -> Answer:
        if learning.together is None:
            return answer
        with learning.view(caller.scope) as view:
            procedures = learning.together(
                view,
                space=asked.space.fingerprint if asked else view.active_space(),
                terms=query_terms(question.query),
                question=asked.vector if asked else None,
                floor=asked.space.thresholds.floor if asked else None,
                now=now,
                limit=question.limit,
                memories=found.cards,
                dense=found.dense,
                lexical=found.lexical,
                similarities=found.similarities,
                contrast=found.contrast,
            )
        return replace(answer, procedures=procedures)

    def _remember(self, caller: Caller, answer: Answer, asked: _QueryVector | None, now: datetime) -> None:
        """The question's vector, until one of the memories it found is read."""
        if asked is None or self._learning is None or self._learning.questions is None:
            return
        found = {hit.memory.id for hit in (*answer.recognition, *answer.recall)}
        self._learning.questions.asked(caller, asked.said, asked.space.fingerprint, found, now)

    # ------------------------------------------------------------ stages

    def _stages(
        self, reader: MemoryReader, question: Question, found: _Found, asked: _QueryVector | None, now: datetime
    ) -> Answer:
        pool = question.limit * POOL_FACTOR
        ranked = pipeline.rank(
            cards=found.cards,
            dense=found.dense,
            lexical=found.lexical,
            similarities=found.similarities,
            floor=asked.space.thresholds.floor if asked else None,
            now=now,
            limit=None if question.project else pool,
            contrast=found.contrast,
        )
        inside = [entry for entry in ranked if _is_inside(question, found.cards[entry.id])]
        vectors = found.vectors
        recognised = pipeline.diverse(inside, vectors, question.limit)
        if question.depth == 1:
            return Answer(stage=1, recognition=_full(reader, question, recognised))
        recalled = recognised if len(inside) == len(ranked) else pipeline.diverse(ranked, vectors, question.limit)
        distinct = {entry.id: entry for entry in (*recognised, *recalled)}
        hits = {hit.memory.id: hit for hit in _full(reader, question, list(distinct.values()))}
        answer = Answer(
            stage=2,
            recognition=tuple(hits[entry.id] for entry in recognised if entry.id in hits),
            recall=tuple(hits[entry.id] for entry in recalled if entry.id in hits),
        )
        if question.depth == DEPTH_DEFAULT or asked is None or not answer.recall:
            return answer
        return replace(answer, stage=3, associations=_associations(reader, question, answer, vectors, asked, now))

    # ------------------------------------------------------------ counts

    def _count(self, caller: Caller, question: Question, answer: Answer, now: datetime) -> None:
        """In full counts as access; what is only shown, or came by association, never refreshes a memory."""
        full = () if question.depth == 1 or question.shown_only else answer.recall
        in_full = {hit.memory.id for hit in full}
        others = {hit.memory.id for hit in (*answer.recognition, *answer.recall, *answer.associations)} - in_full
        self._uses.accessed(caller.namespace, in_full, now)
        self._uses.shown(caller.namespace, others, now)


def _checked(question: Question) -> Question:
    """The question as it will be asked: its texts in the form in which memories keep theirs."""
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
    project = one_line(question.project) if question.project else None
    return replace(question, query=query, project=project, filter=as_stored(question.filter))


def _reach(question: Question, now: datetime) -> _Reach:
    """Where the search looks; depth 1 and a strict project stay inside."""
    filter_ = replace(question.filter, as_of=question.filter.as_of or now)
    project = question.project
    if not project:
        return _Reach(filter_)
    allowed = (not filter_.projects or project in filter_.projects) and project not in filter_.not_projects
    inside = replace(filter_, projects=(project,)) if allowed else None
    if question.depth == 1 or question.strict_project:
        return _Reach(inside)
    return _Reach(inside, filter_)


def _is_inside(question: Question, card: Card) -> bool:
    return not question.project or card.project == question.project


def _words(reader: MemoryReader, terms: LexicalQuery, reach: _Reach) -> LexicalAnswer:
    """The lexical arm's hits, best first."""
    if reach.beyond is None:
        return LexicalAnswer((), 0.0) if reach.inside is None else reader.lexical(terms, reach.inside, limit=CANDIDATES)
    wide = reader.lexical(terms, reach.beyond, limit=CANDIDATES)
    if reach.inside is None or len(wide.hits) < CANDIDATES:
        return wide  # everything that holds a word is there, the project's own included
    own = reader.lexical(terms, reach.inside, limit=CANDIDATES)
    hits = {hit.id: hit for hit in (*wide.hits, *own.hits)}
    best = sorted(hits.values(), key=lambda hit: (-hit.bm25, hit.id))
    return LexicalAnswer(tuple(best), max(wide.ceiling, own.ceiling))


def _near(reader: MemoryReader, asked: _QueryVector, reach: _Reach) -> tuple[DenseHit, ...]:
    """The dense arm's hits, nearest first."""
    hits: dict[MemoryId, DenseHit] = {}
    for filter_ in (reach.beyond, reach.inside):
        if filter_ is not None:
            found = reader.dense(asked.vector, asked.space.fingerprint, filter_, limit=CANDIDATES)
            hits |= {hit.id: hit for hit in found}
    return tuple(sorted(hits.values(), key=lambda hit: (-hit.similarity, hit.id)))


def _gather(
    reader: MemoryReader, dense: tuple[DenseHit, ...], lexical: LexicalAnswer, asked: _QueryVector | None
) -> _Found:
    """Cards and vectors of all that was found, and the cosine also of those found by words only."""
    similarities = {hit.id: hit.similarity for hit in dense}
    found = [*similarities, *(hit.id for hit in lexical.hits if hit.id not in similarities)]
    cards = reader.cards(found)
    if asked is None or not found:
        return _Found(dense, lexical, cards, similarities, {}, None)
    space = asked.space.fingerprint
    vectors = reader.vectors(found, space)
    missing = [memory for memory in found if memory not in similarities and memory in vectors]
    if missing:
        cosines = np.stack([vectors[memory] for memory in missing]) @ asked.vector
        similarities |= dict(zip(missing, cosines.tolist(), strict=True))
    centre = reader.centre(space)
    return _Found(
        dense, lexical, cards, similarities, vectors, contrast(asked.vector, vectors, centre) if centre else None
    )


def _associations(
    reader: MemoryReader,
    question: Question,
    answer: Answer,
    vectors: Mapping[MemoryId, Vector],
    asked: _QueryVector,
    now: datetime,
) -> tuple[Hit, ...]:
    """Neighbours of the centre of what was recalled that were not shown yet.

    Statements are nearer to each other than to questions, so the floor for questions would let anything in: an
    association lies above the middle between that floor and "about the same thing".
    """
    rows = [vectors[hit.memory.id] for hit in answer.recall if hit.memory.id in vectors]
    filter_ = _reach(question, now).widest
    if not rows or filter_ is None:
        return ()
    centre = unit(np.mean(np.stack(rows), axis=0))
    shown = {hit.memory.id for hit in (*answer.recognition, *answer.recall)}
    thresholds = asked.space.thresholds
    floor = (thresholds.floor + thresholds.cluster) / 2
    near = [
        hit
        for hit in reader.dense(centre, asked.space.fingerprint, filter_, limit=question.limit, exclude=shown)
        if hit.similarity > floor
    ]
    cards = reader.cards([hit.id for hit in near])
    entries = [pipeline.associated(cards[hit.id], hit.similarity, now) for hit in near if hit.id in cards]
    return _full(reader, question, sorted(entries, key=lambda entry: (-entry.score, entry.id)))


def _full(reader: MemoryReader, question: Question, entries: Sequence[Ranked]) -> tuple[Hit, ...]:
    """Hits with their whole memories."""
    memories: dict[MemoryId, Memory] = reader.get_many([entry.id for entry in entries]) if entries else {}
    return tuple(
        Hit(
            memory=memory,
            score=entry.score,
            arm=entry.arm,
            parts=entry.parts,
            widened=bool(question.project) and memory.statement.project != question.project,
        )
        for entry in entries
        if (memory := memories.get(entry.id)) is not None
    )
