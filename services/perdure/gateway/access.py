"""Who is calling: from the bearer token alone, never from an argument or another header.

Pure ASGI. Puts the ``Caller`` into the ASGI scope, for REST and MCP alike. A token's answer is kept for at most five
seconds, under the hash of the token.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.auth_context import auth_context_var
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers

from perdure.domain.namespace import DEFAULT_NAMESPACE, Caller, TokenScope
from perdure.errors import LimitExceeded, PerdureError, PermissionDenied, Reason, Unauthenticated
from perdure.gateway.errors import problem_response
from perdure.gateway.journal import CALLER, ERROR, REQUEST_ID
from perdure.gateway.limits import Buckets

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from perdure.gateway.backends import Access
    from perdure.gateway.metrics import GatewayMetrics
    from perdure.gateway.policy import Policy

FRESH_S = 5.0
"""Longest that a revoked token goes on working."""

KEPT_TOKENS = 2_000
LOCAL_ACTOR = "local"
LOCAL_SCOPES = frozenset({TokenScope.READ.value, TokenScope.WRITE.value, TokenScope.EXPERIENCE.value})
OPEN_PATHS = frozenset({"/healthz", "/readyz", "/metrics", "/openapi.json", "/register"})
OPEN_FOLDERS = ("/.well-known/",)
TOKEN_CHARS_MAX = 512


def need(caller: Caller, scope: TokenScope) -> None:
    """Passes where the caller may; ``admin`` does not include reading or writing memories.

    Raises:
        PermissionDenied: the token lacks ``scope``.
    """
    if scope.value not in caller.scopes:
        raise PermissionDenied(
            f"This needs a token with the scope '{scope.value}'.",
            reason=Reason.SCOPE_MISSING,
            details={"scope": scope.value},
        )


def need_operator(caller: Caller) -> None:
    """Passes for the operator: a token with ``admin``, or anybody in local mode without a token.

    Raises:
        PermissionDenied: neither.
    """
    if caller.actor != LOCAL_ACTOR:
        need(caller, TokenScope.ADMIN)


class Authenticator:
    """Turns tokens into callers, with a short memory."""

    def __init__(self, access: Access, *, now: Callable[[], float] = time.monotonic) -> None:
        self._access = access
        self._now = now
        self._kept: OrderedDict[bytes, tuple[Caller, float]] = OrderedDict()

    def known(self, token: str) -> bool:
        """Whether this token was good before: its owner is no stranger even when the answer is stale."""
        return _digest(token) in self._kept

    async def caller(self, token: str) -> Caller:
        """The token's caller, without a request id.

        Raises:
            Unauthenticated: the token is unknown, expired, revoked or malformed.
            Unavailable: nobody can tell at present.
        """
        if not token or len(token) > TOKEN_CHARS_MAX or not token.isascii():
            raise Unauthenticated("This is not a Perdure token.", reason=Reason.TOKEN_INVALID)
        digest = _digest(token)
        kept = self._kept.get(digest)
        if kept is not None and self._now() - kept[1] < FRESH_S:
            return kept[0]
        try:
            caller = await self._access.authenticate(token)
        except Unauthenticated:
            self._kept.pop(digest, None)
            raise
        self._kept[digest] = (caller, self._now())
        self._kept.move_to_end(digest)
        while len(self._kept) > KEPT_TOKENS:
            self._kept.popitem(last=False)
        return caller


class AccessControl:
    """Puts the caller into the scope, or answers 401 or 429."""

    def __init__(
        self,
        app: ASGIApp,
        policy: Policy,
        authenticator: Authenticator,
        metrics: GatewayMetrics,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._policy = policy
        self._authenticator = authenticator
        self._metrics = metrics
        self._strangers = Buckets(policy.strangers_per_minute, now=now)
        self._callers = Buckets(policy.rate_per_minute, now=now)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request whose caller is known, or one that anybody may make."""
        if scope["type"] != "http" or _is_open(scope["path"]):
            await self._app(scope, receive, send)
            return
        try:
            caller = await self._identify(scope)
        except PerdureError as refusal:
            scope[ERROR] = refusal.reason.value
            await problem_response(refusal, scope[REQUEST_ID])(scope, receive, send)
            return
        scope[CALLER] = caller
        user = AuthenticatedUser(
            AccessToken(token="", client_id=caller.actor, scopes=sorted(caller.scopes), subject=caller.namespace)
        )
        scope["user"] = user
        reset = auth_context_var.set(user)
        try:
            await self._app(scope, receive, send)
        finally:
            auth_context_var.reset(reset)

    async def _identify(self, scope: Scope) -> Caller:
        request_id = scope[REQUEST_ID]
        values = Headers(scope=scope).getlist("authorization")
        if not values:
            if self._policy.local:
                return Caller(
                    namespace=DEFAULT_NAMESPACE, actor=LOCAL_ACTOR, scopes=LOCAL_SCOPES, request_id=request_id
                )
            self._count_stranger(scope)
            self._metrics.login("missing")
            raise Unauthenticated(
                "Send a token: 'Authorization: Bearer pdr_...'. Make one with `perdure token create`.",
                reason=Reason.TOKEN_MISSING,
            )
        scheme, _, token = values[0].strip().partition(" ")
        token = token.strip()
        stranger = not self._authenticator.known(token)
        if stranger:
            self._refuse_flood(self._strangers.wait_s(_peer(scope)))
        try:
            if scheme.lower() != "bearer" or len(values) != 1:
                raise Unauthenticated("Send one header 'Authorization: Bearer pdr_...'.", reason=Reason.TOKEN_INVALID)
            caller = await self._authenticator.caller(token)
        except Unauthenticated as refusal:
            self._metrics.login("refused")
            self._count_stranger(scope)
            raise _helpful(refusal) from None
        self._metrics.login("accepted")
        wait = self._callers.take(caller.actor)
        if wait:
            self._metrics.login("limited")
            raise LimitExceeded(
                f"This token may make {self._policy.rate_per_minute} requests a minute.",
                reason=Reason.RATE,
                retry_after_s=wait,
            )
        return dataclasses.replace(caller, request_id=request_id)

    def _count_stranger(self, scope: Scope) -> None:
        self._refuse_flood(self._strangers.take(_peer(scope)))

    def _refuse_flood(self, wait: float) -> None:
        if wait:
            self._metrics.login("limited")
            raise LimitExceeded(
                "Too many requests without a valid token from this address. Wait, then send a valid token.",
                reason=Reason.RATE,
                retry_after_s=wait,
            )


def _helpful(refusal: Unauthenticated) -> Unauthenticated:
    words = {
        Reason.TOKEN_EXPIRED: "This Perdure token has expired.",
        Reason.TOKEN_REVOKED: "This Perdure token was revoked.",
    }
    cause = words.get(refusal.reason, "This Perdure token is not valid.")
    return Unauthenticated(
        f"{cause} Make a new one with `perdure token create` and send it as 'Authorization: Bearer pdr_...'.",
        reason=refusal.reason,
    )


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _peer(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDERS)
