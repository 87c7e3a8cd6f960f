"""Give way to savers between the transactions of long work.

A save that meets a transaction of maintenance waits for it. Work that writes for a moment and then rests as long keeps
the writer free half of the time, and the store's retry finds it so.
"""

from __future__ import annotations

import time
from types import TracebackType

REST_SHARE = 1.0
REST_MAX_S = 0.05


class Yielding:
    """Rests after each ``with`` block for as long as the block took, 50 ms at most."""

    def __init__(self, share: float = REST_SHARE) -> None:
        self._share = share
        self._began = 0.0

    def __enter__(self) -> None:
        self._began = time.monotonic()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            time.sleep(min((time.monotonic() - self._began) * self._share, REST_MAX_S))
