"""Writing one namespace in one transaction."""

from __future__ import annotations

from datetime import datetime

import apsw
import numpy as np

from perdure.domain.memory import LinkKind, Memory, MemoryId, Provenance, Revision
from perdure.domain.namespace import Actor, Scope
from perdure.domain.recall.lexical import document_text
from perdure.domain.resolution import text_sha256
from perdure.domain.vectors import Vector, to_bytes, unit
from perdure.errors import AlreadyExists, Conflict, InvalidArgument, NotFound, Reason
from perdure.ports import Replay
from perdure.store.sqlite.driver import Connection, translated
from perdure.store.sqlite.lexical import scope_text
from perdure.store.sqlite.queue import count_saves, ensure_embedding
from perdure.store.sqlite.reader import Engines, SqliteReader, _refuse_dimension
from perdure.store.sqlite.rows import labels, micros, to_columns, to_json, with_revision

_SAVES = frozenset({"merged", "replaced"})
"""Changes that a save makes; a new memory counts by itself."""


class SqliteUnit(SqliteReader):
    """One transaction on one namespace; whoever opened it commits or undoes it."""

    def __init__(self, connection: Connection, scope: Scope, actor: Actor, engines: Engines) -> None:
        super().__init__(connection, scope, engines)
        self._actor = actor
        self._change = self._seq
        self._saves = 0

    def add(self, memory: Memory, *, vector: Vector | None, space: str | None) -> None:
        """Stores a new memory; links in it are not looked at, see ``link``.

        Raises:
            AlreadyExists: its id, key or text is taken (KEY_TAKEN).
            InvalidArgument: the vector cannot be stored (VECTOR_INVALID).
        """
        columns = to_columns(memory, text_sha256(memory.statement))
        columns |= {"namespace": self._namespace, "seq": self._next()}
        names = ", ".join(f'"{name}"' for name in columns)
        marks = ", ".join("?" * len(columns))
        with translated():
            try:
                number = self._db.execute(
                    f'INSERT INTO memory ({names}) VALUES ({marks}) RETURNING "row"',
                    tuple(columns.values()),
                ).get
            except apsw.ConstraintError as error:
                raise _taken(error) from error
            self._touched.add(number)
            self._size += 1
            self._saves += memory.provenance is not Provenance.CONSOLIDATION
            self._db.execute("UPDATE namespace SET memories = memories + 1 WHERE id = ?", (self._namespace,))
            self._add_text(number, memory)
            self._add_labels(number, memory)
            if vector is None or space is None:
                self._enqueue(number)
            else:
                self._put_vector(number, vector, space)

    def change(self, before: Memory, after: Memory, *, why: str) -> Memory:
        """Replaces ``before`` by ``after`` and writes ``before`` into the history; links and vectors stay.

        Raises:
            NotFound: it was purged (MEMORY_NOT_FOUND).
            Conflict: the stored revision is not ``before.revision`` any more (REVISION_MOVED).
            AlreadyExists: the key or the text is taken (KEY_TAKEN).
        """
        with translated():
            number, revision = self._stored(before.id)
            if revision != before.revision:
                raise Conflict(
                    "The memory was changed by another meanwhile; read it again, then retry.",
                    reason=Reason.REVISION_MOVED,
                    details={"expected": before.revision, "found": revision},
                )
            result = with_revision(after, revision + 1)
            columns = to_columns(result, text_sha256(after.statement))
            for kept in ("id", "access_count", "shown_count"):
                del columns[kept]
            columns["seq"] = self._next()
            # Uses are counted beside the edits (``WorkUnit.record_uses``): what was counted meanwhile stays.
            marks = ", ".join(
                f'"{name}" = max("{name}", ?)' if name == "last_accessed_at" else f'"{name}" = ?' for name in columns
            )
            try:
                self._db.execute(
                    f'UPDATE memory SET {marks} WHERE "row" = ?',
                    (*columns.values(), number),
                )
            except apsw.ConstraintError as error:
                raise _taken(error) from error
            self._touched.add(number)
            self._saves += why in _SAVES and self._actor.kind != "job"
            self._db.execute(
                "INSERT OR REPLACE INTO revision VALUES (?, ?, ?, ?, ?, ?)",
                (number, revision, micros(after.updated_at), self._actor.name, why, to_json(before)),
            )
            if before.statement != after.statement:
                self._change_text(number, after)
        return result

    def set_vector(self, memory: MemoryId, vector: Vector, space: str) -> None:
        """Stores or replaces the vector of that space and takes the memory off the queue.

        Raises:
            NotFound: there is no such memory.
            InvalidArgument: the vector cannot be stored (VECTOR_INVALID).
        """
        with translated():
            number, _ = self._stored(memory)
            self._put_vector(number, vector, space)
            self._moved(number)

    def drop_vectors(self, memory: MemoryId) -> None:
        """Forgets every vector of the memory and queues it for a new one.

        Raises:
            NotFound: there is no such memory.
        """
        with translated():
            number, _ = self._stored(memory)
            self._db.execute("DELETE FROM vector WHERE memory = ?", (number,))
            self._enqueue(number)
            self._moved(number)

    def link(self, kind: LinkKind, source: MemoryId, target: MemoryId) -> None:
        """Adds a link, once.

        Raises:
            NotFound: one of the two does not exist here.
            InvalidArgument: they are the same.
        """
        if source == target:
            raise InvalidArgument("A memory cannot be linked to itself.", reason=Reason.FIELD_INVALID)
        with translated():
            ends = (self._stored(source)[0], self._stored(target)[0])
            self._db.execute("INSERT OR IGNORE INTO link (kind, source, target) VALUES (?, ?, ?)", (kind.value, *ends))

    def unlink(self, kind: LinkKind, source: MemoryId, target: MemoryId) -> None:
        """Takes a link away where there is one."""
        ends = 'SELECT "row" FROM memory WHERE namespace = ? AND id = ?'
        with translated():
            self._db.execute(
                f"DELETE FROM link WHERE kind = ? AND source = ({ends}) AND target = ({ends})",
                (kind.value, self._namespace, source, self._namespace, target),
            )

    def add_revision(self, revision: Revision) -> None:
        """Adds a revision as it was, unless it is there.

        Raises:
            NotFound: there is no such memory.
        """
        with translated():
            number, _ = self._stored(revision.memory)
            self._db.execute(
                "INSERT OR IGNORE INTO revision VALUES (?, ?, ?, ?, ?, ?)",
                (
                    number,
                    revision.revision,
                    micros(revision.at),
                    revision.actor,
                    revision.why,
                    to_json(revision.before),
                ),
            )

    def purge(self, memory: MemoryId) -> bool:
        """Erases the memory and all that tells of it; a tombstone keeps id and time.

        ``PRAGMA secure_delete`` and FTS5's ``secure-delete`` overwrite what is freed. The write-ahead log holds old
        pages until its next reset.
        """
        with translated():
            try:
                number, _ = self._stored(memory)
            except NotFound:
                return False
            self._drop_text(number)
            self._db.execute('DELETE FROM memory WHERE "row" = ?', (number,))
            self._db.execute(
                "DELETE FROM idempotency WHERE namespace = ? AND instr(answer, CAST(? AS BLOB)) > 0",
                (self._namespace, memory),
            )
            self._db.execute(
                "INSERT INTO tombstone VALUES (?, ?, ?, ?, ?)",
                (number, self._namespace, memory, micros(self._engines.clock.now()), self._next()),
            )
            # a dry run's plan quotes summaries
            self._db.execute("UPDATE run SET plan = '[]' WHERE namespace = ? AND plan <> '[]'", (self._namespace,))
            self._db.execute("UPDATE namespace SET memories = memories - 1 WHERE id = ?", (self._namespace,))
            self._touched.add(number)
            self._size -= 1
        return True

    def remember(self, key_sha256: str, replay: Replay, *, expires_at: datetime) -> None:
        """Keeps an answer under an idempotency key."""
        with translated():
            self._db.execute(
                "INSERT OR REPLACE INTO idempotency VALUES (?, ?, ?, ?, ?)",
                (self._namespace, key_sha256, replay.request_sha256, replay.answer, micros(expires_at)),
            )

    # ------------------------------------------------------------ inside

    def finish(self) -> None:
        """Writes the namespace's counters; called once, just before the commit."""
        if self._saves:
            count_saves(self._db, self._namespace, self._saves, self._engines.ids.job(), self._engines.clock.now())
        if self._change != self._seq:
            self._db.execute("UPDATE namespace SET seq = ? WHERE id = ?", (self._change, self._namespace))

    def _next(self) -> int:
        self._change += 1
        return self._change

    def _moved(self, number: int) -> None:
        self._db.execute('UPDATE memory SET seq = ? WHERE "row" = ?', (self._next(), number))
        self._touched.add(number)

    def _stored(self, memory: MemoryId) -> tuple[int, int]:
        rows = self._db.execute(
            'SELECT "row", revision FROM memory WHERE namespace = ? AND id = ?', (self._namespace, memory)
        ).fetchall()
        if not rows:
            raise NotFound("There is no such memory.", reason=Reason.MEMORY_NOT_FOUND)
        number, revision = rows[0]
        return number, revision

    def _put_vector(self, number: int, vector: Vector, space: str) -> None:
        direction = unit(vector)
        if direction.ndim != 1 or direction.size == 0:
            raise InvalidArgument("A vector has one axis and at least one value.", reason=Reason.VECTOR_INVALID)
        row = self._space(space)
        if row is None:
            self._db.execute("INSERT INTO space (fingerprint, dimension) VALUES (?, ?)", (space, direction.size))
            row = self._space(space)
        assert row is not None  # noqa: S101 - just written
        _refuse_dimension(direction, row)
        self._db.execute(
            "INSERT INTO vector (memory, space, namespace, zero, e) VALUES (?, ?, ?, ?, ?) "
            "ON CONFLICT (memory, space) DO UPDATE SET zero = excluded.zero, e = excluded.e",
            (number, row.number, self._namespace, 0 if np.any(direction) else 1, to_bytes(direction)),
        )
        self._db.execute("INSERT OR IGNORE INTO meta VALUES ('active_space', ?)", (space,))
        if self.active_space() == space:
            self._db.execute("DELETE FROM embedding_queue WHERE memory = ?", (number,))
            return
        searched = self._db.execute(
            "SELECT 1 FROM vector v JOIN space s ON s.id = v.space JOIN meta ON meta.value = s.fingerprint "
            "WHERE v.memory = ? AND meta.name = 'active_space'",
            (number,),
        ).get
        if not searched:
            self._db.execute(
                "INSERT INTO embedding_queue (memory, namespace, waiting) VALUES (?, ?, 0) "
                "ON CONFLICT (memory) DO UPDATE SET waiting = 0",
                (number, self._namespace),
            )

    def _enqueue(self, number: int) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO embedding_queue (memory, namespace, waiting) VALUES (?, ?, 1)",
            (number, self._namespace),
        )
        ensure_embedding(self._db, self._engines.ids.job(), self._engines.clock.now())

    def _add_text(self, number: int, memory: Memory) -> None:
        text = document_text(memory.statement)
        values = (number, text.words, text.parts, scope_text(self._namespace, memory.statement.project))
        self._db.execute("INSERT INTO document VALUES (?, ?, ?, ?)", values)
        self._db.execute("INSERT INTO full_text (rowid, words, parts, scope) VALUES (?, ?, ?, ?)", values)

    def _drop_text(self, number: int) -> None:
        rows = self._db.execute('SELECT words, parts, scope FROM document WHERE "row" = ?', (number,)).fetchall()
        for old in rows:
            self._db.execute(
                "INSERT INTO full_text (full_text, rowid, words, parts, scope) VALUES ('delete', ?, ?, ?, ?)",
                (number, *old),
            )
            self._db.execute('DELETE FROM document WHERE "row" = ?', (number,))

    def _change_text(self, number: int, memory: Memory) -> None:
        text = document_text(memory.statement)
        scope = scope_text(self._namespace, memory.statement.project)
        old = self._db.execute('SELECT words, parts, scope FROM document WHERE "row" = ?', (number,)).fetchall()
        if old != [(text.words, text.parts, scope)]:
            self._drop_text(number)
            self._add_text(number, memory)
        self._db.execute("DELETE FROM label WHERE memory = ?", (number,))
        self._add_labels(number, memory)

    def _add_labels(self, number: int, memory: Memory) -> None:
        for kind, value in labels(memory.statement):
            self._db.execute("INSERT INTO label VALUES (?, ?, ?, ?)", (self._namespace, kind, value, number))


def _taken(error: apsw.ConstraintError) -> AlreadyExists | InvalidArgument:
    """What a broken constraint of ``memory`` means; SQLite's message names columns, never values."""
    text = str(error)
    for column, sentence in (
        ("memory.key", "Another active memory of this project has that key."),
        ("memory.text_sha256", "Another active memory of this project and type has the same text."),
        ("memory.id", "A memory of that id exists already."),
    ):
        if text.startswith("UNIQUE") and column in text:
            return AlreadyExists(sentence, reason=Reason.KEY_TAKEN, details={"field": column.removeprefix("memory.")})
    return InvalidArgument("A field of the memory is out of its range.", reason=Reason.FIELD_INVALID)
