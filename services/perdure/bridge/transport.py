"""HTTP to the gateway: pooled keep-alive connections, plain and event-stream answers, cancellation by closing.

Knows what was certainly not sent (``Unreachable``) from what may have been carried out (``AnswerLost``): the only
fact that makes a retry safe. Refuses to know MCP.
"""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

    from perdure.bridge.target import Target
    from perdure.bridge.workplace import Workplace

CONNECT_TIMEOUT_S = 5.0
# The gateway's event streams carry a ping every 15 s; eight missed ones mean that nobody is there.
SILENCE_TIMEOUT_S = 120.0
# Below the usual server-side keep-alive of 5 s: a connection that the server is about to close must not carry a save.
IDLE_LIMIT_S = 4.0
POOL_SIZE = 8
MAX_ANSWER_BYTES = 64 * 1024 * 1024


class Unreachable(Exception):
    """No request was delivered: nothing was carried out, so sending again is safe. The text says why.

    Attributes:
        lasting: Waiting will not help: the server's certificate is not to be trusted.
    """

    def __init__(self, reason: str, *, lasting: bool = False) -> None:
        """Remember the reason."""
        super().__init__(reason)
        self.lasting = lasting


class AnswerLost(Exception):
    """The request was delivered but its answer did not arrive: it may have been carried out. The text says why."""


class Call:
    """One request in flight: lets another thread cancel it, also while it waits for bytes or between retries."""

    __slots__ = ("_cancelled", "_lock", "_socket", "modern")

    def __init__(self, *, modern: bool) -> None:
        """Begin uncancelled."""
        self.modern = modern
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    @property
    def cancelled(self) -> bool:
        """Whether the host wants no answer any more."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Give the call up: its connection is closed, which is how a modern server learns of it."""
        self._cancelled.set()
        with self._lock:
            if self._socket is not None:
                with contextlib.suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)

    def pause(self, seconds: float) -> bool:
        """Wait, less if the call is cancelled meanwhile; True if it is."""
        return self._cancelled.wait(seconds)

    def attach(self, connected: socket.socket | None) -> None:
        """Name the socket that carries the call (None once it carries it no longer)."""
        with self._lock:
            self._socket = connected
        if connected is not None and self.cancelled:
            self.cancel()


class Exchange:
    """An answer whose head has arrived. Read it by ``read`` or ``events``, then ``close`` it."""

    __slots__ = ("_call", "_connection", "_response", "_socket", "_transport", "status")

    def __init__(
        self,
        transport: Transport,
        connection: http.client.HTTPConnection,
        response: http.client.HTTPResponse,
        call: Call,
    ) -> None:
        """Wrap a response; made by ``Transport.open``."""
        self._transport = transport
        self._connection = connection
        self._response = response
        self._socket = connection.sock
        self._call = call
        self.status = response.status

    def header(self, name: str) -> str:
        """A response header, or an empty string."""
        return self._response.getheader(name) or ""

    @property
    def streams(self) -> bool:
        """Whether the body is an event stream."""
        return self.header("Content-Type").partition(";")[0].strip().lower() == "text/event-stream"

    def read(self) -> bytes:
        """The whole body.

        Raises:
            AnswerLost: the connection ended before the body did, or the body is larger than ``MAX_ANSWER_BYTES``.
        """
        try:
            body = self._response.read(MAX_ANSWER_BYTES + 1)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise AnswerLost(_reason(error)) from error
        if len(body) > MAX_ANSWER_BYTES:
            raise AnswerLost("the answer is too large")
        declared = self.header("Content-Length")
        if declared.isdigit() and len(body) < int(declared):
            raise AnswerLost("the connection ended in the middle of the answer")
        return body

    def events(self) -> Iterator[bytes]:
        """The data of each event as it arrives, until the stream ends.

        Raises:
            AnswerLost: the connection broke, or one event is larger than ``MAX_ANSWER_BYTES``.
        """
        data: list[bytes] = []
        size = 0
        while True:
            try:
                line = self._response.readline(MAX_ANSWER_BYTES + 1)
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise AnswerLost(_reason(error)) from error
            if not line:
                return
            size += len(line)
            if size > MAX_ANSWER_BYTES:
                raise AnswerLost("an event of the answer is too large")
            line = line.rstrip(b"\r\n")
            if not line:
                if data:
                    yield b"\n".join(data)
                data, size = [], 0
            elif line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" "))

    def close(self) -> None:
        """Give the connection back to the pool if the answer has been read to its end, else close it."""
        self._call.attach(None)
        if not self._response.isclosed() and not self._call.cancelled and self._socket is not None:
            # After the last event only the end of the body is missing; a server that keeps the stream open loses the
            # connection.
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                self._socket.settimeout(0.2)
                self._response.read(1)
        reusable = self._response.isclosed() and not self._response.will_close and not self._call.cancelled
        self._response.close()
        if reusable:
            self._transport.give_back(self._connection)
        else:
            self._connection.close()


class Transport:
    """Connections to one gateway."""

    def __init__(self, target: Target, workplace: Workplace | None = None) -> None:
        """Open nothing yet; with a ``workplace``, tell the gateway of it with each message."""
        self._target = target
        self._workplace = workplace
        self._lock = threading.Lock()
        self._idle: list[tuple[http.client.HTTPConnection, float]] = []
        self._tls: ssl.SSLContext | None = None

    def open(
        self, body: bytes, headers: dict[str, str], call: Call, *, silence_timeout_s: float = SILENCE_TIMEOUT_S
    ) -> Exchange:
        """POST ``body`` to the MCP endpoint and wait for the head of the answer.

        Args:
            body: One JSON-RPC message.
            headers: Headers of the message's era; content type, accept, agent and token are added.
            call: Can be cancelled from another thread meanwhile.
            silence_timeout_s: Longest time without a byte from the gateway.

        Raises:
            Unreachable: the request was not delivered.
            AnswerLost: the request was delivered, no answer came.
        """
        head = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "User-Agent": "perdure-bridge",
            **headers,
        }
        if self._target.readonly:
            head["Perdure-Readonly"] = "1"
        if self._workplace is not None:
            head.update(self._workplace.headers())
        token = self._target.token()
        if token is not None:
            head["Authorization"] = f"Bearer {token}"
        connection = self._take() or self._connect(CONNECT_TIMEOUT_S)
        call.attach(connection.sock)
        try:
            self._send(connection, body, head, silence_timeout_s)
            response = connection.getresponse()
        except Unreachable:
            call.attach(None)
            connection.close()
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            call.attach(None)
            connection.close()
            raise AnswerLost(_reason(error)) from error
        return Exchange(self, connection, response, call)

    def get(self, path: str, *, timeout_s: float) -> tuple[int, bytes]:
        """Status and body (at most 64 KiB) of a GET of the gateway's ``path``, without a token.

        Raises:
            Unreachable: no answer came; a GET changes nothing, so it does not matter how far it got.
        """
        connection = self._connect(timeout_s)
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout_s)
            connection.request(
                "GET",
                f"{self._target.prefix}{path}",
                headers={"Accept": "application/json", "User-Agent": "perdure-bridge"},
            )
            response = connection.getresponse()
            return response.status, response.read(65536)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unreachable(_reason(error)) from error
        finally:
            connection.close()

    def give_back(self, connection: http.client.HTTPConnection) -> None:
        """Keep a connection for the next request."""
        with self._lock:
            if connection.sock is not None and len(self._idle) < POOL_SIZE:
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()

    def _take(self) -> http.client.HTTPConnection | None:
        while True:
            with self._lock:
                if not self._idle:
                    return None
                connection, since = self._idle.pop()
            if time.monotonic() - since <= IDLE_LIMIT_S and _still_open(connection.sock):
                return connection
            connection.close()

    def _connect(self, timeout_s: float) -> http.client.HTTPConnection:
        target = self._target
        connection: http.client.HTTPConnection
        if target.scheme == "https":
            connection = http.client.HTTPSConnection(
                target.host, target.port, timeout=timeout_s, context=self._tls_context()
            )
        else:
            connection = http.client.HTTPConnection(target.host, target.port, timeout=timeout_s)
        try:
            connection.connect()
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            distrusted = getattr(error, "verify_message", "")  # only of ssl.SSLCertVerificationError
            if distrusted:
                raise Unreachable(f"its certificate is not trusted: {distrusted}", lasting=True) from error
            raise Unreachable(_reason(error)) from error
        return connection

    def _tls_context(self) -> ssl.SSLContext:
        import ssl  # loaded here for the type checker's sake; http.client has it already

        with self._lock:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            return self._tls

    def _send(
        self, connection: http.client.HTTPConnection, body: bytes, headers: dict[str, str], silence_timeout_s: float
    ) -> None:
        if connection.sock is not None:
            connection.sock.settimeout(silence_timeout_s)
        try:
            connection.request("POST", self._target.path, body=body, headers=headers)
        except (BrokenPipeError, ConnectionResetError) as error:
            # The last bytes were never taken, so no server can have carried the request out. It may have refused it
            # unread though (413), in which case its answer waits to be read.
            if connection.sock is None or not select.select([connection.sock], [], [], 0)[0]:
                raise Unreachable(_reason(error)) from error
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(_reason(error)) from error


def _still_open(idle: socket.socket | None) -> bool:
    """Whether an idle connection can carry another request: an end of file or stray bytes make it readable."""
    if idle is None:
        return False
    try:
        return not select.select([idle], [], [], 0)[0]
    except (OSError, ValueError):
        return False


def _reason(error: BaseException) -> str:
    """Why an exchange failed, in a few words without addresses or bytes of the message."""
    match error:
        case ConnectionRefusedError():
            return "connection refused"
        case TimeoutError():
            return "no answer in time"
        case http.client.RemoteDisconnected() | ConnectionResetError() | BrokenPipeError():
            return "the connection was closed"
        case socket.gaierror():
            return "the host name is unknown"
        case OSError():
            return error.strerror or type(error).__name__
        case _:
            return f"the answer is not valid HTTP ({type(error).__name__})"
