"""Builds the gateway from its settings: the composition root."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from fastapi import FastAPI

from perdure.gateway.app import make_app
from perdure.gateway.backends import Backends, Probe
from perdure.gateway.metrics import GatewayMetrics
from perdure.gateway.policy import Policy
from perdure.observability.metrics import Metrics
from perdure.observability.tracing import make_tracer
from perdure.settings import Settings
from perdure.wire.aio import AsyncAccessClient, AsyncHealth, AsyncJobsClient, AsyncLifecycleClient, AsyncMemoryClient
from perdure.wire.aio_experience import AsyncExperienceClient

AUTHENTICATE_S = 5.0
"""A token is looked at before anything else; a caller does not wait long for it."""


def build(settings: Settings, policy: Policy) -> FastAPI:
    """The application; call it inside the running event loop, which the clients belong to."""
    token = settings.internal_token.get_secret_value()
    retrieval, maintenance = settings.target("retrieval"), settings.target("maintenance")
    memories = AsyncMemoryClient(retrieval, internal_token=token)
    access = AsyncAccessClient(retrieval, internal_token=token, timeout_s=AUTHENTICATE_S)
    jobs = AsyncJobsClient(maintenance, internal_token=token)
    lifecycle = AsyncLifecycleClient(maintenance, internal_token=token)
    experience = AsyncExperienceClient(maintenance, internal_token=token)
    health = {
        "retrieval": AsyncHealth(retrieval),
        "embedding": AsyncHealth(settings.target("embedding")),
        "maintenance": AsyncHealth(maintenance),
    }
    tracer = make_tracer(settings.otlp_endpoint, "gateway")

    async def close() -> None:
        async with AsyncExitStack() as closing:
            for client in (memories, access, jobs, lifecycle, experience, *health.values()):
                closing.push_async_callback(client.close)
            closing.callback(tracer.close)

    backends = Backends(
        memories=memories,
        access=access,
        jobs=jobs,
        lifecycle=lifecycle,
        experience=experience,
        probes={name: probe(client.check) for name, client in health.items()},
        close=close,
    )
    return make_app(backends, policy, metrics=GatewayMetrics(Metrics("gateway")), tracer=tracer)


def probe(check: Callable[[], Awaitable[bool]]) -> Probe:
    """How a dependency is, in a word."""

    async def ask() -> str:
        return "ready" if await check() else "not ready"

    return ask
