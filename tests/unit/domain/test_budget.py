"""Answers cut for models."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.domain.recall import budget as counting
from perdure.domain.recall.budget import Fitted, estimate_tokens, fit

FAMILY = "👨‍👩‍👧‍👦"


@pytest.mark.requirement("SEARCH-10")
def test_five_hits_of_five_hundred_characters_by_default() -> None:
    fitted = fit(["x" * 900] * 8)
    assert len(fitted) == 5
    assert all(len(item.text) == 500 and item.shortened and item.text.endswith("…") for item in fitted)


def test_short_texts_stay_whole() -> None:
    assert fit(["one", "two"]) == (Fitted("one", False), Fitted("two", False))


@pytest.mark.requirement("SEARCH-10", "PAST-14")
def test_a_cut_falls_between_graphemes() -> None:
    (item,) = fit([FAMILY * 100], hit_chars=20)
    assert item.text == FAMILY * 2 + "…"


def test_the_token_budget_is_kept() -> None:
    texts = ["word " * 90, "単語" * 100, "слово " * 60, FAMILY * 30, "x = a[i] + b[j];\n" * 20]
    for budget in (0, 30, 60, 150, 300, 700, 5000):
        fitted = fit(texts, max_tokens=budget)
        assert sum(estimate_tokens(item.text) + 40 for item in fitted) <= budget


def test_the_text_that_no_longer_fits_is_shortened_where_that_is_worth_reading() -> None:
    whole, part = fit(["word " * 20, "word " * 90, "word"], max_tokens=130)
    assert not whole.shortened
    assert part.shortened
    assert fit(["word " * 90], max_tokens=45) == ()


def test_estimates_err_upwards_in_any_script() -> None:
    # at least what common byte-pair tokenizers make of these
    assert estimate_tokens("The quick brown fox jumps over the lazy dog.") >= 10
    assert estimate_tokens("東京都庁の設定") >= 7
    assert estimate_tokens("Привет, как дела") >= 6
    assert estimate_tokens("") == 0
    assert estimate_tokens("The quick brown fox") <= 8


@given(st.text() | st.text(st.characters(max_codepoint=127)) | st.text(st.sampled_from('ab 1,"\n_é界👍')))
def test_counting_quickly_gives_the_same_number(text: str) -> None:
    assert estimate_tokens(text) == counting._tokens_of_pieces(text)
