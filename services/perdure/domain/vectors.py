"""Unit vectors and embedding spaces.

Knows the arithmetic of vectors and what makes two of them comparable; knows no model.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perdure.errors import InvalidArgument, Reason

Vector = npt.NDArray[np.float32]
"""float32, shape (dimension,), unit length unless said otherwise."""

Matrix = npt.NDArray[np.float32]
"""float32, shape (n, dimension), unit rows unless said otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Similarities that mean something in one space; calibrated on its own distribution.

    ``twin``: the same statement, said again. ``cluster``: about the same thing. ``interference``: two that get in each
    other's way. ``floor``: below it a dense hit alone is no match. Source: docs/explanation/embedding-spaces.md.
    """

    twin: float
    cluster: float
    interference: float
    floor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """An embedding space: vectors of one are comparable with each other and with nothing else."""

    provider: str
    model: str
    dimension: int
    pooling: str
    query_prefix: str
    document_prefix: str
    model_sha256: str
    mean_sha256: str
    layout: int
    thresholds: Thresholds

    @property
    def fingerprint(self) -> str:
        """Stable short name of the space, ``<provider>-<12 hex digits>``; thresholds are not part of it."""
        facts = json.dumps(
            [
                self.provider,
                self.model,
                self.dimension,
                self.pooling,
                self.query_prefix,
                self.document_prefix,
                self.model_sha256,
                self.mean_sha256,
                self.layout,
            ],
            ensure_ascii=True,
        )
        return f"{self.provider}-{hashlib.sha256(facts.encode()).hexdigest()[:12]}"


def unit(rows: npt.NDArray[np.floating]) -> Matrix:
    """Rows scaled to length 1, float32; a zero row stays zero.

    Args:
        rows: shape (n, d) or (d,), finite.

    Raises:
        InvalidArgument: a value is NaN or infinite.
    """
    array = np.asarray(rows, dtype=np.float32)
    if not np.isfinite(array).all():
        raise InvalidArgument("A vector holds NaN or infinity.", reason=Reason.VECTOR_INVALID)
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    scaled: Matrix = np.divide(array, length, out=np.zeros_like(array), where=length > 0)
    return scaled


def to_bytes(vector: Vector) -> bytes:
    """Little-endian float32 bytes of ``vector``, 4 × dimension of them."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def from_bytes(data: bytes, dimension: int) -> Vector:
    """The vector in ``data``; read-only, float32, shape (dimension,).

    Raises:
        InvalidArgument: wrong length, NaN or infinity.
    """
    if len(data) != 4 * dimension:
        raise InvalidArgument(
            "A vector's length does not fit its dimension.",
            reason=Reason.VECTOR_INVALID,
            details={"bytes": len(data), "dimension": dimension},
        )
    vector = np.frombuffer(data, dtype="<f4")
    if not np.isfinite(vector).all():
        raise InvalidArgument("A vector holds NaN or infinity.", reason=Reason.VECTOR_INVALID)
    return vector
