"""Fits a private model: contrastive, with an analytic gradient, on the processor, in numpy alone.

InfoNCE over the answers of a batch and the near misses of each question; Adam; a pull towards correcting nothing. The
up-projection begins at zero, so a model that learned nothing changes nothing. Same lessons, same seed, same model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perdure.domain.adapter.features import Lessons, Library
from perdure.domain.vectors import Matrix, Vector, unit

_BETA1, _BETA2, _EPSILON = 0.9, 0.999, 1e-8

Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a model is fitted; the defaults are chosen on the ``dev`` questions of ``tests/quality`` (private-model.md).

    Attributes:
        rank: Columns of the up-projection, >= 1.
        temperature: By which cosines are divided, > 0.
        learning_rate: Adam's, > 0.
        pull: Weight of the mean squared correction of all questions, and of the anchors once more, >= 0.
        passes: Over all lessons at most, >= 1.
        patience: Passes without a better choosing score before it ends, >= 1.
        noise: Length of the random turn that each question gets in each pass, >= 0: what is asked for will be worded
            otherwise than what was taught.
        batch: Questions a step, >= 2.
        seed: Of the order and of the down-projection.
    """

    rank: int = 64
    temperature: float = 0.1
    learning_rate: float = 2e-3
    pull: float = 3.0
    noise: float = 1.5
    passes: int = 40
    patience: int = 10
    batch: int = 128
    seed: int = 7


@dataclass(frozen=True, slots=True)
class Fitted:
    """A model: ``down`` (rank, d), ``up`` (d, rank); ``loss`` is the mean over its last pass."""

    down: Matrix
    up: Matrix
    loss: float
    passes: int


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's questions (n, d), candidates (c, d) as seen from the centre, and what is what.

    ``target``: (n,), the candidate that answers. ``barred``: (n, c), candidates that are no wrong answer to it.
    """

    questions: Floats
    candidates: Floats
    target: npt.NDArray[np.int64]
    barred: npt.NDArray[np.bool_]
    weights: Floats
    anchors: Floats


def fit(
    lessons: Lessons,
    books: Library,
    anchors: Matrix,
    recipe: Recipe,
    *,
    score: Callable[[Matrix, Matrix], float | None],
    heard: Callable[[int, int], None] = lambda _done, _total: None,
) -> Fitted:
    """The model of the pass that ``score`` liked best; where it has no opinion, the last one.

    Args:
        lessons: What to learn, at least one.
        books: What can be found.
        anchors: Questions that should stay where they are, (a, d); may be empty.
        recipe: How.
        score: Of a model (down, up), higher is better; None says nothing.
        heard: Told passes done and passes at most, after each; may raise to stop.
    """
    random = np.random.default_rng(recipe.seed)
    dimension = lessons.questions.shape[1]
    down = (random.standard_normal((recipe.rank, dimension)) / np.sqrt(dimension)).astype(np.float32)
    up = np.zeros((dimension, recipe.rank), dtype=np.float32)
    adam = _Adam(recipe.learning_rate, down, up)
    everything = books.everything
    owners = np.concatenate([books.owners, np.full(len(books.extra), -1, dtype=np.int64)])
    best = Fitted(down.copy(), up.copy(), float("inf"), 0)
    best_score, since = score(down, up), 0
    for done in range(1, recipe.passes + 1):
        losses = []
        for places in _shuffled(len(lessons), recipe.batch, random):
            questions = _turned(lessons.questions[places], recipe.noise, random)
            batch = _batch(lessons, questions, everything, owners, places, _some(anchors, len(places), random))
            loss, g_down, g_up = loss_and_gradients(
                down, up, batch, shift=books.shift, temperature=recipe.temperature, pull=recipe.pull
            )
            losses.append(loss)
            adam.step(down, g_down, up, g_up)
        now = score(down, up)
        since += 1
        if now is None or best_score is None or now > best_score:
            best, best_score, since = Fitted(down.copy(), up.copy(), float(np.mean(losses)), done), now, 0
        heard(done, recipe.passes)
        if since >= recipe.patience:
            break
    return best


def loss_and_gradients(
    down: Floats, up: Floats, batch: Batch, *, shift: Vector | Floats, temperature: float, pull: float
) -> tuple[float, Floats, Floats]:
    """The loss of a batch and its derivatives by ``down`` and ``up``, in the precision of the arguments."""
    low = batch.questions @ down.T
    raw = batch.questions + low @ up.T
    turned, raw_length = _unit_rows(raw)
    seen, seen_length = _unit_rows(turned - shift)
    logits = (seen @ batch.candidates.T) / temperature
    logits[batch.barred] = -np.inf
    logits -= logits.max(axis=1, keepdims=True)
    shares = np.exp(logits)
    totals = shares.sum(axis=1, keepdims=True)
    shares /= totals
    places = np.arange(len(batch.target))
    weights = batch.weights / batch.weights.sum()
    loss = float(np.sum(weights * (np.log(totals[:, 0]) - logits[places, batch.target])))
    shares[places, batch.target] -= 1.0
    by_seen = (shares * weights[:, None]) @ batch.candidates / temperature
    by_turned = _through_unit(by_seen, seen, seen_length)
    by_raw = _through_unit(by_turned, turned, raw_length)
    g_up = by_raw.T @ low
    g_down = (by_raw @ up).T @ batch.questions
    for rows, lower in ((batch.questions, low), (batch.anchors, batch.anchors @ down.T)):
        if pull and len(rows):
            moved = lower @ up.T
            loss += float(pull * np.sum(moved * moved) / len(rows))
            by_moved = (2.0 * pull / len(rows)) * moved
            g_up = g_up + by_moved.T @ lower
            g_down = g_down + (by_moved @ up).T @ rows
    return loss, g_down, g_up


def _unit_rows(rows: Floats) -> tuple[Floats, Floats]:
    length = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return rows / length, length


def _through_unit(gradient: Floats, unit_rows: Floats, length: Floats) -> Floats:
    """The derivative by the rows of a loss whose derivative by the unit rows is ``gradient``."""
    turned: Floats = (gradient - unit_rows * np.sum(gradient * unit_rows, axis=1, keepdims=True)) / length
    return turned


def _shuffled(count: int, batch: int, random: np.random.Generator) -> list[npt.NDArray[np.int64]]:
    order = random.permutation(count)
    return [order[start : start + batch] for start in range(0, count, batch)]


def _some(rows: Matrix, count: int, random: np.random.Generator) -> Matrix:
    if len(rows) <= count:
        return rows
    some: Matrix = rows[random.choice(len(rows), count, replace=False)]
    return some


def _turned(questions: Matrix, noise: float, random: np.random.Generator) -> Matrix:
    if not noise:
        return questions
    turn = random.standard_normal(questions.shape).astype(np.float32)
    return unit(questions + turn * np.float32(noise / np.sqrt(questions.shape[1])))


def _batch(
    lessons: Lessons,
    questions: Matrix,
    everything: Matrix,
    owners: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    anchors: Matrix,
) -> Batch:
    answers, wrong = lessons.answers[places], lessons.wrong[places]
    chosen = np.unique(np.concatenate([answers, wrong.ravel()]))
    chosen = chosen[chosen >= 0]
    target = np.searchsorted(chosen, answers)
    barred = owners[chosen][None, :] == owners[answers][:, None]
    barred[np.arange(len(places)), target] = False
    return Batch(questions, everything[chosen], target, barred, lessons.weights[places].astype(np.float32), anchors)


class _Adam:
    """Adam over two matrices, changed in place."""

    def __init__(self, learning_rate: float, *matrices: Matrix) -> None:
        self._learning_rate = learning_rate
        self._moments = [(np.zeros_like(matrix), np.zeros_like(matrix)) for matrix in matrices]
        self._steps = 0

    def step(self, down: Matrix, g_down: Floats, up: Matrix, g_up: Floats) -> None:
        self._steps += 1
        for (first, second), matrix, gradient in zip(self._moments, (down, up), (g_down, g_up), strict=True):
            first *= _BETA1
            first += (1 - _BETA1) * gradient
            second *= _BETA2
            second += (1 - _BETA2) * gradient * gradient
            mean = first / (1 - _BETA1**self._steps)
            spread = second / (1 - _BETA2**self._steps)
            matrix -= (self._learning_rate * mean / (np.sqrt(spread) + _EPSILON)).astype(np.float32)
