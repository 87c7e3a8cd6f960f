"""Give way to savers between the transactions of long work.

A save that meets a transaction of maintenance waits for it. While others write, work that holds the writer for a moment
rests thirty times as long, so that few of their saves meet it; in a quiet store it hardly rests.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

REST_SHARE = 0.5
REST_MAX_S = 0.05
REST_SHARE_AMONG_OTHERS = 30.0
REST_MAX_AMONG_OTHERS_S = 0.5
ATTENTIVE_S = 2.0
"""How long after somebody else's write the store counts as used by others."""


class Yielding:
    """Rests after each ``with`` block.

    Args:
        others: A number that changes whenever somebody else has written (``LifecycleStore.writes_of_others``).
    """

    def __init__(self, others: Callable[[], int]) -> None:
        self._others = others
        self._seen = others()
        self._last_other = float("-inf")
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        now = time.monotonic()
        seen = self._others()
        if seen != self._seen:
            self._seen, self._last_other = seen, now
        took_s = now - self._began
        if now - self._last_other < ATTENTIVE_S:
            time.sleep(min(took_s * REST_SHARE_AMONG_OTHERS, REST_MAX_AMONG_OTHERS_S))
        else:
            time.sleep(min(took_s * REST_SHARE, REST_MAX_S))
