"""The embedding queue's job: there is an unfinished one whenever a memory waits for a vector."""

from __future__ import annotations

from datetime import datetime

from perdure.ports import JobKind
from perdure.store.sqlite.driver import Connection
from perdure.store.sqlite.rows import micros

TOPIC_JOB = "job"


def ensure_embedding(connection: Connection, job: str, now: datetime) -> None:
    """Writes an EMBED_PENDING job of id ``job`` with its outbox event, unless an unfinished one is there."""
    connection.execute(
        "INSERT INTO job (id, kind, state, created_at) VALUES (?, ?, 'queued', ?) "
        "ON CONFLICT (kind) WHERE state IN ('queued', 'running') DO NOTHING",
        (job, JobKind.EMBED_PENDING.value, micros(now)),
    )
    if connection.changes():
        connection.execute(
            "INSERT INTO outbox (topic, job, created_at) VALUES (?, ?, ?)", (TOPIC_JOB, job, micros(now))
        )
