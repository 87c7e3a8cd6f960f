"""The circuit breaker."""

from __future__ import annotations

import pytest

from perdure.embedding.breaker import Breaker
from perdure.errors import Reason, Unavailable


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def opened(clock: Clock, seen: list[float] | None = None) -> Breaker:
    breaker = Breaker(clock, on_change=(seen if seen is not None else []).append, failures=3, open_s=5.0)
    for _ in range(3):
        breaker.admit()
        breaker.failed()
    return breaker


def refused(breaker: Breaker) -> Unavailable:
    with pytest.raises(Unavailable) as caught:
        breaker.admit()
    assert caught.value.reason is Reason.CIRCUIT_OPEN
    return caught.value


def test_failures_in_a_row_open_it_and_it_says_when_to_come_back() -> None:
    assert refused(opened(Clock())).retry_after_s == 5.0


def test_a_success_between_failures_keeps_it_closed() -> None:
    breaker = Breaker(Clock(), failures=2)
    for _ in range(5):
        breaker.admit()
        breaker.failed()
        breaker.succeeded()
    breaker.admit()


def test_when_its_time_is_over_one_call_goes_through_on_trial() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now_s = 5.0
    breaker.admit()
    refused(breaker)


def test_a_trial_that_works_closes_it() -> None:
    clock, seen = Clock(), list[float]()
    breaker = opened(clock, seen)
    clock.now_s = 5.0
    breaker.admit()
    breaker.succeeded()
    breaker.admit()
    assert seen == [1.0, 0.5, 0.0]


def test_a_trial_that_fails_keeps_it_open_twice_as_long() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now_s = 5.0
    breaker.admit()
    breaker.failed()
    clock.now_s = 14.9
    refused(breaker)
    clock.now_s = 15.0
    breaker.admit()


def test_a_trial_that_says_nothing_leaves_the_next_call_on_trial() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now_s = 5.0
    breaker.admit()
    breaker.gave_up()
    breaker.admit()
