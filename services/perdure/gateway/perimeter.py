"""What a request must look like before anything reads it: Host, Origin, content type, size.

Pure ASGI. Stops DNS rebinding and cross-site requests from a browser, and bodies that nobody should have to hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from perdure.errors import InvalidArgument, PerdureError, PermissionDenied, Reason
from perdure.gateway.errors import problem_response
from perdure.gateway.journal import ERROR, REQUEST_ID

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from perdure.gateway.policy import Policy

JSON = frozenset({"application/json"})
NDJSON = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl", "application/json"})
STREAMED = frozenset({"/memories/import"})
"""Paths whose body is read line by line, each line within the limit."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/webp", "application/octet-stream"})
_PICTURE_PATH = re.compile(r"/episodes/[^/]+/screenshots/[^/]+\Z")

_BODILESS = frozenset({"GET", "HEAD", "OPTIONS"})


class Perimeter:
    """Refuses foreign hosts and origins (421, 403), wrong content types (415) and too large bodies (413)."""

    def __init__(self, app: ASGIApp, policy: Policy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a well-formed request pass."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        try:
            self._check_sender(headers)
            if scope["method"] not in _BODILESS:
                receive = await self._body(scope, headers, receive)
        except PerdureError as refusal:
            scope[ERROR] = refusal.reason.value
            await problem_response(refusal, scope[REQUEST_ID])(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _check_sender(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        host = hosts[0] if len(hosts) == 1 else ""
        if not self._policy.accepts_host(host):
            raise InvalidArgument(
                "This Host header is not one the gateway answers to. Name it in PERDURE_ALLOWED_HOSTS if it is yours.",
                reason=Reason.HOST_REFUSED,
            )
        origins = headers.getlist("origin")
        if not all(self._policy.accepts_origin(origin, host) for origin in origins) or (
            not origins and _is_embedded_elsewhere(headers)
        ):
            raise PermissionDenied(
                "Pages of other sites may not call this gateway. Name the origin in PERDURE_ALLOWED_ORIGINS if it "
                "is yours.",
                reason=Reason.ORIGIN_REFUSED,
            )

    async def _body(self, scope: Scope, headers: Headers, receive: Receive) -> Receive:
        """The way to read the body: checked, and within the limit."""
        declared = _declared_bytes(headers)
        has_body = declared > 0 or "transfer-encoding" in headers
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        streamed = scope["path"] in STREAMED
        picture = scope["method"] == "PUT" and _PICTURE_PATH.match(scope["path"]) is not None
        accepted = NDJSON if streamed else PICTURES if picture else JSON
        if (has_body or kind) and kind not in accepted:
            wanted = "application/x-ndjson" if streamed else "image/png" if picture else "application/json"
            raise InvalidArgument(f"Send the body as {wanted} (Content-Type header).", reason=Reason.CONTENT_TYPE)
        if streamed:
            return receive
        limit = self._policy.body_limit_bytes
        if declared > limit:
            raise _too_large(limit)
        return await _held(receive, limit) if has_body else receive


def _is_embedded_elsewhere(headers: Headers) -> bool:
    """True for what a browser fetches for a page of another site without naming its origin (images, scripts)."""
    site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
    return site in ("cross-site", "same-site") and mode != "navigate"


def _declared_bytes(headers: Headers) -> int:
    text = headers.get("content-length", "0")
    return int(text) if text.isascii() and text.isdigit() else 0


def _too_large(limit: int) -> InvalidArgument:
    return InvalidArgument(
        f"The body is larger than {limit} bytes. Send less at once, or use /memories/import for a long stream.",
        reason=Reason.TOO_LARGE,
        details={"limit_bytes": limit},
    )


async def _held(receive: Receive, limit: int) -> Receive:
    """Reads the whole body, chunked ones too, and gives it back as one message."""
    body = bytearray()
    last: Message | None = None
    while last is None:
        message = await receive()
        if message["type"] != "http.request":
            last = message
            break
        body += message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        if not message.get("more_body", False):
            break
    waiting: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": last is not None}]
    if last is not None:
        waiting.append(last)

    async def replay() -> Message:
        return waiting.pop(0) if waiting else await receive()

    return replay
