"""Runs the dispatch again and again in a thread of the maintenance service."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from perdure.errors import PerdureError
from perdure.usecases.dispatch import Dispatched

log = structlog.get_logger()

PERIOD_S = 0.5
PERIOD_AWAY_S = 3.0


class Dispatcher:
    """Calls ``dispatch`` every half second, and less often while the broker is away."""

    def __init__(self, dispatch: Callable[[], Dispatched]) -> None:
        self._dispatch = dispatch
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="perdure-dispatcher", daemon=True)
        self._away = False

    @property
    def broker_away(self) -> bool:
        """True while the last hand-over failed."""
        return self._away

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after the present round."""
        self._stop.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stop.wait(PERIOD_AWAY_S if self._away else PERIOD_S):
            try:
                answer = self._dispatch()
            except PerdureError as error:
                log.warning("outbox.dispatch_failed", reason=error.reason)
                continue
            if answer.broker_away != self._away:
                self._away = answer.broker_away
                log.warning("broker.went_away") if self._away else log.info("broker.came_back")
            if answer.sent or answer.resent:
                log.info("outbox.dispatched", events=answer.sent, resent=answer.resent)
