"""A gateway's MCP endpoint in miniature: answers as a script says, and keeps every request it saw."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
SEARCH_TOOL = {
    "name": "memory_search",
    "description": "from the gateway",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
}
SAVE_TOOL = {"name": "memory_save", "description": "from the gateway", "inputSchema": {"type": "object"}}


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    verb: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


@dataclass(frozen=True)
class Reply:
    """What to answer: a body, or chunks of an event stream sent one by one."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    events: Iterable[bytes] | None = None
    hang_up: bool = False


def result(seen: Seen, value: dict[str, Any], **headers: str) -> Reply:
    return Reply(body=json.dumps({"jsonrpc": "2.0", "id": seen.body["id"], "result": value}).encode(), headers=headers)


def event(value: dict[str, Any]) -> bytes:
    return b"event: message\r\ndata: " + json.dumps(value).encode() + b"\r\n\r\n"


def stateless(seen: Seen) -> Reply:
    """A gateway of both eras without sessions."""
    if seen.verb == "GET":
        return Reply(body=b'{"status":"ready"}') if seen.path.endswith("/readyz") else Reply(status=404)
    message = seen.body
    if "id" not in message or "method" not in message:
        return Reply(status=202)
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            return result(
                seen,
                {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scripted", "version": "1"},
                },
            )
        case "server/discover":
            return result(seen, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}})
        case "tools/list":
            return result(seen, {"tools": [SEARCH_TOOL, SAVE_TOOL]})
        case "tools/call":
            text = json.dumps(params.get("arguments", {}), ensure_ascii=False)
            return result(seen, {"content": [{"type": "text", "text": text}], "isError": False})
        case "ping":
            return result(seen, {})
        case other:
            error = {"code": -32601, "message": f"Method not found: {other}"}
            body = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            return Reply(status=404, body=json.dumps(body).encode())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A bridge that hangs up is part of the tests."""


class ScriptedGateway:
    """A server on a loopback port that can be stopped hard and started again on the same port."""

    def __init__(self, script: Callable[[Seen], Reply] = stateless) -> None:
        self.script = script
        self.seen: list[Seen] = []
        self.connections = 0
        self._changed = threading.Condition()
        self._sockets: set[socket.socket] = set()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def methods(self) -> list[str]:
        """The JSON-RPC methods seen, in order of arrival."""
        with self._changed:
            return [seen.body.get("method", "reply") for seen in self.seen if seen.verb == "POST"]

    def calls(self, method: str) -> list[Seen]:
        with self._changed:
            return [seen for seen in self.seen if seen.verb == "POST" and seen.body.get("method") == method]

    def wait_for(self, method: str, count: int = 1, timeout_s: float = 10.0) -> list[Seen]:
        """The requests of a method once there are ``count`` of them."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.calls(method)) >= count, timeout_s), self.methods()
            return self.calls(method)

    def start(self) -> None:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                gateway._note_connection(self.connection)

            def do_POST(self) -> None:
                self._serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

            def do_GET(self) -> None:
                self._serve(b"")

            def _serve(self, raw: bytes) -> None:
                headers = {name.lower(): value for name, value in self.headers.items()}
                seen = Seen(self.command, self.path, headers, raw)
                gateway._note(seen)
                reply = gateway.script(seen)
                if reply.hang_up:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name.replace("_", "-"), value)
                if reply.events is None:
                    self.send_header("Content-Type", reply.content_type)
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)
                    return
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for chunk in reply.events:
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = _Server(("127.0.0.1", self.port), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def encrypt(self, certificate: Path, key: Path) -> None:
        """From now on, speak TLS."""
        assert self._server is not None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def stop(self) -> None:
        """As after kill -9: the port refuses, open connections are torn."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server = None
        with self._changed:
            sockets, self._sockets = self._sockets, set()
        for connected in sockets:
            try:
                connected.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def _note_connection(self, connected: socket.socket) -> None:
        with self._changed:
            self.connections += 1
            self._sockets.add(connected)

    def _note(self, seen: Seen) -> None:
        with self._changed:
            self.seen.append(seen)
            self._changed.notify_all()


def running(script: Callable[[Seen], Reply] = stateless) -> Iterator[ScriptedGateway]:
    """For fixtures: a started gateway, stopped at the end."""
    gateway = ScriptedGateway(script)
    gateway.start()
    try:
        yield gateway
    finally:
        gateway.stop()
