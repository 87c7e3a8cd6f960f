"""``python -m perdure.retrieval``: the retrieval service."""

from __future__ import annotations

from perdure import settings as settings_module
from perdure.observability.logging import configure_logging
from perdure.retrieval.wiring import build
from perdure.wire.server import serve


def main() -> None:
    """Open the store, listen, run until SIGTERM or SIGINT, write the last counts."""
    settings = settings_module.load()
    configure_logging(level=settings.log_level, fmt=settings.log_format, process="retrieval")
    parts = build(settings)
    parts.flusher.start()
    serve(parts.server, on_stop=parts.close)


if __name__ == "__main__":
    main()
