"""A client that asks to read only gets no tool that writes, whatever its token allows, over MCP and REST."""

import contextlib
from collections.abc import AsyncIterator

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from perdure.gateway.app import make_app
from perdure.gateway.policy import Policy
from perdure.gateway.tools.catalogue import CARDS
from support.fake_backends import FakeServices
from support.gateway_client import BASE, gateway, running

READING = ["memory_sync", "memory_search", "memory_get", "memory_stats", "memory_health"]
ASKED = {
    "by the address": ("/mcp?readonly=1", {}),
    "by the address, without a value": ("/mcp/?readonly", {}),
    "by a header": ("/mcp", {"Perdure-Readonly": "1"}),
}


@contextlib.asynccontextmanager
async def connected(
    services: FakeServices,
    path: str,
    headers: dict[str, str],
    *,
    era: str = "auto",
    policy: Policy | None = None,
) -> AsyncIterator[Client]:
    app = make_app(services.backends(), policy or Policy())
    async with (
        running(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=BASE, headers=headers) as http,
        Client(streamable_http_client(f"{BASE}{path}", http_client=http), mode=era) as client,
    ):
        yield client


async def said(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, dict(arguments))
    (content,) = result.content
    assert content.type == "text"
    return ("ERROR: " if result.is_error else "") + content.text


@pytest.mark.parametrize("era", ["auto", "legacy"])
@pytest.mark.parametrize("way", ASKED)
@pytest.mark.requirement("I4-READONLY-01")
async def test_tools_that_write_are_not_listed_not_asked_for_and_not_carried_out(way: str, era: str) -> None:
    services = FakeServices()
    path, headers = ASKED[way]
    async with connected(services, path, headers, era=era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == READING
        assert "memory_search" in (client.instructions or "")
        for name in ("memory_save", "memory_update", "memory_checkpoint", "memory_archive"):
            assert name not in (client.instructions or "")
        refused = await said(client, "memory_save", content="We use Postgres 16.")
        assert refused == "ERROR: This connection only reads (readonly), so memory_save is not carried out."
        assert "No memory matches" in await said(client, "memory_search", query="x")
        assert "Memory works." in await said(client, "memory_health")
    assert services.memories.rows == {}


@pytest.mark.requirement("I4-READONLY-01")
async def test_no_tool_of_any_toolset_that_writes_is_carried_out() -> None:
    services = FakeServices()
    async with connected(services, "/mcp?toolsets=all&readonly=1", {}) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert {"memory_list", "memory_history"} <= set(listed)
        assert all(CARDS[name].read_only for name in listed)
        for card in CARDS.values():
            if not card.read_only:
                assert "only reads" in await said(client, card.name)
    assert services.memories.rows == {}


async def test_a_token_that_may_only_read_is_shown_what_it_may_do() -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_1", "acme", "read")
    headers = {"Authorization": f"Bearer {token}"}
    async with connected(services, "/mcp", headers, policy=Policy(local=False)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == READING
        assert "scope 'write'" in await said(client, "memory_save", content="x")


@pytest.mark.requirement("I4-READONLY-02")
async def test_asking_for_more_than_a_token_allows_widens_nothing() -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_1", "acme", "read")
    headers = {"Authorization": f"Bearer {token}", "Perdure-Readonly": "0"}
    async with connected(services, "/mcp?readonly=0", headers, policy=Policy(local=False)) as client:
        assert "scope 'write'" in await said(client, "memory_save", content="x")
    strangers = services.access.add("pdr_b_1", "acme", "write")
    headers = {"Authorization": f"Bearer {strangers}"}
    async with connected(services, "/mcp?readonly=1", headers, policy=Policy(local=False)) as client:
        assert "scope 'read'" in await said(client, "memory_search", query="x")


async def test_no_is_no() -> None:
    async with connected(FakeServices(), "/mcp?readonly=0", {"Perdure-Readonly": "off"}) as client:
        assert "memory_save" in [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.requirement("I4-READONLY-01")
async def test_the_header_narrows_rest_too() -> None:
    services = FakeServices()
    async with gateway(services) as client:
        body = {"content": "We use Postgres 16."}
        refused = await client.post("/memories", json=body, headers={"Perdure-Readonly": "1"})
        assert (refused.status_code, refused.json()["reason"]) == (403, "scope_missing")
        found = await client.get("/memories/search", params={"q": "x"}, headers={"Perdure-Readonly": "1"})
        assert found.status_code == 200
        assert (await client.get("/healthz", headers={"Perdure-Readonly": "1"})).status_code == 200
    assert services.memories.rows == {}
