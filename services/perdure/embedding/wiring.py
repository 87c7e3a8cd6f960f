"""Builds the embedding service from its settings."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np
import structlog

from perdure.domain.vectors import Space, Thresholds
from perdure.embedding import calibration, choice
from perdure.embedding.cache import VectorCache
from perdure.embedding.cachefile import CacheFile
from perdure.embedding.engine import Engine, compute, with_thresholds
from perdure.embedding.loading import Loader
from perdure.embedding.metrics import EmbeddingMetrics
from perdure.embedding.providers import UNCALIBRATED, Provider
from perdure.embedding.servicer import SERVICE, EmbeddingServicer
from perdure.errors import PerdureError
from perdure.observability.metrics import Metrics, expose
from perdure.rpc.embedding.v1.embedding_pb2_grpc import add_EmbeddingServiceServicer_to_server
from perdure.settings import Settings
from perdure.wire.server import RpcServer

log = structlog.get_logger()

CACHE_FOLDER = "embedding-cache"

CALIBRATION_S = 120.0
"""Longest time that deriving the thresholds of a new space may take."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The server and what ends with it."""

    server: RpcServer
    loader: Loader
    metrics: Metrics
    close: Callable[[], None]


def build(settings: Settings) -> Parts:
    """The service, not started; the loader starts with ``loader.start()``."""
    registry = Metrics("embedding")
    metrics = EmbeddingMetrics(registry)
    server = RpcServer(
        name="embedding",
        listen=settings.listen("embedding"),
        # they mostly wait; retrieval's saves alone can fill as many as it has itself, and a question must get in
        threads=2 * settings.grpc_threads,
        internal_token=settings.internal_token.get_secret_value(),
        metrics=registry,
    )

    def on_change(ready: bool) -> None:
        metrics.ready(ready=ready)
        server.set_serving(ready, SERVICE)

    loader = Loader(lambda: _engine(settings, metrics), on_change=on_change)
    server.mount(add_EmbeddingServiceServicer_to_server, EmbeddingServicer(loader), SERVICE, serving=False)
    exposition = expose(registry, port_base=settings.metrics_port_base, offset=0)

    def close() -> None:
        loader.close()
        if exposition is not None:
            exposition.close()

    return Parts(server, loader, registry, close)


def _engine(settings: Settings, metrics: EmbeddingMetrics) -> Engine:
    provider = choice.load(settings, metrics)
    space = provider.space
    if space.thresholds == UNCALIBRATED:
        try:
            space = with_thresholds(space, _thresholds(settings, provider))
        except PerdureError:
            provider.close()
            raise
    cache = VectorCache(settings.embedding_cache_bytes, _cache_file(settings, space))
    return Engine(provider, cache, metrics, batch=settings.embedding_batch, space=space)


def _thresholds(settings: Settings, provider: Provider) -> Thresholds:
    """The space's thresholds as derived before, or now."""
    folder, fingerprint = settings.home / CACHE_FOLDER, provider.space.fingerprint
    thresholds = calibration.kept(folder, fingerprint)
    if thresholds is None:
        until = time.monotonic() + CALIBRATION_S
        thresholds = calibration.derive(
            lambda texts, kind: np.stack(
                [each.vector for each in compute(provider, kind, texts, lambda: until - time.monotonic())]
            )
        )
        log.info("space.calibrated", space=fingerprint, **asdict(thresholds))
        try:
            calibration.keep(folder, fingerprint, thresholds)
        except OSError as error:
            log.warning("space.thresholds_not_kept", error=str(error))
    return thresholds


def _cache_file(settings: Settings, space: Space) -> CacheFile | None:
    """The persistent cache; None where it is turned off or cannot be had, which only costs time."""
    if not settings.embedding_disk_cache_bytes:
        return None
    try:
        return CacheFile(
            settings.home / CACHE_FOLDER, space.fingerprint, space.dimension, settings.embedding_disk_cache_bytes
        )
    except OSError as error:
        log.warning("cache.not_opened", error=str(error))
        return None
