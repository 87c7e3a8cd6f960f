"""The two eras of MCP, as far as a relay must tell them apart.

A *modern* message (2026-07-28) carries its version in ``params._meta`` and mirrors it, its method and its name in
HTTP headers. A *legacy* one belongs to a session opened by ``initialize``: later messages repeat the version agreed
on and the session id.

Knows the shape of JSON-RPC and which headers a message needs. Refuses to know how anything is sent.
"""

from __future__ import annotations

import base64
import json
import re
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
UNSUPPORTED_VERSION = -32022

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"

LEGACY_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

# The parameter that Mcp-Name mirrors, by method.
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

_SENTINEL = re.compile(r"=\?base64\?.*\?=", re.DOTALL)
_PLAIN = re.compile(r"[\x20-\x7E]*")


class NotAMessage(ValueError):
    """A line that is no single JSON-RPC message; carries what to answer."""

    def __init__(self, code: int, sentence: str, request_id: Any = None) -> None:
        """Remember the code, the sentence and the id to answer under (None where there is none)."""
        super().__init__(sentence)
        self.code = code
        self.request_id = request_id


class Message:
    """One JSON-RPC message from the host: its bytes as they came, and the few facts that steer it.

    Attributes:
        body: The bytes to forward, untouched.
        method: The method, or None for a reply of the host's.
        request_id: The id of a request; None for a notification.
        params: The parameters if they are an object, else an empty one.
        version: The protocol version in ``_meta`` (a modern message), or None.
    """

    __slots__ = ("body", "method", "params", "request_id", "version")

    def __init__(
        self, body: bytes, method: str | None, request_id: str | int | float | None, params: dict[str, Any]
    ) -> None:
        """Take the facts as parsed; ``parse`` is the way to make one from a line."""
        self.body = body
        self.method = method
        self.request_id = request_id
        self.params = params
        meta = params.get("_meta")
        version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
        self.version = version if isinstance(version, str) else None

    @property
    def modern(self) -> bool:
        """Whether the message belongs to the stateless era."""
        return self.version is not None

    @property
    def name(self) -> str | None:
        """What Mcp-Name mirrors: the tool, prompt or resource asked for; None where the method names none."""
        value = self.params.get(_NAMED_BY.get(self.method or "", ""))
        return value if isinstance(value, str) else None


def parse(line: bytes) -> Message:
    """The message on one line of input.

    Raises:
        NotAMessage: it is not JSON, not UTF-8, a batch, or no JSON-RPC 2.0 message.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise NotAMessage(PARSE_ERROR, "The line is not JSON in UTF-8.") from None
    if isinstance(value, list):
        raise NotAMessage(INVALID_REQUEST, "Batches of messages are not supported; send one message a line.")
    if not isinstance(value, dict):
        raise NotAMessage(INVALID_REQUEST, "The line is JSON, but not a JSON-RPC message.")
    request_id = value.get("id")
    usable_id = isinstance(request_id, str | int | float) and not isinstance(request_id, bool)
    if value.get("jsonrpc") != "2.0":
        raise NotAMessage(
            INVALID_REQUEST, 'A JSON-RPC message needs "jsonrpc": "2.0".', request_id if usable_id else None
        )
    method = value.get("method")
    if "method" not in value and ("result" in value or "error" in value):
        return Message(line, None, None, {})
    if not isinstance(method, str) or ("id" in value and not usable_id):
        raise NotAMessage(
            INVALID_REQUEST,
            "The method or the id of the message is not of the right kind.",
            request_id if usable_id else None,
        )
    params = value.get("params")
    return Message(line, method, request_id, params if isinstance(params, dict) else {})


def header_value(value: str) -> str:
    """``value`` as an HTTP header can carry it: itself, or base64 inside the ``=?base64?…?=`` sentinel.

    The sentinel is used for anything but printable ASCII, for spaces at an end, and for a value that looks like the
    sentinel.
    """
    if _PLAIN.fullmatch(value) and value == value.strip() and not _SENTINEL.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode('ascii')}?="


def modern_headers(message: Message) -> dict[str, str]:
    """The routing headers of a modern message, from its own body."""
    headers = {
        "MCP-Protocol-Version": header_value(message.version or ""),
        "Mcp-Method": header_value(message.method or ""),
    }
    if message.name is not None:
        headers["Mcp-Name"] = header_value(message.name)
    return headers


class LegacySession:
    """What a legacy session has agreed on, shared by all threads.

    ``generation`` counts the handshakes: a thread whose request failed under an older one need not open another.
    """

    __slots__ = ("_lock", "_session_id", "_version", "generation", "handshake", "reopening", "unconfirmed")

    def __init__(self) -> None:
        """Begin without a session."""
        self._lock = threading.Lock()
        self._session_id: str | None = None
        self._version: str | None = None
        self.generation = 0
        self.handshake: Message | None = None
        self.reopening = threading.Lock()
        self.unconfirmed = False

    @property
    def open(self) -> bool:
        """Whether the host has sent ``initialize``."""
        return self.handshake is not None

    @property
    def has_id(self) -> bool:
        """Whether the gateway gave the session an id."""
        with self._lock:
            return self._session_id is not None

    def begin(self, initialize: Message) -> None:
        """Keep the host's ``initialize`` so that it can be sent again, and forget what an earlier one agreed on."""
        with self._lock:
            self.handshake = initialize
            self._session_id = None
            self._version = None

    def agree(self, version: object, session_id: str | None) -> None:
        """Keep what the gateway answered to ``initialize``."""
        with self._lock:
            self._session_id = session_id
            self._version = version if isinstance(version, str) else self._version
            self.unconfirmed = False
            self.generation += 1

    def agree_locally(self, version: str) -> None:
        """Keep the version of an ``initialize`` that was answered in the gateway's stead."""
        with self._lock:
            if self._version is None:
                self._version = version
                self.unconfirmed = True

    def headers(self) -> dict[str, str]:
        """The headers of the session's later messages."""
        with self._lock:
            headers = {}
            if self._version is not None:
                headers["MCP-Protocol-Version"] = header_value(self._version)
            if self._session_id is not None:
                headers["Mcp-Session-Id"] = self._session_id
            return headers
