"""``python -m perdure.retrieval``: the retrieval service."""

from __future__ import annotations

import sys

from perdure import starting
from perdure.retrieval.wiring import build
from perdure.settings import Settings
from perdure.wire.server import serve


def body(settings: Settings) -> None:
    """Open the store, listen, run until SIGTERM or SIGINT, write the last counts."""
    parts = build(settings)
    parts.flusher.start()
    serve(parts.server, on_stop=parts.close)


if __name__ == "__main__":
    sys.exit(starting.run("retrieval", body))
