"""The first sentence of a text."""

from __future__ import annotations

import pytest

from perdure.domain.summary import summarise


@pytest.mark.parametrize(
    ("content", "summary"),
    [
        ("Deploys go out on Tuesday. Ask Anna first.", "Deploys go out on Tuesday."),
        ("CI runs .github/workflows/test.yml on push. Then", "CI runs .github/workflows/test.yml on push."),
        ("Upgrade to v2.13.7 before Friday. Then test.", "Upgrade to v2.13.7 before Friday."),
        ("See https://example.com/a.b?c=1. Then go on.", "See https://example.com/a.b?c=1."),
        ("Use a cache, e.g. Redis, for sessions. It is fast.", "Use a cache, e.g. Redis, for sessions."),
        ("Dr. Brandt leads the group. She is kind.", "Dr. Brandt leads the group."),
        ("Die Freigabe ist am 12. März. Danach Pause.", "Die Freigabe ist am 12. März."),
        ("We use Postgres 16. It works.", "We use Postgres 16."),
        ("Why? Because it is simple.", "Why?"),
        ("東京リージョンに置く。理由は遅延。", "東京リージョンに置く。"),
        ("订单服务使用 PostgreSQL 16！不要升级。", "订单服务使用 PostgreSQL 16！"),
        ("# Heading\n\nBody text.", "Heading"),
        ("\n\n- first point\n- second", "first point"),
        ("no full stop at all", "no full stop at all"),
        ("---\nafter a rule", "after a rule"),
        ("?!", "?!"),
        ("😀", "😀"),
        ("", ""),
    ],
)
@pytest.mark.requirement("SAVE-14")
def test_the_first_sentence_is_the_summary(content: str, summary: str) -> None:
    assert summarise(content) == summary


def test_a_long_sentence_is_cut_between_words() -> None:
    summary = summarise(
        "The gateway of the billing platform listens on port 8080 behind https://proxy.example.com/path/x"
    )
    assert summary == "The gateway of the billing platform listens on port 8080 behind…"


def test_a_long_sentence_without_spaces_is_cut_between_characters() -> None:
    assert summarise("あ" * 200) == "あ" * 79 + "…"
    assert summarise("👨‍👩‍👧‍👦" * 30) == "👨‍👩‍👧‍👦" * 11 + "…"


def test_one_grapheme_longer_than_a_summary_still_gives_one() -> None:
    assert 0 < len(summarise("e" + "\u0301" * 500)) <= 80
