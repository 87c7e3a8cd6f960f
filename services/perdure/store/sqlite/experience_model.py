"""The private model of a namespace: its generations, what each learned, and what there is to learn from."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from perdure.domain.experience.learning import Adaptation, Adapter, ItemKind, Procedure, UsedQuery
from perdure.domain.memory import MemoryId
from perdure.domain.vectors import Matrix, Vector, to_bytes, unit
from perdure.errors import Conflict, InvalidArgument, Reason
from perdure.ports import ProcedureVector
from perdure.store.sqlite.driver import translated
from perdure.store.sqlite.experience_items import VISIBLE, shelf_changed
from perdure.store.sqlite.lifecycle import SqliteLifecycleReader, SqliteLifecycleUnit
from perdure.store.sqlite.rows import Row, micros, moment

KEPT_GENERATIONS = 10
"""Weights that are kept: the model in use and those one can go back to (50 kB each at rank 16 and 384 dimensions)."""
KEPT_ADAPTATIONS = 200
"""Trainings that are told of. Source: issue 5."""


class ModelReader(SqliteLifecycleReader):
    """One consistent view of what the model of one namespace learns from, and of the model."""

    def procedures(self, space: str | None = None) -> tuple[Procedure, ...]:
        """Every skill, and every episode without one, as text, with what learned it; skills first, then by id.

        ``learned_in`` is told of the model of ``space``; without one, of the space searches use.
        """
        with translated():
            rows = self._db.execute(
                "SELECT p.kind, p.id, p.name, p.text, p.sha256, p.updated_at, l.number FROM procedure p "
                "LEFT JOIN learned l ON l.namespace = p.namespace AND l.space = ? AND l.kind = p.kind AND l.id = p.id "
                f"AND l.sha256 = p.sha256 WHERE p.namespace = ? AND {VISIBLE} ORDER BY p.kind DESC, p.id",
                (self._lineage(space), self._namespace),
            ).fetchall()
        return tuple(map(_procedure, rows))

    def procedure_vectors(self, space: str) -> tuple[ProcedureVector, ...]:
        """Stored vectors of that space, of what ``procedures`` tells; in its order, then by chunk."""
        with translated():
            rows = self._db.execute(
                "SELECT v.kind, v.id, v.chunk, p.sha256, v.e FROM procedure_vector v JOIN procedure p "
                "ON p.namespace = v.namespace AND p.kind = v.kind AND p.id = v.id "
                f"WHERE v.namespace = ? AND v.space = ? AND {VISIBLE} ORDER BY v.kind DESC, v.id, v.chunk",
                (self._namespace, space),
            ).fetchall()
        return tuple(
            ProcedureVector(kind=ItemKind(kind), id=id_, chunk=chunk, sha256=sha256, vector=_vector(e))
            for kind, id_, chunk, sha256, e in rows
        )

    def used_queries(self, space: str, limit: int) -> tuple[UsedQuery, ...]:
        """Questions of that space whose memory is still there, newest first."""
        with translated():
            rows = self._db.execute(
                'SELECT q.e, m.id, q.at FROM used_query q JOIN memory m ON m."row" = q.memory '
                'WHERE q.namespace = ? AND q.space = ? ORDER BY q.at DESC, q."row" DESC LIMIT ?',
                (self._namespace, space, limit),
            ).fetchall()
        return tuple(
            UsedQuery(vector=_vector(e), space=space, memory=MemoryId(id_), at=moment(at)) for e, id_, at in rows
        )

    def superseded_of(self, space: str, limit: int) -> tuple[tuple[str, str], ...]:
        """Ids of memories that supersede another of which a vector is kept, and of that other, newest first."""
        with translated():
            rows = self._db.execute(
                "SELECT n.id, o.id FROM memory o JOIN link l ON l.target = o.\"row\" AND l.kind = 'supersedes' "
                'JOIN memory n ON n."row" = l.source AND n.namespace = o.namespace '
                'JOIN vector v ON v.memory = o."row" AND v.zero = 0 '
                "JOIN space s ON s.id = v.space AND s.fingerprint = ? "
                "WHERE o.namespace = ? AND o.status = 'superseded' "
                "ORDER BY n.created_at DESC, n.id DESC, o.id LIMIT ?",
                (space, self._namespace, limit),
            ).fetchall()
        return tuple((newer, older) for newer, older in rows)

    def adapter(self, space: str) -> Adapter | None:
        """The private model in use for that space, or None."""
        with translated():
            rows = self._db.execute(
                "SELECT version, number, rank, dimension, down, up FROM adapter WHERE namespace = ? AND space = ? "
                "ORDER BY number DESC LIMIT 1",
                (self._namespace, space),
            ).fetchall()
        if not rows:
            return None
        version, number, rank, dimension, down, up = rows[0]
        return Adapter(
            version=version,
            number=number,
            space=space,
            down=np.frombuffer(down, dtype="<f4").reshape(rank, dimension),
            up=np.frombuffer(up, dtype="<f4").reshape(dimension, rank),
        )

    def adapter_number(self, space: str) -> int:
        """Its number; 0 where there is none. Cheap: asked before each search."""
        with translated():
            number = self._db.execute(
                "SELECT max(number) FROM adapter WHERE namespace = ? AND space = ?", (self._namespace, space)
            ).get
        return int(number or 0)

    def adapter_stamp(self, space: str) -> str:
        """Tells one model in use from every other, also from one of the same number that was rolled back; "": none."""
        with translated():
            stamp = self._db.execute(
                "SELECT stamp FROM adapter WHERE namespace = ? AND space = ? ORDER BY number DESC LIMIT 1",
                (self._namespace, space),
            ).get
        return stamp or ""

    def shelf_stamp(self, space: str) -> str:
        """Changes whenever ``procedures`` or ``procedure_vectors`` do, of whatever space; "" before the first."""
        del space  # one stamp for all: there is one in use
        with translated():
            stamp = self._db.execute("SELECT stamp FROM shelf WHERE namespace = ?", (self._namespace,)).get
        return stamp or ""

    def adaptations(self, space: str | None = None) -> tuple[Adaptation, ...]:
        """Trainings that led to the model of ``space`` (the space searches use), oldest first; at most 200."""
        with translated():
            rows = self._db.execute(
                "SELECT number, version, at, learned, passes, loss, pairs, recall_before, recall_after, replay_before, "
                "replay_after FROM adaptation WHERE namespace = ? AND space = ? ORDER BY number",
                (self._namespace, self._lineage(space)),
            ).fetchall()
        return tuple(map(_adaptation, rows))

    def _lineage(self, space: str | None) -> str | None:
        """The space whose model is told of: that one, or the one searches use, or (before there is one) the last."""
        if space is not None:
            return space
        active = self.active_space()
        if active is not None:
            return active
        last: str | None = self._db.execute(
            "SELECT space FROM adaptation WHERE namespace = ? ORDER BY at DESC, number DESC LIMIT 1",
            (self._namespace,),
        ).get
        return last


class ModelUnit(ModelReader, SqliteLifecycleUnit):
    """One transaction on the model of one namespace and what it learns from."""

    def set_procedure_vectors(self, space: str, vectors: Sequence[ProcedureVector]) -> None:
        """Stores vectors of chunks, in place of all older ones of the same procedures in that space.

        Those of a procedure that is gone, or whose text is another by now, are not stored.

        Raises:
            InvalidArgument: a vector holds NaN or infinity (VECTOR_INVALID).
        """
        with translated():
            self._db.executemany(
                "DELETE FROM procedure_vector WHERE namespace = ? AND space = ? AND kind = ? AND id = ?",
                [(self._namespace, space, kind, id_) for kind, id_ in {(one.kind.value, one.id) for one in vectors}],
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO procedure_vector (namespace, space, kind, id, chunk, e) "
                "SELECT namespace, ?, kind, id, ?, ? FROM procedure "
                "WHERE namespace = ? AND kind = ? AND id = ? AND sha256 = ?",
                [
                    (
                        space,
                        one.chunk,
                        to_bytes(unit(one.vector)),
                        self._namespace,
                        one.kind.value,
                        one.id,
                        one.sha256,
                    )
                    for one in vectors
                ],
            )
            shelf_changed(self._db, self._namespace)

    def note_queries(self, queries: Sequence[UsedQuery], *, keep: int) -> None:
        """Adds used questions, those of memories that are gone left out; the newest ``keep`` of the namespace stay.

        Raises:
            InvalidArgument: a vector holds NaN or infinity (VECTOR_INVALID).
        """
        with translated():
            self._db.executemany(
                "INSERT INTO used_query (namespace, space, memory, at, e) "
                'SELECT namespace, ?, "row", ?, ? FROM memory WHERE namespace = ? AND id = ?',
                [
                    (one.space, micros(one.at), to_bytes(unit(one.vector)), self._namespace, one.memory)
                    for one in queries
                ],
            )
            self._db.execute(
                'DELETE FROM used_query WHERE "row" IN (SELECT "row" FROM used_query WHERE namespace = ? '
                'ORDER BY at DESC, "row" DESC LIMIT -1 OFFSET ?)',
                (self._namespace, keep),
            )

    def learn(self, adapter: Adapter, adaptation: Adaptation, learned: Sequence[tuple[ItemKind, str, str]]) -> None:
        """Makes the model the one in use and writes down what it learned (kind, id, text's sha256).

        A text that an earlier version learned stays that version's. The newest 10 generations are kept.

        Raises:
            Conflict: its number is not one more than that in use (REVISION_MOVED).
            InvalidArgument: A and B do not fit each other, or hold NaN or infinity (VECTOR_INVALID).
        """
        down, up = _weights(adapter.down, adapter.up)
        place = (self._namespace, adapter.space)
        with translated():
            in_use = self.adapter_number(adapter.space)
            if adapter.number != in_use + 1:
                raise Conflict(
                    "Another training was kept meanwhile; train again.",
                    reason=Reason.REVISION_MOVED,
                    details={"expected": adapter.number - 1, "found": in_use},
                )
            self._db.execute(
                "INSERT INTO adapter (namespace, space, number, version, stamp, rank, dimension, down, up) "
                "VALUES (?, ?, ?, ?, lower(hex(randomblob(8))), ?, ?, ?, ?)",
                (*place, adapter.number, adapter.version, *down.shape, to_bytes(down), to_bytes(up)),
            )
            # One of that number is left only where its generation was lost; the new one takes its place.
            self._db.execute(
                "INSERT OR REPLACE INTO adaptation (namespace, space, number, version, at, learned, passes, loss, "
                "pairs, recall_before, recall_after, replay_before, replay_after) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*place, *_adaptation_values(adaptation)),
            )
            self._db.executemany(
                "INSERT OR IGNORE INTO learned (namespace, space, kind, id, sha256, number) VALUES (?, ?, ?, ?, ?, ?)",
                [(*place, kind.value, id_, sha256, adapter.number) for kind, id_, sha256 in learned],
            )
            for table, kept in (("adapter", KEPT_GENERATIONS), ("adaptation", KEPT_ADAPTATIONS)):
                self._db.execute(
                    f"DELETE FROM {table} WHERE namespace = ? AND space = ? AND number <= ?",
                    (*place, adapter.number - kept),
                )
            shelf_changed(self._db, self._namespace)

    def rollback_model(self, space: str) -> int | None:
        """Goes back to the version before; what later ones learned is pending again, and the discarded one gone.

        Returns:
            The number in use now (0: none); None where there was nothing to go back from, or where the weights of
            the version before are not kept any more.
        """
        place = (self._namespace, space)
        with translated():
            kept = [
                number
                for (number,) in self._db.execute(
                    "SELECT number FROM adapter WHERE namespace = ? AND space = ? ORDER BY number DESC LIMIT 2", place
                ).fetchall()
            ]
            if not kept or (len(kept) == 1 and kept[0] > 1):
                return None
            before = kept[1] if len(kept) == 2 else 0
            for table in ("adapter", "adaptation", "learned"):
                self._db.execute(
                    f"DELETE FROM {table} WHERE namespace = ? AND space = ? AND number > ?", (*place, before)
                )
            shelf_changed(self._db, self._namespace)
        return before


def _weights(down: Matrix, up: Matrix) -> tuple[Matrix, Matrix]:
    if down.ndim != 2 or up.shape != down.shape[::-1] or not down.size:
        raise InvalidArgument("The model's two matrices do not fit each other.", reason=Reason.VECTOR_INVALID)
    if not (np.isfinite(down).all() and np.isfinite(up).all()):
        raise InvalidArgument("The model holds NaN or infinity.", reason=Reason.VECTOR_INVALID)
    return down, up


def _vector(e: bytes) -> Vector:
    return np.frombuffer(e, dtype="<f4")


def _procedure(row: Row) -> Procedure:
    return Procedure(
        kind=ItemKind(row[0]),
        id=row[1],
        name=row[2],
        text=row[3],
        sha256=row[4],
        updated_at=moment(row[5]),
        learned_in=row[6],
    )


def _adaptation_values(adaptation: Adaptation) -> tuple[object, ...]:
    return (
        adaptation.number,
        adaptation.version,
        micros(adaptation.at),
        json.dumps(list(adaptation.learned), ensure_ascii=False),
        adaptation.passes,
        float(adaptation.loss),
        adaptation.pairs,
        adaptation.recall_before,
        adaptation.recall_after,
        adaptation.replay_before,
        adaptation.replay_after,
    )


def _adaptation(row: Row) -> Adaptation:
    return Adaptation(
        number=row[0],
        version=row[1],
        at=moment(row[2]),
        learned=tuple(json.loads(row[3])),
        passes=row[4],
        loss=row[5],
        pairs=row[6],
        recall_before=row[7],
        recall_after=row[8],
        replay_before=row[9],
        replay_after=row[10],
    )
