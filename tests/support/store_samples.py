"""Memories, clocks and vectors for tests of the store."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import numpy as np

from perdure.domain.memory import (
    Memory,
    MemoryId,
    MemoryType,
    Origin,
    Provenance,
    Statement,
    Status,
    Tier,
)
from perdure.domain.namespace import DEFAULT_NAMESPACE, Actor, NamespaceName, Scope
from perdure.domain.vectors import Vector, unit
from perdure.system import RandomIds

START = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
HERE = Scope(DEFAULT_NAMESPACE)
ACTOR = Actor(name="tester")
DIMENSION = 16
SPACE = "test-000000000001"
_IDS = RandomIds()


class SetClock:
    """A clock that stands still until moved."""

    def __init__(self, at: datetime = START) -> None:
        self.at = at

    def now(self) -> datetime:
        return self.at

    def advance(self, **by: float) -> None:
        self.at += timedelta(**by)


def new_id() -> MemoryId:
    return _IDS.memory()


def memory(content: str = "The build uses hatchling.", **fields: object) -> Memory:
    """A memory; fields of a statement or of a memory by name."""
    said = {name: fields.pop(name) for name in tuple(fields) if name in Statement.__dataclass_fields__}
    values: dict[str, object] = {
        "id": new_id(),
        "namespace": DEFAULT_NAMESPACE,
        "statement": Statement(content=content, **said),  # type: ignore[arg-type]
        "summary": content[:80],
        "provenance": Provenance.SAVE,
        "confidence": 0.5,
        "tier": Tier.REGULAR,
        "importance": 0.5,
        "status": Status.ACTIVE,
        "created_at": START,
        "updated_at": START,
        "last_accessed_at": START,
        "origin": Origin(host="test", agent="a", session="s", actor="tester"),
    }
    return Memory(**{**values, **fields})  # type: ignore[arg-type]


def vector(seed: int, dimension: int = DIMENSION) -> Vector:
    """A unit vector of its own direction for each seed."""
    row: Vector = unit(np.random.default_rng(seed).normal(size=dimension))
    return row


_WORDS = """
postgres redis deploys deploying cache getUserById ERR_CONN_RESET src/auth.ts retry timeout Zürich résumé миграция
東京都庁 数据库 トークン 한국어 v2.13.7 queue worker lease vector index backup restore token tenant scope
""".split()  # noqa: SIM905 - reads better than a list


def random_memory(rng: random.Random, at: int, namespace: NamespaceName = DEFAULT_NAMESPACE) -> Memory:
    """A memory with random words, labels, times and state."""
    words = rng.choices(_WORDS, k=rng.randint(2, 14))
    created = START + timedelta(minutes=rng.randint(0, 500), microseconds=at)
    return memory(
        " ".join([*words, f"n{at}"]),
        namespace=namespace,
        project=f"p{rng.randint(0, 3)}",
        type=rng.choice(list(MemoryType)),
        tags=tuple({rng.choice(("Alpha", "beta", "GAMMA")) for _ in range(rng.randint(0, 2))}),
        concepts=tuple({rng.choice(("auth", "Straße")) for _ in range(rng.randint(0, 1))}),
        files=tuple({rng.choice(("src/a.py", "b.md")) for _ in range(rng.randint(0, 1))}),
        status=rng.choice([Status.ACTIVE] * 4 + [Status.ARCHIVED, Status.SUPERSEDED]),
        tier=rng.choice(list(Tier)),
        created_at=created,
        updated_at=created,
        last_accessed_at=created,
        expires_at=rng.choice([None, None, created + timedelta(minutes=rng.randint(1, 300))]),
    )


def random_query(rng: random.Random) -> str:
    return " ".join(rng.choices([*_WORDS, "数据", "东", "conn", "user"], k=rng.randint(1, 5)))
