"""Cosines measured from where a namespace's memories lie, not from where all texts lie.

The memories of one namespace share people, projects and manner, so their vectors share a direction that says nothing
about which of them answers. Taking their mean away before comparing, more of it the more memories there are, sharpens
the order: on ``locomo-dev.json`` (five conversations, 786 questions, fused as here) recall at 10 rose from 0.680 to
0.726 and at 5 from 0.603 to 0.632; the English, Chinese and Japanese sets of ``tests/quality`` did not lose. It helps
the order only: whether anything answers at all is still asked of the plain cosine, which tells that no worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from perdure.domain.memory import MemoryId
from perdure.domain.vectors import Vector, unit

FULL_AT = 50.0
"""With this many memories half of their mean is taken away. Same data: 20 to 100 are level, 200 loses a point."""


@dataclass(frozen=True, slots=True)
class Centre:
    """Where a namespace's vectors lie: their mean, not scaled to length 1, and how many there are."""

    mean: Vector
    count: int

    @property
    def strength(self) -> float:
        """How much of the mean is taken away, in [0, 1)."""
        return self.count / (self.count + FULL_AT)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Cosines from the centre, and how far their scale has moved: 0 as plain ones, towards 1 fully centred."""

    cosines: Mapping[MemoryId, float]
    strength: float


def contrast(query: Vector, vectors: Mapping[MemoryId, Vector], centre: Centre) -> Contrast:
    """Cosine of each memory's vector with the query's, both seen from the centre.

    Args:
        query: Unit vector.
        vectors: Unit vectors of the candidates.
        centre: Of the namespace they are from, in the same space.
    """
    if not vectors:
        return Contrast({}, centre.strength)
    shift = centre.mean * np.float32(centre.strength)
    cosines = unit(np.stack(list(vectors.values())) - shift) @ unit(query - shift)
    return Contrast(dict(zip(vectors, cosines.tolist(), strict=True)), centre.strength)
