"""What the hooks' own files need: a lock that the system drops with its holder, whole writes, privacy, hashes."""

from __future__ import annotations

import os
import sys
import time

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first: 2 to 30 ms
except ImportError:
    from hashlib import blake2b

_POLL_S = 0.01


def digest_of(text: str) -> str:
    """A hash of ``text``, 40 hex digits."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=20).hexdigest()


def make_private(directory: str) -> None:
    """Create ``directory`` and the home above it, readable by their owner alone."""
    os.makedirs(os.path.dirname(directory), mode=0o700, exist_ok=True)
    os.makedirs(directory, mode=0o700, exist_ok=True)


def write_whole(path: str, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step, mode 0600; a reader sees the old file or the new one."""
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        remove(temporary)
        raise


def remove(path: str) -> None:
    """Delete a file, if it is there and if that is possible."""
    try:  # noqa: SIM105 - contextlib takes as long to import as everything here
        os.unlink(path)
    except OSError:
        pass


class locked:  # noqa: N801 - used like a function; contextlib takes as long to import as everything here
    """Holds the lock at ``path`` for a block; False where somebody else holds it for longer than ``wait_s``."""

    __slots__ = ("_descriptor", "_path", "_wait_s")

    def __init__(self, path: str, *, wait_s: float = 0.0) -> None:
        """Take nothing yet."""
        self._path = path
        self._wait_s = wait_s
        self._descriptor = -1

    def __enter__(self) -> bool:
        """Wait for the lock; whether it is held now."""
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        ends_at = time.monotonic() + self._wait_s
        while not (got := _try(self._descriptor)) and time.monotonic() < ends_at:
            time.sleep(_POLL_S)
        return got

    def __exit__(self, *_: object) -> None:
        """Drop it, by closing its file."""
        os.close(self._descriptor)


def _try(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
