"""``python -m perdure.maintenance``: the maintenance service."""

from __future__ import annotations

from perdure import settings as settings_module
from perdure.maintenance.wiring import build
from perdure.observability.logging import configure_logging
from perdure.wire.server import serve


def main() -> None:
    """Open the store, listen, hand due work to the workers, run until SIGTERM or SIGINT."""
    settings = settings_module.load()
    configure_logging(level=settings.log_level, fmt=settings.log_format, process="maintenance")
    parts = build(settings)
    parts.dispatcher.start()
    serve(parts.server, on_stop=parts.close)


if __name__ == "__main__":
    main()
