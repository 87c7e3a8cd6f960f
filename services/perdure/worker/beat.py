"""``python -m perdure.worker.beat``: asks every few seconds whether anything is due."""

from __future__ import annotations

import sys

from perdure import starting
from perdure.jobs.app import make_app
from perdure.settings import Settings


def body(settings: Settings) -> None:
    """Run until a signal."""
    settings.run_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    app = make_app(
        settings.broker_url,
        visibility_timeout_s=settings.visibility_timeout_s,
        schedule_file=settings.run_dir / "beat-schedule",
    )
    app.Beat(loglevel="WARNING", quiet=True, pidfile=None).run()


if __name__ == "__main__":
    sys.exit(starting.run("beat", body))
