"""What the gateway counts, for Prometheus. Labels are few and closed: never an id, a project or a token."""

from __future__ import annotations

from perdure.observability.metrics import CONTENT_TYPE, Metrics

__all__ = ["CONTENT_TYPE", "GatewayMetrics"]

METHODS = frozenset({"GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"})


class GatewayMetrics:
    """Counters of one gateway, in the metrics of its process."""

    def __init__(self, metrics: Metrics | None = None) -> None:
        self._metrics = metrics if metrics is not None else Metrics("gateway")
        self._requests = self._metrics.counter("requests_total", "Requests served.", ("method", "route", "status"))
        self._seconds = self._metrics.histogram(
            "request_duration_seconds", "Time from the request's head to the answer's end.", ("method", "route")
        )
        self._running = self._metrics.gauge("requests_running", "Requests being served.")
        self._tools = self._metrics.counter("tool_calls_total", "MCP tool calls.", ("tool", "outcome"))
        self._logins = self._metrics.counter("logins_total", "Tokens looked at.", ("outcome",))

    def begun(self) -> None:
        """Counts a request that came in."""
        self._running.inc()

    def served(self, method: str, route: str, status: int, seconds: float) -> None:
        """Counts an answer."""
        self._running.dec()
        method = method if method in METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def called(self, tool: str, outcome: str) -> None:
        """Counts a tool call: ok, refused or failed."""
        self._tools.labels(tool, outcome).inc()

    def login(self, outcome: str) -> None:
        """Counts a token: accepted, refused, missing or limited."""
        self._logins.labels(outcome).inc()

    def render(self) -> bytes:
        """The text that Prometheus reads."""
        return self._metrics.render()
