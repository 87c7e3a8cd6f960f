"""The private model: what it does to a question, how it is fitted, when it is kept."""

from __future__ import annotations

import numpy as np
import pytest

from perdure.domain.adapter.evaluation import ranks, recall, surprise
from perdure.domain.adapter.features import Lessons, library, near_misses
from perdure.domain.adapter.residual import corrected, corrected_rows, scaled
from perdure.domain.adapter.schooling import Asked, AskedAs, Material, school
from perdure.domain.adapter.split import Part, part_of
from perdure.domain.adapter.training import Batch, Recipe, fit, loss_and_gradients
from perdure.domain.experience.learning import Adapter
from perdure.domain.vectors import Matrix, unit

DIMENSION = 24


def rows(count: int, seed: int = 1, dimension: int = DIMENSION) -> Matrix:
    """Seeded unit rows."""
    return unit(np.random.default_rng(seed).standard_normal((count, dimension)))


def adapter(down: Matrix, up: Matrix) -> Adapter:
    return Adapter(version="s+exp1", number=1, space="s", down=down, up=up)


def no_opinion(_down: Matrix, _up: Matrix) -> None:
    """A score that says nothing."""


@pytest.mark.requirement("I5-M1")
def test_a_model_whose_up_projection_is_zero_changes_no_question() -> None:
    question = rows(1)[0]
    untrained = adapter(rows(4), np.zeros((DIMENSION, 4), dtype=np.float32))
    assert np.allclose(corrected(untrained, question), question, atol=1e-6)


def test_a_corrected_question_is_q_plus_b_a_q_at_unit_length() -> None:
    question, down, up = rows(1)[0], rows(3, seed=2), rows(3, seed=3).T
    turned = corrected(adapter(down, up), question)
    assert np.allclose(turned, unit(question + up @ (down @ question)), atol=1e-6)
    assert turned.dtype == np.float32
    assert np.allclose(corrected_rows(down, up, question[None, :])[0], turned, atol=1e-6)


def test_a_question_of_another_dimension_is_left_alone() -> None:
    question = rows(1, dimension=8)[0]
    assert corrected(adapter(rows(3), rows(3).T), question) is question


@pytest.mark.requirement("I5-M1")
@pytest.mark.parametrize("centred", [False, True])
def test_the_gradient_is_that_of_the_loss(centred: bool) -> None:
    random = np.random.default_rng(4)
    down, up = random.standard_normal((3, 6)) * 0.4, random.standard_normal((6, 3)) * 0.4
    barred = np.zeros((4, 5), dtype=bool)
    barred[0, 3] = barred[2, 0] = True
    batch = Batch(
        questions=unit64(random.standard_normal((4, 6))),
        candidates=unit64(random.standard_normal((5, 6))),
        target=np.array([0, 1, 2, 1]),
        barred=barred,
        weights=np.array([1.0, 0.3, 2.0, 1.0]),
        anchors=unit64(random.standard_normal((3, 6))),
    )
    shift = random.standard_normal(6) * 0.2 if centred else np.zeros(6)

    def loss(a: np.ndarray, b: np.ndarray) -> float:
        return loss_and_gradients(a, b, batch, shift=shift, temperature=0.2, pull=0.7)[0]

    _, by_down, by_up = loss_and_gradients(down, up, batch, shift=shift, temperature=0.2, pull=0.7)
    step = 1e-6
    for matrix, gradient in ((down, by_down), (up, by_up)):
        for place in np.ndindex(*matrix.shape):
            kept = matrix[place]
            matrix[place] = kept + step
            above = loss(down, up)
            matrix[place] = kept - step
            below = loss(down, up)
            matrix[place] = kept
            assert gradient[place] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-7)


def unit64(array: np.ndarray) -> np.ndarray:
    """Unit rows in double precision."""
    return np.asarray(array / np.linalg.norm(array, axis=1, keepdims=True))


def lessons_of(questions: Matrix, things: Matrix) -> tuple[Lessons, object]:
    books = library([[row] for row in things], None, DIMENSION)
    answers = np.arange(len(questions))
    weights = np.ones(len(questions), dtype=np.float32)
    return Lessons(questions, answers, near_misses(questions, answers, books, 2), weights), books


@pytest.mark.requirement("I5-M1")
def test_the_same_lessons_and_seed_give_the_same_model() -> None:
    lessons, books = lessons_of(rows(20), rows(20, seed=9))
    recipe = Recipe(rank=4, passes=3)
    one, two = (fit(lessons, books, rows(0), recipe, score=no_opinion) for _ in range(2))  # type: ignore[arg-type]
    assert np.array_equal(one.down, two.down)
    assert np.array_equal(one.up, two.up)


def test_fitting_brings_questions_to_their_answers() -> None:
    things = rows(30, seed=9)
    rotation = np.linalg.qr(np.random.default_rng(3).standard_normal((DIMENSION, DIMENSION)))[0]
    questions = unit(0.5 * things + 0.5 * (things @ rotation).astype(np.float32))
    lessons, books = lessons_of(questions, things)
    model = fit(lessons, books, rows(0), Recipe(rank=16, passes=40, noise=0.0), score=no_opinion)  # type: ignore[arg-type]
    before = surprise(questions, lessons.answers, books, 0.1)  # type: ignore[arg-type]
    after = surprise(corrected_rows(model.down, model.up, questions), lessons.answers, books, 0.1)  # type: ignore[arg-type]
    assert after < 0.7 * before


def test_the_pass_that_scored_best_is_the_model() -> None:
    lessons, books = lessons_of(rows(10), rows(10, seed=9))
    scores = iter([0.0, 1.0, 3.0, 2.0, 2.5, 1.0])
    model = fit(lessons, books, rows(0), Recipe(rank=2, passes=5), score=lambda _a, _b: next(scores))  # type: ignore[arg-type]
    assert model.passes == 2


def test_fitting_ends_where_nothing_gets_better() -> None:
    lessons, books = lessons_of(rows(10), rows(10, seed=9))
    heard: list[int] = []
    fit(
        lessons,
        books,  # type: ignore[arg-type]
        rows(0),
        Recipe(rank=2, passes=50, patience=3),
        score=lambda _a, _b: 0.0,
        heard=lambda done, _total: heard.append(done),
    )
    assert heard == [1, 2, 3]


def test_any_chunk_of_a_thing_counts_as_finding_it() -> None:
    chunks = rows(3, seed=5)
    others = rows(2, seed=6)
    books = library([[others[0]], list(chunks), [others[1]]], None, DIMENSION)
    question = chunks[2][None, :]
    assert ranks(question, np.array([1]), books).tolist() == [0]
    assert recall(question, np.array([1]), books) == 1.0


def test_cosines_are_seen_from_the_centre() -> None:
    shift = rows(1, seed=8)[0] * np.float32(0.9)
    things = unit(rows(12, seed=2) + 3 * shift)
    books = library([[row] for row in things], shift, DIMENSION)
    question = unit(things[4] + 0.2 * rows(1, seed=7)[0])
    by_hand = unit(things - shift) @ unit(question - shift)
    assert ranks(question[None, :], np.array([4]), books)[0] == int(np.sum(by_hand > by_hand[4]))


def test_near_misses_are_the_nearest_of_other_things() -> None:
    things = rows(8, seed=3)
    books = library([[things[0], things[1]], *([row] for row in things[2:])], None, DIMENSION)
    question = unit(things[0] + 0.1 * things[5])
    found = near_misses(question[None, :], np.array([0]), books, 3)[0]
    cosines = things @ question
    expected = sorted(range(2, 8), key=lambda row: -cosines[row])[:3]
    assert found.tolist() == expected


@pytest.mark.requirement("I5-M2")
def test_the_same_thing_always_falls_into_the_same_part() -> None:
    names = [f"question {number}" for number in range(2000)]
    parts = [part_of(name) for name in names]
    assert parts == [part_of(name) for name in names]
    shares = {part: parts.count(part) / len(parts) for part in Part}
    assert shares[Part.DECIDING] == pytest.approx(0.15, abs=0.03)
    assert shares[Part.CHOOSING] == pytest.approx(0.10, abs=0.03)


def material(*, replay: Matrix | None = None, count: int = 40) -> Material:
    """Procedures whose questions are turned the same way, and memories that are asked for as they are."""
    procedures = rows(count, seed=11)
    memories = rows(count, seed=12) if replay is None else replay
    rotation = np.linalg.qr(np.random.default_rng(13).standard_normal((DIMENSION, DIMENSION)))[0].astype(np.float32)
    asked = [
        Asked(
            AskedAs.PROCEDURE,
            f"p{copy} {place}",
            unit(row @ rotation + 0.3 * row + 0.3 * rows(1, seed=place + copy)[0]),
            place,
        )
        for place, row in enumerate(procedures)
        for copy in range(4)
    ]
    asked += [Asked(AskedAs.REPLAY, f"r{place}", row, count + place) for place, row in enumerate(memories)]
    return Material(
        things=[*([row] for row in procedures), *([row] for row in memories)],
        procedures=count,
        asked=asked,
        extra=[],
        shift=None,
        dimension=DIMENSION,
    )


@pytest.mark.requirement("I5-M2")
def test_a_model_is_kept_where_it_loses_nothing_of_what_was_held_out() -> None:
    verdict = school(material(), Recipe(rank=8, passes=20), None)
    assert verdict is not None
    assert verdict.kept
    assert verdict.after is not None
    assert verdict.before is not None
    assert verdict.after >= verdict.before
    assert verdict.replay_after == verdict.replay_before == 1.0


@pytest.mark.requirement("I5-M2")
def test_a_model_that_is_worse_than_the_one_in_use_is_not_kept() -> None:
    lessons = material()
    good = school(lessons, Recipe(rank=16, passes=40, noise=0.0, pull=0.1), None)
    assert good is not None
    assert good.kept
    assert good.after is not None
    assert good.before is not None
    assert good.after > good.before + 0.2
    # one that learned next to nothing, beside one that learned
    verdict = school(lessons, Recipe(rank=1, passes=1, learning_rate=1e-9), (good.fitted.down, good.fitted.up))
    assert verdict is not None
    assert verdict.before is not None
    assert verdict.after is not None
    assert verdict.after < verdict.before
    assert not verdict.kept


def test_without_a_question_there_is_nothing_to_learn() -> None:
    empty = Material(things=[[rows(1)[0]]], procedures=0, asked=[], extra=[], shift=None, dimension=DIMENSION)
    assert school(empty, Recipe(), None) is None


def test_one_procedure_alone_can_be_learned() -> None:
    row = rows(1)[0]
    asked = [Asked(AskedAs.PROCEDURE, f"name {number}", row, 0) for number in range(10)]
    alone = Material(things=[[row]], procedures=1, asked=asked, extra=[], shift=None, dimension=DIMENSION)
    verdict = school(alone, Recipe(rank=2, passes=2), None)
    assert verdict is not None
    assert verdict.pairs > 0


def test_what_was_superseded_is_a_wrong_answer() -> None:
    things, old = rows(6, seed=4), rows(1, seed=5)[0]
    questions = unit(things + 0.9 * old)
    asked = [Asked(AskedAs.USED, f"u{place}", questions[place], place, instead=0) for place in range(6)] * 8
    taught = Material(
        things=[[row] for row in things], procedures=0, asked=asked, extra=[old], shift=None, dimension=DIMENSION
    )
    verdict = school(taught, Recipe(rank=8, passes=30, noise=0.0, pull=0.1), None)
    assert verdict is not None
    moved = corrected_rows(verdict.fitted.down, scaled(verdict.fitted.up, 1.0), questions)
    assert float(np.mean(moved @ old)) < float(np.mean(questions @ old))
