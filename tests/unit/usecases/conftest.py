"""Every use-case test runs over the in-memory store and over SQLite: the answers are the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.store import open_store
from support.clocks import FakeClock
from support.memory_world import MemoryWorld, memory_world


@pytest.fixture(params=["memory", "sqlite"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryWorld]:
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'perdure.db'}"
    clock = FakeClock()
    with memory_world(open_store(url, clock=clock), clock) as made:
        yield made
