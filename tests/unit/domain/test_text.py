"""Text made safe to store and to cut."""

from __future__ import annotations

import pytest

from perdure.domain.text import clean, cut, is_boundary, normalised, one_line

FAMILY = "👨‍👩‍👧‍👦"
FLAGS = "🇩🇪🇯🇵🇫🇷"


def test_control_characters_go_and_lines_stay() -> None:
    assert clean("a\x00b\x1b[31mc\td\r\ne\rf\u2028g") == "ab[31mc\td\ne\nf\ng"


def test_lone_surrogates_are_marked_and_pairs_joined() -> None:
    assert clean("x\ud83dy") == "x\ufffdy"
    assert clean("\ud83d\ude00") == "😀"


def test_both_normal_forms_become_one() -> None:
    assert clean("Cafe\u0301") == clean("Caf\u00e9") == "Caf\u00e9"


def test_one_line_collapses_white_space() -> None:
    assert one_line("  a \n b\t\u3000c ") == "a b c"


def test_texts_that_differ_in_case_width_or_spaces_count_as_the_same() -> None:
    assert normalised("  Straße ＡＰＩ\n1") == normalised("STRASSE api 1")


@pytest.mark.parametrize(
    "cluster", [FAMILY, "🇩🇪", "e\u0301\u0323", "👍🏽", "❤️", "1️⃣", "각", "\u1100\u1161\u11a8", "क्ष", "ก็"]
)
def test_a_grapheme_is_never_split(cluster: str) -> None:
    text = f"ab{cluster}cd"
    for chars in range(3, 2 + len(cluster)):
        assert cut(text, chars) == "ab"
    assert cut(text, 2 + len(cluster)) == f"ab{cluster}"


def test_flags_are_cut_between_their_pairs() -> None:
    assert [len(cut(FLAGS, chars)) for chars in range(7)] == [0, 0, 2, 2, 4, 4, 6]


def test_a_text_that_fits_is_left_alone() -> None:
    assert cut("abc", 3) == "abc"
    assert cut("", 0) == ""
    assert cut("abc", 0) == ""
    assert is_boundary("abc", 0)
    assert not is_boundary("\r\n", 1)
