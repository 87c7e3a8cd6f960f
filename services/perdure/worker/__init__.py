"""The Celery worker and beat, and the local broker. Thin shells over ``usecases``."""
