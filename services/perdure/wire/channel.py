"""How a process reaches a service: sizes, keepalive, reconnecting, retries.

A call that got no answer because its service restarts is made again by gRPC itself (service config). An answer is never
asked for twice: see ``errors.trailers``. Methods that must not run twice are not retried once they may have been sent;
``wait_until_ready`` lets them wait for a connection before they are sent instead.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

MESSAGE_BYTES_MAX = 64 * 1024 * 1024

RETRY_ATTEMPTS = 5
"""gRPC takes no more. With the back-off below a call lives through about 3 s of absence, if its deadline allows."""

_RETRY = {
    "maxAttempts": RETRY_ATTEMPTS,
    "initialBackoff": "0.2s",
    "maxBackoff": "1.6s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"],
}
# a search falls back to words and a save is embedded later: neither waits long for an embedder that is away
_RETRY_ONCE = {**_RETRY, "maxAttempts": 2, "initialBackoff": "0.1s"}

_MEMORY = "perdure.rpc.retrieval.v1.MemoryService"
_ACCESS = "perdure.rpc.retrieval.v1.AccessService"
_MAINTENANCE = "perdure.rpc.maintenance.v1.MaintenanceService"
NOT_REPEATABLE: tuple[tuple[str, str], ...] = (
    (_MEMORY, "Update"),
    (_MEMORY, "Archive"),
    (_MEMORY, "Restore"),
    (_MEMORY, "Purge"),
    (_MEMORY, "Import"),
    (_MAINTENANCE, "Consolidate"),
    (_MAINTENANCE, "Clean"),
    (_ACCESS, "CreateNamespace"),
    (_ACCESS, "CreateToken"),
    (_ACCESS, "RevokeToken"),
)
"""Methods whose second run answers otherwise than their first. Saves are not among them: said again, a text is found to
be there already."""

READY_WAIT_S = 3.0
"""Longest wait for a connection before a call that must not run twice."""


def options(*, retry_once: bool = False) -> list[tuple[str, Any]]:
    """Channel options; ``retry_once`` for callers that have something else to do when the service is away."""
    config = {
        "methodConfig": [
            {"name": [{}], "retryPolicy": _RETRY_ONCE if retry_once else _RETRY},
            {"name": [{"service": service, "method": method} for service, method in NOT_REPEATABLE]},
        ]
    }
    return [
        ("grpc.service_config", json.dumps(config)),
        ("grpc.service_config_disable_resolution", 1),
        ("grpc.enable_retries", 1),
        # a batch of drafts must fit, or gRPC sends it once only
        ("grpc.per_rpc_retry_buffer_size", 16 * 1024 * 1024),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
        ("grpc.keepalive_time_ms", 30_000),
        ("grpc.keepalive_timeout_ms", 5_000),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.max_send_message_length", MESSAGE_BYTES_MAX),
        ("grpc.max_receive_message_length", MESSAGE_BYTES_MAX),
        ("grpc.enable_http_proxy", 0),
    ]


def connect(target: str, *, retry_once: bool = False) -> grpc.Channel:
    """A channel for threads; make it after a fork, close it at the end.

    Args:
        target: ``unix:/path`` or ``host:port``.
        retry_once: See ``options``.
    """
    return grpc.insecure_channel(target, options=options(retry_once=retry_once))


def connect_aio(target: str, *, retry_once: bool = False) -> grpc.aio.Channel:
    """A channel for the running event loop; make it inside the loop, close it at the end.

    Args:
        target: ``unix:/path`` or ``host:port``.
        retry_once: See ``options``.
    """
    return grpc.aio.insecure_channel(target, options=options(retry_once=retry_once))


def wait_until_ready(channel: grpc.Channel, timeout_s: float) -> bool:
    """True once the service answers, False when it did not within ``timeout_s`` (at most ``READY_WAIT_S``)."""
    # asks for its health: watching a sync channel's state starts a thread that outlives the channel
    try:
        health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(), timeout=min(timeout_s, READY_WAIT_S), wait_for_ready=True
        )
    except grpc.RpcError as failed:
        return failed.code() not in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE)
    return True


async def wait_until_ready_aio(channel: grpc.aio.Channel, timeout_s: float) -> bool:
    """True once ``channel`` is connected, False when it was not within ``timeout_s`` (at most ``READY_WAIT_S``)."""
    if channel.get_state(try_to_connect=True) is grpc.ChannelConnectivity.READY:
        return True
    try:
        async with asyncio.timeout(min(timeout_s, READY_WAIT_S)):
            await channel.channel_ready()
    except TimeoutError:
        return False
    return True


def is_local(target: str) -> bool:
    """True where ``target`` is a unix socket."""
    return target.startswith(("unix:", "unix-abstract:"))
