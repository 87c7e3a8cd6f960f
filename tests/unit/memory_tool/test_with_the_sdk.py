"""The tool in the SDK's own runner, against a model on the loopback that answers by a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic

from perdure.memory_tool import AsyncPerdureMemoryTool, PerdureMemoryTool
from support.memory_tool_world import DocumentsInMemory

SCRIPT: list[dict[str, Any]] = [
    {"command": "create", "path": "/memories/team.md", "file_text": "Deploys go out on Tuesdays.\n"},
    {"command": "str_replace", "path": "/memories/team.md", "old_str": "Tuesdays", "new_str": "Thursdays"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
]


class Model(ThreadingHTTPServer):
    """Calls the memory tool as SCRIPT says, then ends its turn; keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []


class Handler(BaseHTTPRequestHandler):
    server: Model

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        step = len(self.server.asked) - 1
        content: dict[str, Any] = {"type": "text", "text": "Done."}
        if step < len(SCRIPT):
            content = {"type": "tool_use", "id": f"toolu_{step}", "name": "memory", "input": SCRIPT[step]}
        body = json.dumps(
            {
                "id": f"msg_{step}",
                "type": "message",
                "role": "assistant",
                "model": "scripted",
                "content": [content],
                "stop_reason": "tool_use" if step < len(SCRIPT) else "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        thread = threading.Thread(target=model.serve_forever, daemon=True)
        thread.start()
        yield model
        model.shutdown()
        thread.join(10)


def results(model: Model) -> list[tuple[str, bool]]:
    """What the model was told of each call."""
    said = []
    for request in model.asked[1:]:
        [block] = request["messages"][-1]["content"]
        text = block["content"] if isinstance(block["content"], str) else block["content"][0]["text"]
        said.append((text, bool(block.get("is_error"))))
    return said


def expect(model: Model, documents: DocumentsInMemory) -> None:
    assert model.asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    created, replaced, escaped = results(model)
    assert created == ("File created successfully at: /memories/team.md", False)
    assert replaced[0].endswith("     1\tDeploys go out on Thursdays.\n     2\t")
    assert escaped == ("Path /memories/../../etc/passwd would escape /memories directory", True)
    assert documents.find(["/memories/team.md"])["/memories/team.md"].text == "Deploys go out on Thursdays.\n"


@pytest.mark.requirement("I4-MEMTOOL-01", "I4-MEMTOOL-02")
def test_the_sdks_runner_carries_a_models_commands_out(model: Model) -> None:
    documents = DocumentsInMemory()
    with Anthropic(base_url=f"http://127.0.0.1:{model.server_address[1]}", api_key="scripted") as client:
        client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": "Deploys moved to Thursdays."}],
            tools=[PerdureMemoryTool(documents=documents)],
        ).until_done()
    expect(model, documents)


async def test_so_does_the_asynchronous_one(model: Model) -> None:
    documents = DocumentsInMemory()
    async with AsyncAnthropic(base_url=f"http://127.0.0.1:{model.server_address[1]}", api_key="scripted") as client:
        await client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": "Deploys moved to Thursdays."}],
            tools=[AsyncPerdureMemoryTool(documents=documents)],
        ).until_done()
    expect(model, documents)
