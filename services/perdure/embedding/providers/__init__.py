"""Where vectors come from: one interface, a module per provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from perdure.domain.vectors import Matrix, Space, Thresholds, Vector
from perdure.embedding.texts import Kind

UNCALIBRATED: Final = Thresholds(twin=1.0, cluster=1.0, interference=1.0, floor=-1.0)
"""Of a space whose thresholds are still to be derived (``calibration``): nothing is alike, nothing is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one call to a provider may hold.

    ``text_tokens``: of one text, prefix included. ``batch_texts``, ``batch_tokens``: of one call; a single text may
    exceed ``batch_tokens``. ``token_s``: what a token costs in seconds, roughly; 0 where a call costs the same whatever
    is in it.
    """

    text_tokens: int = 512
    batch_texts: int = 16
    batch_tokens: int = 1024
    token_s: float = 0.0


class Provider(Protocol):
    """A loaded model. Safe for several threads at once."""

    @property
    def space(self) -> Space:
        """The space its vectors are in, once ``mean`` is taken away."""

    @property
    def mean(self) -> Vector | None:
        """What is subtracted from every unit vector before it is made unit again; None where nothing is."""

    @property
    def limits(self) -> Limits:
        """What one call may hold."""

    def tokens(self, text: str, kind: Kind) -> int:
        """Tokens that ``text`` costs with its prefix; exact or erring upwards."""

    def embed(self, texts: Sequence[str], kind: Kind, *, timeout_s: float) -> Matrix:
        """Raw vectors of cleaned texts, in order: float32, (n, dimension), finite, of any length but zero.

        Raises:
            Unavailable: the provider is away, failing or refuses us.
            DeadlineExceeded: no answer within ``timeout_s``.
            InvalidArgument: it cannot take one of the texts (TEXT_UNUSABLE).
            FailedPrecondition: its vectors are not of this space any more (SPACE_MISMATCH).
        """

    def close(self) -> None:
        """Lets go of connections; the provider is not used again."""
