"""Namespaces, tokens and audit. A token's hash never travels; its secret does once, when it is made."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from perdure.domain.namespace import Caller, NamespaceName, TokenScope, namespace_name
from perdure.errors import Reason
from perdure.ports import AuditEvent, Namespace, Token
from perdure.rpc.retrieval.v1 import access_pb2 as pb
from perdure.wire.convert import fields

SCOPES_DEFAULT = frozenset({TokenScope.READ.value, TokenScope.WRITE.value})
AUDIT_DEFAULT = 100
AUDIT_MAX = 500


def namespace_to_proto(namespace: Namespace) -> pb.Namespace:
    """The message of ``namespace``."""
    return pb.Namespace(
        name=namespace.name,
        created_at=fields.timestamp(namespace.created_at, "created_at"),
        memories=namespace.memories,
    )


def namespace_from_proto(message: pb.Namespace) -> Namespace:
    """The namespace in ``message``.

    Raises:
        InvalidArgument: its name, time or count is malformed.
    """
    fields.present(message, "created_at")
    return Namespace(
        name=namespace_name(message.name),
        created_at=fields.moment(message.created_at, "created_at"),
        memories=fields.whole(message.memories, "memories", 0),
    )


def token_to_proto(token: Token) -> pb.Token:
    """The message of ``token``, without its hash."""
    return pb.Token(
        id=token.id,
        namespace=token.namespace,
        name=fields.text(token.name),
        scopes=sorted(token.scopes),
        created_at=fields.timestamp(token.created_at, "created_at"),
        expires_at=fields.optional_timestamp(token.expires_at, "expires_at"),
        last_used_at=fields.optional_timestamp(token.last_used_at, "last_used_at"),
        revoked_at=fields.optional_timestamp(token.revoked_at, "revoked_at"),
    )


def token_from_proto(message: pb.Token) -> Token:
    """The token in ``message``; ``secret_sha256`` is empty.

    Raises:
        InvalidArgument: its namespace or a time is malformed.
    """
    has = message.HasField
    fields.present(message, "created_at")
    return Token(
        id=message.id,
        namespace=namespace_name(message.namespace),
        name=message.name,
        secret_sha256="",
        scopes=frozenset(message.scopes),
        created_at=fields.moment(message.created_at, "created_at"),
        expires_at=fields.moment(message.expires_at, "expires_at") if has("expires_at") else None,
        last_used_at=fields.moment(message.last_used_at, "last_used_at") if has("last_used_at") else None,
        revoked_at=fields.moment(message.revoked_at, "revoked_at") if has("revoked_at") else None,
    )


def scopes_from_proto(scopes: Iterable[str]) -> frozenset[str]:
    """The scopes asked for; none is read and write.

    Raises:
        InvalidArgument: one is unknown.
    """
    return frozenset(fields.word(TokenScope, scope, "scopes").value for scope in scopes) or SCOPES_DEFAULT


def create_token_request(
    namespace: str, name: str, scopes: Iterable[str], expires_at: datetime | None, *, create_namespace: bool
) -> pb.CreateTokenRequest:
    """The request for a new token.

    Raises:
        InvalidArgument: ``expires_at`` has no time zone.
    """
    return pb.CreateTokenRequest(
        namespace=fields.text(namespace),
        name=fields.text(name),
        scopes=sorted(scopes),
        expires_at=fields.optional_timestamp(expires_at, "expires_at"),
        create_namespace=create_namespace,
    )


def expiry_from_request(request: pb.CreateTokenRequest) -> datetime | None:
    """When the new token ends; None is never.

    Raises:
        InvalidArgument: the time is malformed.
    """
    return fields.moment(request.expires_at, "expires_at") if request.HasField("expires_at") else None


def namespace_or_all(name: str) -> NamespaceName | None:
    """The namespace asked for; None, every one, where ``name`` is empty.

    Raises:
        InvalidArgument: the name is malformed.
    """
    return namespace_name(name) if name else None


def caller_to_response(caller: Caller) -> pb.AuthenticateResponse:
    """The answer that says whose token it was."""
    return pb.AuthenticateResponse(token_id=caller.actor, namespace=caller.namespace, scopes=sorted(caller.scopes))


def caller_from_response(response: pb.AuthenticateResponse, *, request_id: str = "") -> Caller:
    """The caller a token belongs to; scopes this version does not know are left out.

    Raises:
        InvalidArgument: the namespace or token id is malformed.
    """
    if not response.token_id:
        raise fields.invalid("token_id", "The field token_id is missing.", Reason.FIELD_MISSING)
    known = {scope.value for scope in TokenScope}
    return Caller(
        namespace=namespace_name(response.namespace),
        actor=response.token_id,
        scopes=frozenset(known.intersection(response.scopes)),
        request_id=request_id,
    )


def audit_limit(limit: int) -> int:
    """How many events are wanted; 0 is 100.

    Raises:
        InvalidArgument: it is over 500.
    """
    return fields.whole(limit, "limit", 0, AUDIT_MAX) or AUDIT_DEFAULT


def event_to_proto(event: AuditEvent) -> pb.AuditEvent:
    """The message of ``event``."""
    return pb.AuditEvent(
        at=fields.timestamp(event.at, "at"),
        actor=fields.text(event.actor),
        namespace=event.namespace,
        act=event.act,
        subject=fields.text(event.subject),
    )


def event_from_proto(message: pb.AuditEvent) -> AuditEvent:
    """The event in ``message``.

    Raises:
        InvalidArgument: its time is missing or malformed.
    """
    fields.present(message, "at")
    return AuditEvent(
        at=fields.moment(message.at, "at"),
        actor=message.actor,
        namespace=message.namespace,
        act=message.act,
        subject=message.subject,
    )
