from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.ports import Store
from perdure.store import open_store
from support.store_samples import SetClock


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture(params=["memory", "sqlite", "sqlite-resident"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: SetClock) -> Iterator[Store]:
    """Every backend; sqlite twice: searched in the file, and on resident matrices."""
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'store.db'}"
    opened = open_store(url, clock=clock, resident_min_rows=0 if request.param == "sqlite-resident" else 10**9)
    yield opened
    opened.close()
