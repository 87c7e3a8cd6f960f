"""The provider for tests and benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

from perdure.domain.vectors import unit
from perdure.embedding.providers.deterministic import Deterministic
from perdure.embedding.texts import Kind
from perdure.errors import DeadlineExceeded, Unavailable


def vectors(*texts: str) -> np.ndarray:
    return unit(Deterministic().embed(texts, Kind.DOCUMENT, timeout_s=5.0))


def test_equal_texts_have_equal_vectors_in_every_process_and_on_both_sides() -> None:
    first, second = vectors("the harbour office", "the harbour office")
    assert np.array_equal(first, second)
    query = unit(Deterministic().embed(["the harbour office"], Kind.QUERY, timeout_s=5.0))[0]
    assert np.array_equal(first, query)
    assert int(np.flatnonzero(first)[0]) == int(np.flatnonzero(vectors("the harbour office")[0])[0])


def test_texts_that_share_words_are_nearer_than_texts_that_share_none() -> None:
    one, near, far = vectors("backups run at night", "backups run in the morning", "Ines likes yellow kitchens")
    assert one @ near > 0.3 > one @ far


def test_chinese_and_japanese_are_compared_by_character() -> None:
    one, near, far = vectors("测试环境每周重置", "测试环境每天重置", "会議の議事録")
    assert one @ near > 0.5 > one @ far


def test_a_text_without_words_has_a_vector_too() -> None:
    assert np.linalg.norm(vectors("!?")[0]) == pytest.approx(1.0)


def test_it_can_be_slower_than_its_caller_waits() -> None:
    with pytest.raises(DeadlineExceeded):
        Deterministic(delay_s=5.0).embed(["text"], Kind.QUERY, timeout_s=0.01)


def test_it_can_be_told_to_fail() -> None:
    with pytest.raises(Unavailable):
        Deterministic(failing=True).embed(["text"], Kind.QUERY, timeout_s=1.0)
