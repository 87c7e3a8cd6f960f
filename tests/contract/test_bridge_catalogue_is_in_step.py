"""What the bridge answers while the services start is what the gateway answers once they run."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from perdure.bridge.catalogue import collect
from perdure.bridge.local import CATALOGUE_FILE
from perdure.gateway.app import make_app
from perdure.gateway.catalogue import nobody
from perdure.gateway.policy import Policy
from support.gateway_client import client_of, running

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


async def answers() -> dict[str, dict[str, Any]]:
    app = make_app(nobody(), Policy())
    loop = asyncio.get_running_loop()

    async with running(app), client_of(app) as client:

        async def post(body: bytes, headers: dict[str, str]) -> Mapping[str, Any]:
            answer = await client.post("/mcp", content=body, headers={**HEADERS, **headers})
            text = answer.text
            if answer.headers["content-type"].startswith("text/event-stream"):
                text = next(line[6:] for line in text.splitlines() if line.startswith("data: "))
            value: dict[str, Any] = json.loads(text)
            return value

        def ask(body: bytes, headers: dict[str, str]) -> Mapping[str, Any]:
            return asyncio.run_coroutine_threadsafe(post(body, headers), loop).result(timeout=30)

        return await asyncio.to_thread(collect, ask)


@pytest.mark.requirement("BRIDGE-07")
async def test_the_shipped_catalogue_holds_the_gateways_own_answers() -> None:
    shipped = json.loads(CATALOGUE_FILE.read_text(encoding="utf-8"))
    assert await answers() == shipped, "run: python -m perdure.gateway.catalogue"
