"""Reading one namespace in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perdure.domain.compaction.stub import BEGINNING
from perdure.domain.memory import Filter, LinkKind, Memory, MemoryId, MemoryType, Revision, Status
from perdure.domain.namespace import NamespaceName, Scope
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalQuery
from perdure.domain.recall.contrast import Centre
from perdure.domain.vectors import Vector, unit
from perdure.errors import InvalidArgument, NotFound, Reason
from perdure.ports import Clock, Ids, Page, Position, Replay, Stats
from perdure.store.sqlite import lexical
from perdure.store.sqlite.centres import Centres
from perdure.store.sqlite.conditions import conditions
from perdure.store.sqlite.dense import Dense, Place, SpaceRow, exact
from perdure.store.sqlite.driver import Connection, translated
from perdure.store.sqlite.rows import (
    COLUMNS,
    NO_LINKS,
    Links,
    Row,
    from_json,
    micros,
    moment,
    to_list,
    to_list_of_numbers,
    to_memory,
)

_SPACE = (
    '(SELECT s.fingerprint FROM vector v JOIN space s ON s.id = v.space WHERE v.memory = m."row" '
    "ORDER BY s.fingerprint = (SELECT value FROM meta WHERE name = 'active_space') DESC, s.id DESC LIMIT 1)"
)
_SELECT = f'SELECT {COLUMNS}, m."row", {_SPACE} FROM memory m '
_ROW = COLUMNS.count(",") + 1


@dataclass(frozen=True, slots=True)
class Engines:
    """What searches share across transactions."""

    dense: Dense
    centres: Centres
    frequencies: lexical.Frequencies
    clock: Clock
    ids: Ids


class SqliteReader:
    """One consistent view of one namespace; ``connection`` is inside a transaction."""

    def __init__(self, connection: Connection, scope: Scope, engines: Engines) -> None:
        self._db = connection
        self._scope = scope
        self._engines = engines
        found = connection.execute(
            "SELECT id, seq, generation, memories FROM namespace WHERE name = ?", (scope.namespace,)
        ).fetchall()
        if not found:
            raise NotFound("There is no such namespace.", reason=Reason.NAMESPACE_NOT_FOUND)
        self._namespace: int
        self._seq: int
        self._generation: int
        self._size: int
        self._namespace, self._seq, self._generation, self._size = found[0]
        self._touched: set[int] = set()

    @property
    def scope(self) -> Scope:
        """The namespace it sees."""
        return self._scope

    @property
    def _name(self) -> NamespaceName:
        return self._scope.namespace

    def get(self, memory: MemoryId) -> Memory | None:
        """The memory, whatever its status."""
        return self.get_many((memory,)).get(memory)

    def get_many(self, memories: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
        """Those that exist, by id."""
        with translated():
            if len(memories) == 1:
                rows = self._db.execute(_SELECT + "WHERE m.namespace = ? AND m.id = ?", (self._namespace, memories[0]))
            else:
                rows = self._db.execute(
                    _SELECT + "WHERE m.namespace = ? AND m.id IN (SELECT value FROM json_each(?))",
                    (self._namespace, to_list(memories)),
                )
            return {memory.id: memory for memory in self._memories(rows.fetchall())}

    def by_key(self, project: str, key: str) -> Memory | None:
        """The active memory of that key."""
        return self._one("m.project = ? AND m.\"key\" = ? AND m.status = 'active'", (project, key))

    def by_text(self, project: str, type_: MemoryType, text_sha256: str) -> Memory | None:
        """The active memory with that normalised text."""
        return self._one(
            "m.project = ? AND m.type = ? AND m.text_sha256 = ? AND m.status = 'active'",
            (project, type_.value, text_sha256),
        )

    def page(self, filter_: Filter, *, after: Position | None, limit: int) -> Page:
        """The next ``limit`` memories by created_at, id descending."""
        where, values = conditions(filter_, self._namespace)
        if after is not None:
            where += " AND (m.created_at, m.id) < (?, ?)"
            values += [micros(after.created_at), after.id]
        with translated():
            rows = self._db.execute(
                _SELECT + f"WHERE {where} ORDER BY m.created_at DESC, m.id DESC LIMIT ?", (*values, limit + 1)
            ).fetchall()
            found = self._memories(rows[:limit])
        last = found[-1] if len(rows) > limit else None
        return Page(tuple(found), None if last is None else Position(last.created_at, last.id))

    def recent(self, project: str | None, limit: int) -> tuple[Memory, ...]:
        """Active memories by last_accessed_at descending."""
        where = "m.namespace = ? AND m.status = 'active'"
        values: list[Any] = [self._namespace]
        if project is not None:
            where += " AND m.project = ?"
            values.append(project)
        with translated():
            rows = self._db.execute(
                _SELECT + f"WHERE {where} ORDER BY m.last_accessed_at DESC, m.id DESC LIMIT ?", (*values, limit)
            ).fetchall()
            return tuple(self._memories(rows))

    def stats(self) -> Stats:
        """Counts of the whole namespace."""
        with translated():
            rows = self._db.execute(
                "SELECT status, project, type, count(*) FROM memory WHERE namespace = ? GROUP BY status, project, type",
                (self._namespace,),
            ).fetchall()
            waiting = self._db.execute(
                "SELECT count(*) FROM embedding_queue WHERE namespace = ?", (self._namespace,)
            ).get
        by_status: dict[str, int] = dict.fromkeys(Status, 0)
        by_type: dict[str, int] = {}
        by_project: dict[str, int] = {}
        for status, project, type_, count in rows:
            by_status[status] += count
            if status == Status.ACTIVE:
                by_type[type_] = by_type.get(type_, 0) + count
                by_project[project] = by_project.get(project, 0) + count
        return Stats(
            active=by_status[Status.ACTIVE],
            archived=by_status[Status.ARCHIVED],
            superseded=by_status[Status.SUPERSEDED],
            consolidated=by_status[Status.CONSOLIDATED],
            by_type=by_type,
            by_project=by_project,
            unembedded=waiting,
        )

    def history(self, memory: MemoryId) -> tuple[Revision, ...]:
        """Earlier states, newest first."""
        with translated():
            rows = self._db.execute(
                'SELECT r.revision, r.at, r.actor, r.why, r.before FROM revision r JOIN memory m ON m."row" = r.memory '
                "WHERE m.namespace = ? AND m.id = ? ORDER BY r.revision DESC",
                (self._namespace, memory),
            ).fetchall()
        return tuple(
            Revision(
                memory=memory,
                revision=number,
                at=moment(at),
                actor=actor,
                why=why,
                before=from_json(before, self._name),
            )
            for number, at, actor, why, before in rows
        )

    def dense(
        self, vector: Vector, space: str, filter_: Filter, *, limit: int, exclude: Collection[MemoryId] = ()
    ) -> tuple[DenseHit, ...]:
        """The ``limit`` nearest memories of that space that pass the filter, nearest first, ties by id."""
        direction = unit(vector)
        with translated():
            row = self._space(space)
            if row is None or not direction.any() or limit < 1:
                return ()
            _refuse_dimension(direction, row)
            return self._engines.dense.search(self._place(), row, direction, filter_, limit=limit, exclude=exclude)

    def lexical(self, query: LexicalQuery, filter_: Filter, *, limit: int) -> LexicalAnswer:
        """The ``limit`` best memories by BM25 that pass the filter."""
        with translated():
            return lexical.search(
                self._db,
                self._engines.frequencies,
                query,
                filter_,
                namespace=self._namespace,
                size=self._size,
                limit=max(1, limit),
                written=bool(self._touched),
            )

    def similarities(self, vector: Vector, space: str, memories: Collection[MemoryId]) -> dict[MemoryId, float]:
        """Cosine of each that has a vector in that space."""
        found = self.vectors(memories, space)
        if not found:
            return {}
        direction = unit(vector)
        rows = np.stack(list(found.values()))
        if rows.shape[1] != len(direction):
            raise _wrong_dimension(len(direction), rows.shape[1])
        return dict(zip(found, exact(rows, direction).tolist(), strict=True))

    def vectors(self, memories: Collection[MemoryId], space: str) -> dict[MemoryId, Vector]:
        """Stored vectors of that space."""
        with translated():
            rows = self._db.execute(
                'SELECT m.id, v.e FROM memory m JOIN vector v ON v.memory = m."row" JOIN space s ON s.id = v.space '
                "WHERE s.fingerprint = ? AND m.namespace = ? AND m.id IN (SELECT value FROM json_each(?))",
                (space, self._namespace, to_list(memories)),
            ).fetchall()
        return {MemoryId(id_): np.frombuffer(e, dtype="<f4") for id_, e in rows}

    def centre(self, space: str) -> Centre | None:
        """Where the namespace's vectors of that space lie."""
        with translated():
            row = self._space(space)
            return None if row is None else self._engines.centres.centre(self._place(), row, self._size)

    def cards(self, memories: Collection[MemoryId]) -> dict[MemoryId, Card]:
        """What scoring needs, by id."""
        with translated():
            rows = self._db.execute(
                "SELECT id, project, type, confidence, iif(substr(content, 1, ?) = ?, 0.0, importance), access_count, "
                "last_accessed_at FROM memory WHERE namespace = ? AND id IN (SELECT value FROM json_each(?))",
                (len(BEGINNING), BEGINNING, self._namespace, to_list(memories)),
            ).fetchall()
        return {
            MemoryId(row[0]): Card(
                id=MemoryId(row[0]),
                project=row[1],
                type=MemoryType(row[2]),
                confidence=row[3],
                importance=row[4],
                access_count=row[5],
                last_accessed_at=moment(row[6]),
            )
            for row in rows
        }

    def unembedded(self, filter_: Filter) -> int:
        """How many memories that pass the filter wait for a vector in the active space."""
        where, values = conditions(filter_, self._namespace)
        with translated():
            return int(
                self._db.execute(
                    'SELECT count(*) FROM embedding_queue q CROSS JOIN memory m ON m."row" = q.memory '
                    f"WHERE q.namespace = ? AND {where}",
                    (self._namespace, *values),
                ).get
            )

    def active_space(self) -> str | None:
        """Fingerprint of the space searches use."""
        with translated():
            found: str | None = self._db.execute("SELECT value FROM meta WHERE name = 'active_space'").get
            return found

    def replay(self, key_sha256: str) -> Replay | None:
        """The answer remembered under that idempotency key, unless expired."""
        with translated():
            rows = self._db.execute(
                'SELECT request_sha256, answer FROM idempotency WHERE namespace = ? AND "key" = ? AND expires_at > ?',
                (self._namespace, key_sha256, micros(self._engines.clock.now())),
            ).fetchall()
        return Replay(*rows[0]) if rows else None

    # ------------------------------------------------------------ inside

    def _one(self, where: str, values: tuple[Any, ...]) -> Memory | None:
        with translated():
            rows = self._db.execute(
                _SELECT + f"WHERE m.namespace = ? AND {where}", (self._namespace, *values)
            ).fetchall()
            found = self._memories(rows)
        return found[0] if found else None

    def _place(self) -> Place:
        return Place(self._db, self._namespace, self._seq, self._generation, frozenset(self._touched))

    def _space(self, fingerprint: str) -> SpaceRow | None:
        rows = self._db.execute("SELECT id, dimension FROM space WHERE fingerprint = ?", (fingerprint,)).fetchall()
        return SpaceRow(*rows[0]) if rows else None

    def _memories(self, rows: Sequence[Row]) -> list[Memory]:
        links = self._links([row[_ROW] for row in rows])
        return [to_memory(row, self._name, row[_ROW + 1], links.get(row[_ROW], NO_LINKS)) for row in rows]

    def _links(self, numbers: Sequence[int]) -> dict[int, Links]:
        if not numbers:
            return {}
        listed = to_list_of_numbers(numbers)
        rows = self._db.execute(
            "SELECT l.source, l.kind, 'out', m.id FROM link l JOIN memory m ON m.\"row\" = l.target "
            "WHERE l.source IN (SELECT value FROM json_each(?1)) UNION ALL "
            "SELECT l.target, l.kind, 'in', m.id FROM link l JOIN memory m ON m.\"row\" = l.source "
            "WHERE l.target IN (SELECT value FROM json_each(?1)) ORDER BY 4",
            (listed,),
        ).fetchall()
        grouped: dict[int, dict[tuple[str, str], list[MemoryId]]] = {}
        for number, kind, way, id_ in rows:
            grouped.setdefault(number, {}).setdefault((kind, way), []).append(id_)
        return {number: _links(found) for number, found in grouped.items()}


def _links(found: dict[tuple[str, str], list[MemoryId]]) -> Links:
    def outgoing(kind: LinkKind) -> list[MemoryId]:
        return found.get((kind.value, "out"), [])

    def incoming(kind: LinkKind) -> list[MemoryId]:
        return found.get((kind.value, "in"), [])

    related: Iterable[MemoryId] = {*outgoing(LinkKind.RELATED), *incoming(LinkKind.RELATED)}
    superseded_by, into = incoming(LinkKind.SUPERSEDES), incoming(LinkKind.CONSOLIDATED_FROM)
    return Links(
        supersedes=tuple(outgoing(LinkKind.SUPERSEDES)),
        superseded_by=superseded_by[-1] if superseded_by else None,
        consolidated_from=tuple(outgoing(LinkKind.CONSOLIDATED_FROM)),
        consolidated_into=into[-1] if into else None,
        related=tuple(sorted(related)),
    )


def _refuse_dimension(vector: Vector, space: SpaceRow) -> None:
    if vector.shape != (space.dimension,):
        raise _wrong_dimension(vector.size, space.dimension)


def _wrong_dimension(found: int, wanted: int) -> InvalidArgument:
    return InvalidArgument(
        "The vector has not the dimension of its space.",
        reason=Reason.VECTOR_INVALID,
        details={"dimension": found, "expected": wanted},
    )
