"""Looking after one namespace: what has aged, what a run did, and how it is undone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

import apsw
import numpy as np

from perdure.domain.memory import LinkKind, Memory, MemoryId, MemoryType, Provenance, Status, Tier
from perdure.domain.namespace import NamespaceName
from perdure.domain.retention import Life
from perdure.domain.runs import Act, PutBack, Run, RunItem, Task, Trigger
from perdure.errors import NotFound
from perdure.ports import Departure, JobKind, LifePage, VectorGroup
from perdure.store.sqlite.driver import translated
from perdure.store.sqlite.queue import turn_of
from perdure.store.sqlite.reader import SqliteReader
from perdure.store.sqlite.rows import Row, from_json, maybe_micros, maybe_moment, micros, moment, to_json
from perdure.store.sqlite.unit import SqliteUnit

_RUN = (
    "SELECT j.id, j.parameters, j.state, j.created_at, r.began_at, r.ended_at, j.attempts, j.done, j.total, r.saves, "
    "j.message, j.error, r.counts, r.undone_at, r.undone_by, r.actor, j.finished_at, r.plan FROM job j "
    "LEFT JOIN run r ON r.id = j.id WHERE j.kind = ? AND j.turn = ? "
)


class SqliteLifecycleReader(SqliteReader):
    """One consistent view of one namespace, for what looks at all of it."""

    def groups(self, project: str | None) -> tuple[tuple[str, MemoryType, int], ...]:
        """Project, type and count of active memories."""
        with translated():
            rows = self._db.execute(
                "SELECT project, type, count(*) FROM memory WHERE namespace = ?1 AND status = 'active' "
                "AND (?2 IS NULL OR project = ?2) GROUP BY project, type",
                (self._namespace, project),
            ).fetchall()
        return tuple((name, MemoryType(type_), count) for name, type_, count in rows)

    def lives(self, project: str, type_: MemoryType, *, after: int, limit: int) -> LifePage:
        """The next lives of active memories; the first page starts after 0."""
        with translated():
            rows = self._db.execute(
                'SELECT "row", id, confidence, tier, provenance, access_count, created_at, last_accessed_at, '
                'expires_at, "key" IS NOT NULL, stub IS NOT NULL FROM memory '
                "WHERE namespace = ? AND status = 'active' AND project = ? AND type = ? "
                'AND "row" > ? ORDER BY "row" LIMIT ?',
                (self._namespace, project, type_.value, after, limit),
            ).fetchall()
        lives = tuple(
            Life(
                id=MemoryId(row[1]),
                project=project,
                type=type_,
                confidence=row[2],
                tier=Tier(row[3]),
                provenance=Provenance(row[4]),
                access_count=row[5],
                created_at=moment(row[6]),
                last_accessed_at=moment(row[7]),
                expires_at=maybe_moment(row[8]),
                keyed=bool(row[9]),
                stubbed=bool(row[10]),
            )
            for row in rows
        )
        return LifePage(lives=lives, next=rows[-1][0] if len(rows) == limit else None)

    def vector_group(self, project: str, type_: MemoryType, space: str, *, since: int) -> VectorGroup | None:
        """The vectors of that space; None where no memory of the group changed after the watermark ``since``."""
        with translated():
            changed = self._db.execute(
                "SELECT 1 FROM memory WHERE namespace = ? AND seq > ? AND status = 'active' AND project = ? "
                "AND type = ? LIMIT 1",
                (self._namespace, since, project, type_.value),
            ).get
            row = self._space(space)
            if changed is None or row is None:
                return None
            found = self._db.execute(
                'SELECT m.id, m.seq, v.e FROM memory m JOIN vector v ON v.memory = m."row" AND v.space = ? '
                "WHERE m.namespace = ? AND m.status = 'active' AND m.project = ? AND m.type = ? AND v.zero = 0 "
                'ORDER BY m."row"',
                (row.number, self._namespace, project, type_.value),
            )
            ids: list[MemoryId] = []
            fresh: list[bool] = []
            blobs: list[bytes] = []
            for id_, seq, e in found:
                ids.append(MemoryId(id_))
                fresh.append(seq > since)
                blobs.append(e)
        vectors = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(ids), row.dimension)
        return VectorGroup(ids=tuple(ids), vectors=vectors, fresh=tuple(fresh))

    def watermarks(self) -> tuple[int, int]:
        """The watermark of the last clean, and that of now."""
        with translated():
            cleaned = self._db.execute("SELECT cleaned_seq FROM lifecycle WHERE namespace = ?", (self._namespace,)).get
        return cleaned or 0, self._seq

    def run(self, run_id: str) -> Run | None:
        """The run of this namespace, or None."""
        return next(iter(self._runs("AND j.id = ?", run_id)), None)

    def runs(self, limit: int) -> tuple[Run, ...]:
        """Runs of this namespace, newest first."""
        return self._runs("ORDER BY j.created_at DESC, j.id DESC LIMIT ?", limit)

    def run_items(self, run_id: str, limit: int) -> tuple[RunItem, ...]:
        """What the run did and was not undone; members before what they became."""
        with translated():
            rows = self._db.execute(
                "SELECT m.id, i.act, m.summary, w.id FROM run_item i JOIN run r ON r.id = i.run "
                'JOIN memory m ON m."row" = i.memory LEFT JOIN memory w ON w."row" = i.winner '
                "WHERE i.run = ? AND r.namespace = ? ORDER BY i.act = 'made', i.memory LIMIT ?",
                (run_id, self._namespace, limit),
            ).fetchall()
        return tuple(
            RunItem(
                memory=MemoryId(id_), act=Act(act), summary=summary, winner=None if other is None else MemoryId(other)
            )
            for id_, act, summary, other in rows
        )

    def runs_of(self, memory: MemoryId) -> tuple[str, ...]:
        """Ids of the runs that changed or made the memory and were not undone."""
        with translated():
            rows = self._db.execute(
                'SELECT i.run FROM run_item i JOIN memory m ON m."row" = i.memory '
                "WHERE m.namespace = ? AND m.id = ? ORDER BY i.run",
                (self._namespace, memory),
            ).fetchall()
        return tuple(run for (run,) in rows)

    def by_key_anywhere(self, key: str) -> Memory | None:
        """The active memory of that key, whatever its project; None where there is none or more than one."""
        with translated():
            rows = self._db.execute(
                "SELECT id FROM memory WHERE namespace = ? AND \"key\" = ? AND status = 'active' LIMIT 2",
                (self._namespace, key),
            ).fetchall()
        return self.get(MemoryId(rows[0][0])) if len(rows) == 1 else None

    def _runs(self, tail: str, value: str | int) -> tuple[Run, ...]:
        with translated():
            rows = self._db.execute(_RUN + tail, (JobKind.MAINTAIN.value, turn_of(self._name), value)).fetchall()
        return tuple(_run(row, self._name) for row in rows)


class SqliteLifecycleUnit(SqliteLifecycleReader, SqliteUnit):
    """One transaction of a run on one namespace."""

    def begin_run(self, run_id: str, now: datetime, *, answers_saves: bool) -> None:
        """Writes the run down, once; where it ``answers_saves``, those counted so far are its own from now on."""
        with translated():
            saves = 0
            if answers_saves:
                saves = self._db.execute("SELECT saves FROM lifecycle WHERE namespace = ?", (self._namespace,)).get or 0
                self._db.execute(
                    "INSERT INTO lifecycle (namespace, last_run_at) VALUES (?1, ?2) "
                    "ON CONFLICT (namespace) DO UPDATE SET saves = 0, last_run_at = ?2",
                    (self._namespace, micros(now)),
                )
            self._db.execute(
                "INSERT INTO run (id, namespace, actor, began_at, saves) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET saves = saves + excluded.saves",
                (run_id, self._namespace, self._actor.name, micros(now), saves),
            )

    def count_run(self, run_id: str, counts: Mapping[str, int]) -> None:
        """Adds to the run's counts."""
        with translated():
            there = json.loads(self._db.execute("SELECT counts FROM run WHERE id = ?", (run_id,)).get or "{}")
            added = {name: there.get(name, 0) + counts.get(name, 0) for name in {**there, **counts}}
            self._db.execute("UPDATE run SET counts = ? WHERE id = ?", (json.dumps(added, sort_keys=True), run_id))

    def end_run(
        self, run_id: str, now: datetime, *, duration_ms: int, cleaned: int | None = None, plan: Sequence[str] = ()
    ) -> None:
        """Writes the run's end down; ``cleaned`` moves the watermark."""
        with translated():
            self._db.execute(
                "UPDATE run SET ended_at = ?, plan = ? WHERE id = ?",
                (micros(now), json.dumps(list(plan), ensure_ascii=False), run_id),
            )
            self.count_run(run_id, {"duration_ms": duration_ms})
            if cleaned is not None:
                self._db.execute(
                    "INSERT INTO lifecycle (namespace, last_run_at, cleaned_seq) VALUES (?1, ?2, ?3) "
                    "ON CONFLICT (namespace) DO UPDATE SET cleaned_seq = max(cleaned_seq, ?3)",
                    (self._namespace, micros(now), cleaned),
                )

    def depart(self, run_id: str, departures: Sequence[Departure], now: datetime) -> frozenset[MemoryId]:
        """Takes memories out of search, with history and links; those that were edited or used since are left.

        Only the status moves: content, vectors and full text stay, so that what left can be read and put back.
        """
        gone: set[MemoryId] = set()
        with translated():
            for departure in departures:
                before = departure.memory
                found = self._db.execute(
                    "UPDATE memory SET status = ?, updated_at = ?, revision = revision + 1, seq = ? "
                    "WHERE namespace = ? AND id = ? AND revision = ? AND status = 'active' AND last_accessed_at = ? "
                    'RETURNING "row"',
                    (
                        departure.status.value,
                        micros(now),
                        self._next(),
                        self._namespace,
                        before.id,
                        before.revision,
                        micros(before.last_accessed_at),
                    ),
                ).get
                if found is None:
                    continue
                number = int(found)
                self._touched.add(number)
                self._db.execute(
                    "INSERT OR REPLACE INTO revision VALUES (?, ?, ?, ?, ?, ?)",
                    (number, before.revision, micros(now), self._actor.name, _WHY[departure.status], to_json(before)),
                )
                winner = None if departure.winner is None else self._stored(departure.winner)[0]
                if winner is not None:
                    self._db.execute(
                        "INSERT OR IGNORE INTO link (kind, source, target) VALUES (?, ?, ?)",
                        (_LINK[departure.status].value, winner, number),
                    )
                self._note(run_id, number, departure.act, before.revision + 1, winner)
                gone.add(before.id)
        return frozenset(gone)

    def made(self, run_id: str, memory: MemoryId) -> None:
        """Notes that the run made that memory."""
        with translated():
            number, revision = self._stored(memory)
            self._note(run_id, number, Act.MADE, revision, None)

    def put_back(self, run_id: str, memory: MemoryId) -> PutBack:
        """Undoes what the run did to one memory: the state before, to the byte, and its history without the act."""
        with translated():
            try:
                number, revision = self._stored(memory)
            except NotFound:
                return PutBack.CHANGED_SINCE
            rows = self._db.execute(
                "SELECT i.act, i.revision, i.winner FROM run_item i JOIN run r ON r.id = i.run "
                "WHERE i.run = ? AND i.memory = ? AND r.namespace = ?",
                (run_id, number, self._namespace),
            ).fetchall()
            if not rows or rows[0][1] != revision:
                return PutBack.CHANGED_SINCE
            act, _, winner = rows[0]
            if act == Act.MADE:
                self.purge(memory)
                return PutBack.DONE
            return self._put_back(run_id, number, revision - 1, winner)

    def undone(self, run_id: str, now: datetime, actor: str) -> None:
        """Writes down that the run was undone, and by whom."""
        with translated():
            self._db.execute(
                "UPDATE run SET undone_at = ?, undone_by = ? WHERE id = ? AND namespace = ?",
                (maybe_micros(now), actor, run_id, self._namespace),
            )

    # ------------------------------------------------------------ inside

    def _put_back(self, run_id: str, number: int, revision: int, winner: int | None) -> PutBack:
        before = from_json(
            self._db.execute("SELECT before FROM revision WHERE memory = ? AND revision = ?", (number, revision)).get,
            self._name,
        )
        try:
            self._db.execute(
                'UPDATE memory SET status = ?, updated_at = ?, revision = ?, seq = ? WHERE "row" = ?',
                (before.status.value, micros(before.updated_at), revision, self._next(), number),
            )
        except apsw.ConstraintError:
            return PutBack.TAKEN  # its key or text is another active memory's by now
        self._touched.add(number)
        self._db.execute("DELETE FROM revision WHERE memory = ? AND revision = ?", (number, revision))
        if winner is not None:
            self._db.execute(
                "DELETE FROM link WHERE source = ? AND target = ? AND kind IN (?, ?)",
                (winner, number, LinkKind.SUPERSEDES.value, LinkKind.CONSOLIDATED_FROM.value),
            )
        self._db.execute("DELETE FROM run_item WHERE run = ? AND memory = ?", (run_id, number))
        return PutBack.DONE

    def _note(self, run_id: str, number: int, act: Act, revision: int, winner: int | None) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO run_item (run, memory, act, revision, winner) VALUES (?, ?, ?, ?, ?)",
            (run_id, number, act.value, revision, winner),
        )


_WHY = {Status.ARCHIVED: "archived", Status.SUPERSEDED: "superseded", Status.CONSOLIDATED: "consolidated"}
_LINK = {Status.SUPERSEDED: LinkKind.SUPERSEDES, Status.CONSOLIDATED: LinkKind.CONSOLIDATED_FROM}


def _run(row: Row, namespace: NamespaceName) -> Run:
    parameters = json.loads(row[1])
    ended = row[5] if row[5] is not None else row[16]
    return Run(
        id=row[0],
        namespace=namespace,
        tasks=tuple(Task(name) for name in parameters["tasks"].split(",")),
        trigger=Trigger(parameters.get("trigger", Trigger.REQUEST)),
        actor=row[15] or parameters.get("actor", "maintain"),
        state=row[2],
        created_at=moment(row[3]),
        project=parameters.get("project"),
        dry_run=parameters.get("dry_run") == "true",
        began_at=maybe_moment(row[4]),
        ended_at=maybe_moment(ended),
        attempts=row[6],
        done=row[7],
        total=row[8],
        saves=row[9] or 0,
        message=row[10],
        error=row[11],
        counts=json.loads(row[12] or "{}"),
        undone_at=maybe_moment(row[13]),
        undone_by=row[14],
        plan=tuple(json.loads(row[17] or "[]")),
    )
