"""Numbers of one process, named ``perdure_<part>_<thing>_<unit>`` and served in Prometheus' text format.

Knows no label that grows with users: ids, namespaces and texts are never labels.
"""

from __future__ import annotations

import http.server
import re
import socketserver
import threading
from collections.abc import Sequence
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

CONTENT_TYPE = CONTENT_TYPE_LATEST

DURATION_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

_PART = re.compile(r"[a-z][a-z0-9_]*\Z")
_FORBIDDEN_LABELS = frozenset({"id", "memory", "namespace", "token", "actor", "request_id", "job_id", "project"})


class Metrics:
    """The metrics of one process in a registry of their own. Safe for many threads.

    Args:
        part: The process: gateway, embedding, retrieval, maintenance, worker. Becomes part of every name.
    """

    def __init__(self, part: str) -> None:
        if not _PART.match(part):
            raise ValueError("a part's name is lower-case letters, digits and underscores")
        self._part = part
        self._registry = CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        self._lock = threading.Lock()
        ProcessCollector(registry=self._registry)

    @property
    def registry(self) -> CollectorRegistry:
        """The registry, for collectors of other libraries."""
        return self._registry

    def counter(self, name: str, about: str, labels: Sequence[str] = ()) -> Counter:
        """The counter ``perdure_<part>_<name>`` (``name`` ends in ``_total``); the same one when asked again."""
        with self._lock:
            if name not in self._counters:
                self._counters[name] = Counter(self._full(name, labels), about, labels, registry=self._registry)
            return self._counters[name]

    def gauge(self, name: str, about: str, labels: Sequence[str] = ()) -> Gauge:
        """The gauge ``perdure_<part>_<name>``; the same one when asked again."""
        with self._lock:
            if name not in self._gauges:
                self._gauges[name] = Gauge(self._full(name, labels), about, labels, registry=self._registry)
            return self._gauges[name]

    def histogram(
        self, name: str, about: str, labels: Sequence[str] = (), *, buckets: Sequence[float] = DURATION_BUCKETS_S
    ) -> Histogram:
        """The histogram ``perdure_<part>_<name>``; the same one when asked again."""
        with self._lock:
            if name not in self._histograms:
                self._histograms[name] = Histogram(
                    self._full(name, labels), about, labels, registry=self._registry, buckets=buckets
                )
            return self._histograms[name]

    def render(self) -> bytes:
        """Every metric in Prometheus' text format (``CONTENT_TYPE``)."""
        return generate_latest(self._registry)

    def _full(self, name: str, labels: Sequence[str]) -> str:
        if _FORBIDDEN_LABELS.intersection(labels):
            raise ValueError("a label that grows with users makes a metric grow without end")
        return f"perdure_{self._part}_{name}"


class Exposition:
    """Serves ``/metrics`` of one process over HTTP from a thread of its own, until closed.

    Args:
        metrics: What to serve.
        address: ``host:port`` (port 0 takes a free one) or ``unix:/path``; the socket gets mode 0600.
    """

    def __init__(self, metrics: Metrics, address: str) -> None:
        class Handler(_Handler):
            source = metrics

        self._path: Path | None = None
        if address.startswith("unix:"):
            self._path = Path(address.removeprefix("unix:"))
            self._path.unlink(missing_ok=True)
            self._server: socketserver.BaseServer = _UnixServer(str(self._path), Handler)
            self._path.chmod(0o600)
            self.port = 0
        else:
            host, _, port = address.rpartition(":")
            server = _TcpServer((host.strip("[]"), int(port)), Handler)
            self._server = server
            self.port = int(server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def expose(metrics: Metrics, *, port_base: int, offset: int, host: str = "127.0.0.1") -> Exposition | None:
    """Serves ``metrics`` on ``port_base + offset``, or not at all where ``port_base`` is 0.

    Args:
        metrics: What to serve.
        port_base: ``settings.metrics_port_base``.
        offset: The process's place: embedding 0, retrieval 1, maintenance 2, worker 3.
        host: Address to listen on.

    Raises:
        OSError: the port is taken.
    """
    return Exposition(metrics, f"{host}:{port_base + offset}") if port_base else None


class _Handler(http.server.BaseHTTPRequestHandler):
    source: Metrics
    timeout = 10.0

    def do_GET(self) -> None:
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404)
            return
        body = self.source.render()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: a scrape every few seconds is no event."""

    def address_string(self) -> str:
        return "scraper"


class _TcpServer(http.server.ThreadingHTTPServer):
    daemon_threads = True


class _UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
