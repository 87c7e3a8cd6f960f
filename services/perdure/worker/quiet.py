"""Work at a low priority, so that who waits for an answer goes first.

A process cannot take its own niceness back, and the same worker process embeds what somebody waits for; a thread's ends
with the thread. On Linux each thread has its own.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

NICENESS = 10


def quietly(work: Callable[[], str]) -> str:
    """What ``work`` answers, done in a thread of low priority; raises what it raises."""
    answers: list[str] = []
    errors: list[BaseException] = []

    def run() -> None:
        if sys.platform == "linux":
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        try:
            answers.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="perdure-maintenance", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return answers[0]
