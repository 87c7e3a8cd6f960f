"""Writes the counts of deliveries every few seconds, off the request path."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from perdure.errors import PerdureError

log = structlog.get_logger()

PERIOD_S = 2.0


class UseFlusher:
    """Calls ``flush`` every ``period_s`` seconds in a thread of its own, and once more when it stops."""

    def __init__(self, flush: Callable[[], int], *, period_s: float = PERIOD_S) -> None:
        self._flush = flush
        self._period_s = period_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="perdure-uses", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Write what is left, then end."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(timeout=10)
        self._once()

    def _run(self) -> None:
        while not self._stop.wait(self._period_s):
            self._once()

    def _once(self) -> None:
        try:
            self._flush()
        except PerdureError as error:
            log.warning("uses.flush_failed", reason=error.reason)
