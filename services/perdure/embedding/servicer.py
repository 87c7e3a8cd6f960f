"""The gRPC face of the embedding service."""

from __future__ import annotations

from typing import Any

from perdure.domain.vectors import Space, to_bytes
from perdure.embedding.loading import Loader
from perdure.embedding.texts import Embedded, Kind
from perdure.errors import InvalidArgument, Reason
from perdure.rpc.embedding.v1 import embedding_pb2 as pb
from perdure.rpc.embedding.v1 import embedding_pb2_grpc as pb_grpc
from perdure.wire.deadline import time_left_s

SERVICE = "perdure.rpc.embedding.v1.EmbeddingService"


class EmbeddingServicer(pb_grpc.EmbeddingServiceServicer):
    """Converts, calls, converts.

    Args:
        loader: Holds the engine, or says why there is none.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def Embed(self, request: pb.EmbedRequest, context: Any) -> pb.EmbedResponse:  # noqa: N802 - the protocol's name
        """Vectors of texts, in their order."""
        engine, kind = self._loader.engine(), _kind(request.kind)
        embedded = engine.embed(
            request.texts,
            kind,
            background=request.background,
            timeout_s=time_left_s(context),
            alive=context.is_active,
        )
        return pb.EmbedResponse(vectors=map(_embedded, embedded), space=_space(engine.space))

    def Describe(self, request: pb.DescribeRequest, context: Any) -> pb.DescribeResponse:  # noqa: ARG002, N802 - the protocol's
        """The space, where there is one yet, and how the provider is doing."""
        status = self._loader.status
        space = _space(status.engine.space) if status.engine else None
        return pb.DescribeResponse(space=space, state=status.state.value, detail=status.detail)


def _kind(kind: pb.TextKind) -> Kind:
    match kind:
        case pb.TEXT_KIND_DOCUMENT:
            return Kind.DOCUMENT
        case pb.TEXT_KIND_QUERY:
            return Kind.QUERY
    raise InvalidArgument("A text is a document or a query.", reason=Reason.FIELD_MISSING, details={"field": "kind"})


def _embedded(each: Embedded) -> pb.Embedded:
    return pb.Embedded(vector=to_bytes(each.vector), truncated=each.truncated, windows=each.windows, cached=each.cached)


def _space(space: Space) -> pb.Space:
    return pb.Space(
        fingerprint=space.fingerprint,
        provider=space.provider,
        model=space.model,
        dimension=space.dimension,
        pooling=space.pooling,
        query_prefix=space.query_prefix,
        document_prefix=space.document_prefix,
        model_sha256=space.model_sha256,
        mean_sha256=space.mean_sha256,
        layout=space.layout,
        twin=space.thresholds.twin,
        cluster=space.thresholds.cluster,
        interference=space.thresholds.interference,
        floor=space.thresholds.floor,
    )
