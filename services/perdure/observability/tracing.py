"""Traces across gateway, gRPC and jobs: OpenTelemetry when an endpoint is set and its SDK is there, else nothing.

Without the SDK a caller's trace parent is still handed on, so that Perdure never breaks a trace it stands in.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import structlog

from perdure.observability import context

TRACEPARENT = "traceparent"

log = structlog.get_logger()


class Tracer(Protocol):
    """Makes spans and says what to hand to the next process."""

    def span(self, name: str, *, parent: str = "") -> AbstractContextManager[None]:
        """A span around the ``with`` block; ``parent`` is a W3C trace parent from another process, or empty."""

    def outgoing(self) -> str:
        """The trace parent for calls made now, or empty."""

    def close(self) -> None:
        """Sends what is left."""


class PassThrough:
    """Makes no spans; hands the caller's trace parent on."""

    @contextmanager
    def span(self, name: str, *, parent: str = "") -> Iterator[None]:  # noqa: ARG002 - the protocol's name
        """Remembers ``parent`` for calls made inside."""
        with context.bind(traceparent=parent):
            yield

    def outgoing(self) -> str:
        """The trace parent that came in, or empty."""
        return context.traceparent()

    def close(self) -> None:
        """Nothing to send."""


class OpenTelemetry:
    """Spans by the OpenTelemetry SDK, sent in batches to an OTLP endpoint."""

    def __init__(self, api: Any, propagation: Any, provider: Any) -> None:
        self._api = api
        self._propagation = propagation
        self._provider = provider
        self._tracer = provider.get_tracer("perdure")

    @contextmanager
    def span(self, name: str, *, parent: str = "") -> Iterator[None]:
        """A span, child of ``parent`` where one is given."""
        above = self._propagation.extract({TRACEPARENT: parent}) if parent else None
        # exceptions are logged, not attached: their messages could quote memory text
        with (
            self._tracer.start_as_current_span(
                name, context=above, record_exception=False, set_status_on_exception=False
            ),
            context.bind(traceparent=self.outgoing()),
        ):
            # bound, so that metadata of calls made inside carries it
            yield

    def outgoing(self) -> str:
        """The trace parent of the current span, or empty."""
        carrier: dict[str, str] = {}
        self._propagation.inject(carrier)
        return carrier.get(TRACEPARENT, "")

    def close(self) -> None:
        """Sends what is left."""
        self._provider.shutdown()


def make_tracer(endpoint: str, service: str, *, load: Callable[[str], Any] = importlib.import_module) -> Tracer:
    """The tracer of this process.

    Args:
        endpoint: ``settings.otlp_endpoint``; empty makes no spans.
        service: Name of the process.
        load: Finds a module by name; tests pass their own.

    Returns:
        ``PassThrough`` where there is no endpoint or no SDK (said once in the log), else ``OpenTelemetry``.
    """
    if not endpoint:
        return PassThrough()
    try:
        api = load("opentelemetry.trace")
        w3c = load("opentelemetry.trace.propagation.tracecontext")
        sdk = load("opentelemetry.sdk.trace")
        export = load("opentelemetry.sdk.trace.export")
        resources = load("opentelemetry.sdk.resources")
        otlp = load("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError as error:
        log.warning("tracing.skipped", reason="sdk_missing", module=error.name)
        return PassThrough()
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": f"perdure-{service}"}))
    url = endpoint if endpoint.rstrip("/").endswith("/v1/traces") else f"{endpoint.rstrip('/')}/v1/traces"
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter(endpoint=url)))
    return OpenTelemetry(api, w3c.TraceContextTextMapPropagator(), provider)


def traceparent_of(headers: Mapping[str, str]) -> str:
    """The trace parent in HTTP headers, metadata or task headers, or empty."""
    return headers.get(TRACEPARENT, "")
