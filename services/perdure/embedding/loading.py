"""The model on its way: loaded in the background, again after a failure, named while it is not there.

The service listens before its model is loaded, so that nobody waits at a handshake; until then calls are refused with a
time after which to try again.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from perdure.embedding.engine import Engine
from perdure.errors import PerdureError, Reason, Unavailable

log = structlog.get_logger()

_RETRY_S: Final = (1.0, 2.0, 5.0, 10.0, 30.0)
_LOADING_RETRY_AFTER_S: Final = 0.5


class State(enum.StrEnum):
    """How the provider is doing."""

    LOADING = "loading"
    READY = "ready"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Status:
    """The state and a sentence about it; the engine once it is ready."""

    state: State
    detail: str = ""
    error: PerdureError | None = None
    engine: Engine | None = None


class Loader:
    """Loads the engine in a thread of its own from ``start`` on, until it succeeds or is closed.

    Args:
        load: Builds the engine; slow; raises where it cannot.
        on_change: Told whether the engine is ready, after each change.
        retry_s: Waits between attempts; the last one repeats.
    """

    def __init__(
        self,
        load: Callable[[], Engine],
        *,
        on_change: Callable[[bool], None] = lambda _ready: None,
        retry_s: tuple[float, ...] = _RETRY_S,
    ) -> None:
        self._load = load
        self._on_change = on_change
        self._retry_s = retry_s
        self._status = Status(State.LOADING, "The model is loading.")
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="model-loader", daemon=True)

    @property
    def status(self) -> Status:
        """How it is going."""
        return self._status

    def start(self) -> None:
        """Begin to load."""
        self._thread.start()

    def engine(self) -> Engine:
        """The loaded engine.

        Raises:
            Unavailable: it is loading (EMBEDDER_LOADING) or could not be loaded (EMBEDDER_AWAY, details: cause).
        """
        status = self._status
        if status.engine is not None:
            return status.engine
        if status.error is None:
            raise Unavailable(
                "The embedding model is loading.",
                reason=Reason.EMBEDDER_LOADING,
                retry_after_s=_LOADING_RETRY_AFTER_S,
            )
        raise Unavailable(
            status.detail,
            reason=Reason.EMBEDDER_AWAY,
            details={"cause": status.error.reason.value},
            retry_after_s=self._retry_s[-1],
        )

    def close(self) -> None:
        """Stop trying; close the engine where there is one."""
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join(timeout=10.0)
        with self._lock:
            engine, self._status = self._status.engine, Status(State.LOADING, "The service is stopping.")
        if engine is not None:
            engine.close()

    def _run(self) -> None:
        attempt = 0
        while not self._closed.is_set():
            try:
                engine = self._load()
            except Exception as error:  # whatever is wrong with a model, the service must answer and name it
                self._failed(error)
                self._closed.wait(self._retry_s[min(attempt, len(self._retry_s) - 1)])
                attempt += 1
                continue
            with self._lock:
                if not self._closed.is_set():
                    self._status = Status(State.READY, engine=engine)
                    log.info("model.loaded", space=engine.space.fingerprint, dimension=engine.space.dimension)
                    self._on_change(True)
                    return
            engine.close()

    def _failed(self, error: Exception) -> None:
        known = error if isinstance(error, PerdureError) else None
        detail = known.message if known else f"The embedding model could not be loaded ({type(error).__name__})."
        first = self._status.detail != detail
        self._status = Status(State.FAILING, detail, known or Unavailable(detail, reason=Reason.UNEXPECTED))
        self._on_change(False)
        if first:
            log.error("model.load_failed", detail=detail, exc_info=error, **(known.details if known else {}))
