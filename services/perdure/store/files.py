"""Pictures of episodes, as files named by their content.

``<root>/<namespace>/<sha256>``, folders 0700 and files 0600. A file appears whole or not at all, and survives a power
cut once ``put`` has returned. Knows nothing of who uses a picture: whoever forgets one has looked first.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from perdure.domain.namespace import NamespaceName, Scope, namespace_name
from perdure.errors import DataCorrupt, InvalidArgument, PerdureError, Reason, Unavailable

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_PART = ".part"
_ABANDONED_S = 3600
"""A part older than this by the file system's clock was left by a process that died."""


class FileScreenshots:
    """``ScreenshotFiles`` in the folder ``root``, which is made at the first ``put``. Safe for many processes."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def put(self, scope: Scope, data: bytes) -> str:
        """Writes the picture durably, unless it is there; its sha256, hex.

        Raises:
            Unavailable: the disk is full (STORE_FULL) or cannot be written (STORE_BUSY).
        """
        sha256 = hashlib.sha256(data).hexdigest()
        folder = self._folder(scope)
        with _translated():
            if _read(folder / sha256) == data:
                return sha256
            for made in (self._root, folder):
                made.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = folder / f".{secrets.token_hex(8)}{_PART}"
            try:
                with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                    now = os.fstat(file.fileno()).st_mtime
                part.replace(folder / sha256)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
            _sync(folder)
            _drop_abandoned(folder, now)
        return sha256

    def get(self, scope: Scope, sha256: str) -> bytes | None:
        """The picture, or None.

        Raises:
            DataCorrupt: the file is not the picture any more (STORE_CORRUPT).
            Unavailable: it cannot be read (STORE_BUSY).
        """
        if not _SHA256.match(sha256):
            return None
        with _translated():
            data = _read(self._folder(scope) / sha256)
        if data is not None and hashlib.sha256(data).hexdigest() != sha256:
            raise DataCorrupt("A picture's file is damaged; save the picture again.", reason=Reason.STORE_CORRUPT)
        return data

    def forget(self, scope: Scope, sha256: str) -> None:
        """Deletes it, if it is there; nothing beside it.

        Raises:
            Unavailable: it cannot be deleted (STORE_BUSY).
        """
        if not _SHA256.match(sha256):
            return
        folder = self._folder(scope)
        with _translated():
            try:
                (folder / sha256).unlink()
            except FileNotFoundError:
                return
            _sync(folder)

    def copy(self, target: Path) -> int:
        """Copies every picture of every namespace into the folder ``target``, for a backup; their bytes.

        Nothing is made where there is no picture. One that is forgotten meanwhile, or damaged, is left out.

        Raises:
            Unavailable: the disk is full (STORE_FULL) or cannot be read or written (STORE_BUSY).
        """
        copied = 0
        copies = FileScreenshots(target)
        with _translated():
            for path in sorted(self._root.glob("*/*")):
                if not _SHA256.match(path.name) or not _is_namespace(path.parent.name):
                    continue
                data = _read(path)
                if data is not None and hashlib.sha256(data).hexdigest() == path.name:
                    copies.put(Scope(NamespaceName(path.parent.name)), data)
                    copied += len(data)
        return copied

    def _folder(self, scope: Scope) -> Path:
        return self._root / namespace_name(scope.namespace)


def _read(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def _is_namespace(text: str) -> bool:
    try:
        namespace_name(text)
    except InvalidArgument:
        return False
    return True


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _drop_abandoned(folder: Path, now: float) -> None:
    for part in folder.glob(f".*{_PART}"):
        with suppress(FileNotFoundError):
            if now - part.lstat().st_mtime > _ABANDONED_S:
                part.unlink()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except PerdureError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise Unavailable(
                "The disk is full; the picture was not kept. Free some space and retry.",
                reason=Reason.STORE_FULL,
                retry_after_s=30.0,
            ) from error
        raise Unavailable(
            "A picture's file cannot be read or written; check the disk, the folder and its permissions.",
            reason=Reason.STORE_BUSY,
            details={"error": type(error).__name__},
            retry_after_s=5.0,
        ) from error
