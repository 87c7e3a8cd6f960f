"""A gRPC server of one service: threads, one address, health, an orderly end.

Knows nothing of what it serves; each servicer is mounted by its shell's wiring.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
import structlog
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from perdure.errors import FailedPrecondition, Unavailable
from perdure.observability.metrics import Metrics
from perdure.observability.tracing import PassThrough, Tracer
from perdure.wire.channel import MESSAGE_BYTES_MAX
from perdure.wire.interceptors import ServerInterceptor
from perdure.wire.listening import TAKEOVER_S, SocketClaim, socket_path

log = structlog.get_logger()

STOP_S = 5.0
"""Longest time calls get to end when the server stops."""

_OPTIONS = [
    ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
    ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
    ("grpc.so_reuseport", 0),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ("grpc.http2.max_ping_strikes", 0),
]


class RpcServer:
    """One server of one process.

    Args:
        name: The process: embedding, retrieval, maintenance. Names threads and log lines.
        listen: ``unix:/path`` (mode 0600) or ``host:port``; port 0 takes a free one.
        threads: Calls answered at the same time, >= 1.
        internal_token: Secret every caller must send; empty only on a unix socket.
        metrics: Where calls are counted.
        tracer: Makes the span of a call.
        takeover_s: Longest wait for a predecessor on the same socket that is still ending.

    Raises:
        FailedPrecondition: TCP without an internal token.
        InvalidArgument: ``listen`` is malformed.
    """

    def __init__(
        self,
        *,
        name: str,
        listen: str,
        threads: int,
        internal_token: str,
        metrics: Metrics,
        tracer: Tracer | None = None,
        takeover_s: float = TAKEOVER_S,
    ) -> None:
        self._path = socket_path(listen)
        if self._path is None and not internal_token:
            raise FailedPrecondition(
                "A service that listens on TCP needs PERDURE_INTERNAL_TOKEN; without it anybody could call it.",
                details={"listen": listen},
            )
        self._name = name
        self._listen = listen
        self._takeover_s = takeover_s
        self._claim: SocketClaim | None = None
        self._ended = threading.Event()
        self._threads = futures.ThreadPoolExecutor(max_workers=threads, thread_name_prefix=f"rpc-{name}")
        interceptor = ServerInterceptor(metrics=metrics, tracer=tracer or PassThrough(), internal_token=internal_token)
        self._server = grpc.server(self._threads, interceptors=(interceptor,), options=_OPTIONS)
        self._health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self._services: list[str] = []
        self.port = 0

    def mount(self, add: Callable[[Any, Any], None], servicer: object, service: str, *, serving: bool = True) -> None:
        """Adds a servicer; before ``start`` only.

        Args:
            add: The generated ``add_…Servicer_to_server``.
            servicer: What answers.
            service: The service's full name, for its health.
            serving: Its health at first.
        """
        add(servicer, self._server)
        self._services.append(service)
        self.set_serving(serving, service)

    def set_serving(self, serving: bool, service: str) -> None:
        """Says in grpc.health.v1 whether ``service`` can work; the whole ("") can once it listens."""
        state = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        self._health.set(service, state)

    def start(self) -> None:
        """Listens and answers.

        Raises:
            Unavailable: the address is taken.
            FailedPrecondition: something that is not a socket lies at the path.
        """
        if self._path is not None:
            self._claim = SocketClaim(self._path, wait_s=self._takeover_s)
            self._bind_socket(self._path)
        else:
            self.port = self._bind(self._listen)
        self._server.start()
        self.set_serving(True, "")
        log.info("server.started", listen=self._address(), services=self._services)

    def stop(self, grace_s: float = STOP_S) -> None:
        """Takes no more calls, lets those that run end within ``grace_s``, cancels the rest. Again is harmless."""
        if self._ended.is_set():
            return
        self._health.enter_graceful_shutdown()
        self._server.stop(grace_s).wait()
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._claim is not None:
            self._claim.close()
            self._claim = None
        self._ended.set()
        log.info("server.stopped", listen=self._address())

    def run_until_signal(self) -> None:
        """Starts, waits for SIGTERM or SIGINT, stops. The main thread's business."""
        asked = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: asked.set())
        self.start()
        try:
            asked.wait()
        finally:
            self.stop()

    def _bind_socket(self, path: Path) -> None:
        # the mask is the process's; a file another thread makes meanwhile only gets tighter rights
        mask = os.umask(0o177)
        try:
            self._bind(f"unix:{path}")
        finally:
            os.umask(mask)
        path.chmod(0o600)

    def _bind(self, address: str) -> int:
        try:
            port: int = self._server.add_insecure_port(address)
        except RuntimeError:
            port = 0
        if not port:
            if self._claim is not None:
                self._claim.close()
                self._claim = None
            raise Unavailable("The address is taken, or may not be listened on.", details={"listen": address})
        return port

    def _address(self) -> str:
        return self._listen if self._path is not None else f"{self._listen.rpartition(':')[0]}:{self.port}"


def serve(server: RpcServer, *, on_stop: Callable[[], None] | None = None) -> None:
    """Runs ``server`` until SIGTERM or SIGINT, then calls ``on_stop`` (close the store, channels, caches)."""
    try:
        server.run_until_signal()
    finally:
        if on_stop is not None:
            on_stop()
