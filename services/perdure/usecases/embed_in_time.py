"""Ask the embedder, but only for so long.

A save never fails or waits because the embedder is away: no answer in time means no vector yet.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from perdure.domain.vectors import Space, Vector
from perdure.errors import PerdureError
from perdure.ports import Embedder

CHUNK = 16
"""Texts asked for at once in a batch: one micro-batch of the embedding service, so that a batch's wait is used up
whole; the port's limit is 256."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The unit vector of one text in ``space``. ``truncated``: part of the text was left out."""

    vector: Vector
    space: Space
    truncated: bool = False

    @property
    def meaningful(self) -> bool:
        """False for a zero vector, which is near to nothing."""
        return bool(np.any(self.vector))


class EmbedInTime:
    """Vectors of documents within ``wait_s`` seconds, or None."""

    def __init__(self, embedder: Embedder, wait_s: float) -> None:
        self._embedder = embedder
        self.wait_s = wait_s

    def __call__(self, text: str) -> Embedded | None:
        """The text's vector; None where the embedder is away, loading, failing or late."""
        return self.many([text], wait_s=self.wait_s)[0]

    def many(self, texts: Sequence[str], *, wait_s: float) -> list[Embedded | None]:
        """Vectors in the order of ``texts``; None for those not answered within ``wait_s`` altogether."""
        found: list[Embedded | None] = [None] * len(texts)
        ends = time.monotonic() + wait_s
        for start in range(0, len(texts), CHUNK):
            left = ends - time.monotonic()
            if left <= 0:
                break
            chunk = texts[start : start + CHUNK]
            try:
                answer = self._embedder.documents(chunk, timeout_s=left)
            except PerdureError:
                break  # whatever is wrong with the embedder, the queue tries again
            for offset in range(len(chunk)):
                found[start + offset] = Embedded(answer.vectors[offset], answer.space, answer.truncated[offset])
        return found
