from __future__ import annotations

import numpy as np
import pytest

from perdure.domain.recall.answer import DenseSkip, Question
from perdure.errors import Unavailable
from perdure.usecases.question_vectors import QuestionVectors
from support.fake_embedder import FakeEmbedder, space
from support.memory_world import MemoryWorld

HERE = space("words").fingerprint


def test_a_question_asked_again_is_not_computed_again() -> None:
    embedder = FakeEmbedder()
    vector_of = QuestionVectors(embedder)
    first = vector_of("which port", space=HERE, timeout_s=1)
    embedder.away = True
    assert np.array_equal(vector_of("which port", space=HERE, timeout_s=1).vectors, first.vectors)
    with pytest.raises(Unavailable):
        vector_of("which host", space=HERE, timeout_s=1)
    assert embedder.asked == ["which port"]


def test_nothing_is_known_in_another_space_and_nothing_of_another_space_is_kept() -> None:
    embedder = FakeEmbedder()
    vector_of = QuestionVectors(embedder)
    vector_of("which port", space=HERE, timeout_s=1)
    embedder.model = "newer"
    for _ in range(2):  # an answer in a space that nobody searches yet
        assert vector_of("which port", space="elsewhere", timeout_s=1).space == space("newer")
    assert vector_of("which port", space=HERE, timeout_s=1).space == space("words")
    assert embedder.asked == ["which port"] * 3


def test_the_question_not_asked_for_longest_is_forgotten() -> None:
    embedder = FakeEmbedder()
    vector_of = QuestionVectors(embedder, kept=2)
    for question in ("a", "b", "a", "c", "a", "b"):
        vector_of(question, space=HERE, timeout_s=1)
    assert embedder.asked == ["a", "b", "c", "b"]


def test_a_search_repeated_while_the_embedder_is_away_is_still_by_meaning_and_a_new_one_says_so(
    world: MemoryWorld,
) -> None:
    world.say("The gateway listens on port 3456")
    asked = Question(query="gateway port")
    before = world.search(world.me, asked)
    world.embedder.away = True
    again = world.search(world.me, asked)
    assert (again.dense_ran, again.dense_skipped) == (True, DenseSkip.NONE)
    assert [hit.parts.similarity for hit in again.recall] == [hit.parts.similarity for hit in before.recall]
    other = world.search(world.me, Question(query="port of the gateway"))
    assert (other.dense_ran, other.dense_skipped) == (False, DenseSkip.EMBEDDER_AWAY)
