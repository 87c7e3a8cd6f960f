"""Resolve a statement against what is stored, and write the outcome, inside one transaction.

The rules are ``domain.resolution``'s; this finds what they ask for and applies what they say. Two users: a save, whose
statement is not stored yet (``Resolver.draft``), and the embedding queue, whose memory was stored without a vector and
is resolved when its vector comes (``Resolver.stored``).

No model call happens inside a transaction. Where an outcome needs the vector of a text that was not embedded yet (the
united text of a merge), nothing is written and ``Wanted`` names the text: embed it outside, call again with it. The
resolution is done anew each time, so it does not matter what other writers did meanwhile::

    vectors = {text: embed(text)}
    for attempt in range(ATTEMPTS_MAX):
        with store.write(scope, actor) as unit:
            answer = resolver.stored(unit, memory_id, vectors, now=now, actor=actor, last=attempt == ATTEMPTS_MAX - 1)
        if not isinstance(answer, Wanted):
            break
        vectors[answer.text] = embed(answer.text)  # None where the embedder is away
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from perdure.domain import resolution
from perdure.domain.editing import born
from perdure.domain.layout import embedded_text
from perdure.domain.memory import Filter, LinkKind, Memory, MemoryId, Origin, Statement, Status
from perdure.domain.namespace import Actor
from perdure.domain.provenance import default_confidence, tier_for
from perdure.domain.resolution import Create, Merge, Replace, Supersede, Unchanged, text_sha256
from perdure.domain.saving import Draft, Outcome, SaveResult
from perdure.domain.summary import summarise
from perdure.domain.vectors import Thresholds
from perdure.ports import Ids, MemoryReader, MemoryUnit
from perdure.usecases.embed_in_time import Embedded

ATTEMPTS_MAX = 3
"""Rounds of embed and resolve before a merge is written without its vector, which the queue then makes."""

NEAREST = 5
"""Neighbours looked at; twins are rare, and the nearest decides first."""

Vectors = Mapping[str, Embedded | None]
"""Embedded text (``domain.layout.embedded_text``) to its vector; None: asked for in vain."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Nothing was written: the vector of ``text`` is needed first."""

    text: str


class Settlement(enum.StrEnum):
    """What became of a queued memory when its vector came."""

    GONE = "gone"  # purged, or edited since: nothing was written
    STORED = "stored"  # it has its vector now
    MERGED = "merged"  # it said what an older one said, which took over its words
    SUPERSEDED = "superseded"  # one of two statements was replaced by the newer


@dataclass(frozen=True, slots=True)
class _Near:
    """Neighbours of the same project and type, nearest first."""

    twins: tuple[tuple[Memory, float], ...] = ()
    thresholds: Thresholds | None = None
    nearest: float | None = None


class Resolver:
    """Finds what a statement means for what is stored, and writes it. Holds no state."""

    def __init__(self, ids: Ids) -> None:
        self._ids = ids

    # ------------------------------------------------------------ a statement that is not stored yet

    def draft(
        self, unit: MemoryUnit, draft: Draft, vectors: Vectors, *, now: datetime, actor: Actor, last: bool = False
    ) -> SaveResult | Wanted:
        """Resolve a checked draft and write the outcome.

        Args:
            unit: The transaction; its scope is the draft's namespace.
            draft: As ``domain.statement.checked_draft`` returns it.
            vectors: Holds ``embedded_text(draft.statement, now)`` unless the embedder is away, and texts wanted before.
            now: Time of the save, aware UTC.
            actor: Goes into history.
            last: True never answers ``Wanted``: a missing vector goes to the queue.

        Raises:
            AlreadyExists: another writer took id or key meanwhile; resolve again.
        """
        statement = draft.statement
        embedded = vectors.get(embedded_text(statement, now))
        same_text = said_before(unit, statement)
        same_key = unit.by_key(statement.project, statement.key) if statement.key else None
        near = _Near() if same_text or same_key else self._near(unit, statement, embedded, now)
        decision = resolution.decide(
            draft, same_text=same_text, same_key=same_key, twins=near.twins, thresholds=near.thresholds
        )
        writer = _Writer(unit, vectors, now, actor, draft, near.nearest, last or embedded is None)
        match decision:
            case Unchanged(memory):
                return writer.result(Outcome.UNCHANGED, memory, embedded=memory.space is not None)
            case Merge(memory, united):
                return writer.edit(Outcome.MERGED, memory, merged(memory, draft, united, now))
            case Replace(memory):
                answer = writer.edit(Outcome.REPLACED, memory, replaced(memory, draft, now))
                if isinstance(answer, Wanted) or same_text is None or same_text.id == memory.id:
                    return answer
                # the same words stood there without a key: the key's memory has taken them over
                self._supersede(unit, newer=memory, older=same_text, now=now)
                return replace(answer, superseded=(same_text.id,))
            case Supersede(memory):
                older = unit.change(memory, replace(memory, status=Status.SUPERSEDED, updated_at=now), why="superseded")
                return writer.create(self._born(draft, unit, now, actor), Outcome.SUPERSEDED, older=older)
            case Create(related):
                return writer.create(self._born(draft, unit, now, actor), Outcome.CREATED, related=related)
            case _:
                assert_never(decision)

    def _born(self, draft: Draft, unit: MemoryUnit, now: datetime, actor: Actor) -> Memory:
        return born(draft, id=self._ids.memory(), namespace=unit.scope.namespace, now=now, actor=actor)

    # ------------------------------------------------------------ a memory that waited for its vector

    def stored(
        self, unit: MemoryUnit, memory: MemoryId, vectors: Vectors, *, now: datetime, actor: Actor, last: bool = False
    ) -> Settlement | Wanted:
        """Give a stored memory its vector and resolve it against its neighbours.

        Args:
            unit: The transaction on the memory's namespace.
            memory: A memory from the queue.
            vectors: Holds the memory's ``embedded_text(statement, created_at)`` as it was when it was embedded; a
                memory edited since is ``GONE`` here and stays in the queue for another round.
            now: Present time, aware UTC.
            actor: Goes into history.
            last: True never answers ``Wanted``.
        """
        kept = unit.get(memory)
        if kept is None:
            return Settlement.GONE
        embedded = vectors.get(embedded_text(kept.statement, kept.created_at))
        if embedded is None:
            return Settlement.GONE
        near = _Near()
        if kept.status is Status.ACTIVE and kept.space is None:
            near = self._near(unit, kept.statement, embedded, now, but=kept.id)
        decision = resolution.decide(
            as_draft(kept), same_text=None, same_key=None, twins=near.twins, thresholds=near.thresholds
        )
        writer = _Writer(unit, vectors, now, actor, as_draft(kept), near.nearest, last)
        match decision:
            case Merge(other, united):
                after = merged(other, as_draft(kept), united, now)
                if isinstance(wanted := writer.vector_for(after), Wanted):
                    return wanted
                unit.set_vector(kept.id, embedded.vector, embedded.space.fingerprint)
                # the key is freed before the other takes it over
                self._supersede(unit, newer=other, older=kept, now=now)
                writer.write(other, after, "merged", wanted)
                return Settlement.MERGED
            case Supersede(other):
                unit.set_vector(kept.id, embedded.vector, embedded.space.fingerprint)
                newer, older = (kept, other) if kept.created_at >= other.created_at else (other, kept)
                self._supersede(unit, newer=newer, older=older, now=now)
                return Settlement.SUPERSEDED
            case Unchanged(other):
                unit.set_vector(kept.id, embedded.vector, embedded.space.fingerprint)
                self._supersede(unit, newer=other, older=kept, now=now)
                return Settlement.MERGED
            case Create(related):
                unit.set_vector(kept.id, embedded.vector, embedded.space.fingerprint)
                for near_id in related:
                    unit.link(LinkKind.RELATED, kept.id, near_id)
                return Settlement.STORED
            case Replace():
                return Settlement.GONE  # no key was offered, so no key can be replaced
            case _:
                assert_never(decision)

    def _supersede(self, unit: MemoryUnit, *, newer: Memory, older: Memory, now: datetime) -> None:
        unit.change(older, replace(older, status=Status.SUPERSEDED, updated_at=now), why="superseded")
        unit.link(LinkKind.SUPERSEDES, newer.id, older.id)

    # ------------------------------------------------------------ neighbours

    def _near(
        self,
        unit: MemoryUnit,
        statement: Statement,
        embedded: Embedded | None,
        now: datetime,
        *,
        but: MemoryId | None = None,
    ) -> _Near:
        """Neighbours in the space searches use; none for a zero vector or one of another space."""
        if embedded is None or not embedded.meaningful:
            return _Near()
        space = embedded.space.fingerprint
        if unit.active_space() != space:
            return _Near()
        filter_ = Filter(projects=(statement.project,), types=(statement.type,), as_of=now)
        hits = unit.dense(embedded.vector, space, filter_, limit=NEAREST, exclude=() if but is None else (but,))
        if not hits:
            return _Near(thresholds=embedded.space.thresholds)
        close = [hit for hit in hits if hit.similarity > embedded.space.thresholds.twin]
        memories = unit.get_many([hit.id for hit in close]) if close else {}
        twins = tuple((memories[hit.id], hit.similarity) for hit in close if hit.id in memories)
        return _Near(twins, embedded.space.thresholds, hits[0].similarity)


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes one outcome and says what it did."""

    unit: MemoryUnit
    vectors: Vectors
    now: datetime
    actor: Actor
    draft: Draft
    nearest: float | None
    last: bool

    def vector_for(self, memory: Memory) -> Embedded | Wanted | None:
        text = embedded_text(memory.statement, memory.created_at)
        if text not in self.vectors and not self.last:
            return Wanted(text)
        return self.vectors.get(text)

    def edit(self, outcome: Outcome, before: Memory, after: Memory) -> SaveResult | Wanted:
        if isinstance(embedded := self.vector_for(after), Wanted):
            return embedded
        written = self.write(before, after, outcome.value, embedded)
        return self.result(outcome, written, embedded=self._searchable(embedded), truncated=_truncated(embedded))

    def write(self, before: Memory, after: Memory, why: str, embedded: Embedded | None) -> Memory:
        written = self.unit.change(before, after, why=why)
        if embedded is None:
            self.unit.drop_vectors(written.id)
        else:
            self.unit.set_vector(written.id, embedded.vector, embedded.space.fingerprint)
        return written

    def create(
        self, memory: Memory, outcome: Outcome, *, older: Memory | None = None, related: Sequence[MemoryId] = ()
    ) -> SaveResult:
        embedded = self.vectors.get(embedded_text(memory.statement, memory.created_at))
        self.unit.add(
            memory,
            vector=embedded.vector if embedded else None,
            space=embedded.space.fingerprint if embedded else None,
        )
        if older is not None:
            self.unit.link(LinkKind.SUPERSEDES, memory.id, older.id)
        for near in related:
            self.unit.link(LinkKind.RELATED, memory.id, near)
        return self.result(
            outcome,
            memory,
            embedded=self._searchable(embedded),
            truncated=_truncated(embedded),
            superseded=() if older is None else (older.id,),
            related=tuple(related),
        )

    def result(
        self,
        outcome: Outcome,
        memory: Memory,
        *,
        embedded: bool,
        truncated: bool = False,
        superseded: tuple[MemoryId, ...] = (),
        related: tuple[MemoryId, ...] = (),
    ) -> SaveResult:
        return SaveResult(
            outcome=outcome,
            id=memory.id,
            project=memory.statement.project,
            summary=memory.summary,
            revision=memory.revision,
            embedded=embedded,
            superseded=superseded,
            related=related,
            truncated=truncated,
            nearest_similarity=self.nearest,
        )

    def _searchable(self, embedded: Embedded | None) -> bool:
        """True where searches can use the vector now; one of another space waits for the switch."""
        return embedded is not None and self.unit.active_space() == embedded.space.fingerprint


def said_before(reader: MemoryReader, statement: Statement) -> Memory | None:
    """The active memory of the same project and type with the same text under the same key, or under none."""
    same = reader.by_text(statement.project, statement.type, text_sha256(statement))
    if same is not None or statement.key is None:
        return same
    return reader.by_text(statement.project, statement.type, text_sha256(replace(statement, key=None)))


def merged(memory: Memory, draft: Draft, united: Statement, now: datetime) -> Memory:
    """``memory`` with the united statement: the stronger belief of the two, the longer life, its own id and origin."""
    provenance = max(memory.provenance, draft.provenance, key=default_confidence)
    confidence = max(
        memory.confidence, default_confidence(draft.provenance) if draft.confidence is None else draft.confidence
    )
    lives = None if memory.expires_at is None or draft.expires_at is None else max(memory.expires_at, draft.expires_at)
    return replace(
        memory,
        statement=united,
        summary=summarise(united.content),
        provenance=provenance,
        confidence=confidence,
        tier=tier_for(provenance, confidence),
        importance=memory.importance if draft.importance is None else max(memory.importance, draft.importance),
        expires_at=lives,
        updated_at=now,
    )


def replaced(memory: Memory, draft: Draft, now: datetime) -> Memory:
    """``memory`` saying what ``draft`` says, with its own id, times of creation and use, and counts."""
    confidence = default_confidence(draft.provenance) if draft.confidence is None else draft.confidence
    return replace(
        memory,
        statement=draft.statement,
        summary=summarise(draft.statement.content),
        provenance=draft.provenance,
        confidence=confidence,
        tier=tier_for(draft.provenance, confidence),
        importance=memory.importance if draft.importance is None else draft.importance,
        expires_at=draft.expires_at,
        origin=draft.origin if draft.origin != Origin() else memory.origin,
        updated_at=now,
    )


def as_draft(memory: Memory) -> Draft:
    """What would have to be saved to get ``memory``."""
    return Draft(
        statement=memory.statement,
        provenance=memory.provenance,
        confidence=memory.confidence,
        importance=memory.importance,
        expires_at=memory.expires_at,
        origin=memory.origin,
    )


def _truncated(embedded: Embedded | None) -> bool:
    return embedded is not None and embedded.truncated
