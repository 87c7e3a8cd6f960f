"""A world of maintenance over a file of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.maintenance_world import MaintenanceWorld, maintenance_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[MaintenanceWorld]:
    with maintenance_world(tmp_path / "store.db") as made:
        yield made
