"""Bookkeeping of background work: jobs, outbox, queue, uses, spaces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import NamespaceName
from perdure.domain.runs import SAVES_PER_RUN
from perdure.errors import FailedPrecondition, Reason
from perdure.ports import Clock, Job, JobKind, JobState, OutboxEvent, Pending, Use
from perdure.store.sqlite.driver import Connection, translated
from perdure.store.sqlite.experience_items import VISIBLE
from perdure.store.sqlite.queue import TOPIC_JOB
from perdure.store.sqlite.rows import Row, maybe_micros, maybe_moment, micros, moment
from perdure.store.sqlite.transaction import Transaction

_JOB = (
    "SELECT id, kind, state, created_at, parameters, done, total, message, error, started_at, finished_at, attempts, "
    "lease_owner, lease_until, cancel_requested, subject, turn FROM job "
)
_UNFINISHED = "state IN ('queued', 'running')"
_WITHOUT = (
    "FROM memory m JOIN namespace n ON n.id = m.namespace WHERE NOT EXISTS "
    '(SELECT 1 FROM vector v JOIN space s ON s.id = v.space WHERE v.memory = m."row" AND s.fingerprint = ?) '
)


class SqliteWork:
    """One transaction on the bookkeeping of background work."""

    def __init__(self, transaction: Transaction, clock: Clock) -> None:
        self._transaction = transaction
        self._clock = clock

    def add_job(self, job: Job) -> Job:
        """Stores the job and its outbox event, or answers the unfinished job of its kind that is there already."""
        with translated():
            db = self._transaction.writing
            there = db.execute(
                _JOB + f"WHERE kind = ? AND subject = ? AND {_UNFINISHED}", (job.kind.value, job.subject)
            ).fetchall()
            if there:
                return _job(there[0])
            values = _values(job)
            names = ", ".join(values)
            db.execute(
                f"INSERT INTO job ({names}) VALUES ({', '.join('?' * len(values))})",
                tuple(values.values()),
            )
            db.execute(
                "INSERT INTO outbox (topic, job, created_at) VALUES (?, ?, ?)",
                (TOPIC_JOB, job.id, micros(job.created_at)),
            )
        return job

    def job(self, job_id: str) -> Job | None:
        """The job, or None."""
        with translated():
            return _find(self._transaction.reading, job_id)

    def jobs(self, kind: JobKind | None, limit: int) -> tuple[Job, ...]:
        """Jobs, newest first."""
        with translated():
            rows = self._transaction.reading.execute(
                _JOB + "WHERE ?1 IS NULL OR kind = ?1 ORDER BY created_at DESC, id DESC LIMIT ?2",
                (None if kind is None else kind.value, limit),
            ).fetchall()
        return tuple(_job(row) for row in rows)

    def take_job(self, job_id: str, owner: str, now: datetime, lease_until: datetime) -> Job | None:
        """The job, now running under ``owner``; None where it is finished or another holds an unexpired lease.

        A queued job whose ``lease_until`` lies ahead waits for that time.
        """
        with translated():
            db = self._transaction.writing
            db.execute(
                "UPDATE job SET state = 'running', started_at = coalesce(started_at, ?1), attempts = attempts + 1, "
                f"lease_owner = ?2, lease_until = ?3 WHERE id = ?4 AND {_UNFINISHED} "
                "AND (lease_until IS NULL OR lease_until <= ?1) AND NOT EXISTS (SELECT 1 FROM job other "
                "WHERE other.turn = job.turn AND other.turn <> '' AND other.id <> job.id AND other.state = 'running' "
                "AND other.lease_until > ?1)",
                (micros(now), owner, micros(lease_until), job_id),
            )
            return _find(db, job_id) if db.changes() else None

    def save_job(self, job: Job) -> bool:
        """Writes progress, parameters or outcome; False where the lease is another's by now, or the job is finished."""
        values = _values(job)
        for kept in ("id", "kind", "created_at", "cancel_requested", "subject", "turn"):
            del values[kept]
        marks = ", ".join(f"{name} = ?" for name in values)
        with translated():
            db = self._transaction.writing
            db.execute(
                f"UPDATE job SET {marks} WHERE id = ? AND lease_owner = ? AND {_UNFINISHED}",
                (*values.values(), job.id, job.lease_owner),
            )
            return bool(db.changes())

    def request_cancel(self, job_id: str) -> Job | None:
        """Asks the job to stop; a queued one is cancelled at once."""
        with translated():
            db = self._transaction.writing
            db.execute(
                "UPDATE job SET cancel_requested = 1, finished_at = CASE state WHEN 'queued' THEN ? END, "
                "state = CASE state WHEN 'queued' THEN 'cancelled' ELSE state END "
                f"WHERE id = ? AND {_UNFINISHED}",
                (micros(self._clock.now()), job_id),
            )
            return _find(db, job_id)

    def stalled_jobs(self, now: datetime) -> tuple[Job, ...]:
        """Queued or running jobs without a live lease, oldest first."""
        with translated():
            rows = self._transaction.reading.execute(
                _JOB + f"WHERE {_UNFINISHED} AND (lease_until IS NULL OR lease_until <= ?) ORDER BY created_at, id",
                (micros(now),),
            ).fetchall()
        return tuple(_job(row) for row in rows)

    def outbox(self, limit: int) -> tuple[OutboxEvent, ...]:
        """Events not handed over yet, oldest first."""
        with translated():
            rows = self._transaction.reading.execute(
                "SELECT id, topic, job, created_at FROM outbox ORDER BY id LIMIT ?", (limit,)
            ).fetchall()
        return tuple(OutboxEvent(id=id_, topic=topic, job=job, created_at=moment(at)) for id_, topic, job, at in rows)

    def handed_over(self, events: Sequence[int]) -> None:
        """Takes events off the outbox."""
        with translated():
            self._transaction.writing.executemany("DELETE FROM outbox WHERE id = ?", [(event,) for event in events])

    def pending(self, limit: int, now: datetime) -> tuple[Pending, ...]:
        """Memories whose turn has come, oldest first."""
        with translated():
            rows = self._transaction.reading.execute(
                'SELECT n.name, m.id, q.attempts FROM embedding_queue q JOIN memory m ON m."row" = q.memory '
                "JOIN namespace n ON n.id = q.namespace WHERE q.waiting = 1 AND q.retry_at <= ? "
                "ORDER BY q.memory LIMIT ?",
                (micros(now), limit),
            ).fetchall()
        return _pending(rows)

    def pending_count(self) -> int:
        """How many memories wait for a vector."""
        with translated():
            return int(self._transaction.reading.execute("SELECT count(*) FROM embedding_queue WHERE waiting = 1").get)

    def postpone(self, namespace: NamespaceName, memory: MemoryId, retry_at: datetime) -> None:
        """Counts a failed attempt and sets when to try again."""
        with translated():
            self._transaction.writing.execute(
                "UPDATE embedding_queue SET attempts = attempts + 1, retry_at = ? WHERE memory = "
                '(SELECT m."row" FROM memory m JOIN namespace n ON n.id = m.namespace WHERE n.name = ? AND m.id = ?)',
                (micros(retry_at), namespace, memory),
            )

    def record_uses(self, uses: Sequence[Use]) -> None:
        """Adds to access_count, shown_count and last_accessed_at; unknown ids are ignored."""
        rows = [
            (use.accessed, use.shown, micros(use.at) if use.accessed else 0, use.namespace, use.memory) for use in uses
        ]
        with translated():
            self._transaction.writing.executemany(
                "UPDATE memory SET access_count = access_count + ?, shown_count = shown_count + ?, "
                "last_accessed_at = max(last_accessed_at, ?) "
                "WHERE namespace = (SELECT id FROM namespace WHERE name = ?) AND id = ?",
                rows,
            )

    def due_namespaces(self, last_run_before: datetime, limit: int) -> tuple[tuple[NamespaceName, bool], ...]:
        """Namespaces of which a run is due and none is unfinished; True where it is so by saves, else by time."""
        with translated():
            rows = self._transaction.reading.execute(
                "SELECT n.name, l.saves >= ?1 FROM lifecycle l JOIN namespace n ON n.id = l.namespace "
                "WHERE (l.last_run_at <= ?2 OR l.saves >= ?1) AND NOT EXISTS (SELECT 1 FROM job "
                f"WHERE kind = ?3 AND subject = n.name AND {_UNFINISHED}) ORDER BY l.last_run_at LIMIT ?4",
                (SAVES_PER_RUN, micros(last_run_before), JobKind.MAINTAIN.value, limit),
            ).fetchall()
        return tuple((NamespaceName(name), bool(by_saves)) for name, by_saves in rows)

    def unembedded_procedures(self, limit: int) -> tuple[NamespaceName, ...]:
        """Namespaces with a procedure that has no vector in the active space; none before there is one."""
        with translated():
            rows = self._transaction.reading.execute(
                "SELECT DISTINCT n.name FROM meta m, procedure p JOIN namespace n ON n.id = p.namespace "
                f"WHERE m.name = 'active_space' AND {VISIBLE} AND NOT EXISTS (SELECT 1 FROM procedure_vector v "
                "WHERE v.namespace = p.namespace AND v.space = m.value AND v.kind = p.kind AND v.id = p.id) "
                "ORDER BY n.name LIMIT ?",
                (limit,),
            ).fetchall()
        return tuple(NamespaceName(name) for (name,) in rows)

    def summaries_since(self, moment: datetime) -> int:
        """How many summaries runs that began since then have used."""
        with translated():
            used = self._transaction.reading.execute(
                "SELECT sum(json_extract(counts, '$.summaries')) FROM run WHERE began_at >= ?", (micros(moment),)
            ).get
        return int(used or 0)

    def expire_replays(self, now: datetime, limit: int) -> int:
        """Forgets answers of expired idempotency keys; how many."""
        with translated():
            db = self._transaction.writing
            db.execute(
                'DELETE FROM idempotency WHERE (namespace, "key") IN '
                '(SELECT namespace, "key" FROM idempotency WHERE expires_at <= ? LIMIT ?)',
                (micros(now), limit),
            )
            return db.changes()

    def active_space(self) -> str | None:
        """Fingerprint of the space searches use."""
        with translated():
            found: str | None = self._transaction.reading.execute(
                "SELECT value FROM meta WHERE name = 'active_space'"
            ).get
            return found

    def spaces(self) -> dict[str, int]:
        """Vectors by fingerprint."""
        with translated():
            return dict(
                self._transaction.reading.execute(
                    "SELECT s.fingerprint, count(*) FROM vector v JOIN space s ON s.id = v.space GROUP BY v.space"
                ).fetchall()
            )

    def without_vector(self, space: str, limit: int, after: MemoryId | None) -> tuple[Pending, ...]:
        """Memories that have no vector in ``space``, by id after ``after``."""
        with translated():
            rows = self._transaction.reading.execute(
                'SELECT n.name, m.id, coalesce((SELECT q.attempts FROM embedding_queue q WHERE q.memory = m."row"), 0) '
                + _WITHOUT
                + "AND m.id > ? ORDER BY m.id LIMIT ?",
                (space, after or "", limit),
            ).fetchall()
        return _pending(rows)

    def count_without_vector(self, space: str) -> int:
        """How many memories have no vector in ``space``."""
        with translated():
            return int(self._transaction.reading.execute("SELECT count(*) " + _WITHOUT, (space,)).get)

    def switch_space(self, space: str) -> None:
        """Makes ``space`` the one that searches use, and forgets the vectors of every other.

        Raises:
            FailedPrecondition: a memory has no vector in it (SPACE_MISMATCH).
        """
        with translated():
            db = self._transaction.writing
            missing = db.execute("SELECT count(*) " + _WITHOUT, (space,)).get
            if missing:
                raise FailedPrecondition(
                    "Some memories have no vector in that space yet; embed them first.",
                    reason=Reason.SPACE_MISMATCH,
                    details={"missing": missing},
                )
            db.execute("INSERT OR REPLACE INTO meta VALUES ('active_space', ?)", (space,))
            db.execute(
                "DELETE FROM vector WHERE space <> coalesce((SELECT id FROM space WHERE fingerprint = ?), 0)", (space,)
            )
            db.execute("DELETE FROM space WHERE fingerprint <> ?", (space,))
            for table in ("procedure_vector", "used_query"):
                db.execute(f"DELETE FROM {table} WHERE space <> ?", (space,))
            db.execute("UPDATE shelf SET stamp = lower(hex(randomblob(8)))")
            db.execute("DELETE FROM embedding_queue")
            db.execute("UPDATE namespace SET generation = generation + 1")


def _pending(rows: Sequence[Row]) -> tuple[Pending, ...]:
    return tuple(
        Pending(namespace=NamespaceName(name), memory=MemoryId(id_), attempts=attempts) for name, id_, attempts in rows
    )


def _find(db: Connection, job_id: str) -> Job | None:
    rows = db.execute(_JOB + "WHERE id = ?", (job_id,)).fetchall()
    return _job(rows[0]) if rows else None


def _values(job: Job) -> dict[str, str | int | None]:
    return {
        "id": job.id,
        "kind": job.kind.value,
        "state": job.state.value,
        "created_at": micros(job.created_at),
        "parameters": json.dumps(dict(job.parameters), ensure_ascii=False),
        "done": job.done,
        "total": job.total,
        "message": job.message,
        "error": job.error,
        "started_at": maybe_micros(job.started_at),
        "finished_at": maybe_micros(job.finished_at),
        "attempts": job.attempts,
        "lease_owner": job.lease_owner,
        "lease_until": maybe_micros(job.lease_until),
        "cancel_requested": int(job.cancel_requested),
        "subject": job.subject,
        "turn": job.turn,
    }


def _job(row: Row) -> Job:
    return Job(
        id=row[0],
        kind=JobKind(row[1]),
        state=JobState(row[2]),
        created_at=moment(row[3]),
        parameters=json.loads(row[4]),
        done=row[5],
        total=row[6],
        message=row[7],
        error=row[8],
        started_at=maybe_moment(row[9]),
        finished_at=maybe_moment(row[10]),
        attempts=row[11],
        lease_owner=row[12],
        lease_until=maybe_moment(row[13]),
        cancel_requested=bool(row[14]),
        subject=row[15],
        turn=row[16],
    )
