"""What the hooks' own files need: a lock that the system drops with its holder, whole writes, privacy, hashes."""

from __future__ import annotations

import contextlib
import os
import sys
import time

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first: 2 to 30 ms
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

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
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def locked(path: str, *, wait_s: float = 0.0) -> Iterator[bool]:
    """Hold the lock at ``path``; yields False where somebody else holds it for longer than ``wait_s``."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        ends_at = time.monotonic() + wait_s
        while not (got := _try(descriptor)) and time.monotonic() < ends_at:
            time.sleep(_POLL_S)
        yield got
    finally:
        os.close(descriptor)  # drops the lock


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
