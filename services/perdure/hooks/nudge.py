"""The question whether something said in a turn is to be kept, put to the model at the turn's end. Off by default.

Asked only of what a hook cannot tell by itself: a sentence of the user's that may be worth keeping and may not. Once a
turn at most, once for a sentence, and never where the model has saved something in that turn anyway.
"""

from __future__ import annotations

import re

from perdure.hooks.fences import new_word
from perdure.regular_file import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HOSTS = frozenset({"claude", "codex", "copilot"})
"""Those that let a hook keep a turn going, and tell of a session's end, until when a weak candidate waits."""
ASKED_MAX = 3
_READ_BYTES_MAX = 4 * 1024 * 1024
_SAVED = re.compile(rb'"(?:name|toolName)"\s*:\s*"[^"]{0,100}memory_save"')
_CALLS = (b'"tool_use"', b'"function_call"', b'"toolRequests"')
"""What a line with a call has and one that only lists the tools has not."""


def unsure(pending: list[list[Any]], fresh: list[list[Any]]) -> list[list[Any]]:
    """The candidates to ask about: new, the user's own, too weak to be stored unasked; best first."""
    return [item for item in pending if item in fresh and item[3] == "user"][:ASKED_MAX]


def saved_itself(path: str, offset: int) -> bool:
    """Whether a call of ``memory_save`` stands in the transcript after ``offset``; no for one that cannot be read."""
    try:
        with opened(path) as file:
            file.seek(offset)
            lines = file.read(_READ_BYTES_MAX).split(b"\n")
            return any(_SAVED.search(line) for line in lines if any(mark in line for mark in _CALLS))
    except OSError:
        return False


def question(items: list[list[Any]], project: str) -> str:
    """The text for the model, between fences: hosts write it into the transcript as if the user had said it."""
    word = new_word()
    said = "; ".join(f"“{item[1]}”" for item in items)
    text = (
        f"Perdure did not store what the user said here, because it may be of this moment only: {said} "
        f"If it holds beyond this session, the tool memory_save stores it (project “{project}”); "
        "if not, nothing is to be done and the turn can end."
    )
    return f'<perdure-{word} kind="question">\n{text}\n</perdure-{word}>'
