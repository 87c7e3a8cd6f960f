"""Every way a tool reaches memory, behind one pair of verbs: save a text, search for words.

Each surface is the real thing: the ``perdure`` program, HTTP, the MCP SDK's own client over HTTP, and the same client
over a real bridge process; the last two in both protocol eras.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from support.bridge_process import COMMAND, environment
from support.stack import Stack

ERAS = {"legacy": "legacy", "modern": "2026-07-28"}
"""Mode of the SDK's client by the name of the era."""


@dataclass(frozen=True)
class Surface:
    """Save one text, and what a search for words shows, as text."""

    save: Callable[[str], Awaitable[str]]
    search: Callable[[str], Awaitable[str]]


@contextlib.asynccontextmanager
async def over_http(stack: Stack, era: str, *, token: str = "", path: str = "/mcp") -> AsyncIterator[Client]:
    """The SDK's client over Streamable HTTP."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(f"{stack.url}{path}", http_client=http), mode=ERAS[era]) as client,
    ):
        yield client


@contextlib.asynccontextmanager
async def over_the_bridge(stack: Stack, era: str, *, token: str = "") -> AsyncIterator[Client]:
    """The SDK's client over stdio, through a real bridge."""
    variables = environment(PERDURE_URL=stack.url, PERDURE_HOME=str(stack.home), PERDURE_TOKEN=token)
    with tempfile.TemporaryFile("w+") as errors:
        parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=variables, cwd="/")
        async with Client(stdio_client(parameters, errors), mode=ERAS[era]) as client:
            yield client


async def said(client: Client, tool: str, **arguments: Any) -> str:
    """The text of the tool's answer; a mistake begins with ``ERROR: ``."""
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    return ("ERROR: " if result.is_error else "") + content.text


def of_client(client: Client) -> Surface:
    """The surface of an MCP client."""

    async def save(text: str) -> str:
        answer = await said(client, "memory_save", content=text)
        assert answer.startswith("Memory saved: "), answer
        return answer.split()[2]

    async def search(words: str) -> str:
        return await said(client, "memory_search", query=words)

    return Surface(save, search)


def of_command_line(stack: Stack) -> Surface:
    """The surface of the ``perdure`` program."""

    async def save(text: str) -> str:
        done = await asyncio.to_thread(stack.perdure, "add", text, "--json")
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["id"])

    async def search(words: str) -> str:
        return (await asyncio.to_thread(stack.perdure, "search", words)).stdout

    return Surface(save, search)


def of_rest(stack: Stack) -> Surface:
    """The surface of plain HTTP."""

    async def save(text: str) -> str:
        answer = await asyncio.to_thread(stack.call, "POST", "/memories", {"content": text})
        assert answer.status == 201, answer.body
        return str(answer.json["id"])

    async def search(words: str) -> str:
        answer = await asyncio.to_thread(stack.call, "GET", f"/memories/search?{urlencode({'q': words})}")
        assert answer.status == 200, answer.body
        return "\n".join(item["memory"]["content"] for item in answer.json["recall"])

    return Surface(save, search)


@contextlib.asynccontextmanager
async def every_surface(stack: Stack) -> AsyncIterator[dict[str, Surface]]:
    """All six, by name."""
    async with contextlib.AsyncExitStack() as open_:
        clients = {
            f"{way} {era}": await open_.enter_async_context(connect(stack, era))
            for way, connect in (("MCP over HTTP", over_http), ("bridge", over_the_bridge))
            for era in ERAS
        }
        yield {
            "command line": of_command_line(stack),
            "REST": of_rest(stack),
            **{name: of_client(client) for name, client in clients.items()},
        }
