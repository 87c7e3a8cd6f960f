"""Fusion, scoring, diversity and the pipeline of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from perdure.domain.memory import MemoryId, MemoryType
from perdure.domain.recall.answer import Arm
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalHit
from perdure.domain.recall.diversity import mmr
from perdure.domain.recall.fusion import relevance
from perdure.domain.recall.pipeline import Ranked, associated, diverse, rank
from perdure.domain.vectors import Vector, unit

NOW = datetime(2026, 3, 12, 9, tzinfo=UTC)
FLOOR = 0.25


def card(
    name: str, *, idle_days: float = 0, access_count: int = 0, importance: float = 0.5, confidence: float = 0.5
) -> Card:
    return Card(
        id=MemoryId(name),
        project="p",
        type=MemoryType.FACT,
        confidence=confidence,
        importance=importance,
        access_count=access_count,
        last_accessed_at=NOW - timedelta(days=idle_days),
    )


def ranked(
    dense: Mapping[str, float],
    words: Mapping[str, float] | None = None,
    *,
    ceiling: float = 10.0,
    similarities: Mapping[str, float] | None = None,
    cards: Sequence[Card] = (),
    floor: float | None = FLOOR,
) -> tuple[Ranked, ...]:
    words = words or {}
    known = {c.id: c for c in cards}
    names = {MemoryId(name) for name in (*dense, *words)}
    return rank(
        cards={name: known.get(name) or card(name) for name in names},
        dense=[DenseHit(MemoryId(name), value) for name, value in dense.items()],
        lexical=LexicalAnswer(tuple(LexicalHit(MemoryId(n), v) for n, v in words.items()), ceiling if words else 0.0),
        similarities={MemoryId(name): value for name, value in (similarities or {}).items()},
        floor=floor,
        now=NOW,
    )


def ids(entries: Sequence[Ranked]) -> list[str]:
    return [entry.id for entry in entries]


def test_what_both_arms_find_comes_first_and_says_so() -> None:
    found = ranked({"a": 0.6, "b": 0.62}, {"a": 4.0, "c": 3.0}, similarities={"c": 0.3})
    assert ids(found) == ["a", "b", "c"]
    assert [entry.arm for entry in found] == [Arm.BOTH, Arm.DENSE, Arm.LEXICAL]
    assert [entry.parts.lexical_rank for entry in found] == [1, 0, 2]
    assert [entry.parts.similarity for entry in found] == [0.6, 0.62, 0.3]


def test_nothing_is_found_where_nothing_is_above_the_floor() -> None:
    assert ranked({"a": 0.2, "b": 0.1}) == ()
    assert ranked({}) == ()


def test_an_accidental_word_is_no_match() -> None:
    assert ranked({"a": 0.1}, {"a": 0.5}, ceiling=20.0) == ()


def test_the_best_of_a_poor_lot_is_not_fully_relevant() -> None:
    (poor,) = ranked({"a": 0.28})
    (good,) = ranked({"a": 0.7})
    assert poor.parts.relevance < 0.2
    assert good.parts.relevance == 1.0


def test_words_alone_find_where_the_dense_arm_is_away_or_the_memory_has_no_vector() -> None:
    (away,) = ranked({}, {"a": 4.5}, floor=None)
    assert (away.arm, away.parts.similarity, away.parts.relevance) == (Arm.LEXICAL, None, 0.45)
    found = ranked({"b": 0.5}, {"a": 4.5})
    assert ids(found)[0] == "a"


def test_relevance_rises_with_either_evidence_and_stays_a_share() -> None:
    a, b = MemoryId("a"), MemoryId("b")
    fused = relevance({a: 0.5, b: 0.4}, {a: 5.0, b: 5.0}, 10.0, FLOOR)
    assert 0.0 <= fused[b] < fused[a] <= 1.0
    assert relevance({a: 0.9}, {a: 99.0}, 10.0, FLOOR) == {a: 1.0}
    assert relevance({}, {a: 1.0}, 0.0, None) == {a: 0.0}


def test_candidates_far_below_the_best_are_left_out() -> None:
    assert ids(ranked({"a": 0.8, "b": 0.27}, {"a": 9.0})) == ["a"]


def test_among_memories_of_like_relevance_the_stronger_comes_first() -> None:
    found = ranked({"old": 0.61, "used": 0.6}, cards=[card("old", idle_days=100), card("used", access_count=9)])
    assert ids(found) == ["used", "old"]


def test_an_old_exact_match_stays_before_a_popular_stranger() -> None:
    old = card("exact", idle_days=400, confidence=0.0, importance=0.0)
    popular = card("popular", access_count=100_000, confidence=1.0, importance=1.0)
    found = ranked({"exact": 0.7, "popular": 0.42}, {"exact": 6.0}, cards=[old, popular])
    assert ids(found)[0] == "exact"
    assert found[0].score < popular.importance


@pytest.mark.requirement("SEARCH-02")
def test_the_score_is_the_product_of_its_parts() -> None:
    (entry,) = ranked({"a": 0.9}, cards=[card("a", idle_days=60, access_count=1, importance=1.0)])
    assert entry.score == pytest.approx(1.0 * 0.5 * 1.1 * 0.75 * 1.5)


def test_a_clock_that_went_back_does_not_break_a_search() -> None:
    (entry,) = ranked({"a": 0.9}, cards=[card("a", idle_days=-5)])
    assert entry.parts.decay_weight == 1.0


def test_equal_candidates_are_ordered_by_id() -> None:
    assert ids(ranked({"b": 0.5, "a": 0.5, "c": 0.5})) == ["a", "b", "c"]


def test_an_association_is_marked_and_as_relevant_as_it_is_near() -> None:
    entry = associated(card("a"), 0.4, NOW)
    assert (entry.arm, entry.parts.relevance, entry.parts.lexical_rank) == (Arm.ASSOCIATION, 0.4, 0)
    assert associated(card("a"), -0.4, NOW).parts.relevance == 0.0


def vectors(**rows: tuple[float, float, float]) -> dict[MemoryId, Vector]:
    return {MemoryId(name): unit(np.array(row, dtype=np.float32)) for name, row in rows.items()}


@pytest.mark.requirement("SEARCH-13")
def test_a_near_duplicate_waits_for_what_is_new() -> None:
    found = ranked({"a": 0.8, "a2": 0.79, "b": 0.75, "c": 0.7})
    space = vectors(a=(1, 0, 0), a2=(1, 0.02, 0), b=(0, 1, 0), c=(0, 0, 1))
    assert ids(diverse(found, space, 3)) == ["a", "b", "c"]
    assert ids(diverse(found, space, 4)) == ["a", "b", "c", "a2"]


def test_kinship_of_subject_costs_nothing() -> None:
    found = ranked({"a": 0.8, "b": 0.79, "c": 0.78})
    space = vectors(a=(1, 0, 0), b=(1, 1, 0), c=(1, 0, 1))
    assert ids(diverse(found, space, 3)) == ["a", "b", "c"]


def test_a_duplicate_is_still_better_than_a_stranger() -> None:
    found = ranked({"a": 0.9, "a2": 0.89, "b": 0.4})
    space = vectors(a=(1, 0, 0), a2=(1, 0.02, 0), b=(0, 1, 0))
    assert ids(diverse(found, space, 2)) == ["a", "a2"]


def test_memories_without_vectors_repeat_nothing() -> None:
    order = [MemoryId("a"), MemoryId("b")]
    scores = {MemoryId("a"): 1.0, MemoryId("b"): 0.5}
    assert mmr(order, {}, scores, 2) == ("a", "b")
    assert mmr(order, {}, scores, 0) == ()
    assert mmr([], {}, {}, 5) == ()
