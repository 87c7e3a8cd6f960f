"""Reading and writing one namespace of a state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from perdure.domain.compaction.stub import BEGINNING
from perdure.domain.memory import Filter, LinkKind, Memory, MemoryId, MemoryType, Revision, Status
from perdure.domain.namespace import Actor, Scope
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalHit, LexicalQuery
from perdure.domain.recall.contrast import Centre
from perdure.domain.recall.lexical import document_text
from perdure.domain.resolution import text_sha256
from perdure.domain.vectors import Vector, unit
from perdure.errors import AlreadyExists, Conflict, InvalidArgument, NotFound, Reason
from perdure.ports import Clock, Ids, Job, JobKind, JobState, Page, Position, Replay, Stats
from perdure.store.inmemory.matching import K1, bm25, idf, length, occurrences, passes, tokenised
from perdure.store.inmemory.state import Name, Queued, State, Stored, Text
from perdure.store.tokens import Tokens

DIGITS = 6
"""Similarities are rounded to this many digits, so that equal vectors are equal whatever the order of summation."""

_BARE = {
    "space": None,
    "supersedes": (),
    "superseded_by": None,
    "consolidated_from": (),
    "consolidated_into": None,
    "related": (),
}


@dataclass(frozen=True, slots=True)
class Means:
    """What units need beside the state."""

    tokens: Tokens
    clock: Clock
    ids: Ids


class InMemoryReader:
    """One namespace of one state."""

    def __init__(self, state: State, scope: Scope, means: Means) -> None:
        if scope.namespace not in state.namespaces:
            raise NotFound("There is no such namespace.", reason=Reason.NAMESPACE_NOT_FOUND)
        self._state = state
        self._scope = scope
        self._means = means

    @property
    def scope(self) -> Scope:
        """The namespace it sees."""
        return self._scope

    def get(self, memory: MemoryId) -> Memory | None:
        """The memory, whatever its status."""
        stored = self._state.memories.get((self._scope.namespace, memory))
        return None if stored is None else self._full(stored.memory)

    def get_many(self, memories: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
        """Those that exist, by id."""
        return {id_: memory for id_ in memories if (memory := self.get(id_)) is not None}

    def by_key(self, project: str, key: str) -> Memory | None:
        """The active memory of that key."""
        for stored in self._own():
            statement = stored.memory.statement
            if stored.memory.status is Status.ACTIVE and (statement.project, statement.key) == (project, key):
                return self._full(stored.memory)
        return None

    def by_text(self, project: str, type_: MemoryType, text_sha256: str) -> Memory | None:
        """The active memory with that normalised text."""
        wanted = (project, type_, text_sha256)
        for stored in self._own():
            statement = stored.memory.statement
            if (
                stored.memory.status is Status.ACTIVE
                and (statement.project, statement.type, stored.text_sha256) == wanted
            ):
                return self._full(stored.memory)
        return None

    def page(self, filter_: Filter, *, after: Position | None, limit: int) -> Page:
        """The next ``limit`` memories by created_at, id descending."""
        found = [stored.memory for stored in self._own() if passes(stored.memory, filter_)]
        found.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        if after is not None:
            found = [memory for memory in found if (memory.created_at, memory.id) < (after.created_at, after.id)]
        shown = tuple(self._full(memory) for memory in found[:limit])
        more = len(found) > limit
        return Page(shown, Position(shown[-1].created_at, shown[-1].id) if more else None)

    def recent(self, project: str | None, limit: int) -> tuple[Memory, ...]:
        """Active memories by last_accessed_at descending."""
        found = [
            stored.memory
            for stored in self._own()
            if stored.memory.status is Status.ACTIVE and project in (None, stored.memory.statement.project)
        ]
        found.sort(key=lambda memory: (memory.last_accessed_at, memory.id), reverse=True)
        return tuple(self._full(memory) for memory in found[:limit])

    def stats(self) -> Stats:
        """Counts of the whole namespace."""
        memories = [stored.memory for stored in self._own()]
        statuses = Counter(memory.status for memory in memories)
        active = [memory.statement for memory in memories if memory.status is Status.ACTIVE]
        return Stats(
            active=statuses[Status.ACTIVE],
            archived=statuses[Status.ARCHIVED],
            superseded=statuses[Status.SUPERSEDED],
            consolidated=statuses[Status.CONSOLIDATED],
            by_type=dict(Counter(statement.type.value for statement in active)),
            by_project=dict(Counter(statement.project for statement in active)),
            unembedded=sum(namespace == self._scope.namespace for namespace, _ in self._state.queue),
        )

    def history(self, memory: MemoryId) -> tuple[Revision, ...]:
        """Earlier states, newest first."""
        found = self._state.revisions.get((self._scope.namespace, memory), ())
        return tuple(sorted(found, key=lambda revision: -revision.revision))

    def dense(
        self, vector: Vector, space: str, filter_: Filter, *, limit: int, exclude: Collection[MemoryId] = ()
    ) -> tuple[DenseHit, ...]:
        """The ``limit`` nearest memories of that space that pass the filter, nearest first, ties by id."""
        direction = unit(vector)
        if space not in self._state.dimensions or not direction.any() or limit < 1:
            return ()
        self._refuse_dimension(direction, space)
        chosen = [
            stored.memory.id
            for stored in self._own()
            if passes(stored.memory, filter_) and stored.memory.id not in exclude
        ]
        similar = self._cosines(direction, space, chosen)
        hits = [DenseHit(id_, value) for id_, (value, is_zero) in similar.items() if not is_zero]
        return tuple(sorted(hits, key=lambda hit: (-hit.similarity, hit.id))[:limit])

    def lexical(self, query: LexicalQuery, filter_: Filter, *, limit: int) -> LexicalAnswer:
        """The ``limit`` best memories by BM25 that pass the filter; words are counted over all namespaces."""
        texts = self._state.texts
        terms = tokenised(query, self._means.tokens)
        if not terms or not texts:
            return LexicalAnswer((), 0.0)
        counts = {name: [occurrences(text, term) for term in terms] for name, text in texts.items()}
        idfs = [idf(len(texts), sum(row[at] > 0 for row in counts.values())) for at in range(len(terms))]
        average = sum(length(text) for text in texts.values()) / len(texts)
        found = [
            (-bm25(row, idfs, length(texts[name]), average), stored.number, stored.memory.id)
            for name, row in counts.items()
            if name[0] == self._scope.namespace
            and any(row)
            and passes((stored := self._state.memories[name]).memory, filter_)
        ]
        hits = tuple(LexicalHit(id_, -score) for score, _, id_ in sorted(found)[: max(1, limit)])
        return LexicalAnswer(hits, sum(idfs) * (K1 + 1) if self._own() else 0.0)

    def similarities(self, vector: Vector, space: str, memories: Collection[MemoryId]) -> dict[MemoryId, float]:
        """Cosine of each that has a vector in that space."""
        direction = unit(vector)
        if space not in self._state.dimensions:
            return {}
        self._refuse_dimension(direction, space)
        return {id_: value for id_, (value, _) in self._cosines(direction, space, memories).items()}

    def vectors(self, memories: Collection[MemoryId], space: str) -> dict[MemoryId, Vector]:
        """Stored vectors of that space."""
        names = {id_: (self._scope.namespace, id_, space) for id_ in memories}
        return {id_: self._state.vectors[name] for id_, name in names.items() if name in self._state.vectors}

    def centre(self, space: str) -> Centre | None:
        """Where the namespace's vectors of that space lie."""
        rows = [
            vector
            for (namespace, _, name), vector in self._state.vectors.items()
            if namespace == self._scope.namespace and name == space and vector.any()
        ]
        if not rows:
            return None
        total: Vector = np.stack(rows).sum(axis=0, dtype=np.float32)
        return Centre(total / np.float32(len(rows)), len(rows))

    def cards(self, memories: Collection[MemoryId]) -> dict[MemoryId, Card]:
        """What scoring needs, by id."""
        return {
            memory.id: Card(
                id=memory.id,
                project=memory.statement.project,
                type=memory.statement.type,
                confidence=memory.confidence,
                importance=0.0 if memory.statement.content.startswith(BEGINNING) else memory.importance,
                access_count=memory.access_count,
                last_accessed_at=memory.last_accessed_at,
            )
            for memory in self.get_many(tuple(memories)).values()
        }

    def unembedded(self, filter_: Filter) -> int:
        """How many memories that pass the filter wait for a vector in the active space."""
        return sum(
            namespace == self._scope.namespace and passes(self._state.memories[namespace, id_].memory, filter_)
            for namespace, id_ in self._state.queue
        )

    def active_space(self) -> str | None:
        """Fingerprint of the space searches use."""
        return self._state.active_space

    def replay(self, key_sha256: str) -> Replay | None:
        """The answer remembered under that idempotency key, unless expired."""
        found = self._state.replays.get((self._scope.namespace, key_sha256))
        return found[0] if found is not None and found[1] > self._means.clock.now() else None

    # ------------------------------------------------------------ inside

    def _own(self) -> list[Stored]:
        return [stored for (namespace, _), stored in self._state.memories.items() if namespace == self._scope.namespace]

    def _cosines(
        self, direction: Vector, space: str, memories: Collection[MemoryId]
    ) -> dict[MemoryId, tuple[float, bool]]:
        found = self.vectors(memories, space)
        wanted = direction.astype(np.float64)
        return {
            id_: (float(np.clip(np.round((row.astype(np.float64) * wanted).sum(), DIGITS), -1, 1)), not row.any())
            for id_, row in found.items()
        }

    def _refuse_dimension(self, direction: Vector, space: str) -> None:
        expected = self._state.dimensions[space]
        if direction.shape != (expected,):
            raise InvalidArgument(
                "The vector has not the dimension of its space.",
                reason=Reason.VECTOR_INVALID,
                details={"dimension": direction.size, "expected": expected},
            )

    def _full(self, memory: Memory) -> Memory:
        spaces = [
            space for namespace, id_, space in self._state.vectors if (namespace, id_) == (memory.namespace, memory.id)
        ]
        active = self._state.active_space
        space = active if active in spaces else (spaces[-1] if spaces else None)
        ways: dict[tuple[LinkKind, str], list[MemoryId]] = {}
        for namespace, kind, source, target in self._state.links:
            if namespace == memory.namespace and source == memory.id:
                ways.setdefault((kind, "out"), []).append(target)
            if namespace == memory.namespace and target == memory.id:
                ways.setdefault((kind, "in"), []).append(source)
        superseded_by = sorted(ways.get((LinkKind.SUPERSEDES, "in"), []))
        into = sorted(ways.get((LinkKind.CONSOLIDATED_FROM, "in"), []))
        related = {*ways.get((LinkKind.RELATED, "out"), []), *ways.get((LinkKind.RELATED, "in"), [])}
        return replace(
            memory,
            space=space,
            supersedes=tuple(sorted(ways.get((LinkKind.SUPERSEDES, "out"), []))),
            superseded_by=superseded_by[-1] if superseded_by else None,
            consolidated_from=tuple(sorted(ways.get((LinkKind.CONSOLIDATED_FROM, "out"), []))),
            consolidated_into=into[-1] if into else None,
            related=tuple(sorted(related)),
        )


class InMemoryUnit(InMemoryReader):
    """One transaction: works on a copy of the state, which the store keeps when the unit ends well."""

    def __init__(self, state: State, scope: Scope, actor: Actor, means: Means) -> None:
        super().__init__(state, scope, means)
        self._actor = actor

    def add(self, memory: Memory, *, vector: Vector | None, space: str | None) -> None:
        """Stores a new memory; links in it are not looked at, see ``link``."""
        name = (self._scope.namespace, memory.id)
        if name in self._state.memories:
            raise _taken("id", "A memory of that id exists already.")
        sha256 = text_sha256(memory.statement)
        self._refuse_taken(memory, sha256)
        direction = None if vector is None or space is None else self._usable(vector, space)
        self._state.last_number += 1
        bare = replace(memory, namespace=self._scope.namespace, **_BARE)  # type: ignore[arg-type]  # fields of Memory
        self._state.memories[name] = Stored(bare, self._state.last_number, sha256)
        self._state.texts[name] = self._text(memory)
        if direction is None or space is None:
            self._enqueue(memory.id)
        else:
            self._put_vector(memory.id, direction, space)

    def change(self, before: Memory, after: Memory, *, why: str) -> Memory:
        """Replaces ``before`` by ``after`` and writes ``before`` into the history; links and vectors stay."""
        name, stored = self._stored(before.id)
        if stored.memory.revision != before.revision:
            raise Conflict(
                "The memory was changed by another meanwhile; read it again, then retry.",
                reason=Reason.REVISION_MOVED,
                details={"expected": before.revision, "found": stored.memory.revision},
            )
        result = replace(after, revision=before.revision + 1)
        sha256 = text_sha256(after.statement)
        self._refuse_taken(result, sha256)
        kept = replace(
            result,
            **_BARE,  # type: ignore[arg-type]  # fields of Memory
            access_count=stored.memory.access_count,
            shown_count=stored.memory.shown_count,
            last_accessed_at=max(stored.memory.last_accessed_at, after.last_accessed_at),
        )
        self._state.memories[name] = Stored(kept, stored.number, sha256)
        self._state.texts[name] = self._text(after)
        self.add_revision(
            Revision(
                memory=before.id,
                revision=before.revision,
                at=after.updated_at,
                actor=self._actor.name,
                why=why,
                before=before,
            )
        )
        return result

    def set_vector(self, memory: MemoryId, vector: Vector, space: str) -> None:
        """Stores or replaces the vector of that space and takes the memory off the queue."""
        self._stored(memory)
        self._put_vector(memory, self._usable(vector, space), space)

    def drop_vectors(self, memory: MemoryId) -> None:
        """Forgets every vector of the memory and queues it for a new one."""
        self._stored(memory)
        self._forget_vectors(memory)
        self._enqueue(memory)

    def link(self, kind: LinkKind, source: MemoryId, target: MemoryId) -> None:
        """Adds a link, once."""
        if source == target:
            raise InvalidArgument("A memory cannot be linked to itself.", reason=Reason.FIELD_INVALID)
        self._stored(source)
        self._stored(target)
        self._state.links[self._scope.namespace, kind, source, target] = None

    def unlink(self, kind: LinkKind, source: MemoryId, target: MemoryId) -> None:
        """Takes a link away where there is one."""
        self._state.links.pop((self._scope.namespace, kind, source, target), None)

    def add_revision(self, revision: Revision) -> None:
        """Adds a revision as it was, unless it is there."""
        name, _ = self._stored(revision.memory)
        there = self._state.revisions.get(name, ())
        if all(one.revision != revision.revision for one in there):
            self._state.revisions[name] = (*there, revision)

    def purge(self, memory: MemoryId) -> bool:
        """Erases the memory and all that tells of it; a tombstone keeps id and time."""
        state, name = self._state, (self._scope.namespace, memory)
        if name not in state.memories:
            return False
        for table in (state.memories, state.texts, state.revisions, state.queue):
            table.pop(name, None)
        self._forget_vectors(memory)
        for link in [one for one in state.links if one[0] == name[0] and memory in one[2:]]:
            del state.links[link]
        for key in [
            one for one, (kept, _) in state.replays.items() if one[0] == name[0] and memory.encode() in kept.answer
        ]:
            del state.replays[key]
        state.tombstones[name] = self._means.clock.now()
        return True

    def remember(self, key_sha256: str, replay: Replay, *, expires_at: datetime) -> None:
        """Keeps an answer under an idempotency key."""
        self._state.replays[self._scope.namespace, key_sha256] = (replay, expires_at)

    # ------------------------------------------------------------ inside

    def _stored(self, memory: MemoryId) -> tuple[Name, Stored]:
        name = (self._scope.namespace, memory)
        if name not in self._state.memories:
            raise NotFound("There is no such memory.", reason=Reason.MEMORY_NOT_FOUND)
        return name, self._state.memories[name]

    def _refuse_taken(self, memory: Memory, sha256: str) -> None:
        if memory.status is not Status.ACTIVE:
            return
        statement = memory.statement
        for stored in self._own():
            other = stored.memory
            if (
                other.id == memory.id
                or other.status is not Status.ACTIVE
                or other.statement.project != statement.project
            ):
                continue
            if statement.key is not None and other.statement.key == statement.key:
                raise _taken("key", "Another active memory of this project has that key.")
            if other.statement.type is statement.type and stored.text_sha256 == sha256:
                raise _taken("text_sha256", "Another active memory of this project and type has the same text.")

    def _usable(self, vector: Vector, space: str) -> Vector:
        direction = unit(vector)
        if direction.ndim != 1 or direction.size == 0:
            raise InvalidArgument("A vector has one axis and at least one value.", reason=Reason.VECTOR_INVALID)
        if space in self._state.dimensions:
            self._refuse_dimension(direction, space)
        return direction

    def _put_vector(self, memory: MemoryId, direction: Vector, space: str) -> None:
        state, name = self._state, (self._scope.namespace, memory)
        state.dimensions.setdefault(space, direction.size)
        state.vectors[(*name, space)] = direction
        if state.active_space is None:
            state.active_space = space
        if (*name, state.active_space) in state.vectors:
            state.queue.pop(name, None)
        else:
            state.queue[name] = replace(state.queue.get(name, Queued(False)), waiting=False)

    def _forget_vectors(self, memory: MemoryId) -> None:
        for name in [one for one in self._state.vectors if one[:2] == (self._scope.namespace, memory)]:
            del self._state.vectors[name]

    def _enqueue(self, memory: MemoryId) -> None:
        self._state.queue[self._scope.namespace, memory] = Queued(True)
        self._state.add_job(
            Job(
                id=self._means.ids.job(),
                kind=JobKind.EMBED_PENDING,
                state=JobState.QUEUED,
                created_at=self._means.clock.now(),
            )
        )

    def _text(self, memory: Memory) -> Text:
        text = document_text(memory.statement)
        return Text(self._means.tokens(text.words), self._means.tokens(text.parts))


def _taken(field: str, sentence: str) -> AlreadyExists:
    return AlreadyExists(sentence, reason=Reason.KEY_TAKEN, details={"field": field})
