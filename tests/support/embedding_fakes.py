"""A provider that tests steer: slow, blocked, failing; it counts what it is asked."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence

import numpy as np

from perdure.domain.vectors import Matrix, Space, Thresholds, Vector
from perdure.embedding.metrics import EmbeddingMetrics
from perdure.embedding.providers import Limits
from perdure.embedding.texts import Kind
from perdure.errors import InvalidArgument, PerdureError, Reason
from perdure.observability.metrics import Metrics

THRESHOLDS = Thresholds(twin=0.9, cluster=0.8, interference=0.95, floor=0.2)


class SteeredProvider:
    """Random unit vectors by text and kind, 8 numbers each.

    ``calls``: (kind, texts) of every call, in order. ``gate``: calls wait until it is set. ``error``: raised by every
    call while it is not None. A text with "unusable" in it is refused. A token is a word.
    """

    def __init__(self, *, mean: Vector | None = None, limits: Limits | None = None) -> None:
        self.calls: list[tuple[Kind, tuple[str, ...]]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Semaphore(0)
        self.error: PerdureError | None = None
        self.closed = False
        self._mean = mean
        self._limits = limits or Limits(text_tokens=16, batch_texts=4, batch_tokens=64)
        self._space = Space(
            provider="steered",
            model="words",
            dimension=8,
            pooling="none",
            query_prefix="",
            document_prefix="",
            model_sha256="",
            mean_sha256="",
            layout=1,
            thresholds=THRESHOLDS,
        )

    @property
    def space(self) -> Space:
        return self._space

    @property
    def mean(self) -> Vector | None:
        return self._mean

    @property
    def limits(self) -> Limits:
        return self._limits

    def tokens(self, text: str, kind: Kind) -> int:
        return len(text.split())

    def embed(self, texts: Sequence[str], kind: Kind, *, timeout_s: float) -> Matrix:
        self.calls.append((kind, tuple(texts)))
        self.entered.release()
        assert self.gate.wait(20)
        if self.error is not None:
            raise self.error
        if any("unusable" in text for text in texts):
            raise InvalidArgument("not this one", reason=Reason.TEXT_UNUSABLE)
        return np.stack([raw(text, kind) for text in texts])

    def close(self) -> None:
        self.closed = True

    @property
    def texts(self) -> list[str]:
        """Every text it was asked for, in order."""
        return [text for _, texts in self.calls for text in texts]


def raw(text: str, kind: Kind) -> Vector:
    """The vector of a text before windows and mean; not unit."""
    seed = int.from_bytes(hashlib.sha256(f"{kind}:{text}".encode()).digest()[:8], "little")
    return np.random.default_rng(seed).normal(size=8).astype(np.float32)


def metrics() -> EmbeddingMetrics:
    """Metrics of their own."""
    return EmbeddingMetrics(Metrics("embedding"))
