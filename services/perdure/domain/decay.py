"""Loss of strength over time, and the other weights that order memories of like relevance.

Pure: the clock comes in as days. Formula and constants: docs/explanation/decay.md.
"""

from __future__ import annotations

import math

from perdure.errors import InvalidArgument, Reason

HALF_LIFE_DAYS = 30.0


def decay_weight(idle_days: float, confidence: float, *, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """What is left of a memory's weight after ``idle_days`` without use.

    Args:
        idle_days: Days since it was last delivered in full, >= 0.
        confidence: Belief that it is true, in [0, 1]; slows the decay.
        half_life_days: Days in which the weight halves at confidence 0, > 0.

    Returns:
        Weight in (0, 1]; never rises with idle_days.

    Raises:
        InvalidArgument: a value is out of its range.

    Source:
        NaN Forget README, "Scoring formula".
    """
    if not 0.0 <= idle_days < math.inf:
        raise _out_of_range("idle_days")
    if not 0.0 <= confidence <= 1.0:
        raise _out_of_range("confidence")
    if not half_life_days > 0.0:
        raise _out_of_range("half_life_days")
    weight: float = 0.5 ** (idle_days / half_life_days * (1.0 - confidence))
    return max(weight, math.ulp(0.0))


def frequency_boost(access_count: int) -> float:
    """How much use lifts a memory: 1 for none, 1.1 for one, 1.35 for ten; always >= 1.

    Raises:
        InvalidArgument: ``access_count`` is negative.
    """
    if access_count < 0:
        raise _out_of_range("access_count")
    return 1.0 + math.log2(access_count + 1) / 10.0


def confidence_boost(confidence: float) -> float:
    """How much belief lifts a memory: 0.5 at confidence 0, 1 at confidence 1.

    Raises:
        InvalidArgument: ``confidence`` is not in [0, 1].
    """
    if not 0.0 <= confidence <= 1.0:
        raise _out_of_range("confidence")
    return 0.5 + 0.5 * confidence


def importance_boost(importance: float) -> float:
    """How much importance lifts a memory: 0.5 at 0, 1 at the default 0.5, 1.5 at 1.

    Raises:
        InvalidArgument: ``importance`` is not in [0, 1].
    """
    if not 0.0 <= importance <= 1.0:
        raise _out_of_range("importance")
    return 0.5 + importance


def _out_of_range(field: str) -> InvalidArgument:
    return InvalidArgument(f"{field} is out of its range.", reason=Reason.OUT_OF_RANGE, details={"field": field})
