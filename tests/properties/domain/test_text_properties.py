"""What holds of every text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.domain.memory import SUMMARY_CHARS_MAX, Statement
from perdure.domain.recall.budget import estimate_tokens, fit
from perdure.domain.recall.lexical import TERMS_MAX, document_text, query_terms
from perdure.domain.resolution import Verdict, compare, text_sha256
from perdure.domain.secrets import redact
from perdure.domain.statement import checked
from perdure.domain.summary import summarise
from perdure.domain.text import clean, cut, is_boundary, normalised

PROFILE = settings(max_examples=150, deadline=None)
anything = st.text(st.characters(exclude_categories=("Cn",)) | st.characters(categories=("Cs", "Cc")), max_size=200)
texts = anything.map(clean).filter(lambda text: bool(text.strip()))
multilingual = st.text(
    st.sampled_from("ab AB1._-/:@'\n東京都庁のカナ한국어éü👨\u200d👩🇩🇪\u0301。、!?=,+"), max_size=120
)


@PROFILE
@given(anything)
def test_cleaning_is_idempotent_and_leaves_only_what_can_be_encoded(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert once.encode().decode() == once
    assert not [char for char in once if unicodedata.category(char) == "Cc" and char not in "\n\t"]


@PROFILE
@given(anything)
def test_normalising_is_idempotent(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


@PROFILE
@given(anything | multilingual, st.integers(0, 120))
def test_a_cut_is_a_beginning_within_its_length_that_ends_between_graphemes(text: str, chars: int) -> None:
    head = cut(text, chars)
    assert text.startswith(head)
    assert len(head) <= chars
    assert is_boundary(text, len(head))


@PROFILE
@given(texts | multilingual.map(clean))
@pytest.mark.requirement("SAVE-14")
def test_a_summary_is_one_short_line_and_not_empty_for_a_text(text: str) -> None:
    summary = summarise(text)
    assert len(summary) <= SUMMARY_CHARS_MAX
    assert "\n" not in summary
    assert bool(summary) == bool(text.strip())


@PROFILE
@given(texts)
def test_checking_a_statement_twice_changes_nothing_more(text: str) -> None:
    once = checked(Statement(content=text, problem=text, tags=(text[:50], "a", "A")))
    assert checked(once) == once


@PROFILE
@given(anything | multilingual)
@pytest.mark.requirement("SEARCH-09")
def test_a_document_is_found_by_every_bigram_and_word_of_itself(text: str) -> None:
    document = document_text(Statement(content=text))
    words = f" {' '.join(''.join(c if c.isalnum() else ' ' for c in document.words).lower().split())} "
    parts = set(document.parts.lower().split())
    for term in query_terms(text[:60]).terms:
        if term.prefix:
            assert any(part.startswith(term.text.lower()) for part in parts)
        else:
            assert f" {term.text} " in words or term.text in parts or _accented(term.text)


def _accented(term: str) -> bool:
    """The tokenizer, not this module, folds accents and rare letters; such terms are its business."""
    return not term.isascii()


@PROFILE
@given(anything | multilingual)
def test_a_query_has_few_terms_each_once_and_each_with_something_to_find(text: str) -> None:
    terms = query_terms(text).terms
    assert len(terms) <= TERMS_MAX
    assert len(set(terms)) == len(terms)
    assert all(any(char.isalnum() for char in term.text) for term in terms)
    assert not any('"' in term.text or "*" in term.text for term in terms)


@PROFILE
@given(texts | multilingual)
def test_redacting_is_idempotent(text: str) -> None:
    once, _ = redact(text)
    assert redact(once) == (once, ())


@PROFILE
@given(st.lists(texts, max_size=8), st.integers(0, 400), st.integers(1, 200))
def test_a_budget_is_never_exceeded(items: list[str], max_tokens: int, hit_chars: int) -> None:
    fitted = fit(items, hits=5, hit_chars=hit_chars, max_tokens=max_tokens, overhead_tokens=10)
    assert len(fitted) <= 5
    assert all(len(item.text) <= hit_chars for item in fitted)
    assert sum(estimate_tokens(item.text) + 10 for item in fitted) <= max_tokens


@PROFILE
@given(multilingual.filter(lambda text: bool(text.strip())), multilingual)
def test_a_statement_is_the_same_as_itself_and_a_comparison_never_fails(one: str, other: str) -> None:
    a, b = Statement(content=one), Statement(content=other)
    assert compare(a, a) is Verdict.SAME
    verdict, back = compare(a, b), compare(b, a)
    assert (verdict is Verdict.CHANGED) <= (back is not Verdict.SAME)
    if text_sha256(a) == text_sha256(b):
        assert verdict is Verdict.SAME
