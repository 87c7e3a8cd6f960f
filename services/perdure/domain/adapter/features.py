"""Questions and the texts that answer them, as numbers.

All texts that can be found are rows of one ``Library``; several rows may be one thing (the chunks of a procedure), and
who finds one has found the thing. Cosines are taken as search orders by them: seen from the namespace's centre
(``domain.recall.contrast``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perdure.domain.vectors import Matrix, Vector, unit

Places = npt.NDArray[np.int64]
"""Row numbers, shape (n,) or (n, k); -1 is none."""

BLOCK = 64
"""Questions compared with the whole library at a time: 64 x 50,000 cosines are 13 MB."""


@dataclass(frozen=True, slots=True)
class Library:
    """What can be found.

    Attributes:
        rows: float32, (m, d), unit rows as seen from the centre.
        owners: (m,), rising, from 0: which thing each row is of.
        shift: What was taken away from every vector, (d,); zero without a centre.
        extra: float32, (e, d): rows that are never found and serve as wrong answers only (superseded texts).
    """

    rows: Matrix
    owners: Places
    shift: Vector
    extra: Matrix

    @property
    def everything(self) -> Matrix:
        """The rows, then the extra ones."""
        return np.concatenate([self.rows, self.extra]) if len(self.extra) else self.rows


@dataclass(frozen=True, slots=True)
class Lessons:
    """Questions with their right and some wrong answers.

    Attributes:
        questions: float32, (n, d), unit rows, not centred: as the embedder gave them.
        answers: (n,): the row that answers each.
        wrong: (n, k): rows that are near it and do not answer, of the library and after them the extra ones.
        weights: (n,), > 0: how much each counts.
    """

    questions: Matrix
    answers: Places
    wrong: Places
    weights: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.answers)


def library(
    things: Sequence[Sequence[Vector]], shift: Vector | None, dimension: int, extra: Sequence[Vector] = ()
) -> Library:
    """The library of ``things``, each with one vector or several.

    Args:
        things: Unit vectors, not centred.
        shift: What search takes away before it compares; None takes nothing.
        dimension: Of the vectors.
        extra: Vectors of what must not be found.
    """
    away = np.zeros(dimension, dtype=np.float32) if shift is None else np.asarray(shift, dtype=np.float32)
    owners = np.repeat(np.arange(len(things), dtype=np.int64), [len(rows) for rows in things])
    return Library(
        rows=_stacked([row for rows in things for row in rows], away, dimension),
        owners=owners,
        shift=away,
        extra=_stacked(extra, away, dimension),
    )


def from_the_centre(questions: Matrix, shift: Vector) -> Matrix:
    """Questions as search compares them; float32, unit rows."""
    return unit(questions - shift) if shift.any() else questions


def near_misses(questions: Matrix, answers: Places, books: Library, count: int) -> Places:
    """For each question the ``count`` nearest rows of other things, nearest first; -1 where there are fewer.

    Args:
        questions: Not centred, (n, d).
        answers: The row that answers each.
        books: What can be found.
        count: How many, >= 1.
    """
    found = np.full((len(questions), count), -1, dtype=np.int64)
    own = books.owners[answers] if len(answers) else answers
    for start in range(0, len(questions), BLOCK):
        stop = start + BLOCK
        cosines = from_the_centre(questions[start:stop], books.shift) @ books.rows.T
        cosines[own[start:stop, None] == books.owners[None, :]] = -np.inf
        take = min(count, cosines.shape[1])
        best = np.argpartition(-cosines, take - 1, axis=1)[:, :take]
        values = np.take_along_axis(cosines, best, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        best, values = np.take_along_axis(best, order, axis=1), np.take_along_axis(values, order, axis=1)
        found[start:stop, :take] = np.where(np.isfinite(values), best, -1)
    return found


def _stacked(rows: Sequence[Vector], shift: Vector, dimension: int) -> Matrix:
    if not rows:
        return np.zeros((0, dimension), dtype=np.float32)
    return from_the_centre(np.stack(rows).astype(np.float32, copy=False), shift)
