"""Seeded texts and vectors of any number: statements with the word frequencies of real ones.

Words follow Zipf's law over a made-up vocabulary mixed with real English function words, so that the full-text arm
meets common and rare words alike. Vectors are unit rows around shared centres, so that neighbours exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from perdure.domain.editing import born
from perdure.domain.memory import Memory, MemoryType, Provenance, Statement
from perdure.domain.namespace import Actor, NamespaceName
from perdure.domain.saving import Draft
from perdure.domain.vectors import Matrix, unit
from perdure.system import RandomIds

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_SYLLABLES = ("ka", "ro", "mi", "ten", "sul", "vor", "da", "qui", "ne", "pha", "lo", "gra", "zet", "un", "bri", "cos")
_COMMON = ("the a of to and in for with on is uses after before service release team config error request").split()  # noqa: SIM905 - a list of strings would be longer to read


class Corpus:
    """Texts and vectors drawn from one seed."""

    def __init__(self, seed: int = 7, vocabulary: int = 30_000) -> None:
        self.random = np.random.default_rng(seed)
        picks = self.random.integers(0, len(_SYLLABLES), size=(vocabulary, 4))
        lengths = self.random.integers(2, 5, size=vocabulary)
        made = ["".join(_SYLLABLES[i] for i in row[:n]) for row, n in zip(picks, lengths, strict=True)]
        self.words = np.array(_COMMON + made)
        weights = 1.0 / np.arange(3, len(self.words) + 3)
        self.weights = weights / weights.sum()

    def texts(self, count: int, words: int = 25) -> list[str]:
        """``count`` statements of about ``words`` words."""
        sizes = self.random.integers(words // 2, words + words // 2, size=count)
        drawn = self.random.choice(self.words, size=int(sizes.sum()), p=self.weights)
        ends = np.cumsum(sizes)
        return [" ".join(drawn[end - size : end]).capitalize() + "." for size, end in zip(sizes, ends, strict=True)]

    def questions(self, texts: list[str], count: int) -> list[str]:
        """Questions made of five words of some text each, so that they have an answer."""
        picks = self.random.integers(0, len(texts), size=count)
        return [" ".join(self.random.permutation(texts[i].rstrip(".").split())[:5]) for i in picks]

    def vectors(self, count: int, dimension: int, centres: int = 200) -> Matrix:
        """``count`` unit rows around ``centres`` shared centres."""
        middles = self.random.standard_normal((centres, dimension)).astype(np.float32)
        rows = middles[self.random.integers(0, centres, size=count)]
        rows = rows + 0.7 * self.random.standard_normal((count, dimension)).astype(np.float32)
        return unit(rows)

    def memories(
        self, namespace: str, texts: list[str], *, projects: int = 20, start: datetime = EPOCH
    ) -> Iterator[Memory]:
        """One memory a text, spread over ``projects`` projects and the months after ``start``."""
        ids = RandomIds()
        kinds = list(MemoryType)
        for number, text in enumerate(texts):
            draft = Draft(
                statement=Statement(
                    content=text, type=kinds[number % len(kinds)], project=f"project-{number % projects}"
                ),
                provenance=Provenance.SAVE,
            )
            yield born(
                draft,
                id=ids.memory(),
                namespace=NamespaceName(namespace),
                now=start + timedelta(minutes=number % 100_000),
                actor=Actor(name="bench", kind="job"),
            )
