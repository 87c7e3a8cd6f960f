"""Taking an address to listen on, so that two servers never share one and a dead one's socket is no obstacle."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
import time
from pathlib import Path

from perdure.errors import FailedPrecondition, InvalidArgument, Reason, Unavailable

TAKEOVER_S = 6.0
"""Longest wait for a predecessor that is still ending; a graceful stop takes up to 5 s."""

_PROBE_S = 1.0
_POLL_S = 0.05


class SocketClaim:
    """The exclusive right to listen on a unix socket's path, held until closed or until the process ends.

    The right is a lock on ``<path>.lock``, which the system lets go of even after a kill.

    Args:
        path: The socket's path; its folder is made with mode 0700 where there is none.
        wait_s: Longest wait for another holder.

    Raises:
        Unavailable: another process holds it or listens there.
        FailedPrecondition: something that is not a socket lies there.
    """

    def __init__(self, path: Path, *, wait_s: float = TAKEOVER_S) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._wait(path, time.monotonic() + wait_s)
            _clear(path)
        except BaseException:
            os.close(self._lock)
            raise

    def close(self) -> None:
        """Gives the right back. The lock's file stays: removing it would let two holders lock two files."""
        os.close(self._lock)

    def _wait(self, path: Path, until: float) -> None:
        while True:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise _taken(path) from None
                time.sleep(_POLL_S)
            else:
                return


def socket_path(listen: str) -> Path | None:
    """The path in ``unix:/path``; None for ``host:port``.

    Raises:
        InvalidArgument: it is neither.
    """
    if listen.startswith("unix:"):
        return Path(listen.removeprefix("unix:").removeprefix("//"))
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise InvalidArgument(
            "An address to listen on is unix:/path or host:port.",
            reason=Reason.FIELD_INVALID,
            details={"field": "listen"},
        )
    return None


def _clear(path: Path) -> None:
    """Removes a socket nobody listens on."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise FailedPrecondition(
            "Something that is not a socket lies where the service wants to listen; move it away.",
            details={"path": str(path)},
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PROBE_S)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
            return
        except OSError:
            # somebody may be there and busy: leave it alone
            raise _taken(path) from None
    raise _taken(path)


def _taken(path: Path) -> Unavailable:
    return Unavailable(
        "Another process listens on this service's socket already; `perdure status` shows what runs.",
        reason=Reason.SERVICE_AWAY,
        details={"path": str(path)},
    )
