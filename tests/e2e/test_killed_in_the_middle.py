"""kill -9 of the process that consolidates, twenty times at random points: no half state, ever, and nothing lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from perdure.domain.memory import Filter, Memory, Status
from perdure.domain.namespace import DEFAULT_NAMESPACE, Scope
from perdure.ports import LifecycleStore
from perdure.store import open_lifecycle_store
from support.aged_store import aged_facts, fact, topic_vectors, write
from support.fake_embedder import DIMENSION, FakeEmbedder
from support.stack import ROOT, wait_until

pytestmark = pytest.mark.e2e

ROUNDS, COUNT, TOPICS = 20, 4000, 40


@pytest.mark.requirement("LIFE-15")
def test_twenty_kills_leave_no_half_state(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    write(
        path,
        list(aged_facts(COUNT, TOPICS, now=datetime.now(UTC))),
        topic_vectors(COUNT, TOPICS, DIMENSION),
        FakeEmbedder().space().fingerprint,
    )
    chance = random.Random(3)
    store = open_lifecycle_store(f"sqlite:///{path}", resident_bytes=0)
    try:
        for _ in range(ROUNDS):
            begun = _consolidated(store)
            process = _start(path)
            wanted = begun + chance.randint(1, 120)
            wait_until(
                lambda wanted=wanted, process=process: _consolidated(store) >= wanted or process.poll() is not None,  # type: ignore[misc]
                within_s=60,
                what="some progress",
            )
            process.kill()
            process.wait()
            _assert_whole(store)
        process = _start(path)
        assert process.wait(timeout=120) == 0
        _assert_whole(store)
        assert store.check().findings == ()
    finally:
        store.close()


def _start(path: Path) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join(str(ROOT / name) for name in ("services", "tests"))
    return subprocess.Popen(
        [sys.executable, "-m", "support.maintain_process", str(path)], env={**os.environ, "PYTHONPATH": paths}
    )


def _consolidated(store: LifecycleStore) -> int:
    with store.survey(Scope(DEFAULT_NAMESPACE)) as reader:
        return reader.stats().consolidated


def _assert_whole(store: LifecycleStore) -> None:
    """Every fact is in exactly one active memory; every link has both its ends; every run's notes are true."""
    found: dict[str, Memory] = {}
    after = None
    with store.survey(Scope(DEFAULT_NAMESPACE)) as reader:
        while True:
            page = reader.page(Filter(statuses=tuple(Status)), after=after, limit=1000)
            found |= {memory.id: memory for memory in page.memories}
            after = page.next
            if after is None:
                break
    active = "\n".join(memory.statement.content for memory in found.values() if memory.status is Status.ACTIVE)
    assert [number for number in range(COUNT) if active.count(fact(number % TOPICS, number)) != 1] == []
    for memory in found.values():
        if memory.status is Status.CONSOLIDATED:
            assert memory.consolidated_into is not None
            assert memory.id in found[memory.consolidated_into].consolidated_from
        for original in memory.consolidated_from:
            assert found[original].consolidated_into == memory.id
