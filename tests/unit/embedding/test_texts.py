"""Cleaning and windows."""

from __future__ import annotations

import pytest

from perdure.embedding.texts import clean, estimated_tokens, windows
from perdure.errors import InvalidArgument, Reason


def words(text: str) -> int:
    return len(text.split())


def test_a_nul_becomes_a_blank_and_cuts_nothing_off() -> None:
    assert clean("before\0after") == "before after"


def test_a_lone_surrogate_is_replaced() -> None:
    assert clean("a\ud800b") == "a?b"


@pytest.mark.parametrize("text", ["", "  \n\t", "\0", "\0 \0"])
def test_a_text_of_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        clean(text)
    assert caught.value.reason is Reason.TEXT_UNUSABLE


def test_a_short_text_is_one_window() -> None:
    cut = windows("one two three", words, 16)
    assert (cut.pieces, cut.tokens, cut.truncated) == (("one two three",), (3,), False)


def test_a_long_text_is_cut_at_line_ends_and_nothing_is_lost() -> None:
    lines = [f"line {n} has six words here" for n in range(12)]
    cut = windows("\n".join(lines), words, 16)
    assert "\n".join(cut.pieces).split("\n") == lines
    assert not cut.truncated
    assert all(tokens <= 16 for tokens in cut.tokens)


def test_no_window_has_more_tokens_than_allowed_where_there_is_no_good_end() -> None:
    cut = windows("x" * 900, len, 64, most=100)
    assert "".join(cut.pieces) == "x" * 900
    assert all(tokens <= 64 for tokens in cut.tokens)


@pytest.mark.requirement("EMB-08")
def test_what_is_beyond_the_last_window_is_reported_as_left_out() -> None:
    cut = windows(" ".join(f"w{n}" for n in range(200)), words, 16, most=8)
    assert len(cut.pieces) == 8
    assert cut.truncated


def test_estimated_tokens_rise_with_the_text_and_count_cjk_by_character() -> None:
    text = "数据库 postgres と東京 database" * 5
    counts = [estimated_tokens(text[:end]) for end in range(len(text))]
    assert counts == sorted(counts)
    assert estimated_tokens("数据库数据库") >= 6
