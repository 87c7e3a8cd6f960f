"""How a command ends: exit codes and the one sentence that goes with a failure.

Knows no transport. The codes are part of the product: docs/reference/cli.md.
"""

from __future__ import annotations

import enum
from typing import IO, Any

import click


class Exit(enum.IntEnum):
    """What the exit status of ``perdure`` means."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NOT_FOUND = 3
    REFUSED = 4
    AWAY = 5
    NO_MATCH = 6
    INTERRUPTED = 130
    PIPE_CLOSED = 141


BY_STATUS = {
    400: Exit.USAGE,
    401: Exit.REFUSED,
    403: Exit.REFUSED,
    404: Exit.NOT_FOUND,
    413: Exit.USAGE,
    415: Exit.USAGE,
    422: Exit.USAGE,
    502: Exit.AWAY,
    503: Exit.AWAY,
    504: Exit.AWAY,
}
"""Exit codes by HTTP status; any other status of 400 and above is ERROR."""

BY_CODE = {
    "invalid_argument": Exit.USAGE,
    "unauthenticated": Exit.REFUSED,
    "permission_denied": Exit.REFUSED,
    "not_found": Exit.NOT_FOUND,
    "deadline_exceeded": Exit.AWAY,
    "unavailable": Exit.AWAY,
}
"""Exit codes by the code of a PerdureError; any other is ERROR."""


class Failure(click.ClickException):
    """A command cannot do what it was asked to.

    Args:
        message: One sentence: what is wrong and what to do.
        exit_code: The process's exit status.
        reason: The gateway's fine reason (``perdure.errors.Reason``), where it gave one.
    """

    def __init__(self, message: str, exit_code: Exit = Exit.ERROR, *, reason: str = "") -> None:
        super().__init__(message)
        self.status = int(exit_code)
        self.reason = reason

    def show(self, file: IO[Any] | None = None) -> None:
        """Write the sentence to stderr."""
        click.echo(f"perdure: {self.message}", file=file, err=True)
