"""Near-duplicates demoted: one of several that say the same stands where the first of them would, the others later.

Knows vectors and an order; knows no query. Source: maximal marginal relevance (Carbonell and Goldstein, 1998).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from perdure.domain.memory import MemoryId
from perdure.domain.vectors import Vector

WEIGHT = 0.7
"""Share of the score against novelty; the rest is taken from what repeats one chosen already."""

NEAR = 0.85
"""Cosine above which two memories repeat each other; a paraphrase in the default space, so that mere kinship of subject
costs nothing."""

POOL_FACTOR = 3
"""How many times ``limit`` candidates are looked at."""


def mmr(
    order: Sequence[MemoryId],
    vectors: Mapping[MemoryId, Vector],
    scores: Mapping[MemoryId, float],
    limit: int,
    weight: float = WEIGHT,
    near: float = NEAR,
) -> tuple[MemoryId, ...]:
    """The ``limit`` best of ``order``, the first of them first, near-duplicates of earlier ones pushed back.

    Among those that repeat nothing the given order stays. A candidate without a vector repeats nothing.

    Args:
        order: Ids, best first.
        vectors: Unit vectors of some or all of them.
        scores: Score of each, > 0.
        limit: How many are wanted, >= 0.
        weight: Share of the score, in [0, 1]; 1 changes nothing.
        near: Cosine from which on likeness counts, < 1.
    """
    pool = list(order[: max(limit, 0) * POOL_FACTOR])
    if len(pool) < 2 or limit < 2 or weight >= 1.0:
        return tuple(pool[:limit])
    repeats = _repeats(pool, vectors, near)
    if not repeats.any():
        return tuple(pool[:limit])
    return tuple(pool[index] for index in _choose(pool, scores, repeats, limit, weight))


def _repeats(pool: Sequence[MemoryId], vectors: Mapping[MemoryId, Vector], near: float) -> np.ndarray[tuple[int, int]]:
    """How far each pair repeats itself, in [0, 1], (n, n)."""
    dimension = next((len(vectors[memory]) for memory in pool if memory in vectors), 1)
    rows = np.zeros((len(pool), dimension), dtype=np.float32)
    for index, memory in enumerate(pool):
        if memory in vectors:
            rows[index] = vectors[memory]
    likeness: np.ndarray[tuple[int, int]] = np.clip((rows @ rows.T - near) / (1.0 - near), 0.0, 1.0)
    np.fill_diagonal(likeness, 0.0)
    return likeness


def _choose(
    pool: Sequence[MemoryId],
    scores: Mapping[MemoryId, float],
    repeats: np.ndarray[tuple[int, int]],
    limit: int,
    weight: float,
) -> list[int]:
    # A candidate keeps its place unless it repeats a chosen one; then it waits until those with a score above what is
    # left of its own have been chosen.
    penalty = np.zeros(len(pool))
    left = list(range(len(pool)))
    chosen: list[int] = []
    while left and len(chosen) < limit:
        best = left[0]
        if penalty[best] > 0.0:
            worth = {index: scores[pool[index]] * (1.0 - (1.0 - weight) * penalty[index]) for index in left}
            best = max(left, key=lambda index: (worth[index], -index))
        chosen.append(best)
        left.remove(best)
        np.maximum(penalty, repeats[best], out=penalty)
    return chosen
