"""The tools over MCP, both protocol eras, as clients see them."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from perdure.errors import Internal, Reason
from perdure.gateway.app import make_app
from perdure.gateway.policy import Policy
from support.fake_backends import FakeServices, away
from support.gateway_client import BASE, gateway, running

ERAS = ("auto", "legacy")
CORE = [
    "memory_sync",
    "memory_save",
    "memory_search",
    "memory_get",
    "memory_update",
    "memory_archive",
    "memory_checkpoint",
    "memory_stats",
    "memory_health",
]
HEADERS = {"Accept": "application/json, text/event-stream"}


@contextlib.asynccontextmanager
async def connected(
    services: FakeServices, era: str, *, policy: Policy | None = None, token: str = "", path: str = "/mcp"
) -> AsyncIterator[Client]:
    app = make_app(services.backends(), policy or Policy())
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        running(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url=BASE, headers=headers) as http,
        Client(streamable_http_client(f"{BASE}{path}", http_client=http), mode=era) as client,
    ):
        yield client


async def said(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.structured_content is None, "hosts show either text or structure; the answer is text alone"
    (content,) = result.content
    assert content.type == "text"
    prefix = "ERROR: " if result.is_error else ""
    return prefix + content.text


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.requirement("MCP-01")
async def test_a_session_saves_finds_corrects_and_archives(era: str) -> None:
    services = FakeServices()
    async with connected(services, era) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == CORE
        assert "memory_search" in (client.instructions or "")
        saved = await said(
            client, "memory_save", content="The API listens on port 3456.", project="perdure", key="port"
        )
        assert saved.startswith("Memory saved: ")
        memory = saved.split()[-1]
        again = await said(
            client, "memory_save", content="The API listens on port 3456.", project="perdure", key="port"
        )
        assert again.startswith("Already known") and memory in again

        found = await said(client, "memory_search", query="port", project="perdure")
        assert "1 memory found" in found
        assert "| The API listens on port 3456." in found
        for shown in (f'id="{memory}"', 'date="2026-11-03"', 'project="perdure"', 'provenance="save"', 'score="0.675"'):
            assert shown in found
        assert "not instructions" in found

        assert f"Memory updated: {memory} (revision 2)" == await said(
            client, "memory_update", id=memory, content="Port 4000."
        )
        assert "| Port 4000." in await said(client, "memory_get", id=memory)
        sync = await said(client, "memory_sync", project="perdure")
        assert "1 active memory" in sync and "perdure" in sync
        assert "Active 1" in await said(client, "memory_stats")
        assert memory in await said(client, "memory_archive", id=memory)
        assert "No memory matches" in await said(client, "memory_search", query="port 4000.")
        checkpoint = await said(
            client, "memory_checkpoint", task_summary="Done", problem="P", solution="S", concepts=["c"], project="p"
        )
        assert checkpoint.startswith("Checkpoint saved: ")
        assert "Memory works." in await said(client, "memory_health")
        assert (await client.list_prompts()).prompts == []
        assert (await client.list_resources()).resources == []
        (contents,) = (await client.read_resource(f"memory://{memory}")).contents
        assert "| Port 4000." in contents.text  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.requirement("MCP-02")
async def test_mistakes_are_answers_a_model_can_act_on(era: str) -> None:
    services = FakeServices()
    async with connected(services, era) as client:
        assert "There is no argument 'quer'" in await said(client, "memory_search", quer="x")
        assert "'query' is missing" in await said(client, "memory_search")
        assert (await said(client, "memory_search", query="x", depth=7)).startswith("ERROR: ")
        assert "memory_search" in await said(client, "memory_get", id="banana")
        assert (await said(client, "forget_everything")).startswith("ERROR: There is no tool of this name")
        services.memories.fails = away()
        answer = await said(client, "memory_save", content="x")
        assert answer.startswith("ERROR: ") and "try again shortly" in answer
        services.states["retrieval"] = "not ready"
        assert "retrieval: not ready" in await said(client, "memory_health")


@pytest.mark.parametrize("era", ERAS)
async def test_a_defect_is_a_protocol_error_with_its_cause_withheld(era: str) -> None:
    services = FakeServices()
    services.memories.fails = Internal("secret cause", reason=Reason.UNEXPECTED)
    async with connected(services, era) as client:
        with pytest.raises(Exception, match="request id") as caught:
            await client.call_tool("memory_stats", {})
    assert "secret cause" not in str(caught.value)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.requirement("ACCESS-07")
async def test_two_tokens_in_one_process_never_mix(era: str) -> None:
    services = FakeServices()
    tokens = {name: services.access.add(f"pdr_{name}_1", name) for name in ("acme", "bolt")}
    app = make_app(services.backends(), Policy(local=False))
    async with contextlib.AsyncExitStack() as stack:
        await stack.enter_async_context(running(app))
        clients = {}
        for name, token in tokens.items():
            http = await stack.enter_async_context(
                httpx2.AsyncClient(
                    transport=httpx2.ASGITransport(app=app), base_url=BASE, headers={"Authorization": f"Bearer {token}"}
                )
            )
            transport = streamable_http_client(f"{BASE}/mcp", http_client=http)
            clients[name] = await stack.enter_async_context(Client(transport, mode=era))
        ids = {}
        for name, client in clients.items():
            ids[name] = (await said(client, "memory_save", content=f"canary-{name} shared words")).split()[-1]
        for _ in range(5):
            for name, client in clients.items():
                other = "bolt" if name == "acme" else "acme"
                for text in (
                    await said(client, "memory_search", query="shared words canary", max_tokens=2000),
                    await said(client, "memory_sync"),
                    await said(client, "memory_stats"),
                ):
                    assert f"canary-{other}" not in text
                assert (await said(client, "memory_get", id=ids[other])).startswith("ERROR: ")
                assert (await said(client, "memory_archive", id=ids[other])).startswith("ERROR: ")
                with pytest.raises(Exception, match="no memory"):
                    await client.read_resource(f"memory://{ids[other]}")


async def test_a_memory_remembers_which_program_it_was_said_in() -> None:
    services = FakeServices()
    async with connected(services, "auto") as client:
        await said(client, "memory_save", content="x")
    (memory,) = services.memories.rows.values()
    assert memory.origin.host


@pytest.mark.requirement("ACCESS-05")
async def test_scopes_are_enforced_on_each_tool() -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_1", "acme", "read")
    async with connected(services, "auto", policy=Policy(local=False), token=token) as client:
        assert "scope 'write'" in await said(client, "memory_save", content="x")
        assert "No memory matches" in await said(client, "memory_search", query="x")
        assert "Memory works." in await said(client, "memory_health")


@pytest.mark.requirement("MCP-04")
async def test_more_toolsets_are_shown_when_asked_for_and_only_then_work() -> None:
    services = FakeServices()
    async with connected(services, "auto", path="/mcp?toolsets=core,curation") as client:
        assert [tool.name for tool in (await client.list_tools()).tools][9:] == [
            "memory_list", "memory_history", "memory_restore", "memory_purge",
        ]  # fmt: skip
        memory = (await said(client, "memory_save", content="one")).split()[-1]
        await said(client, "memory_update", id=memory, content="two")
        assert "| one" in await said(client, "memory_history", id=memory)
        assert "| one" in await said(client, "memory_list")
        await said(client, "memory_archive", id=memory)
        assert "restored" in await said(client, "memory_restore", id=memory)
        assert "erased" in await said(client, "memory_purge", id=memory)
    async with connected(services, "auto") as client:
        assert "There is no tool of this name" in await said(client, "memory_purge", id=memory)
    async with connected(services, "auto", policy=Policy(toolsets=("all",))) as client:
        assert len((await client.list_tools()).tools) == 42


@pytest.mark.requirement("MCP-07")
async def test_the_endpoint_has_no_redirect_and_needs_no_initialize() -> None:
    question = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    async with gateway(FakeServices()) as client:
        for path in ("/mcp", "/mcp/"):
            answer = await client.post(path, json=question, headers={**HEADERS, "Mcp-Session-Id": "stale"})
            assert answer.status_code == 200
            assert "mcp-session-id" not in answer.headers
        length = len(answer.text.split("data: ", 1)[1].strip())
    assert length <= 8 * 1024


async def test_lists_may_be_cached_and_modern_errors_keep_their_codes() -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {**HEADERS, "MCP-Protocol-Version": "2026-07-28"}

    def asked(method: str, **params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta, **params}}

    async with gateway(FakeServices()) as client:
        for method in ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list"):
            answer = await client.post("/mcp", json=asked(method), headers={**headers, "Mcp-Method": method})
            result = answer.json()["result"]
            assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (300_000, "public", "complete")
        listen = await client.post(
            "/mcp", json=asked("subscriptions/listen", notifications={}),
            headers={**headers, "Mcp-Method": "subscriptions/listen"},
        )  # fmt: skip
        assert (listen.status_code, listen.json()["error"]["code"]) == (404, -32601)
        mismatch = await client.post("/mcp", json=asked("tools/list"), headers={**headers, "Mcp-Method": "ping"})
        assert (mismatch.status_code, mismatch.json()["error"]["code"]) == (400, -32020)
        uri = "memory://01900000-0000-7000-8000-00000000dead"
        missing = await client.post(
            "/mcp", json=asked("resources/read", uri=uri),
            headers={**headers, "Mcp-Method": "resources/read", "Mcp-Name": uri},
        )  # fmt: skip
        assert missing.json()["error"]["code"] == -32602
        padded = {**headers, "Mcp-Method": "tools/call", "Mcp-Name": "  memory_health\t"}
        called = await client.post("/mcp", json=asked("tools/call", name="memory_health", arguments={}), headers=padded)
        assert called.status_code == 200, "white space around a header's value is not part of it"
        batch = await client.post("/mcp", json=[asked("tools/list")], headers={**headers, "Mcp-Method": "tools/list"})
        assert batch.status_code == 400
