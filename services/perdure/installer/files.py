"""Other programs' settings files: read whole, backed up once for each pristine version, replaced in one step.

Knows bytes, links and modes; knows no format. A file is never half written: the new text goes to a temporary file
beside it, to the disk, and then into its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from perdure.installer.refusal import Refused

BYTES_MAX = 64 * 1024 * 1024
_BOM = "\ufeff"
_MARK = ".perdure-backup-"


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was found.

    Attributes:
        path: The file itself, behind any links.
        content: Its bytes, or None where there is none.
    """

    path: Path
    content: bytes | None

    @property
    def bom(self) -> str:
        """The mark that some Windows editors put first, or nothing."""
        return _BOM if self.content is not None and self.content.startswith(_BOM.encode()) else ""

    @property
    def text(self) -> str:
        """The text without its mark.

        Raises:
            Refused: it is not UTF-8.
        """
        return decoded(self.content or b"")

    def encoded(self, text: str) -> bytes:
        """``text`` as bytes, with the mark that the file had."""
        return (self.bom + text).encode()


def decoded(content: bytes) -> str:
    """Bytes as text, without a leading mark.

    Raises:
        Refused: they are not UTF-8.
    """
    try:
        return content.decode().removeprefix(_BOM)
    except UnicodeDecodeError:
        raise Refused("it is not UTF-8 text") from None


def read(path: Path) -> Original:
    """The file that ``path`` leads to.

    Raises:
        Refused: it is no ordinary file, is too large, or cannot be read.
    """
    real = Path(os.path.realpath(path))
    try:
        status = real.stat()
        if not stat.S_ISREG(status.st_mode):
            raise Refused("it is not an ordinary file")
        if status.st_size > BYTES_MAX:
            raise Refused(f"it is larger than {BYTES_MAX >> 20} MiB")
        return Original(real, real.read_bytes())
    except FileNotFoundError:
        return Original(real, None)
    except OSError as error:
        raise Refused(f"it cannot be read ({error.strerror})") from None


def write(original: Original, content: bytes, *, private: bool) -> None:
    """Put ``content`` in the file's place, with the mode and owner that it had.

    Args:
        original: The file as it was read; what somebody else wrote since is not overwritten.
        content: The new bytes.
        private: Whether a file that is new is for this user only.

    Raises:
        Refused: it changed meanwhile, or cannot be written.
    """
    path = original.path
    temporary = path.with_name(f".{path.name}.perdure-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                if original.content is not None:
                    _like(path, temporary)
                file.flush()
                os.fsync(file.fileno())
            if read(path).content != original.content:
                raise Refused("another program changed it at this very moment; try again")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_folder(path.parent)
    except OSError as error:
        raise Refused(f"it cannot be written ({error.strerror})") from None


def delete(original: Original, *, folders: int = 1) -> None:
    """Remove a file that was made by us, and its folder if that is empty now.

    Args:
        original: The file as it was read.
        folders: How many levels of folders may go with it, never the home nor the one that the person is in.

    Raises:
        Refused: it changed meanwhile, or cannot be removed.
    """
    if read(original.path).content != original.content:
        raise Refused("another program changed it at this very moment; try again")
    try:
        original.path.unlink()
    except OSError as error:
        raise Refused(f"it cannot be removed ({error.strerror})") from None
    with contextlib.suppress(OSError):
        here = Path.cwd().resolve()
        kept = {here, *here.parents, Path.home().resolve()}
        for folder in list(original.path.parents)[:folders]:
            if folder in kept:
                break
            folder.rmdir()


def backup_name(path: Path, content: bytes) -> Path:
    """Where this version of the file is kept."""
    return path.with_name(f"{path.name}{_MARK}{hashlib.sha256(content).hexdigest()[:8]}")


def back_up(original: Original) -> Path | None:
    """Keep this version beside the file, once, with its mode.

    Returns:
        The backup, or None where there is no file.

    Raises:
        Refused: it cannot be written.
    """
    if original.content is None:
        return None
    path = backup_name(original.path, original.content)
    kept = read(path)
    if kept.content != original.content:
        write(kept, original.content, private=True)
        with contextlib.suppress(OSError):
            _like(original.path, path)
    return path


def backups(path: Path) -> list[Original]:
    """The kept versions of a file, newest first; what cannot be read is passed over."""
    real = Path(os.path.realpath(path))
    found: list[tuple[int, Original]] = []
    if real.parent.is_dir():
        for place in real.parent.iterdir():
            if place.name.startswith(real.name + _MARK):
                with contextlib.suppress(OSError, Refused):
                    found.append((place.stat().st_mtime_ns, read(place)))
    return [original for _time, original in sorted(found, key=lambda pair: pair[0], reverse=True)]


def forget(content: bytes, path: Path) -> None:
    """Remove the backup that says the same as the file does again."""
    place = backup_name(path, content)
    with contextlib.suppress(OSError, Refused):
        if read(place).content == content:
            place.unlink()


def _like(path: Path, other: Path) -> None:
    """Give ``other`` the mode, and where we may the owner, of ``path``."""
    status = path.stat()
    other.chmod(stat.S_IMODE(status.st_mode))
    if sys.platform != "win32" and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(OSError):
            os.chown(other, status.st_uid, status.st_gid)


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return  # a folder cannot be opened there
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
