"""Texts to embed, vectors, and the space they live in."""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np

from perdure.domain.vectors import Matrix, Space, Thresholds, Vector, to_bytes
from perdure.errors import FailedPrecondition, InvalidArgument, Reason
from perdure.ports import Embeddings
from perdure.rpc.embedding.v1 import embedding_pb2 as pb
from perdure.wire.convert import fields

TEXTS_MAX = 256
DIMENSION_MAX = 8192


class TextKind(enum.Enum):
    """Which side of a search a text is on."""

    DOCUMENT = "document"
    QUERY = "query"


KINDS = fields.Names(TextKind, pb.TextKind.items(), "TEXT_KIND")


def embed_request(texts: Sequence[str], kind: TextKind, *, background: bool) -> pb.EmbedRequest:
    """The request for vectors of ``texts``.

    Raises:
        InvalidArgument: there are more than 256 (TOO_LARGE).
    """
    if len(texts) > TEXTS_MAX:
        raise fields.invalid("texts", f"One call embeds up to {TEXTS_MAX} texts.", Reason.TOO_LARGE)
    return pb.EmbedRequest(
        texts=fields.texts(texts),
        kind=KINDS.number(kind),  # type: ignore[arg-type]  # stubs want the enum's own type
        background=background,
    )


def embed_from_request(request: pb.EmbedRequest) -> tuple[tuple[str, ...], TextKind, bool]:
    """Texts, their kind, and whether nobody waits for them.

    Raises:
        InvalidArgument: there are more than 256 texts, or the kind is missing.
    """
    if len(request.texts) > TEXTS_MAX:
        raise fields.invalid("texts", f"One call embeds up to {TEXTS_MAX} texts.", Reason.TOO_LARGE)
    return tuple(request.texts), KINDS.member(request.kind, "kind"), request.background


def embedded(vector: Vector, *, truncated: bool, windows: int, cached: bool) -> pb.Embedded:
    """The message of one vector."""
    return pb.Embedded(vector=to_bytes(vector), truncated=truncated, windows=windows, cached=cached)


def embeddings_from_response(response: pb.EmbedResponse, *, count: int, known: Space | None) -> Embeddings:
    """The vectors in ``response``.

    Args:
        response: What the embedding service answered.
        count: How many texts were asked for.
        known: The space last seen; taken as it is while the fingerprint stays the same.

    Raises:
        InvalidArgument: a vector is missing, of another length than the space's, or not finite.
        FailedPrecondition: the space's facts do not make its fingerprint.
    """
    space = known if known and known.fingerprint == response.space.fingerprint else space_from_proto(response.space)
    length = 4 * space.dimension
    if len(response.vectors) != count or any(len(item.vector) != length for item in response.vectors):
        raise InvalidArgument("The vectors do not fit the texts or the space.", reason=Reason.VECTOR_INVALID)
    joined = b"".join(item.vector for item in response.vectors)
    vectors: Matrix = np.frombuffer(joined, dtype="<f4").reshape(count, space.dimension)
    if not np.isfinite(vectors).all():
        raise InvalidArgument("A vector holds NaN or infinity.", reason=Reason.VECTOR_INVALID)
    return Embeddings(vectors=vectors, space=space, truncated=tuple(item.truncated for item in response.vectors))


def space_to_proto(space: Space) -> pb.Space:
    """The message of ``space``."""
    return pb.Space(
        fingerprint=space.fingerprint,
        provider=space.provider,
        model=fields.text(space.model),
        dimension=space.dimension,
        pooling=space.pooling,
        query_prefix=fields.text(space.query_prefix),
        document_prefix=fields.text(space.document_prefix),
        model_sha256=space.model_sha256,
        mean_sha256=space.mean_sha256,
        layout=space.layout,
        twin=space.thresholds.twin,
        cluster=space.thresholds.cluster,
        interference=space.thresholds.interference,
        floor=space.thresholds.floor,
    )


def space_from_proto(message: pb.Space) -> Space:
    """The space in ``message``.

    Raises:
        InvalidArgument: a number is out of range.
        FailedPrecondition: its facts do not make its fingerprint, so the peer is of another version (SPACE_MISMATCH).
    """
    space = Space(
        provider=message.provider,
        model=message.model,
        dimension=fields.whole(message.dimension, "dimension", 1, DIMENSION_MAX),
        pooling=message.pooling,
        query_prefix=message.query_prefix,
        document_prefix=message.document_prefix,
        model_sha256=message.model_sha256,
        mean_sha256=message.mean_sha256,
        layout=message.layout,
        thresholds=Thresholds(
            twin=fields.finite(message.twin, "twin"),
            cluster=fields.finite(message.cluster, "cluster"),
            interference=fields.finite(message.interference, "interference"),
            floor=fields.finite(message.floor, "floor"),
        ),
    )
    if space.fingerprint != message.fingerprint:
        raise FailedPrecondition(
            "The embedding service is of another version than this one; restart all services.",
            reason=Reason.SPACE_MISMATCH,
            details={"space": message.fingerprint[:80]},
        )
    return space
