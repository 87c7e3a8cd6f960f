"""Work handed to other processes: the Celery app and the queue port's implementation."""
