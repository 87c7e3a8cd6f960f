"""The gRPC face of the embedding service."""

from __future__ import annotations

from typing import Any

from perdure.embedding.loading import Loader
from perdure.embedding.texts import Kind
from perdure.rpc.embedding.v1 import embedding_pb2 as pb
from perdure.rpc.embedding.v1 import embedding_pb2_grpc as pb_grpc
from perdure.wire.convert import embedding as convert
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
        texts, kind, background = convert.embed_from_request(request)
        engine = self._loader.engine()
        found = engine.embed(
            texts,
            Kind(kind.value),
            background=background,
            timeout_s=time_left_s(context),
            alive=context.is_active,
        )
        vectors = [
            convert.embedded(each.vector, truncated=each.truncated, windows=each.windows, cached=each.cached)
            for each in found
        ]
        return pb.EmbedResponse(vectors=vectors, space=convert.space_to_proto(engine.space))

    def Describe(self, request: pb.DescribeRequest, context: Any) -> pb.DescribeResponse:  # noqa: ARG002, N802 - the protocol's names
        """The space and how the provider is doing; while there is no model, the error says why."""
        engine, status = self._loader.engine(), self._loader.status
        return pb.DescribeResponse(
            space=convert.space_to_proto(engine.space), state=status.state.value, detail=status.detail
        )
