"""An embedder without a model: the vector of a text is the sum of its words' own random directions.

Texts that share words are near each other, in any language; the same text has the same vector in every process. It can
be switched off, made slow, moved to another space, or made to answer zero vectors.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from perdure.domain.vectors import Space, Thresholds, Vector, unit
from perdure.errors import DeadlineExceeded, Reason, Unavailable
from perdure.ports import Embeddings

DIMENSION = 64
THRESHOLDS = Thresholds(twin=0.92, cluster=0.8, interference=0.95, floor=0.35)

_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_FRAME = re.compile(r"^\[\d{4}-\d\d-\d\d\]( \S+:)?", re.MULTILINE)
"""The day and project with which the layout begins every text; without them unrelated texts are unrelated."""

_LABEL = re.compile(r"^(problem|solution|concepts|files|tags|key):", re.IGNORECASE | re.MULTILINE)


@lru_cache(maxsize=100_000)
def _direction(word: str) -> Vector:
    seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(DIMENSION).astype(np.float32)


def vector_of(text: str) -> Vector:
    """The text's unit vector; zero where it has no words."""
    bare = _LABEL.sub("", _FRAME.sub("", text)).casefold()
    words = [part for word in _WORD.findall(bare) for part in (list(word) if _CJK.search(word) else [word])]
    total = np.sum([_direction(word) for word in words], axis=0) if words else np.zeros(DIMENSION)
    return unit(np.asarray(total, dtype=np.float32))


def space(model: str = "words") -> Space:
    """The fake's space; another ``model`` is another space."""
    return Space(
        provider="fake",
        model=model,
        dimension=DIMENSION,
        pooling="sum",
        query_prefix="",
        document_prefix="",
        model_sha256="",
        mean_sha256="",
        layout=1,
        thresholds=THRESHOLDS,
    )


class FakeEmbedder:
    """``ports.Embedder`` with switches: ``away``, ``loading``, ``late``, ``zero``, ``model``."""

    def __init__(self) -> None:
        self.away = False
        self.loading = False
        self.late = False
        self.zero = False
        self.model = "words"
        self.asked: list[str] = []
        self.meanwhile: Callable[[], object] | None = None
        """Called once, while the next answer is awaited: what others do in the middle of a save."""
        self._lock = threading.Lock()

    def space(self) -> Space:
        self._answering()
        return space(self.model)

    def documents(self, texts: Sequence[str], *, timeout_s: float, background: bool = False) -> Embeddings:
        return self._answer(texts, timeout_s)

    def query(self, text: str, *, timeout_s: float) -> Embeddings:
        return self._answer([text], timeout_s)

    def questions(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        return self._answer(texts, timeout_s)

    def _answer(self, texts: Sequence[str], timeout_s: float) -> Embeddings:
        self._answering()
        if self.late or timeout_s <= 0:
            raise DeadlineExceeded("The fake embedder is late.", reason=Reason.DEADLINE)
        with self._lock:
            self.asked.extend(texts)
            happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()
        rows = np.stack([np.zeros(DIMENSION, np.float32) if self.zero else vector_of(text) for text in texts])
        return Embeddings(rows, space(self.model), tuple(False for _ in texts))

    def _answering(self) -> None:
        if self.loading:
            raise Unavailable("The fake embedder is loading.", reason=Reason.EMBEDDER_LOADING)
        if self.away:
            raise Unavailable("The fake embedder is away.", reason=Reason.EMBEDDER_AWAY)
