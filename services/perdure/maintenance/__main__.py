"""``python -m perdure.maintenance``: the maintenance service."""

from __future__ import annotations

import sys

from perdure import starting
from perdure.maintenance.wiring import build
from perdure.settings import Settings
from perdure.wire.server import serve


def body(settings: Settings) -> None:
    """Open the store, listen, hand due work to the workers, run until SIGTERM or SIGINT."""
    parts = build(settings)
    parts.dispatcher.start()
    serve(parts.server, on_stop=parts.close)


if __name__ == "__main__":
    sys.exit(starting.run("maintenance", body))
