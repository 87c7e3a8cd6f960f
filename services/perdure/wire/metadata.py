"""Who calls, written into gRPC metadata and read from it.

The gateway finds out the caller from the token alone; services believe the metadata because only holders of the
internal token, or the owner of the unix socket's folder, can reach them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol
from urllib.parse import quote, unquote

from perdure.domain.namespace import Caller, TokenScope, namespace_name
from perdure.errors import Reason, Unauthenticated
from perdure.observability import context

NAMESPACE = "perdure-namespace"
ACTOR = "perdure-actor"
SCOPES = "perdure-scopes"
REQUEST_ID = "perdure-request-id"
INTERNAL_TOKEN = "perdure-internal-token"  # noqa: S105 - the key's name, not a token
TRACEPARENT = "traceparent"
ERROR = "perdure-error-bin"

Metadata = tuple[tuple[str, str], ...]

_SCOPES = frozenset(scope.value for scope in TokenScope)
_ACTOR_CHARS_MAX = 200


class HasMetadata(Protocol):
    """The part of a gRPC servicer's context that is needed here."""

    def invocation_metadata(self) -> Iterable[tuple[str, str | bytes]] | None:
        """Key and value pairs that came with the call."""


def outgoing(caller: Caller | None, *, internal_token: str = "", traceparent: str = "") -> Metadata:
    """Metadata that says who calls.

    Args:
        caller: The caller; None for calls made before anybody is known (authentication, embedding).
        internal_token: The services' shared secret; empty sends none.
        traceparent: W3C trace parent; empty takes the one that came in.
    """
    pairs: list[tuple[str, str]] = []
    request_id = context.request_id()
    if caller is not None:
        request_id = caller.request_id or request_id
        pairs += [
            (NAMESPACE, caller.namespace),
            (ACTOR, quote(caller.actor, safe=":/@+")),
            (SCOPES, ",".join(sorted(caller.scopes))),
        ]
    if request_id:
        pairs.append((REQUEST_ID, context.accepted_request_id(request_id)))
    if internal_token:
        pairs.append((INTERNAL_TOKEN, internal_token))
    if trace := traceparent or context.traceparent():
        pairs.append((TRACEPARENT, trace))
    return tuple(pairs)


def texts(metadata: Iterable[tuple[str, str | bytes]] | None) -> Mapping[str, str]:
    """The text values of ``metadata`` by key; the last of a repeated key wins."""
    return {key: value for key, value in metadata or () if isinstance(value, str)}


def caller_of(call: HasMetadata) -> Caller:
    """The caller of the RPC being served.

    Scopes that this version does not know are left out, so an unknown one opens nothing.

    Raises:
        Unauthenticated: the metadata names no namespace (TOKEN_MISSING).
        InvalidArgument: the namespace's name is malformed.
    """
    given = texts(call.invocation_metadata())
    if not given.get(NAMESPACE):
        raise Unauthenticated("The call does not say for whom it is made.", reason=Reason.TOKEN_MISSING)
    return Caller(
        namespace=namespace_name(given[NAMESPACE]),
        actor=unquote(given.get(ACTOR, ""))[:_ACTOR_CHARS_MAX],
        scopes=_SCOPES.intersection(given.get(SCOPES, "").split(",")),
        request_id=context.request_id() or context.accepted_request_id(given.get(REQUEST_ID)),
    )
