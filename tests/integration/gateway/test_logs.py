"""Logs say what happened, never what was said."""

import io
import json

import pytest

from perdure.gateway.policy import Policy
from support.fake_backends import FakeServices
from support.gateway_client import gateway

CANARY = "canary-5d2e"


@pytest.mark.requirement("SKEL-03")
async def test_no_text_query_token_or_id_reaches_a_line(log: io.StringIO) -> None:
    services = FakeServices()
    token = services.access.add(f"pdr_a_{CANARY}", "acme")
    headers = {"Authorization": f"Bearer {token}"}
    async with gateway(services, Policy(local=False)) as client:
        said = {"content": CANARY, "project": CANARY, "tags": [CANARY], "key": CANARY}
        made = (await client.post("/memories", json=said, headers=headers)).json()
        await client.get(f"/memories/search?q={CANARY}&project={CANARY}", headers=headers)
        await client.get(f"/memories/{made['id']}", headers=headers)
        await client.get(f"/{CANARY}", headers=headers)
        await client.post("/memories", json={"content": [CANARY], CANARY: 1}, headers=headers)
        await client.post("/memories", content=CANARY, headers={**headers, "Content-Type": "application/json"})
        await client.get("/memories", headers={"Authorization": f"Bearer pdr_x_{CANARY}"})
        for arguments in ({"query": CANARY}, {"query": CANARY, "limit": CANARY}, {CANARY: CANARY}):
            question = {
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "memory_search", "arguments": arguments},
            }  # fmt: skip
            await client.post(
                "/mcp", json=question, headers={**headers, "Accept": "application/json, text/event-stream"}
            )
        services.memories.fails = RuntimeError(CANARY)
        assert (await client.get(f"/memories/search?q={CANARY}", headers=headers)).status_code == 500
    written = log.getvalue()
    assert "request.failed" in written
    assert CANARY not in written
    assert made["id"] not in written


async def test_each_request_has_one_line_with_its_facts(log: io.StringIO) -> None:
    async with gateway(FakeServices()) as client:
        await client.get("/memories/banana", headers={"X-Request-Id": "req-9"})
    (line,) = [
        value for text in log.getvalue().splitlines() if (value := json.loads(text))["event"] == "request.served"
    ]
    facts = {name: line[name] for name in ("request_id", "method", "route", "status", "namespace", "actor", "reason")}
    assert facts == {
        "request_id": "req-9",
        "method": "GET",
        "route": "/memories/{id}",
        "status": 404,
        "namespace": "default",
        "actor": "local",
        "reason": "memory_not_found",
    }
    assert line["duration_ms"] >= 0
