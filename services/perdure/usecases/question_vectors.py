"""The vectors of the questions that were asked last, so that one asked again waits for no embedder.

Kept by embedding space: after a change of space nothing of the old one is found. Questions are known by a hash, so no
text stays in memory. What is kept is what the embedder said; a search that uses it has searched by meaning.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from perdure.ports import Embedder, Embeddings

KEPT = 1024
"""Questions; with 384 dimensions about 2 MB."""


class QuestionVectors:
    """Asks the embedder, unless it knows. Safe under threads; two that ask the same at once both ask."""

    def __init__(self, embedder: Embedder, *, kept: int = KEPT) -> None:
        """Know nothing yet.

        Args:
            embedder: Who is asked.
            kept: How many questions are remembered, >= 1; the one not asked for longest goes first.
        """
        self._embedder = embedder
        self._kept = kept
        self._known: OrderedDict[tuple[str, bytes], Embeddings] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, question: str, *, space: str, timeout_s: float) -> Embeddings:
        """The question's vector: the one known in ``space``, else the embedder's answer, in whatever space it is.

        Raises:
            PerdureError: the embedder is away, late or refuses.
        """
        key = (space, hashlib.sha256(question.encode("utf-8", "surrogatepass")).digest())
        with self._lock:
            if (known := self._known.get(key)) is not None:
                self._known.move_to_end(key)
                return known
        answer = self._embedder.query(question, timeout_s=timeout_s)
        if answer.space.fingerprint == space:
            with self._lock:
                self._known[key] = answer
                if len(self._known) > self._kept:
                    self._known.popitem(last=False)
        return answer
