"""``python -m perdure.worker``: the Celery worker."""

from __future__ import annotations

import os
import sys
import warnings

from perdure import starting
from perdure.settings import Settings


def body(settings: Settings) -> None:
    """Run until a signal; SIGTERM lets the present task end first."""
    # JSON only: nothing that a message holds is ever run, so root in a container is no worse than elsewhere
    warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
    # read once, when numpy is loaded, so before the imports; with a thread a core a training takes three times the
    # processor time, most of it spent waiting for the other thread, and searches wait for it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from perdure.jobs.app import QUEUE_INTERACTIVE, QUEUE_MAINTENANCE, make_app
    from perdure.worker.tasks import register

    app = make_app(settings.broker_url, visibility_timeout_s=settings.visibility_timeout_s)
    register(app, settings)
    app.Worker(
        pool="prefork",
        concurrency=settings.worker_concurrency,
        queues=[QUEUE_INTERACTIVE, QUEUE_MAINTENANCE],
        loglevel="WARNING",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        hostname=f"perdure-{settings.port}@%h",
        optimization="fair",
        quiet=True,
    ).start()


if __name__ == "__main__":
    sys.exit(starting.run("worker", body))
