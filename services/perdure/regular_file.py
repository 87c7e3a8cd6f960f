"""Opening a file that somebody else named: only a regular one, and without waiting.

A FIFO holds whoever opens it until a writer comes, and a device such as ``/dev/zero`` never ends.

Standard library alone: hooks, the bridge and what names the project use it.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

# what the system does not have is 0
_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class NotRegular(OSError):
    """A folder, FIFO, device or socket, or a link where none is followed."""


def opened(path: str | os.PathLike[str], *, links: bool = True) -> BinaryIO:
    """The file at ``path``, to be read.

    Args:
        path: Where it is.
        links: Follow a link that the path's last part is.

    Raises:
        NotRegular: it is no regular file.
        OSError: it cannot be opened.
    """
    if not links and os.path.islink(path):
        raise NotRegular(errno.EINVAL, "a link")
    descriptor = os.open(path, _FLAGS | (0 if links else _NO_LINK))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NotRegular(errno.EINVAL, "no regular file")
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise
