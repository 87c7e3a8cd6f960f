from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.store import open_store
from support.clocks import FakeClock
from support.memory_world import MemoryWorld, memory_world
from support.moving_in import NOW


@pytest.fixture
def world() -> Iterator[MemoryWorld]:
    """An empty memory to move into."""
    with memory_world(open_store("memory:"), FakeClock(NOW)) as made:
        yield made


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A person's home."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder
