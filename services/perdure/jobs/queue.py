"""``ports.JobQueue`` over Celery.

Knows how to nudge a worker; keeps no truth. A broker that is away is an ``Unavailable``: the outbox keeps the event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import kombu.exceptions
import redis.exceptions

from perdure.errors import Reason, Unavailable
from perdure.jobs.app import QUEUE_INTERACTIVE, QUEUE_MAINTENANCE, RUN_JOB
from perdure.ports import JobKind

if TYPE_CHECKING:
    from celery import Celery

_INTERACTIVE = {JobKind.EMBED_PENDING}
"""Jobs whose outcome somebody may be waiting for; they never queue behind a long one."""


class CeleryQueue:
    """Hands jobs to Celery workers, at least once."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def send(self, job_id: str, kind: JobKind) -> None:
        """Ask some worker to run the job.

        Raises:
            Unavailable: the broker is away (BROKER_AWAY).
        """
        queue = QUEUE_INTERACTIVE if kind in _INTERACTIVE else QUEUE_MAINTENANCE
        try:
            self._app.send_task(RUN_JOB, args=[job_id], queue=queue, ignore_result=True)
        except (kombu.exceptions.OperationalError, redis.exceptions.RedisError, OSError) as error:
            raise Unavailable(
                "The job broker does not answer; the job waits in the store until it does.",
                reason=Reason.BROKER_AWAY,
                details={"cause": type(error).__name__},
            ) from error
