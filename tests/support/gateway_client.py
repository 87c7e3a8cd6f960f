"""A running gateway in this process, over fakes, and an HTTP client to it."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import httpx
from fastapi import FastAPI

from perdure.gateway.app import make_app
from perdure.gateway.policy import Policy
from support.fake_backends import FakeServices

BASE = "http://127.0.0.1:3456"


@contextlib.asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """The application's lifespan."""
    async with app.router.lifespan_context(app):
        yield


@contextlib.asynccontextmanager
async def gateway(
    services: FakeServices, policy: Policy | None = None, *, token: str = ""
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a gateway over ``services``."""
    app = make_app(services.backends(), policy or Policy())
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with running(app), client_of(app, headers) as client:
        yield client


def client_of(app: FastAPI, headers: dict[str, str] | None = None) -> httpx.AsyncClient:
    """A client of ``app``; errors of the application are raised in the test."""
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 50000))
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)
