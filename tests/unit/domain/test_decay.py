"""Weights that order memories of like relevance."""

from __future__ import annotations

import math

import pytest

from perdure.domain.decay import confidence_boost, decay_weight, frequency_boost, importance_boost
from perdure.errors import InvalidArgument, Reason


@pytest.mark.parametrize(
    ("confidence", "below_0_3", "below_0_1"),
    [
        pytest.param(0.5, 105, 200, id="save"),
        pytest.param(0.65, 149, 285, id="checkpoint"),
        pytest.param(0.85, 348, 665, id="debate"),
        pytest.param(0.95, 1043, 1994, id="human"),
    ],
)
def test_the_ages_at_which_a_memory_fades_are_as_documented(confidence: float, below_0_3: int, below_0_1: int) -> None:
    for threshold, day in ((0.3, below_0_3), (0.1, below_0_1)):
        assert decay_weight(day, confidence) < threshold <= decay_weight(day - 1, confidence)


@pytest.mark.requirement("SEARCH-14")
def test_a_save_is_worth_0_3_after_104_days_and_0_1_after_199() -> None:
    assert decay_weight(104, 0.5) == pytest.approx(0.3, abs=0.002)
    assert decay_weight(199, 0.5) == pytest.approx(0.1, abs=0.001)


def test_nothing_fades_on_the_day_it_is_used_nor_when_it_is_certain() -> None:
    assert decay_weight(0, 0.0) == 1.0
    assert decay_weight(10_000, 1.0) == 1.0


def test_a_weight_never_reaches_zero() -> None:
    assert decay_weight(1e9, 0.0) > 0.0


def test_boosts_are_the_documented_ones() -> None:
    assert frequency_boost(0) == 1.0
    assert frequency_boost(1) == pytest.approx(1.1)
    assert frequency_boost(1023) == pytest.approx(2.0)
    assert (confidence_boost(0.0), confidence_boost(0.5), confidence_boost(1.0)) == (0.5, 0.75, 1.0)
    assert (importance_boost(0.0), importance_boost(0.5), importance_boost(1.0)) == (0.5, 1.0, 1.5)


@pytest.mark.parametrize(
    ("idle_days", "confidence", "half_life_days"),
    [
        (-1, 0.5, 30),
        (math.nan, 0.5, 30),
        (math.inf, 0.5, 30),
        (1, -0.1, 30),
        (1, 1.1, 30),
        (1, math.nan, 30),
        (1, 0.5, 0),
    ],
)
def test_values_out_of_range_are_refused(idle_days: float, confidence: float, half_life_days: float) -> None:
    with pytest.raises(InvalidArgument) as caught:
        decay_weight(idle_days, confidence, half_life_days=half_life_days)
    assert caught.value.reason is Reason.OUT_OF_RANGE


def test_boosts_refuse_values_out_of_range() -> None:
    for call in (lambda: frequency_boost(-1), lambda: confidence_boost(2.0), lambda: importance_boost(math.nan)):
        with pytest.raises(InvalidArgument):
            call()
