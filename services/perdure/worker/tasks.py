"""Celery tasks: one call each into a use case.

The store and the channels are opened after the fork (``worker_process_init``), never at import: a forked SQLite
connection or gRPC channel is broken in ways that show later.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any

import structlog
from celery.signals import worker_process_init, worker_process_shutdown

from perdure.jobs.app import RUN_JOB, TICK
from perdure.observability.logging import configure_logging
from perdure.worker.wiring import Parts, build

if TYPE_CHECKING:
    from celery import Celery

    from perdure.settings import Settings

log = structlog.get_logger()

SOFT_LIMIT_S = 6 * 3600
HARD_LIMIT_S = SOFT_LIMIT_S + 60
TICK_LIMIT_S = 30


def register(app: Celery, settings: Settings) -> None:
    """Give ``app`` its tasks, and open what they need in each worker process."""
    held: dict[str, Parts] = {}

    def parts() -> Parts:
        if "parts" not in held:
            group = f"{socket.gethostname()}:{os.getppid()}:"
            held["parts"] = build(settings, owner=f"{group}{os.getpid()}", group=group)
        return held["parts"]

    def opened(**_: Any) -> None:
        configure_logging(level=settings.log_level, fmt=settings.log_format, process="worker")
        parts()

    def closed(**_: Any) -> None:
        if kept := held.pop("parts", None):
            kept.close()

    # weak=False: the functions live as long as the app does
    worker_process_init.connect(opened, weak=False)
    worker_process_shutdown.connect(closed, weak=False)

    @app.task(name=RUN_JOB, soft_time_limit=SOFT_LIMIT_S, time_limit=HARD_LIMIT_S)  # type: ignore[untyped-decorator]  # celery ships no types
    def run_job(job_id: str) -> None:
        finished = parts().run_job(job_id)
        if finished is not None:
            log.info("job.finished", job_id=job_id, kind=finished.kind, state=finished.state, items=finished.done)

    @app.task(name=TICK, soft_time_limit=TICK_LIMIT_S, time_limit=2 * TICK_LIMIT_S)  # type: ignore[untyped-decorator]  # celery ships no types
    def tick() -> None:
        started = parts().tick()
        if started:
            log.info("tick.started", kinds=[str(kind) for kind in started])
