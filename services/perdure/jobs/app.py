"""The Celery app: how tasks travel and how soon a dead worker's task is done by another.

Knows Celery's settings; knows nothing of what a job does. The truth about jobs is in the store: a message is
only a nudge, so losing or doubling one is harmless. Measurements behind the numbers: docs/explanation/jobs.md.
"""

from __future__ import annotations

from pathlib import Path

from celery import Celery

RUN_JOB = "perdure.run_job"
TICK = "perdure.tick"
QUEUE_INTERACTIVE = "interactive"
QUEUE_MAINTENANCE = "maintenance"
TICK_PERIOD_S = 10.0


def make_app(broker_url: str, *, visibility_timeout_s: int, schedule_file: Path | None = None) -> Celery:
    """A Celery app bound to ``broker_url``.

    Args:
        broker_url: ``redis+socket:///path`` or any Redis URL.
        visibility_timeout_s: Seconds after which a dead worker's unacknowledged message goes to another worker.
        schedule_file: Where beat keeps its last run times; None for processes that do not run beat.
    """
    app = Celery("perdure", broker=broker_url, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        task_serializer="json",
        result_serializer="json",
        task_ignore_result=True,
        # The broker keeps the message until the task is done, also when the worker is killed meanwhile.
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        task_default_queue=QUEUE_MAINTENANCE,
        task_create_missing_queues=True,
        task_track_started=False,
        task_store_errors_even_if_ignored=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_max_memory_per_child=400_000,  # KiB; a leak ends with the child
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_retry=True,
        broker_connection_max_retries=None,
        # With kombu's defaults (10 x 10 s) a killed worker's task came back after 92.8 s, with these after 21.3 s.
        broker_transport_options={
            "visibility_timeout": visibility_timeout_s,
            "unacked_restore_interval": 2,
            "unacked_restore_throttle": 1,
            "socket_timeout": 10,
            "socket_connect_timeout": 2,
            "retry_on_timeout": True,
            "max_retries": 2,
        },
        task_publish_retry=False,  # the outbox is the retry
        enable_utc=True,
        timezone="UTC",
        beat_max_loop_interval=TICK_PERIOD_S,
        beat_schedule={
            "tick": {
                "task": TICK,
                "schedule": TICK_PERIOD_S,
                "options": {"expires": TICK_PERIOD_S, "queue": QUEUE_MAINTENANCE},
            },
        },
    )
    if schedule_file is not None:
        app.conf.beat_schedule_filename = str(schedule_file)
    return app
