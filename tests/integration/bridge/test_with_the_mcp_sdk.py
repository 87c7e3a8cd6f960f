"""The SDK's own client, over stdio, through a real bridge, to the SDK's own server over HTTP: both eras."""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import TextIO

import pytest

pytest.importorskip("mcp")
uvicorn = pytest.importorskip("uvicorn")

from mcp import Client, StdioServerParameters  # noqa: E402
from mcp.client.stdio import stdio_client  # noqa: E402
from mcp.server import MCPServer  # noqa: E402
from mcp.server.mcpserver import Context  # noqa: E402
from mcp.types import TextContent, ToolAnnotations  # noqa: E402

from support.bridge_process import COMMAND, environment  # noqa: E402

MODES = ["legacy", "auto", "2026-07-28"]


def memory_server(kept: list[str], slow: threading.Event) -> MCPServer:
    """Two tools that share what outlives a restart, one that reports progress, and one that hangs till cancelled."""
    server = MCPServer("perdure", version="1", instructions="Remember.", subscriptions=False)

    @server.tool(structured_output=False)
    def memory_save(content: str) -> str:
        kept.append(content)
        return f"Saved: {content}"

    @server.tool(structured_output=False, annotations=ToolAnnotations(read_only_hint=True))
    def memory_search(query: str) -> str:
        return "\n".join(text for text in kept if query in text) or "no match"

    @server.tool(structured_output=False)
    async def memory_import(context: Context) -> str:
        for done in range(3):
            await context.report_progress(done + 1, 3, f"part {done + 1}")
        return "imported"

    @server.tool(structured_output=False)
    async def memory_wait() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            slow.set()
            raise
        return "never"

    return server


class Gateway:
    """uvicorn in a thread; every start builds a new server, as a new process would."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.cancelled = threading.Event()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        app = memory_server(self.kept, self.cancelled).streamable_http_app(stateless_http=True)
        config = uvicorn.Config(app, port=self.port, log_level="critical", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(20)
            self._server = None


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    gateway = Gateway()
    gateway.start()
    yield gateway
    gateway.stop()


@pytest.fixture
def errors() -> Iterator[TextIO]:
    with tempfile.TemporaryFile("w+") as file:
        yield file


def through_the_bridge(gateway: Gateway, errors: TextIO):  # type: ignore[no-untyped-def]
    """A transport for ``Client``; the bridge may wait for uvicorn, so no test needs to."""
    variables = environment(
        PERDURE_URL=f"http://127.0.0.1:{gateway.port}", PERDURE_HOME=tempfile.gettempdir() + "/none"
    )
    return stdio_client(StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=variables), errors)


def text_of(result) -> str:  # type: ignore[no-untyped-def]
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


@pytest.mark.parametrize("mode", MODES)
async def test_tools_are_listed_and_called(gateway: Gateway, errors: TextIO, mode: str) -> None:
    async with Client(through_the_bridge(gateway, errors), mode=mode) as client:
        saved = await client.call_tool("memory_save", {"content": "Käse 🧀\nzweite Zeile"})
        assert text_of(saved) == "Saved: Käse 🧀\nzweite Zeile"
        assert "Käse" in text_of(await client.call_tool("memory_search", {"query": "Käse"}))
        names = [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]
        assert names == ["memory_save", "memory_search", "memory_import", "memory_wait", "memory_start"]


@pytest.mark.requirement("MCP-01")
async def test_the_eras_are_negotiated_as_without_a_bridge(gateway: Gateway, errors: TextIO) -> None:
    async with Client(through_the_bridge(gateway, errors)) as client:
        await client.call_tool("memory_search", {"query": "x"})
        assert client.protocol_version == "2026-07-28"
    async with Client(through_the_bridge(gateway, errors), mode="legacy") as client:
        await client.call_tool("memory_search", {"query": "x"})
        assert client.protocol_version == "2025-11-25"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.requirement("BRIDGE-09")
async def test_a_restart_between_two_calls_is_not_noticed(gateway: Gateway, errors: TextIO, mode: str) -> None:
    async with Client(through_the_bridge(gateway, errors), mode=mode) as client:
        await client.call_tool("memory_save", {"content": "before"})
        await asyncio.to_thread(gateway.stop)
        waiting = asyncio.create_task(client.call_tool("memory_save", {"content": "after"}))
        gateway.start()
        assert text_of(await waiting) == "Saved: after"
        assert gateway.kept == ["before", "after"]


@pytest.mark.parametrize("mode", MODES)
async def test_the_client_connects_while_the_gateway_is_still_away(errors: TextIO, mode: str) -> None:
    gateway = Gateway()
    try:
        async with Client(through_the_bridge(gateway, errors), mode=mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert "memory_save" in names
            gateway.start()
            assert text_of(await client.call_tool("memory_save", {"content": "first"})) == "Saved: first"
    finally:
        gateway.stop()


@pytest.mark.parametrize("mode", MODES)
async def test_progress_reaches_the_client(gateway: Gateway, errors: TextIO, mode: str) -> None:
    seen: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(message)

    async with Client(through_the_bridge(gateway, errors), mode=mode) as client:
        assert text_of(await client.call_tool("memory_import", {}, progress_callback=note)) == "imported"
    assert seen == ["part 1", "part 2", "part 3"]


@pytest.mark.parametrize("mode", MODES)
async def test_giving_up_a_call_cancels_it_at_the_gateway(gateway: Gateway, errors: TextIO, mode: str) -> None:
    async with Client(through_the_bridge(gateway, errors), mode=mode) as client:
        await client.call_tool("memory_search", {"query": "x"})
        call = asyncio.create_task(client.call_tool("memory_wait", {}))
        for _ in range(50):
            await client.call_tool("memory_search", {"query": "x"})
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert await asyncio.to_thread(gateway.cancelled.wait, 20)
        assert text_of(await client.call_tool("memory_search", {"query": "x"})) == "no match"


@pytest.mark.parametrize("mode", MODES)
async def test_twenty_calls_at_once_each_get_their_own_answer(gateway: Gateway, errors: TextIO, mode: str) -> None:
    async with Client(through_the_bridge(gateway, errors), mode=mode) as client:
        results = await asyncio.gather(*(client.call_tool("memory_save", {"content": str(n)}) for n in range(20)))
        assert [text_of(result) for result in results] == [f"Saved: {n}" for n in range(20)]


@pytest.mark.parametrize("mode", MODES)
async def test_the_start_tool_answers_in_the_clients_era(gateway: Gateway, errors: TextIO, mode: str) -> None:
    async with Client(through_the_bridge(gateway, errors), mode=mode) as client:
        result = await client.call_tool("memory_start", {})
        assert "Perdure" in text_of(result)


def test_the_tests_run_the_bridge_of_this_interpreter() -> None:
    assert COMMAND[0] == sys.executable
