"""How a process of Perdure begins: settings, logging, and one sentence, not a traceback, where it may not start."""

from __future__ import annotations

import sys
from collections.abc import Callable

from pydantic import ValidationError

from perdure import settings as settings_module
from perdure.errors import PerdureError
from perdure.observability.logging import configure_logging
from perdure.settings import Settings

EXIT_REFUSED = 2
"""The settings or the machine do not allow a start; starting again changes nothing until somebody mends it."""


def run(process: str, body: Callable[[Settings], None]) -> int:
    """Read the settings, set up logging and run ``body``; the exit status.

    Args:
        process: Name in log lines: embedding, retrieval, maintenance, worker, beat.
        body: Runs until a signal.
    """
    try:
        settings = settings_module.load()
    except ValidationError as fault:
        return refused(process, f"{wrong_settings(fault)}.")
    configure_logging(level=settings.log_level, fmt=settings.log_format, process=process)
    try:
        body(settings)
    except KeyboardInterrupt:
        return 0
    except PerdureError as refusal:
        return refused(process, refusal.message)
    return 0


def wrong_settings(fault: ValidationError) -> str:
    """The variables that are malformed, and how."""
    return ", ".join(f"PERDURE_{'.'.join(map(str, item['loc'])).upper()}: {item['msg']}" for item in fault.errors())


def refused(process: str, sentence: str) -> int:
    """Say on stderr why the process does not start; its exit status."""
    sys.stderr.write(f"The {process} process does not start: {sentence}\n")
    return EXIT_REFUSED
