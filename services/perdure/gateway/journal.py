"""The outermost layer: request id in and out, one log line and one measurement a request, the last net for defects.

Logs method, route template, status, time, sizes and who called; never a path with its ids, a query, a body or a token.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import structlog
from starlette.datastructures import Headers, MutableHeaders

from perdure.domain.namespace import Caller
from perdure.gateway.errors import unexpected
from perdure.observability import context
from perdure.observability.tracing import traceparent_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from perdure.gateway.metrics import GatewayMetrics
    from perdure.observability.tracing import Tracer

REQUEST_ID = "perdure.request_id"
CALLER = "perdure.caller"
ROUTE = "perdure.route"
ERROR = "perdure.error"
UNMATCHED = "unmatched"


class Journal:
    """Pure ASGI middleware around everything else."""

    def __init__(self, app: ASGIApp, metrics: GatewayMetrics, tracer: Tracer) -> None:
        self._app = app
        self._tracer = tracer
        self._metrics = metrics
        self._log = structlog.get_logger("perdure.gateway")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request and write its line."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        request_id = scope[REQUEST_ID] = context.accepted_request_id(headers.get("x-request-id"))
        begun = time.perf_counter()
        status = 0
        sent_bytes = 0

        async def recording(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = request_id
            elif message["type"] == "http.response.body":
                sent_bytes += len(message.get("body", b""))
            await send(message)

        self._metrics.begun()
        facts: dict[str, object] = {}
        try:
            parent = traceparent_of(headers)
            with context.bind(request_id=request_id, traceparent=parent), self._tracer.span("http", parent=parent):
                await self._app(scope, receive, recording)
        except Exception as fault:
            # the outermost net: what reaches it is a defect of ours
            facts["error"] = type(fault).__name__
            self._log.exception("request.failed", request_id=request_id, route=_route(scope))
            if status == 0:
                await unexpected(request_id)(scope, receive, recording)
        finally:
            seconds = time.perf_counter() - begun
            route = _route(scope)
            self._metrics.served(scope["method"], route, status or 499, seconds)
            caller = scope.get(CALLER)
            if isinstance(caller, Caller):
                facts["namespace"] = caller.namespace
                facts["actor"] = caller.actor
            if ERROR in scope:
                facts["reason"] = scope[ERROR]
            write = self._log.debug if route in ("/healthz", "/metrics", "/readyz") else self._log.info
            write(
                "request.served",
                request_id=request_id,
                method=scope["method"],
                route=route,
                status=status or 499,
                duration_ms=round(seconds * 1000, 2),
                sent_bytes=sent_bytes,
                **facts,
            )


def _route(scope: Scope) -> str:
    given = scope.get(ROUTE)
    if isinstance(given, str):
        return given
    path = getattr(scope.get("route"), "path", None)
    return path if isinstance(path, str) else UNMATCHED
