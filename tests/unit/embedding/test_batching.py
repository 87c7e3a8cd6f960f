"""Lanes: haste, joining, dropping, limits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from perdure.embedding.batching import Batcher, Caller, Lane, Work
from perdure.embedding.texts import Embedded, Kind
from perdure.errors import DeadlineExceeded, InvalidArgument, LimitExceeded, PerdureError, Reason, Unavailable
from support.embedding_fakes import metrics

WAIT_S = 20.0


class Compute:
    """Records batches; each waits for ``gate``. ``unusable`` texts are refused."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.batches: list[tuple[str, ...]] = []
        self.entered = threading.Semaphore(0)

    def __call__(self, works: Sequence[Work]) -> list[Embedded | PerdureError]:
        self.batches.append(tuple(work.text for work in works))
        self.entered.release()
        assert self.gate.wait(WAIT_S)
        if any(work.text == "unusable" for work in works):
            refused = InvalidArgument("not this one", reason=Reason.TEXT_UNUSABLE)
            return [refused] * len(works)
        return [Embedded(np.full(2, len(work.text), dtype=np.float32), False, 1) for work in works]

    def wait_entered(self) -> None:
        assert self.entered.acquire(timeout=WAIT_S)


@pytest.fixture
def compute() -> Compute:
    return Compute()


@pytest.fixture
def batcher(compute: Compute) -> Iterator[Batcher]:
    batcher = Batcher(compute, batch=dict.fromkeys(Lane, 4), observer=metrics(), queue_max=10)
    yield batcher
    compute.gate.set()
    batcher.close()


def caller(within_s: float = WAIT_S, alive: Callable[[], bool] = lambda: True) -> Caller:
    return Caller(time.monotonic() + within_s, alive)


def submit(batcher: Batcher, text: str, lane: Lane = Lane.SAVE, who: Caller | None = None) -> Work:
    kind = Kind.QUERY if lane is Lane.QUESTION else Kind.DOCUMENT
    return batcher.submit(text.encode(), kind, text, lane=lane, caller=who or caller())


def test_haste_follows_from_kind_and_background() -> None:
    assert Lane.of(Kind.QUERY, background=False) is Lane.QUESTION
    assert Lane.of(Kind.DOCUMENT, background=False) is Lane.SAVE
    assert Lane.of(Kind.DOCUMENT, background=True) is Lane.BACKGROUND


@pytest.mark.requirement("EMB-05")
def test_texts_that_wait_are_computed_together_up_to_the_limit(batcher: Batcher, compute: Compute) -> None:
    first = submit(batcher, "first")
    compute.wait_entered()
    rest = [submit(batcher, f"text {number}") for number in range(6)]
    compute.gate.set()
    for work in [first, *rest]:
        assert work.future.result(WAIT_S).vector[0] == len(work.text)
    assert compute.batches == [
        ("first",),
        ("text 0", "text 1", "text 2", "text 3"),
        ("text 4", "text 5"),
    ]


@pytest.mark.requirement("EMB-15")
def test_a_question_does_not_wait_behind_a_running_batch_of_background_work(batcher: Batcher, compute: Compute) -> None:
    submit(batcher, "slow", Lane.BACKGROUND)
    compute.wait_entered()
    submit(batcher, "question", Lane.QUESTION)
    compute.wait_entered()
    assert compute.batches == [("slow",), ("question",)]


def test_the_same_text_in_flight_is_computed_once_for_everybody(batcher: Batcher, compute: Compute) -> None:
    works = {submit(batcher, "same") for _ in range(5)}
    compute.wait_entered()
    works.add(submit(batcher, "same"))
    compute.gate.set()
    assert len(works) == 1
    assert works.pop().future.result(WAIT_S) is not None
    assert compute.batches == [("same",)]


def test_a_hastier_caller_moves_a_waiting_text_forward(batcher: Batcher, compute: Compute) -> None:
    submit(batcher, "slow", Lane.BACKGROUND)
    compute.wait_entered()
    patient = submit(batcher, "text", Lane.BACKGROUND)
    hasty = submit(batcher, "text", Lane.SAVE)
    compute.wait_entered()
    compute.gate.set()
    assert hasty is patient
    assert patient.future.result(WAIT_S) is not None
    assert compute.batches == [("slow",), ("text",)]


def test_a_text_whose_callers_are_gone_is_dropped_before_it_is_computed(batcher: Batcher, compute: Compute) -> None:
    here = [True]
    submit(batcher, "slow")
    compute.wait_entered()
    gone = submit(batcher, "gone", who=caller(alive=lambda: here[0]))
    late = submit(batcher, "late", who=caller(within_s=0.0))
    wanted = submit(batcher, "wanted")
    here[0] = False
    compute.gate.set()
    assert wanted.future.result(WAIT_S) is not None
    for work in (gone, late):
        with pytest.raises(DeadlineExceeded):
            work.future.result(WAIT_S)
    assert compute.batches == [("slow",), ("wanted",)]


def test_a_text_that_one_of_two_callers_still_wants_is_computed(batcher: Batcher, compute: Compute) -> None:
    submit(batcher, "slow")
    compute.wait_entered()
    submit(batcher, "text", who=caller(within_s=0.0))
    wanted = submit(batcher, "text")
    compute.gate.set()
    assert wanted.future.result(WAIT_S) is not None


def test_a_text_the_provider_refuses_fails_alone(batcher: Batcher, compute: Compute) -> None:
    submit(batcher, "slow")
    compute.wait_entered()
    works = [submit(batcher, text) for text in ("good", "unusable", "fine")]
    compute.gate.set()
    assert works[0].future.result(WAIT_S) is not None
    assert works[2].future.result(WAIT_S) is not None
    with pytest.raises(InvalidArgument):
        works[1].future.result(WAIT_S)


def test_a_full_lane_refuses_and_says_when_to_come_back(batcher: Batcher, compute: Compute) -> None:
    submit(batcher, "slow", Lane.BACKGROUND)
    compute.wait_entered()
    for number in range(10):
        submit(batcher, f"text {number}", Lane.BACKGROUND)
    with pytest.raises(LimitExceeded) as caught:
        submit(batcher, "one more", Lane.BACKGROUND)
    assert caught.value.reason is Reason.QUEUE_FULL
    assert caught.value.retry_after_s
    submit(batcher, "another lane", Lane.SAVE)


def test_a_defect_of_the_computation_reaches_the_callers_and_the_lane_lives_on() -> None:
    broken = [True]

    def compute(works: Sequence[Work]) -> list[Embedded | PerdureError]:
        if broken[0]:
            raise ZeroDivisionError
        return [Embedded(np.ones(2, dtype=np.float32), False, 1) for _ in works]

    batcher = Batcher(compute, batch=dict.fromkeys(Lane, 4), observer=metrics())
    with pytest.raises(ZeroDivisionError):
        submit(batcher, "text").future.result(WAIT_S)
    broken[0] = False
    assert submit(batcher, "text").future.result(WAIT_S) is not None
    batcher.close()


def test_closing_fails_what_waits_and_refuses_what_comes() -> None:
    compute = Compute()
    batcher = Batcher(compute, batch=dict.fromkeys(Lane, 4), observer=metrics())
    running = submit(batcher, "running")
    compute.wait_entered()
    waiting = submit(batcher, "waiting")
    threading.Timer(0.05, compute.gate.set).start()
    batcher.close()
    batcher.close()
    assert running.future.result(WAIT_S) is not None
    with pytest.raises(Unavailable):
        waiting.future.result(WAIT_S)
    with pytest.raises(Unavailable):
        submit(batcher, "late")
