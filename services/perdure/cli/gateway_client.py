"""HTTP to the gateway with the standard library, for commands that must be quick.

Knows connections, JSON and problem+json; turns every failure into one sentence and an exit code. Refuses to know
what the answers mean.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import time
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit

from perdure.cli.failure import BY_STATUS, Exit, Failure
from perdure.cli.place import Place

TIMEOUT_S = 60.0
RESTART_WAIT_S = 20.0
RESTART_POLL_S = 0.1
"""How long a command waits for a local gateway that is being started, and how often it asks."""
_PIECE_BYTES = 65536
Pairs = Iterable[tuple[str, object]]


class Gateway:
    """The gateway at a place, one request at a time, each on a connection of its own."""

    def __init__(self, place: Place, *, timeout_s: float = TIMEOUT_S) -> None:
        self.place = place
        self._timeout_s = timeout_s
        parts = urlsplit(place.url)
        self._prefix = parts.path
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=timeout_s)

    def get(self, path: str, query: Pairs = ()) -> Any:
        """The JSON answer of a GET."""
        return self._json(self._send("GET", path, query=query))

    def call(
        self, method: str, path: str, body: object = None, *, query: Pairs = (), headers: dict[str, str] | None = None
    ) -> Any:
        """The JSON answer of any method with a JSON body (None sends none)."""
        raw = None if body is None else json.dumps(body).encode("ascii")
        return self._json(self._send(method, path, query=query, body=raw, headers=headers))

    def text(self, path: str) -> str:
        """The answer of a GET as text."""
        return self._body(self._send("GET", path)).decode("utf-8", "replace")

    def file(self, path: str) -> bytes:
        """The answer of a GET as it is."""
        return self._body(self._send("GET", path))

    def put_file(self, path: str, data: bytes) -> Any:
        """The JSON answer of a PUT whose body is a file."""
        return self._json(self._send("PUT", path, body=data, headers={"Content-Type": "application/octet-stream"}))

    def lines(self, path: str, query: Pairs = ()) -> Iterator[bytes]:
        """The lines of a streamed answer, without their ends.

        Raises:
            Failure: also when the stream broke off before its end.
        """
        response = self._send("GET", path, query=query)
        pending = b""
        try:
            # read1 and not readline, which takes a stream that broke off for one that ended
            while piece := response.read1(_PIECE_BYTES):
                *whole, pending = (pending + piece).split(b"\n")
                yield from whole
        except (OSError, http.client.HTTPException) as error:
            raise self._broke_off(error) from error
        finally:
            self._connection.close()
        if response.length or pending:
            raise self._broke_off(None)

    def upload(self, path: str, chunks: Iterable[bytes], *, query: Pairs = (), content_type: str) -> Any:
        """The JSON answer of a POST whose body is sent piece by piece."""
        headers = {"Content-Type": content_type, "Transfer-Encoding": "chunked"}
        return self._json(self._send("POST", path, query=query, chunks=chunks, headers=headers))

    def probe(self, path: str, *, timeout_s: float = 2.0) -> tuple[int, Any]:
        """Status and JSON (or None) of a GET, whatever the status; status 0 and the reason where nobody answers."""
        self._connection.timeout = timeout_s
        try:
            self._connection.request("GET", self._prefix + path, headers=self._headers())
            response = self._connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            return 0, _why(error)
        finally:
            self._connection.close()
            self._connection.timeout = self._timeout_s
        with contextlib.suppress(ValueError):
            return response.status, json.loads(body)
        return response.status, None

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "perdure-cli", "Connection": "close"}
        if self.place.token:
            headers["Authorization"] = f"Bearer {self.place.token}"
        return headers

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: Pairs = (),
        body: bytes | None = None,
        chunks: Iterable[bytes] | None = None,
        headers: dict[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        target = self._prefix + path
        pairs = [(name, str(value)) for name, value in query if value is not None]
        if pairs:
            target += "?" + urlencode(pairs, errors="replace")
        sent = self._headers() | (headers or {})
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        # a request that changes nothing, or that carries a key against doing it twice, may be sent again
        repeatable = chunks is None and (method == "GET" or "Idempotency-Key" in sent)
        response = self._answer(method, target, body if chunks is None else chunks, sent, repeatable)
        if response.status >= 400:
            raise self._refusal(response)
        return response

    def _answer(
        self, method: str, target: str, payload: Any, headers: dict[str, str], repeatable: bool
    ) -> http.client.HTTPResponse:
        patience_ends = time.monotonic() + RESTART_WAIT_S
        while True:
            try:
                self._request(method, target, payload, headers)
                return self._connection.getresponse()
            except Failure:
                # what was to be sent turned out to be unusable
                self._connection.close()
                raise
            except (http.client.HTTPException, OSError) as error:
                self._connection.close()
                if isinstance(error, ConnectionRefusedError):
                    # nothing was sent, so it may be sent when the gateway is back
                    if time.monotonic() < patience_ends and self._restarting():
                        time.sleep(RESTART_POLL_S)
                        continue
                    raise self._away(error) from error
                if not repeatable or isinstance(error, socket.gaierror | TimeoutError):
                    raise self._away(error) from error
                repeatable = False

    def _restarting(self) -> bool:
        """Whether the local services run, so that a gateway that does not listen is being started (again)."""
        if self.place.chosen:
            return False
        from perdure.cli.running import living_run

        return living_run(self.place.home / "run") is not None

    def _request(self, method: str, target: str, payload: Any, headers: dict[str, str]) -> None:
        chunked = "Transfer-Encoding" in headers
        try:
            self._connection.request(method, target, payload, headers, encode_chunked=chunked)
        except (BrokenPipeError, ConnectionResetError):
            if not chunked:
                raise
            # a gateway that refuses an upload answers and hangs up before it has all of it; the answer says why

    def _body(self, response: http.client.HTTPResponse) -> bytes:
        try:
            return response.read()
        except (OSError, http.client.HTTPException) as error:
            raise self._broke_off(error) from error
        finally:
            self._connection.close()

    def _json(self, response: http.client.HTTPResponse) -> Any:
        body = self._body(response)
        try:
            return json.loads(body) if body else None
        except ValueError as error:
            raise self._foreign() from error

    def _away(self, error: Exception) -> Failure:
        step = "check PERDURE_URL" if self.place.chosen else "start it with: perdure up --detach"
        return Failure(f"Perdure does not answer at {self.place.url} ({_why(error)}); {step}", Exit.AWAY)

    def _broke_off(self, error: Exception | None) -> Failure:
        reason = f" ({_why(error)})" if error is not None else ""
        return Failure(f"The answer of {self.place.url} broke off{reason}; see: perdure logs gateway", Exit.AWAY)

    def _foreign(self, status: int = 200) -> Failure:
        said = f" (status {status})" if status != 200 else ""
        return Failure(
            f"What answers at {self.place.url} is not Perdure{said}; check PERDURE_URL and PERDURE_PORT.",
            Exit.AWAY if status >= 500 else Exit.ERROR,
        )

    def _refusal(self, response: http.client.HTTPResponse) -> Failure:
        status = response.status
        code = BY_STATUS.get(status, Exit.ERROR)
        try:
            problem = json.loads(self._body(response))
        except (ValueError, Failure):
            problem = None
        if not isinstance(problem, dict):
            return self._foreign(status)
        sentence = str(problem.get("detail") or problem.get("error") or problem.get("title") or f"status {status}")
        if status == 401:
            sentence += f" {self._token_advice()}"
        retry = response.getheader("Retry-After")
        if status in {429, 503} and retry and retry.isdigit():
            sentence += f" Try again in {retry} s."
        if status >= 500 and problem.get("request_id"):
            sentence += f" (request {problem['request_id']})"
        return Failure(sentence, code, reason=str(problem.get("reason") or ""))

    def _token_advice(self) -> str:
        if self.place.token:
            return f"The token sent is from {self.place.token_from}."
        if self.place.warnings:
            return self.place.warnings[0]
        return "Set PERDURE_TOKEN, or make a token with: perdure token create"


def _why(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, socket.gaierror):
        return "no such host"
    if isinstance(error, http.client.RemoteDisconnected | ConnectionResetError | BrokenPipeError):
        return "the connection was closed"
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or type(error).__name__
