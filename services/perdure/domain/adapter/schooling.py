"""From what a namespace teaches to a private model, and whether it is better than the one in use.

Most of the questions are learned; some end the fitting; some decide. The part that decides, and the replay set (the
namespace's own memories, asked for by their first sentences), are asked with the model in use and with the new one: a
correction that loses anything on either is tried at half and at a quarter of its strength, and then not kept at all.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from perdure.domain.adapter.evaluation import recall, surprise
from perdure.domain.adapter.features import Lessons, Library, Places, library, near_misses
from perdure.domain.adapter.residual import corrected_rows, scaled
from perdure.domain.adapter.split import Part, order_of, part_of
from perdure.domain.adapter.training import Fitted, Recipe, fit
from perdure.domain.vectors import Matrix, Vector

WRONG = 8
"""Near misses of each question that it is trained against. 2 to 20 are level on the dev questions of ``quality``."""

ASKED_MAX = 256
"""Questions of each kind that choose after each pass, and four times as many that decide."""

CHOOSING_MIN = 32
"""Fewer questions than this choose by chance; learned ones then choose beside them, and what decides is not touched."""

STRENGTHS = (1.0, 0.5, 0.25)
"""Shares of the fitted correction that are tried, the strongest first."""


class AskedAs(enum.StrEnum):
    """Where a question comes from: a procedure's text, a search whose memory was then read, a memory's own sentence."""

    PROCEDURE = "procedure"
    USED = "used"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the thing that answers it.

    Attributes:
        source: Where it comes from.
        name: What it is called; decides the part it falls into.
        vector: As the embedder gave it.
        thing: Number of the thing.
        row: Which of the thing's vectors; None takes the nearest.
        weight: How much it counts, > 0.
        instead: Number of the extra row that it must not find; None for none.
    """

    source: AskedAs
    name: str
    vector: Vector
    thing: int
    row: int | None = None
    weight: float = 1.0
    instead: int | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """All there is to learn from.

    Attributes:
        things: Unit vectors of all that can be found, those of procedures first, each with one or several.
        procedures: How many of the things are procedures.
        asked: The questions.
        extra: Vectors of what was superseded.
        shift: What search takes away before it compares; None takes nothing.
        dimension: Of the vectors.
    """

    things: Sequence[Sequence[Vector]]
    procedures: int
    asked: Sequence[Asked]
    extra: Sequence[Vector]
    shift: Vector | None
    dimension: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a training; ``kept`` False where the model in use is better.

    ``before`` and ``after`` are recall@5 with the model in use and the new one; None where that part was empty.
    """

    kept: bool
    fitted: Fitted
    strength: float
    pairs: int
    before: float | None
    after: float | None
    replay_before: float | None
    replay_after: float | None


@dataclass(frozen=True, slots=True)
class _Exam:
    questions: Matrix
    answers: Places

    def recall(self, books: Library, model: tuple[Matrix, Matrix] | None) -> float | None:
        down, up = model or (None, None)
        return recall(self.questions, self.answers, books, down=down, up=up)

    def surprise(self, books: Library, down: Matrix, up: Matrix, temperature: float) -> float:
        return surprise(corrected_rows(down, up, self.questions), self.answers, books, temperature)


def school(
    material: Material,
    recipe: Recipe,
    in_use: tuple[Matrix, Matrix] | None,
    *,
    heard: Callable[[int, int], None] = lambda _done, _total: None,
) -> Verdict | None:
    """The new model and how it did beside the one in use; None where there is nothing to learn from.

    Args:
        material: What there is.
        recipe: How the model is fitted.
        in_use: A and B of the model in use, None where there is none.
        heard: Told passes done and passes at most; may raise to stop.
    """
    books = library(material.things, material.shift, material.dimension, material.extra)
    parts: dict[Part, list[Asked]] = {part: [] for part in Part}
    for asked in material.asked:
        parts[part_of(asked.name)].append(asked)
    learned = [*parts[Part.LEARNED], *_texts(material)]
    if not any(one.source is not AskedAs.REPLAY for one in parts[Part.LEARNED]):
        return None
    lessons = _lessons(learned, books)
    choosing = _exams(_filled(parts), books, ASKED_MAX)
    deciding = _exams(parts[Part.DECIDING], books, 4 * ASKED_MAX)

    def score(down: Matrix, up: Matrix) -> float | None:
        told = [exam.surprise(books, down, up, recipe.temperature) for exam in choosing if len(exam.answers)]
        return -sum(told) if told else None

    anchors = _rows([row for rows in material.things[material.procedures :] for row in rows], material.dimension)
    fitted = fit(lessons, books, anchors, recipe, score=score, heard=heard)
    before, replay_before = (exam.recall(books, in_use) for exam in deciding)
    verdict: Verdict | None = None
    for strength in STRENGTHS:
        # where no pass was any good the model corrects nothing, at any strength
        model = (fitted.down, scaled(fitted.up, strength)) if fitted.passes else None
        after, replay_after = (exam.recall(books, model) for exam in deciding)
        kept = model is not None and not (_less(after, before) or _less(replay_after, replay_before))
        new = fitted if model is None else replace(fitted, up=model[1])
        tried = Verdict(kept, new, strength, len(lessons), before, after, replay_before, replay_after)
        if kept:
            return tried
        # what is told of a model that is not kept is told of its full strength
        verdict = verdict or tried
    return verdict


def _filled(parts: dict[Part, list[Asked]]) -> list[Asked]:
    """What ends the fitting."""
    own = parts[Part.CHOOSING]
    return [*own, *sorted(parts[Part.LEARNED], key=lambda one: order_of(one.name))[: max(0, CHOOSING_MIN - len(own))]]


def _texts(material: Material) -> list[Asked]:
    """Each procedure's text as a question for itself: it is free, and full of what the procedure is about."""
    return [
        Asked(AskedAs.PROCEDURE, f"{thing} {row}", vector, thing, row, TEXT_WEIGHT)
        for thing, rows in enumerate(material.things[: material.procedures])
        for row, vector in enumerate(rows)
    ]


TEXT_WEIGHT = 0.3
"""What a procedure's own text counts beside its name; 0.3 and 1 are level on the dev questions, 0 is 1 point less."""


def _lessons(asked: Sequence[Asked], books: Library) -> Lessons:
    questions = _rows([one.vector for one in asked], books.shift.shape[0])
    answers = _answers(asked, books)
    wrong = near_misses(questions, answers, books, WRONG)
    instead = [-1 if one.instead is None else len(books.rows) + one.instead for one in asked]
    wrong = np.concatenate([wrong, np.array(instead, dtype=np.int64)[:, None]], axis=1)
    return Lessons(questions, answers, wrong, np.array([one.weight for one in asked], dtype=np.float32))


def _exams(asked: Sequence[Asked], books: Library, most: int) -> tuple[_Exam, _Exam]:
    """What is asked about procedures and of what was used, and the replay set; each ``most`` questions of a kind."""
    by_source = {
        source: sorted((one for one in asked if one.source is source), key=lambda one: order_of(one.name))[:most]
        for source in AskedAs
    }
    return (
        _exam([*by_source[AskedAs.PROCEDURE], *by_source[AskedAs.USED]], books),
        _exam(by_source[AskedAs.REPLAY], books),
    )


def _exam(asked: Sequence[Asked], books: Library) -> _Exam:
    return _Exam(_rows([one.vector for one in asked], books.shift.shape[0]), _answers(asked, books))


def _answers(asked: Sequence[Asked], books: Library) -> Places:
    """The row that answers each; of a thing with several the nearest, where none is named."""
    first = np.searchsorted(books.owners, np.arange(books.owners[-1] + 2 if len(books.owners) else 1))
    found = np.zeros(len(asked), dtype=np.int64)
    for place, one in enumerate(asked):
        start, stop = int(first[one.thing]), int(first[one.thing + 1])
        if one.row is not None:
            found[place] = min(start + one.row, stop - 1)
        elif stop - start == 1:
            found[place] = start
        else:
            found[place] = start + int(np.argmax(books.rows[start:stop] @ (one.vector - books.shift)))
    return found


def _rows(vectors: Sequence[Vector], dimension: int) -> Matrix:
    return np.stack(vectors).astype(np.float32, copy=False) if len(vectors) else np.zeros((0, dimension), np.float32)


def _less(after: float | None, before: float | None) -> bool:
    return after is not None and before is not None and after < before - 1e-9
