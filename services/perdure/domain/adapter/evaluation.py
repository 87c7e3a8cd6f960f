"""How often the right thing is among the first five, by the cosines that order a search.

The words of a question are not part of it: of questions that were used only the vector is kept.
"""

from __future__ import annotations

import numpy as np

from perdure.domain.adapter.features import BLOCK, Library, Places, from_the_centre
from perdure.domain.adapter.residual import corrected_rows
from perdure.domain.vectors import Matrix

AT = 5


def recall(
    questions: Matrix, answers: Places, books: Library, *, down: Matrix | None = None, up: Matrix | None = None
) -> float | None:
    """Share of questions whose thing is among the ``AT`` nearest things, in [0, 1]; None without questions.

    Args:
        questions: Not centred, (n, d).
        answers: The row that answers each; any row of the same thing counts.
        books: What can be found.
        down: The model's A; None asks without a model.
        up: The model's B.
    """
    if not len(questions):
        return None
    asked = questions if down is None or up is None else corrected_rows(down, up, questions)
    return float(np.mean(ranks(asked, answers, books) < AT))


def surprise(questions: Matrix, answers: Places, books: Library, temperature: float) -> float:
    """Mean of -log of the right thing's share among all, where shares go as exp(cosine / temperature); >= 0.

    Tells models apart that find as much; the questions as the model hears them, at least one.
    """
    starts = np.flatnonzero(np.diff(books.owners, prepend=-1))
    own = books.owners[answers]
    told = 0.0
    for start in range(0, len(questions), BLOCK):
        cosines = from_the_centre(questions[start : start + BLOCK], books.shift) @ books.rows.T
        logits = np.maximum.reduceat(cosines, starts, axis=1) / np.float32(temperature)
        right = logits[np.arange(len(logits)), own[start : start + BLOCK]]
        top = logits.max(axis=1)
        told += float(np.sum(top + np.log(np.exp(logits - top[:, None]).sum(axis=1)) - right))
    return told / len(questions)


def ranks(questions: Matrix, answers: Places, books: Library) -> Places:
    """How many other things are nearer than the right one, for each question; (n,), >= 0."""
    starts = np.flatnonzero(np.diff(books.owners, prepend=-1))
    own = books.owners[answers]
    found = np.zeros(len(questions), dtype=np.int64)
    for start in range(0, len(questions), BLOCK):
        cosines = from_the_centre(questions[start : start + BLOCK], books.shift) @ books.rows.T
        by_thing = np.maximum.reduceat(cosines, starts, axis=1)
        right = by_thing[np.arange(len(by_thing)), own[start : start + BLOCK]]
        found[start : start + BLOCK] = np.sum(by_thing > right[:, None], axis=1)
    return found
