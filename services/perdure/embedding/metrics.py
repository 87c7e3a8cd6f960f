"""The numbers of the embedding service."""

from __future__ import annotations

from perdure.embedding.batching import Lane
from perdure.observability.metrics import Metrics

_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class EmbeddingMetrics:
    """What lanes, cache, loading and breaker report.

    Args:
        metrics: The process's registry.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._depth = metrics.gauge("queue_depth_texts", "Texts that wait, by lane.", ("lane",))
        self._batch = metrics.histogram("batch_texts", "Texts computed together.", ("lane",), buckets=_SIZES)
        self._seconds = metrics.histogram("text_duration_seconds", "Time to compute one text.", ("lane",))
        self._dropped = metrics.counter("texts_dropped_total", "Texts nobody waited for any more.", ("lane",))
        self._lookups = metrics.counter("cache_lookups_total", "Look-ups in the cache, by outcome.", ("outcome",))
        self._retries = metrics.counter("provider_retries_total", "Calls to a remote provider made again.")
        self._breaker = metrics.gauge("breaker_open", "1 while calls to the provider are refused, 0.5 on trial.")
        self._ready = metrics.gauge("model_ready", "1 once the model is loaded.")

    def queued(self, lane: Lane, depth: int) -> None:
        """The lane's queue is that long now."""
        self._depth.labels(lane.name.lower()).set(depth)

    def computed(self, lane: Lane, texts: int, seconds: float) -> None:
        """A batch took that long."""
        self._batch.labels(lane.name.lower()).observe(texts)
        self._seconds.labels(lane.name.lower()).observe(seconds / texts)

    def dropped(self, lane: Lane) -> None:
        """A text was dropped before it was computed."""
        self._dropped.labels(lane.name.lower()).inc()

    def looked_up(self, *, hit: bool) -> None:
        """A vector was sought in the cache."""
        self._lookups.labels("hit" if hit else "miss").inc()

    def retried(self) -> None:
        """A call to a remote provider is made again."""
        self._retries.inc()

    def breaker(self, openness: float) -> None:
        """The breaker is closed (0), on trial (0.5) or open (1)."""
        self._breaker.set(openness)

    def ready(self, *, ready: bool) -> None:
        """The model is loaded, or not."""
        self._ready.set(1 if ready else 0)
