"""Servers on the loopback that play Ollama and an OpenAI-compatible provider, and break on request."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Reply = tuple[int, dict[str, str], bytes]
Behaviour = Callable[["FakeProvider", str, dict[str, Any]], Reply | None]


def vector(text: str, dimension: int) -> list[float]:
    """A vector that depends on the text alone."""
    return [float((ord(text[place % len(text)]) * (place + 7)) % 23 - 11) or 1.0 for place in range(dimension)]


def as_json(status: int, body: Any, **headers: str) -> Reply:
    """A reply with a JSON body."""
    return status, {"Content-Type": "application/json", **headers}, json.dumps(body).encode()


@dataclass
class FakeProvider:
    """What was asked, and how it answers next: ``script`` first, one entry a request, then as it should."""

    url: str = ""
    dimension: int = 8
    script: list[Behaviour] = field(default_factory=list)
    requests: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    max_chars: int = 1 << 30

    def answer(self, path: str, body: dict[str, Any]) -> Reply:
        """As the real one would."""
        if path == "/api/tags":
            return as_json(200, {"models": [{"name": "nomic-embed-text:latest", "digest": "d1"}]})
        texts = body["input"]
        if any(len(text) > self.max_chars for text in texts):
            return as_json(400, {"error": "input length exceeds the context length"})
        vectors = [vector(text, self.dimension) for text in texts]
        if path == "/api/embed":
            return as_json(200, {"embeddings": vectors})
        data = [{"index": index, "embedding": each} for index, each in enumerate(vectors)]
        return as_json(200, {"data": data[::-1]})

    def posts(self) -> list[tuple[str, dict[str, Any], dict[str, str]]]:
        """The requests for vectors."""
        return [each for each in self.requests if each[0] != "/api/tags"]


@pytest.fixture
def fake() -> Iterator[FakeProvider]:
    state = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else {}
            state.requests.append((self.path, body, {k.lower(): v for k, v in self.headers.items()}))
            reply = None
            if self.command == "POST" and state.script:
                reply = state.script.pop(0)(state, self.path, body)
            status, headers, data = reply or state.answer(self.path, body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = handle_one  # noqa: N815 - http.server's names

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """A client that hung up is part of the tests."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield state
    state.released.set()
    server.shutdown()
    server.server_close()
    thread.join(10)


def status(code: int, **headers: str) -> Behaviour:
    """Answer with that status."""
    return lambda _fake, _path, _body: as_json(code, {"error": "as told"}, **headers)


def raw(data: bytes) -> Behaviour:
    """Answer 200 with that body."""
    return lambda _fake, _path, _body: (200, {"Content-Type": "application/json"}, data)


def hang(fake: FakeProvider, _path: str, _body: dict[str, Any]) -> Reply | None:
    """Answer only when the test is over."""
    fake.released.wait(30)
    return None


def monotonic() -> float:
    """The clock of the breaker in these tests."""
    return time.monotonic()
