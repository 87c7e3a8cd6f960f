"""Texts of many callers, computed together and in the order of their haste.

Three lanes with a thread each: questions, saves somebody waits for, and work nobody waits for. One loaded model serves
all three, so a question never waits behind a long batch; the last lane runs at a lower priority of the system, so it
takes only the time the others leave. Equal texts in flight are computed once. A text whose callers are all gone is
dropped before it is computed. Knows no gRPC and no cache.
"""

from __future__ import annotations

import contextlib
import enum
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, Protocol

from perdure.embedding.texts import Embedded, Kind
from perdure.errors import DeadlineExceeded, InvalidArgument, LimitExceeded, PerdureError, Reason, Unavailable

QUEUE_MAX: Final = 2048
"""Texts that may wait in one lane; about two minutes of the embedded model."""

_CLOSE_S: Final = 5.0

# a quarter of a busy core against three of a question; at 10 a busy machine leaves background work next to nothing
_BACKGROUND_NICENESS: Final = 5


class Lane(enum.IntEnum):
    """Haste; lower goes first."""

    QUESTION = 0
    SAVE = 1
    BACKGROUND = 2

    @staticmethod
    def of(kind: Kind, *, background: bool) -> Lane:
        """The lane of a request."""
        if background:
            return Lane.BACKGROUND
        return Lane.QUESTION if kind is Kind.QUERY else Lane.SAVE


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who waits: until when (``time.monotonic``), and whether still."""

    until: float
    alive: Callable[[], bool] = lambda: True

    def left_s(self) -> float:
        """Seconds until the deadline, >= 0; 0 where the caller is gone."""
        return max(0.0, self.until - time.monotonic()) if self.alive() else 0.0


@dataclass(eq=False, slots=True)
class Work:
    """One text to compute, and everybody who waits for it."""

    key: bytes
    kind: Kind
    text: str
    lane: Lane
    callers: list[Caller]
    future: Future[Embedded] = field(default_factory=Future)
    taken: bool = False

    def left_s(self) -> float:
        """The longest time that any of its callers still waits."""
        return max(caller.left_s() for caller in tuple(self.callers))


class Compute(Protocol):
    """Computes works of one kind. Answers one vector or error for each, in order."""

    def __call__(self, works: Sequence[Work]) -> list[Embedded | PerdureError]:
        """One outcome for each."""


class Observer(Protocol):
    """Is told what happens; for metrics."""

    def queued(self, lane: Lane, depth: int) -> None:
        """The lane's queue is that long now."""

    def computed(self, lane: Lane, texts: int, seconds: float) -> None:
        """A batch took that long."""

    def dropped(self, lane: Lane) -> None:
        """A text was dropped before it was computed."""


class Batcher:
    """The lanes and their threads, from construction until ``close``.

    Args:
        compute: What computes a batch; called from several threads at once.
        batch: Texts computed together at most, by lane.
        observer: Told of queues and batches.
        queue_max: Texts that may wait in one lane.
    """

    def __init__(
        self, compute: Compute, *, batch: dict[Lane, int], observer: Observer, queue_max: int = QUEUE_MAX
    ) -> None:
        self._compute = compute
        self._batch = batch
        self._observer = observer
        self._queue_max = queue_max
        self._queues: dict[Lane, deque[Work]] = {lane: deque() for lane in Lane}
        self._in_flight: dict[bytes, Work] = {}
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, args=(lane,), name=f"lane-{lane.name.lower()}", daemon=True)
            for lane in Lane
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, key: bytes, kind: Kind, text: str, *, lane: Lane, caller: Caller) -> Work:
        """Queues a text, or joins the same text where it is in flight; a hastier caller moves it forward.

        Raises:
            LimitExceeded: the lane is full (QUEUE_FULL).
            Unavailable: the batcher is closed.
        """
        with self._changed:
            if self._closed:
                raise Unavailable("The embedding service is stopping.", reason=Reason.EMBEDDER_AWAY, retry_after_s=1.0)
            work = self._in_flight.get(key)
            if work is not None:
                work.callers.append(caller)
                if work.taken or lane >= work.lane:
                    return work
                # it stays in the slower queue too, which skips it when it finds it taken
                work.lane = lane
            else:
                if len(self._queues[lane]) >= self._queue_max:
                    raise LimitExceeded(
                        "Too many texts wait to be embedded.",
                        reason=Reason.QUEUE_FULL,
                        details={"waiting": len(self._queues[lane])},
                        retry_after_s=2.0,
                    )
                work = Work(key, kind, text, lane, [caller])
                self._in_flight[key] = work
            self._queues[lane].append(work)
            self._observer.queued(lane, len(self._queues[lane]))
            self._changed.notify_all()
            return work

    def close(self) -> None:
        """Fails what waits, ends the threads; again is harmless."""
        with self._changed:
            self._closed = True
            # a work that was moved forward stands in two queues
            waiting = dict.fromkeys(work for queue in self._queues.values() for work in queue if not work.taken)
            for queue in self._queues.values():
                queue.clear()
            self._changed.notify_all()
        stopping = Unavailable("The embedding service is stopping.", reason=Reason.EMBEDDER_AWAY, retry_after_s=1.0)
        for work in waiting:
            self._finish(work, stopping)
        until = time.monotonic() + _CLOSE_S
        for thread in self._threads:
            thread.join(timeout=max(0.0, until - time.monotonic()))

    def _run(self, lane: Lane) -> None:
        if lane is Lane.BACKGROUND and sys.platform == "linux":
            # on Linux niceness is a thread's, and the engine's helpers inherit it
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _BACKGROUND_NICENESS)
        while (works := self._next(lane)) is not None:
            if not works:
                continue
            start = time.perf_counter()
            try:
                outcomes = self._compute_each(works)
            except Exception as error:  # a lane that died would leave its callers waiting for ever
                for work in works:
                    self._finish(work, error)
                continue
            # measured before the callers are told, so that a scrape after an answer has seen it
            self._observer.computed(lane, len(works), time.perf_counter() - start)
            for work, outcome in zip(works, outcomes, strict=True):
                self._finish(work, outcome)

    def _next(self, lane: Lane) -> list[Work] | None:
        """The next works of one kind that somebody wants, maybe none; None when closed."""
        queue = self._queues[lane]
        works: list[Work] = []
        unwanted: list[Work] = []
        with self._changed:
            while not queue and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            while queue and len(works) < self._batch[lane]:
                work = queue[0]
                if works and work.kind is not works[0].kind:
                    break
                queue.popleft()
                if work.taken or work.lane is not lane:
                    continue
                work.taken = True
                if work.left_s() > 0:
                    works.append(work)
                else:
                    # out of flight under the same lock, so that nobody joins it any more
                    self._in_flight.pop(work.key, None)
                    unwanted.append(work)
            self._observer.queued(lane, len(queue))
        for work in unwanted:
            self._observer.dropped(lane)
            self._finish(work, DeadlineExceeded("Nobody waited for this text any more.", reason=Reason.DEADLINE))
        return works

    def _compute_each(self, works: list[Work]) -> list[Embedded | PerdureError]:
        """Outcomes of a batch; a text the provider cannot take fails alone, not with its neighbours."""
        outcomes = self._compute(works)
        if len(works) > 1 and any(isinstance(outcome, InvalidArgument) for outcome in outcomes):
            return [self._compute([work])[0] for work in works]
        return outcomes

    def _finish(self, work: Work, outcome: Embedded | Exception) -> None:
        with self._changed:
            if self._in_flight.get(work.key) is work:
                del self._in_flight[work.key]
        if isinstance(outcome, Exception):
            work.future.set_exception(outcome)
        else:
            work.future.set_result(outcome)
