"""REST to the gateway over one socket a request, never beyond a moment given at the start.

Knows enough of HTTP/1.1 for answers of our own gateway and of a proxy before it. Refuses to follow redirects, to use a
proxy, to retry.
"""

from __future__ import annotations

import time

from perdure.hooks import json_text

try:
    import _socket as socket  # `socket` itself loads selectors, enum and more: 9 ms
except ImportError:
    import socket  # type: ignore[no-redef]  # the same names, wherever the inner module is called otherwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from perdure.hooks.place import Place

MAX_ANSWER_BYTES = 4 * 1024 * 1024
_PIECE_BYTES = 65536
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


class Away(Exception):
    """No whole answer arrived in time: the gateway is away, or may have carried the request out."""


class Refused(Exception):
    """The gateway answered with an error.

    Attributes:
        status: HTTP status, 300 to 599.
    """

    def __init__(self, status: int) -> None:
        """Remember the status."""
        super().__init__(f"HTTP {status}")
        self.status = status


class Gateway:
    """The gateway at a place, until ``ends_at`` on the monotonic clock."""

    def __init__(self, place: Place, ends_at: float) -> None:
        """Open nothing yet."""
        self._place = place
        self.ends_at = ends_at

    @property
    def seconds_left(self) -> float:
        """What is left of the budget, possibly below zero."""
        return self.ends_at - time.monotonic()

    def get(self, path: str, query: dict[str, str]) -> Any:
        """The JSON answer of a GET.

        Raises:
            Away, Refused: see there.
        """
        pairs = "&".join(f"{name}={_quoted(value)}" for name, value in query.items())
        return self._ask("GET", f"{path}?{pairs}" if pairs else path, b"", {})

    def post(self, path: str, body: object, *, key: str = "") -> Any:
        """The JSON answer of a POST; with ``key`` a repeat of it is not carried out twice.

        Raises:
            Away, Refused: see there.
        """
        headers = {"Content-Type": "application/json"}
        if key:
            headers["Idempotency-Key"] = key
        return self._ask("POST", path, json_text.written(body).encode("ascii"), headers)

    def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Any:
        place = self._place
        name = f"[{place.host}]" if ":" in place.host else place.host
        lines = [
            f"{method} {place.prefix}{path} HTTP/1.1",
            f"Host: {name}:{place.port}",
            "Accept: application/json",
            "User-Agent: perdure-hook",
            "Connection: close",
            *(f"{header}: {value}" for header, value in headers.items()),
        ]
        if place.token:
            lines.append(f"Authorization: Bearer {place.token}")
        if method != "GET":
            lines.append(f"Content-Length: {len(body)}")
        request = "\r\n".join([*lines, "", ""]).encode("latin-1") + body
        try:
            status, answer = self._exchange(request)
        except (OSError, ValueError) as error:
            raise Away(type(error).__name__) from error
        if not 200 <= status < 300:
            raise Refused(status)
        try:
            return json_text.read(answer)
        except (ValueError, RecursionError) as error:
            raise Away("the answer is not JSON") from error

    def _exchange(self, request: bytes) -> tuple[int, bytes]:
        channel = self._secured() if self._place.secure else self._connected()
        try:
            channel.sendall(request)
            head, _, rest = self._until(channel, b"\r\n\r\n").partition(b"\r\n\r\n")
            first, *fields = head.decode("latin-1").split("\r\n")
            status = int(first.split(" ", 2)[1])
            headers = {n.strip().lower(): v.strip() for n, _, v in (field.partition(":") for field in fields)}
            if "chunked" in headers.get("transfer-encoding", "").lower():
                return status, self._chunked(channel, rest)
            size = int(headers["content-length"]) if "content-length" in headers else -1
            return status, self._sized(channel, rest, size)
        finally:
            channel.close()

    def _connected(self) -> socket.socket:
        """A connection to the first of the host's addresses that takes one."""
        place = self._place
        # as bytes where that is possible, because a text loads the codec for international names
        host: Any = place.host.encode() if place.host.isascii() else place.host
        failure: OSError = ConnectionError("the host has no address")
        for family, kind, protocol, _, address in socket.getaddrinfo(host, place.port, 0, socket.SOCK_STREAM):
            channel = socket.socket(family, kind, protocol)
            try:
                channel.settimeout(self._wait())
                channel.connect(address)
            except OSError as error:
                channel.close()
                failure = error
            else:
                return channel
        raise failure

    def _secured(self) -> socket.socket:
        """The same with TLS, which wants the whole of ``socket``: 30 ms that only a distant gateway costs."""
        import socket as full
        import ssl

        place = self._place
        plain = full.create_connection((place.host, place.port), timeout=self._wait())
        return ssl.create_default_context().wrap_socket(plain, server_hostname=place.host)

    def _wait(self) -> float:
        left = self.seconds_left
        if left <= 0:
            raise TimeoutError
        return left

    def _more(self, channel: socket.socket) -> bytes:
        channel.settimeout(self._wait())
        return channel.recv(_PIECE_BYTES)

    def _until(self, channel: socket.socket, mark: bytes) -> bytes:
        data = b""
        while mark not in data:
            piece = self._more(channel)
            if not piece or len(data) > MAX_ANSWER_BYTES:
                raise ConnectionError
            data += piece
        return data

    def _sized(self, channel: socket.socket, data: bytes, size: int) -> bytes:
        if size > MAX_ANSWER_BYTES:
            raise ConnectionError
        pieces, have = [data], len(data)
        while size < 0 or have < size:
            piece = self._more(channel)
            if not piece:
                break
            pieces.append(piece)
            have += len(piece)
            if have > MAX_ANSWER_BYTES:
                raise ConnectionError
        if have < size:
            raise ConnectionError
        return b"".join(pieces)

    def _chunked(self, channel: socket.socket, data: bytes) -> bytes:
        body = b""
        while True:
            while b"\r\n" not in data:
                data += self._some(channel)
            line, _, data = data.partition(b"\r\n")
            size = int(line.partition(b";")[0], 16)
            if size == 0:
                return body
            if size < 0 or len(body) + size > MAX_ANSWER_BYTES:
                raise ConnectionError
            while len(data) < size + 2:
                data += self._some(channel)
            body += data[:size]
            data = data[size + 2 :]

    def _some(self, channel: socket.socket) -> bytes:
        piece = self._more(channel)
        if not piece:
            raise ConnectionError
        return piece


def _quoted(text: str) -> str:
    """``text`` for a query string."""
    return "".join(chr(b) if b in _UNRESERVED else f"%{b:02X}" for b in text.encode("utf-8", "replace"))
