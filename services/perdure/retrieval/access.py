"""The gRPC face of namespaces, tokens and audit: convert, call, convert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perdure.rpc.retrieval.v1 import access_pb2 as pb
from perdure.rpc.retrieval.v1 import access_pb2_grpc as pb_grpc
from perdure.usecases.authenticate import Authenticate
from perdure.usecases.manage_namespaces import ManageNamespaces
from perdure.usecases.manage_tokens import ManageTokens
from perdure.wire.convert import access
from perdure.wire.metadata import caller_of

SERVICE = "perdure.rpc.retrieval.v1.AccessService"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessVerbs:
    """The use cases behind the service."""

    authenticate: Authenticate
    namespaces: ManageNamespaces
    tokens: ManageTokens


class AccessServicer(pb_grpc.AccessServiceServicer):
    """Answers the gateway and the operator's command line."""

    def __init__(self, verbs: AccessVerbs) -> None:
        self._do = verbs

    def CreateNamespace(self, request: pb.CreateNamespaceRequest, context: Any) -> pb.CreateNamespaceResponse:  # noqa: N802 - the protocol's name
        """Make a namespace."""
        made = self._do.namespaces.create(caller_of(context), request.name)
        return pb.CreateNamespaceResponse(namespace=access.namespace_to_proto(made))

    def ListNamespaces(self, request: pb.ListNamespacesRequest, context: Any) -> pb.ListNamespacesResponse:  # noqa: ARG002, N802 - the protocol's
        """Namespaces with their counts."""
        known = self._do.namespaces.all(caller_of(context))
        return pb.ListNamespacesResponse(namespaces=map(access.namespace_to_proto, known))

    def CreateToken(self, request: pb.CreateTokenRequest, context: Any) -> pb.CreateTokenResponse:  # noqa: N802 - the protocol's name
        """Make a token."""
        token, secret = self._do.tokens.create(
            caller_of(context),
            request.namespace,
            request.name,
            scopes=access.scopes_from_proto(request.scopes),
            expires_at=access.expiry_from_request(request),
            create_namespace=request.create_namespace,
        )
        return pb.CreateTokenResponse(token=access.token_to_proto(token), secret=secret)

    def ListTokens(self, request: pb.ListTokensRequest, context: Any) -> pb.ListTokensResponse:  # noqa: N802 - the protocol's name
        """Tokens without their secrets."""
        tokens = self._do.tokens.all(caller_of(context), request.namespace)
        return pb.ListTokensResponse(tokens=map(access.token_to_proto, tokens))

    def RevokeToken(self, request: pb.RevokeTokenRequest, context: Any) -> pb.RevokeTokenResponse:  # noqa: N802 - the protocol's name
        """End a token."""
        token = self._do.tokens.revoke(caller_of(context), request.id)
        return pb.RevokeTokenResponse(token=access.token_to_proto(token))

    def Authenticate(self, request: pb.AuthenticateRequest, context: Any) -> pb.AuthenticateResponse:  # noqa: ARG002, N802 - the protocol's
        """Whose token this is."""
        return access.caller_to_response(self._do.authenticate(request.secret))

    def ListAudit(self, request: pb.ListAuditRequest, context: Any) -> pb.ListAuditResponse:  # noqa: N802 - the protocol's name
        """What was done."""
        limit = access.audit_limit(request.limit)
        events = self._do.tokens.trail(caller_of(context), request.namespace, limit=limit)
        return pb.ListAuditResponse(events=map(access.event_to_proto, events))
