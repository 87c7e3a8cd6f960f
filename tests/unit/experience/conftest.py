from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.experience_world import ExperienceWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ExperienceWorld]:
    made = ExperienceWorld(tmp_path)
    yield made
    made.close()
