"""What the hooks of one session tell each other: what was shown, what was captured, how far the transcript was read.

One small file a session in ``$PERDURE_HOME/sessions``, mode 0600, under a hash of the host's session id. It holds
hashes, ids, and what may yet be captured: sentences, and where a host writes no transcript the prompts of the turn.
"""

from __future__ import annotations

import os
import time

from perdure.hooks import json_text
from perdure.hooks.locking import digest_of, locked, make_private, remove, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LOCK_WAIT_S = 0.3
KEPT_DAYS = 30
_LIST_MAX = 1000
_SAID_MAX = 5
_PRUNED_AT_ONCE = 500
_DAY_S = 86400


class Session:
    """The state of one session; change it, and ``opened`` writes it.

    Attributes:
        shown: Ids of memories that were put into the context.
        hashes: Fingerprints of the sentences of those memories.
        captured: Fingerprints of what was captured or seen as a candidate.
        pending: Candidates that may be captured later: ``[score, text, type, role]``.
        said: Prompts of a host without transcripts, until the end of the turn.
        taken: How many were captured.
        offsets: Transcript to how far it was read.
    """

    __slots__ = ("captured", "hashes", "offsets", "pending", "said", "shown", "taken")

    def __init__(self, values: dict[str, Any]) -> None:
        """Read what a file held; what is not as it should be counts as absent."""
        self.shown = _texts(values.get("shown"))
        self.hashes = _texts(values.get("hashes"))
        self.captured = _texts(values.get("captured"))
        self.pending = [item for item in _list(values.get("pending")) if _is_candidate(item)]
        self.said = _texts(values.get("said"))
        taken, offsets = values.get("taken"), values.get("offsets")
        self.taken = taken if isinstance(taken, int) else 0
        self.offsets: dict[str, int] = {
            name: at for name, at in (offsets.items() if isinstance(offsets, dict) else ()) if isinstance(at, int)
        }

    def _values(self) -> dict[str, Any]:
        return {
            "shown": self.shown[-_LIST_MAX:],
            "hashes": self.hashes[-_LIST_MAX:],
            "captured": self.captured[-_LIST_MAX:],
            "pending": self.pending,
            "said": self.said[-_SAID_MAX:],
            "taken": self.taken,
            "offsets": self.offsets,
        }


class opened:  # noqa: N801 - used like a function; contextlib takes as long to import as everything here
    """The session's state, for this process alone; None where another hook holds it. Written at the block's end."""

    __slots__ = ("_before", "_lock", "_path", "_state")

    def __init__(self, home: str, host: str, session: str) -> None:
        """Find the session's files; take nothing yet."""
        directory = os.path.join(home, "sessions")
        make_private(directory)
        name = digest_of(f"{host}\0{session}")[:32]
        self._path = os.path.join(directory, f"{name}.json")
        self._lock = locked(os.path.join(directory, f"{name}.lock"), wait_s=LOCK_WAIT_S)
        self._state: Session | None = None
        self._before = ""

    def __enter__(self) -> Session | None:
        """Take the lock and read."""
        if self._lock.__enter__():
            self._state = Session(_read(self._path))
            self._before = json_text.written(self._state._values())
        return self._state

    def __exit__(self, kind: object, *_: object) -> None:
        """Write what has changed, unless the block failed; drop the lock."""
        try:
            if self._state is not None and kind is None:
                after = json_text.written(self._state._values())
                if after != self._before:
                    write_whole(self._path, after.encode("ascii"))
        finally:
            self._lock.__exit__()


def prune(home: str) -> None:
    """Delete what sessions of more than 30 days ago left, a bounded number at a time."""
    directory = os.path.join(home, "sessions")
    limit = time.time() - KEPT_DAYS * _DAY_S
    try:
        with os.scandir(directory) as entries:
            for _, entry in zip(range(_PRUNED_AT_ONCE), entries, strict=False):
                if entry.stat().st_mtime < limit:
                    remove(entry.path)
    except OSError:
        return  # there are none, or another hook is at it


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            value = json_text.read(file.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [item for item in _list(value) if isinstance(item, str)]


def _is_candidate(item: Any) -> bool:
    return (
        isinstance(item, list)
        and len(item) == 4
        and isinstance(item[0], int | float)
        and all(isinstance(part, str) for part in item[1:])
    )
