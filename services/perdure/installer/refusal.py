"""Why a file is left alone."""

from __future__ import annotations


class Refused(Exception):
    """Nothing was written; the message is one sentence for the person, without any value from the file."""
