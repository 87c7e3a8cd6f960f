"""A gateway's REST side in miniature: answers as a table says, and keeps every request it saw."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw) if self.raw else None


@dataclass(frozen=True)
class Answered:
    """What to answer; ``cut`` sends the first piece of a chunked body and hangs up."""

    value: Any = None
    status: int = 200
    raw: bytes | None = None
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    hang_up: bool = False


Route = Any
"""A value, an Answered, or a function of Asked that gives one of them."""


def problem(status: int, detail: str, code: str = "invalid_argument", **more: Any) -> Answered:
    body = {
        "type": "about:blank",
        "title": "T",
        "status": status,
        "detail": detail,
        "code": code,
        "reason": "r",
        **more,
    }
    return Answered(body, status, content_type="application/problem+json")


class RestGateway:
    """A server on a loopback port. ``routes`` maps "METHOD /path" to what is answered."""

    def __init__(self) -> None:
        self.routes: dict[str, Route] = {"GET /readyz": {"status": "ready", "dependencies": {"retrieval": "ready"}}}
        self.asked: list[Asked] = []
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                parts = urlsplit(self.path)
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, parts.path, parse_qsl(parts.query), headers, self._body(headers))
                gateway.asked.append(asked)
                route = gateway.routes.get(f"{self.command} {parts.path}", problem(404, "There is no such thing."))
                value = route(asked) if callable(route) else route
                self._answer(value if isinstance(value, Answered) else Answered(value))

            do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - the base class's names

            def _body(self, headers: dict[str, str]) -> bytes:
                if headers.get("transfer-encoding") != "chunked":
                    return self.rfile.read(int(headers.get("content-length", 0)))
                body = b""
                while size := int(self.rfile.readline(), 16):
                    body += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
                return body

            def _answer(self, answer: Answered) -> None:
                self.close_connection = True
                if answer.hang_up:
                    return
                raw = answer.raw if answer.raw is not None else json.dumps(answer.value).encode()
                self.send_response(answer.status)
                self.send_header("Content-Type", answer.content_type)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                if answer.cut:
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
                    return
                self.send_header("Content-Length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def last(self) -> Asked:
        return self.asked[-1]

    def encrypt(self, certificate: Path, key: Path) -> None:
        """Speak TLS from now on; before ``start``."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def serving(prepare: Callable[[RestGateway], None] | None = None) -> Iterator[RestGateway]:
    """For fixtures: a started gateway, stopped at the end."""
    gateway = RestGateway()
    if prepare is not None:
        prepare(gateway)
    gateway.start()
    try:
        yield gateway
    finally:
        gateway.stop()
