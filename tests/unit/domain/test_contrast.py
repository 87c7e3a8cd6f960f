"""Cosines from a namespace's centre."""

import numpy as np
import pytest

from perdure.domain.memory import MemoryId
from perdure.domain.recall.contrast import Centre, contrast
from perdure.domain.vectors import unit

A, B = MemoryId("a"), MemoryId("b")


def rows() -> tuple[np.ndarray, dict[MemoryId, np.ndarray]]:
    shared = np.array([1.0, 0.0, 0.0], dtype=np.float32)
    own = {A: np.array([0.0, 0.5, 0.0], dtype=np.float32), B: np.array([0.0, 0.0, 0.5], dtype=np.float32)}
    return shared, {name: unit(shared + vector) for name, vector in own.items()}


def test_what_all_memories_share_no_longer_counts_as_likeness() -> None:
    shared, vectors = rows()
    query = unit(shared + np.array([0.0, 0.3, 0.0], dtype=np.float32))
    centre = Centre(np.mean(np.stack(list(vectors.values())), axis=0), 10_000)
    plain = {name: float(vector @ query) for name, vector in vectors.items()}
    seen = contrast(query, vectors, centre).cosines
    assert seen[A] - seen[B] > 5 * (plain[A] - plain[B])
    assert seen[B] < 0 < seen[A]


def test_of_few_memories_little_of_their_mean_is_taken_away() -> None:
    _, vectors = rows()
    mean = np.mean(np.stack(list(vectors.values())), axis=0)
    assert Centre(mean, 1).strength < 0.02
    assert Centre(mean, 50).strength == pytest.approx(0.5)
    assert Centre(mean, 100_000).strength > 0.999


def test_nothing_found_has_no_contrast() -> None:
    shared, _ = rows()
    assert contrast(shared, {}, Centre(shared, 3)).cosines == {}
