"""The guard of save-time resolution, measured on the labelled pairs; prints its table (``pytest -s``)."""

from __future__ import annotations

from collections import Counter

import pytest

from perdure.domain.memory import Statement
from perdure.domain.resolution import Verdict, compare
from quality.datasets import load_pairs

PAIRS = load_pairs()
LANGUAGES = sorted({pair.language for pair in PAIRS})

Counts = Counter[tuple[str, str, Verdict]]


@pytest.fixture(scope="module")
def counts() -> Counts:
    """How often each label of each language got each verdict; pairs are judged in both directions."""
    found: Counts = Counter()
    for pair in PAIRS:
        a, b = Statement(content=pair.a), Statement(content=pair.b)
        found[pair.language, pair.label, compare(a, b)] += 1
    return found


def test_a_changed_statement_is_never_judged_the_same() -> None:
    wrong = [
        (one, other)
        for pair in PAIRS
        if pair.label == "changed"
        for one, other in ((pair.a, pair.b), (pair.b, pair.a))
        if compare(Statement(content=one), Statement(content=other)) is Verdict.SAME
    ]
    assert wrong == []


def test_a_different_statement_is_neither_merged_nor_superseded() -> None:
    wrong = [
        (one, other)
        for pair in PAIRS
        if pair.label == "different"
        for one, other in ((pair.a, pair.b), (pair.b, pair.a))
        if compare(Statement(content=one), Statement(content=other)) is not Verdict.UNSURE
    ]
    assert wrong == []


def test_precision_and_recall_of_the_guard(counts: Counts) -> None:
    print("\nlanguage  verdict   precision  recall")
    for language in (*LANGUAGES, "all"):
        for label, verdict in (("same", Verdict.SAME), ("changed", Verdict.CHANGED)):
            chosen = {key: n for key, n in counts.items() if language in (key[0], "all")}
            judged = sum(n for (_, _, v), n in chosen.items() if v is verdict)
            labelled = sum(n for (_, name, _), n in chosen.items() if name == label)
            right = sum(n for (_, name, v), n in chosen.items() if name == label and v is verdict)
            precision = right / judged if judged else 1.0
            print(f"{language:<9} {verdict.value:<9} {precision:>9.2f} {right / labelled:>7.2f}")
            # doubt is allowed, error is not
            assert precision == 1.0
            if language == "all":
                assert right / labelled >= 0.7
