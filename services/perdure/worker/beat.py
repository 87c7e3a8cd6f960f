"""``python -m perdure.worker.beat``: asks every few seconds whether anything is due."""

from __future__ import annotations

from perdure import settings as settings_module
from perdure.jobs.app import make_app
from perdure.observability.logging import configure_logging


def main() -> None:
    """Run until a signal."""
    settings = settings_module.load()
    configure_logging(level=settings.log_level, fmt=settings.log_format, process="beat")
    settings.run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    app = make_app(
        settings.broker_url,
        visibility_timeout_s=settings.visibility_timeout_s,
        schedule_file=settings.run_dir / "beat-schedule",
    )
    app.Beat(loglevel="WARNING", quiet=True, pidfile=None).run()


if __name__ == "__main__":
    main()
