"""A model server in miniature on loopback: answers real coding tools as a script says, and keeps what they asked.

Speaks Anthropic's Messages, OpenAI's Responses and Chat Completions, and Gemini's generateContent, each streamed and
whole. A script is tool calls, one an answer, and then a text; how many results of tools a request carries says how far
it has come. A request that offers no tool of the script (a title, a summary) gets the text at once.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Call:
    """A call of a tool whose name, as the tool's host gives it to the model, ends in ``tool``."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request to the model.

    Attributes:
        path: Its path without the query.
        body: Its body.
        tools: Names of the tools that it offers, as the model would have to call them.
        results: How many results of tools it carries.
    """

    path: str
    body: dict[str, Any]
    tools: tuple[str, ...]
    results: int

    @property
    def texts(self) -> list[str]:
        """Every text anywhere in the request, so what the model is told, whatever the place for it."""
        return list(_texts(self.body))

    def says(self, text: str) -> bool:
        """Whether the model is told ``text``."""
        return any(text in part for part in self.texts)


class ScriptedModel:
    """The server; ``with ScriptedModel() as model`` runs it."""

    def __init__(self) -> None:
        """Listen on a free port of the loopback."""
        self.asked: list[Asked] = []
        self.unknown: list[str] = []
        self._calls: tuple[Call, ...] = ()
        self._answer = "Understood."
        self._when = ""
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, answer: str, *calls: Call, when: str = "") -> None:
        """What the next session's model does, its calls only once it is told ``when``; forgets what was asked."""
        with self._lock:
            self._calls, self._answer, self._when = calls, answer, when
            self.asked, self.unknown = [], []

    def take(self, path: str, body: dict[str, Any]) -> tuple[str, tuple[str, str, dict[str, Any]] | None]:
        """Note a request; the text to answer, or the id, name and arguments of the call to answer."""
        asked = Asked(path, body, tuple(_tools(body)), sum(1 for _ in _results(body)))
        with self._lock:
            self.asked.append(asked)
            number = next(self._numbers)
            if asked.results >= len(self._calls) or not asked.says(self._when):
                return self._answer, None
            call = self._calls[asked.results]
        name = next((tool for tool in asked.tools if tool.endswith(call.tool)), None)
        return self._answer, (f"call_{number}", name, call.arguments) if name else None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)


def _tools(body: dict[str, Any]) -> Iterator[str]:
    """Names of the tools offered; of a tool in a namespace, ``namespace/name``."""
    for tool in _objects(body.get("tools")):
        if isinstance(tool.get("functionDeclarations"), list):  # Gemini
            yield from (str(each.get("name")) for each in _objects(tool["functionDeclarations"]))
        elif tool.get("type") == "namespace":  # Codex
            yield from (f"{tool['name']}/{each['name']}" for each in _objects(tool.get("tools")))
        elif isinstance(tool.get("function"), dict):  # Chat Completions
            yield str(tool["function"].get("name"))
        elif tool.get("name"):
            yield str(tool["name"])


def _results(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What tools answered, in any of the dialects."""
    for row in [*_objects(body.get("messages")), *_objects(body.get("input")), *_objects(body.get("contents"))]:
        if row.get("role") == "tool" or str(row.get("type", "")).endswith("_call_output"):
            yield row
        for part in [*_objects(row.get("content")), *_objects(row.get("parts"))]:
            if part.get("type") == "tool_result" or "functionResponse" in part:
                yield part


def _objects(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


Answer = tuple[str, tuple[str, str, dict[str, Any]] | None]
_Events = list[tuple[str, dict[str, Any]]]


def anthropic(body: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], _Events]:
    """A message, and the events that stream it."""
    text, call = answer
    usage = {"input_tokens": 10, "output_tokens": 5}
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "m"),
                               "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
    block: dict[str, Any]
    if call:
        block = {"type": "tool_use", "id": f"toolu_{call[0]}", "name": call[1], "input": call[2]}
        empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(call[2])}
    else:
        block = {"type": "text", "text": text}
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": text}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    events: _Events = [
        ("message_start", {"type": "message_start", "message": message}),
        ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": empty}),
        ("content_block_delta", {"type": "content_block_delta", "index": 0, "delta": delta}),
        ("content_block_stop", {"type": "content_block_stop", "index": 0}),
        ("message_delta", {"type": "message_delta", "delta": stop, "usage": usage}),
        ("message_stop", {"type": "message_stop"}),
    ]
    return {**message, "content": [block], **stop}, events


def responses(body: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], _Events]:
    """A response, and the events that stream it."""
    text, call = answer
    if call:
        space, _, name = call[1].rpartition("/")
        item: dict[str, Any] = {"type": "function_call", "id": f"fc_{call[0]}", "call_id": call[0], "name": name,
                                "arguments": json.dumps(call[2]), "status": "completed"}  # fmt: skip
        if space:
            item["namespace"] = space
    else:
        said = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]}
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}  # fmt: skip
    response: dict[str, Any] = {"id": "resp_1", "object": "response", "created_at": 1, "model": body.get("model", "m"),
                                "status": "completed", "output": [item], "usage": usage}  # fmt: skip
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    events: _Events = [
        ("response.created", {"type": "response.created", "response": begun}),
        (
            "response.output_item.added",
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": {**item, "status": "in_progress", **({"arguments": ""} if call else {"content": []})},
            },
        ),
        *([] if call else [("response.output_text.delta", {
            "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
            "delta": text})]),
        ("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item}),
        ("response.completed", {"type": "response.completed", "response": response}),
    ]  # fmt: skip
    return response, events


def chat(body: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], _Events]:
    """A completion, and the chunks that stream it."""
    text, call = answer
    message: dict[str, Any] = {"role": "assistant", "content": None if call else text}
    if call:
        function = {"name": call[1], "arguments": json.dumps(call[2])}
        message["tool_calls"] = [{"index": 0, "id": call[0], "type": "function", "function": function}]
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    common = {"id": "chatcmpl-1", "created": 1, "model": body.get("model", "m")}
    end = "tool_calls" if call else "stop"
    whole = {**common, "object": "chat.completion", "usage": usage,
             "choices": [{"index": 0, "message": message, "finish_reason": end}]}  # fmt: skip

    def chunk(delta: dict[str, Any], finish: str | None, **more: Any) -> tuple[str, dict[str, Any]]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return "", {**common, "object": "chat.completion.chunk", "choices": [choice], **more}

    return whole, [chunk(message, None), chunk({}, end, usage=usage)]


def gemini(_body: dict[str, Any], answer: Answer) -> tuple[dict[str, Any], _Events]:
    """An answer, and the only event that streams it."""
    text, call = answer
    part = {"functionCall": {"id": call[0], "name": call[1], "args": call[2]}} if call else {"text": text}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    content = {"role": "model", "parts": [part]}
    whole = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage,
             "modelVersion": "fake"}  # fmt: skip
    return whole, [("", whole)]


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._json({"data": [{"id": "fake", "object": "model"}], "models": []})

        def do_HEAD(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            path = urlsplit(self.path).path
            try:
                body = json.loads(raw or b"{}")
            except ValueError:
                body = {}
            dialect = next((d for end, d in _DIALECTS.items() if path.endswith(end)), None)
            if path.endswith(("count_tokens", ":countTokens")):
                self._json({"input_tokens": 10, "totalTokens": 10})
            elif dialect is None or not isinstance(body, dict):
                model.unknown.append(f"POST {path}")
                self._json({"error": {"message": "no such path", "type": "not_found_error"}}, 404)
            else:
                whole, events = dialect(body, model.take(path, body))
                if body.get("stream") or path.endswith(":streamGenerateContent"):
                    self._stream(events, done=dialect is chat)
                else:
                    self._json(whole)

        def _json(self, value: dict[str, Any], status: int = 200) -> None:
            self._send(json.dumps(value).encode(), "application/json", status)

        def _stream(self, events: _Events, *, done: bool) -> None:
            text = "".join(
                (f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n" for name, value in events
            )
            self._send((text + ("data: [DONE]\n\n" if done else "")).encode(), "text/event-stream")

        def _send(self, data: bytes, kind: str, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


_DIALECTS = {
    "/messages": anthropic,
    "/responses": responses,
    "/chat/completions": chat,
    ":streamGenerateContent": gemini,
    ":generateContent": gemini,
}
