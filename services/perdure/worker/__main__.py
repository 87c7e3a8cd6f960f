"""``python -m perdure.worker``: the Celery worker."""

from __future__ import annotations

from perdure import settings as settings_module
from perdure.jobs.app import QUEUE_INTERACTIVE, QUEUE_MAINTENANCE, make_app
from perdure.observability.logging import configure_logging
from perdure.worker.tasks import register


def main() -> None:
    """Run until a signal; SIGTERM lets the present task end first."""
    settings = settings_module.load()
    configure_logging(level=settings.log_level, fmt=settings.log_format, process="worker")
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
    main()
