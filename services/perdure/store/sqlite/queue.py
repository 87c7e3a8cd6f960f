"""Jobs that a write makes due, queued in the transaction that makes them so.

There is an unfinished job of embedding whenever a memory waits for a vector, and one of maintenance of a namespace
whenever enough was saved there.
"""

from __future__ import annotations

import json
from datetime import datetime

from perdure.domain.runs import SAVES_PER_RUN, Task, Trigger
from perdure.ports import JobKind
from perdure.store.sqlite.driver import Connection
from perdure.store.sqlite.rows import micros

TOPIC_JOB = "job"


def turn_of(namespace: str) -> str:
    """What the jobs of maintenance of a namespace take turns by."""
    return f"maintain {namespace}"


def ensure_embedding(connection: Connection, job: str, now: datetime) -> None:
    """Writes an EMBED_PENDING job of id ``job`` with its outbox event, unless an unfinished one is there."""
    _queue(connection, (job, JobKind.EMBED_PENDING.value, micros(now), "{}", "", ""))


def count_saves(connection: Connection, namespace: int, saves: int, job: str, now: datetime) -> None:
    """Counts saves of a namespace; the one that makes a run due queues it as job ``job``."""
    counted = connection.execute(
        "INSERT INTO lifecycle (namespace, saves, last_run_at) VALUES (?, ?, ?) "
        "ON CONFLICT (namespace) DO UPDATE SET saves = saves + excluded.saves RETURNING saves",
        (namespace, saves, micros(now)),
    ).get
    if counted >= SAVES_PER_RUN:
        name = connection.execute("SELECT name FROM namespace WHERE id = ?", (namespace,)).get
        parameters = json.dumps(
            {"namespace": name, "tasks": f"{Task.CONSOLIDATE},{Task.CLEAN}", "trigger": str(Trigger.SAVES)}
        )
        _queue(connection, (job, JobKind.MAINTAIN.value, micros(now), parameters, name, turn_of(name)))


def _queue(connection: Connection, job: tuple[str, str, int, str, str, str]) -> None:
    connection.execute(
        "INSERT INTO job (id, kind, state, created_at, parameters, subject, turn) VALUES (?, ?, 'queued', ?, ?, ?, ?) "
        "ON CONFLICT (kind, subject) WHERE state IN ('queued', 'running') DO NOTHING",
        job,
    )
    if connection.changes():
        connection.execute("INSERT INTO outbox (topic, job, created_at) VALUES (?, ?, ?)", (TOPIC_JOB, job[0], job[2]))
