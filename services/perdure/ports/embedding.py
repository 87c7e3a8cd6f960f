"""What turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from perdure.domain.vectors import Matrix, Space


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Vectors of texts in their order.

    ``vectors``: float32, (n, dimension), unit rows. ``truncated[i]``: part of text i was left out.
    """

    vectors: Matrix
    space: Space
    truncated: tuple[bool, ...]


class Embedder(Protocol):
    """Turns text into unit vectors of one space."""

    def space(self) -> Space:
        """The space it answers in.

        Raises:
            Unavailable: the model is loading or the service is away.
        """

    def documents(self, texts: Sequence[str], *, timeout_s: float, background: bool = False) -> Embeddings:
        """Vectors of stored texts (``domain.layout.embedded_text``); at most 256.

        Raises:
            Unavailable: away, loading or failing.
            DeadlineExceeded: no answer within ``timeout_s``.
        """

    def query(self, text: str, *, timeout_s: float) -> Embeddings:
        """The vector of a question, shape (1, dimension).

        Raises:
            Unavailable: away, loading or failing.
            DeadlineExceeded: no answer within ``timeout_s``.
        """


class TrainingEmbedder(Embedder, Protocol):
    """An embedder that also takes many questions at a time, for work nobody waits for."""

    def questions(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        """Vectors of questions; at most 256. They yield to every other caller.

        Raises:
            Unavailable: away, loading or failing.
            DeadlineExceeded: no answer within ``timeout_s``.
        """
