"""``python -m perdure.embedding``: the embedding service."""

from __future__ import annotations

import sys

from perdure import starting
from perdure.embedding.wiring import build
from perdure.settings import Settings
from perdure.wire.server import serve


def body(settings: Settings) -> None:
    """Listen at once, load the model meanwhile, run until SIGTERM or SIGINT."""
    parts = build(settings)
    parts.loader.start()
    serve(parts.server, on_stop=parts.close)


if __name__ == "__main__":
    sys.exit(starting.run("embedding", body))
