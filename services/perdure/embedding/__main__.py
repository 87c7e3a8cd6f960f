"""``python -m perdure.embedding``: the embedding service."""

from __future__ import annotations

from perdure import settings as settings_module
from perdure.embedding.wiring import build
from perdure.observability.logging import configure_logging
from perdure.wire.server import serve


def main() -> None:
    """Listen at once, load the model meanwhile, run until SIGTERM or SIGINT."""
    settings = settings_module.load()
    configure_logging(level=settings.log_level, fmt=settings.log_format, process="embedding")
    parts = build(settings)
    parts.loader.start()
    serve(parts.server, on_stop=parts.close)


if __name__ == "__main__":
    main()
