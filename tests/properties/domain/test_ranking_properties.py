"""What holds of every ranking."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.domain.memory import MemoryId, MemoryType
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalHit
from perdure.domain.recall.fusion import CUT_RATIO
from perdure.domain.recall.pipeline import LIKE_RATIO, Ranked, rank

NOW = datetime(2026, 3, 12, 9, tzinfo=UTC)
FLOOR = 0.25
CEILING = 20.0
PROFILE = settings(max_examples=150, deadline=None)

shares = st.floats(0.0, 1.0)
cosines = st.floats(-1.0, 1.0, width=32)


@st.composite
def cards(draw: st.DrawFn, name: str) -> Card:
    return Card(
        id=MemoryId(name),
        project="p",
        type=MemoryType.FACT,
        confidence=draw(shares),
        importance=draw(shares),
        access_count=draw(st.integers(0, 1_000_000)),
        last_accessed_at=NOW - timedelta(days=draw(st.integers(0, 5000))),
    )


@st.composite
def searches(draw: st.DrawFn) -> tuple[list[Card], dict[str, float], dict[str, float]]:
    names = [f"m{index:02d}" for index in range(draw(st.integers(0, 20)))]
    dense = {name: draw(cosines) for name in names if draw(st.booleans())}
    words = {name: draw(st.floats(0.0, CEILING)) for name in names if draw(st.booleans())}
    return [draw(cards(name)) for name in names], dense, words


def ranking(
    found: list[Card], dense: dict[str, float], words: dict[str, float], floor: float | None
) -> tuple[Ranked, ...]:
    best_first = sorted(words.items(), key=lambda item: -item[1])
    return rank(
        cards={card.id: card for card in found},
        dense=[DenseHit(MemoryId(name), value) for name, value in dense.items()],
        lexical=LexicalAnswer(tuple(LexicalHit(MemoryId(n), v) for n, v in best_first), CEILING),
        similarities={},
        floor=floor,
        now=NOW,
    )


@PROFILE
@given(searches(), st.sampled_from([FLOOR, None]))
def test_every_hit_is_found_by_an_arm_once_and_has_a_relevance_that_is_a_share(
    search: tuple[list[Card], dict[str, float], dict[str, float]], floor: float | None
) -> None:
    found, dense, words = search
    hits = ranking(found, dense, words, floor)
    assert len({hit.id for hit in hits}) == len(hits)
    assert {hit.id for hit in hits} <= {*dense, *words}
    assert all(0.0 < hit.parts.relevance <= 1.0 for hit in hits)
    best = max((hit.parts.relevance for hit in hits), default=0.0)
    assert all(hit.parts.relevance >= CUT_RATIO * best for hit in hits)


@PROFILE
@given(searches(), st.sampled_from([FLOOR, None]))
def test_age_use_and_belief_reorder_memories_of_like_relevance_only(
    search: tuple[list[Card], dict[str, float], dict[str, float]], floor: float | None
) -> None:
    hits = ranking(*search, floor)
    for place, hit in enumerate(hits):
        for later in hits[place + 1 :]:
            assert hit.parts.relevance >= LIKE_RATIO * later.parts.relevance
            if hit.parts.relevance <= later.parts.relevance:
                assert hit.score >= later.score


@PROFILE
@given(cards("exact"), cards("stranger"), st.floats(0.6, 1.0), st.floats(0.5, 1.0), st.floats(-1.0, 0.45))
@pytest.mark.requirement("SEARCH-03")
def test_nothing_lifts_a_stranger_over_an_exact_match(
    exact: Card, stranger: Card, cosine: float, share: float, far: float
) -> None:
    hits = ranking([exact, stranger], {"exact": cosine, "stranger": far}, {"exact": share * CEILING}, FLOOR)
    assert hits[0].id == "exact"


@PROFILE
@given(searches())
def test_a_stronger_memory_never_falls_behind(search: tuple[list[Card], dict[str, float], dict[str, float]]) -> None:
    found, dense, words = search
    before = [hit.id for hit in ranking(found, dense, words, FLOOR)]
    if not before:
        return
    chosen = before[-1]
    stronger = [
        card if card.id != chosen else Card(card.id, card.project, card.type, 1.0, 1.0, card.access_count + 10, NOW)
        for card in found
    ]
    after = [hit.id for hit in ranking(stronger, dense, words, FLOOR)]
    assert set(after) == set(before)
    assert after.index(chosen) <= before.index(chosen)


@PROFILE
@given(searches())
def test_the_order_of_the_hits_of_an_arm_does_not_matter_to_the_ranking(
    search: tuple[list[Card], dict[str, float], dict[str, float]],
) -> None:
    found, dense, words = search
    turned = dict(reversed(dense.items()))
    assert [h.id for h in ranking(found, dense, words, FLOOR)] == [
        h.id for h in ranking(found[::-1], turned, words, FLOOR)
    ]
