"""Claude Code's memory files on disk: found, kept, replaced in one step, put back byte for byte.

Links are not followed, neither of a file nor of a folder below ``projects``; ``MEMORY.md`` is never touched, since it
is the index that Claude Code reads whole. What a file was is in ``$PERDURE_HOME/compressed`` before it is replaced.
Refuses to know memories.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

INDEX = "memory.md"
BYTES_MAX = 4 * 1024 * 1024
FOLDER = "compressed"
_RECORD = "run.json"
# what the system does not have is 0
_BINARY = getattr(os, "O_BINARY", 0)
_ONE_NAME = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

LINK = "link"
NOT_TEXT = "not_text"
UNREADABLE = "unreadable"
CHANGED = "changed"
RESTORED = "restored"


class Unkept(Exception):
    """A file could not be kept or replaced; the text is a sentence for a person, and the file is as it was."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory file as it was read.

    Attributes:
        path: Where it is.
        name: Its name in the memory folder.
        content: Its bytes.
        text: The same as text.
    """

    path: str
    name: str
    content: bytes
    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """One file of a run: what it was, and what it was replaced by, as SHA-256.

    Attributes:
        path: Where it is.
        copy: Name of its bytes in the run's folder.
        before: Of what it was.
        after: Of the stub.
        mode: Its permission bits.
        modified_ns: When it was last changed.
    """

    path: str
    copy: str
    before: str
    after: str
    mode: int
    modified_ns: int


def projects_folder(environment: Mapping[str, str]) -> Path:
    """Where Claude Code keeps a folder for each project."""
    named = environment.get("CLAUDE_CONFIG_DIR", "").strip()
    return (Path(named).expanduser() if named else Path.home() / ".claude") / "projects"


def memory_files(projects: Path) -> Iterator[Found | tuple[str, str]]:
    """Every ``projects/*/memory/*.md`` but the indexes, in order; a path and a reason for what cannot be taken."""
    for project in _entries(projects):
        folder = project / "memory"
        if project.is_symlink() or folder.is_symlink():
            yield from ((str(path), LINK) for path in _entries(folder) if _is_memory(path.name))
        elif project.is_dir() and folder.is_dir():
            for path in _entries(folder):
                if _is_memory(path.name):
                    yield read(path)


def read(path: Path) -> Found | tuple[str, str]:
    """The file; its path and a reason where it is no ordinary text file of one name."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _BINARY | _ONE_NAME)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(file.fileno())
            if path.is_symlink() or status.st_nlink > 1:
                return str(path), LINK
            if not stat.S_ISREG(status.st_mode) or status.st_size > BYTES_MAX:
                return str(path), NOT_TEXT
            content = file.read(BYTES_MAX + 1)
        return Found(str(path), path.name, content, content.decode())
    except UnicodeDecodeError:
        return str(path), NOT_TEXT
    except OSError:
        return str(path), LINK if path.is_symlink() else UNREADABLE


class Run:
    """The files that one call replaces, kept in a folder of its own; made when the first is kept."""

    def __init__(self, home: Path) -> None:
        """Write nothing yet."""
        self._home = home
        self.name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}"
        self._kept: list[Kept] = []

    def replace(self, found: Found, stub: bytes) -> None:
        """Keep the file, then put ``stub`` in its place.

        Raises:
            Unkept: it was changed meanwhile, or cannot be kept or written.
        """
        path = Path(found.path)
        try:
            status = os.lstat(path)
            entry = Kept(
                path=found.path,
                copy=f"{len(self._kept) + 1:05d}",
                before=_sha256(found.content),
                after=_sha256(stub),
                mode=stat.S_IMODE(status.st_mode),
                modified_ns=status.st_mtime_ns,
            )
            folder = self._folder()
            _write(folder / entry.copy, found.content, 0o600)
            # recorded first: a process that is killed between the two leaves a record of a file that is as it was
            _record(folder, [*self._kept, entry], restored=False)
            try:
                _swap(path, found.content, stub, entry.mode)
            except (OSError, Unkept):
                _record(folder, self._kept, restored=not self._kept)
                raise
            self._kept.append(entry)
        except OSError as error:
            raise Unkept(f"{found.path}: {error.strerror or error}.") from None

    def _folder(self) -> Path:
        folder = self._home / FOLDER / self.name
        for place in (self._home, self._home / FOLDER, folder):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder


def runs(home: Path) -> list[str]:
    """Names of the runs that have files to put back, newest first."""
    found = [place.name for place in _entries(home / FOLDER) if (place / _RECORD).is_file()]
    return [name for name in sorted(found, reverse=True) if not _recorded(home / FOLDER / name)[1]]


def undo(home: Path, run: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Put back what the files of a run were.

    Returns:
        Paths that are as they were, and paths with the reason why they are not: ``changed`` since, or ``unreadable``.

    Raises:
        Unkept: there is no such run, or what it kept is damaged.
    """
    folder = home / FOLDER / run
    if Path(run).name != run or not (folder / _RECORD).is_file():
        raise Unkept(f"There is no run {run!r} to take back.")
    kept, _ = _recorded(folder)
    back: list[str] = []
    left: list[tuple[str, str]] = []
    for entry in kept:
        try:
            why = _put_back(folder, entry)
        except OSError:
            why = UNREADABLE
        if why:
            left.append((entry.path, why))
        else:
            back.append(entry.path)
    if not left:
        _record(folder, kept, restored=True)
    return back, left


def _put_back(folder: Path, entry: Kept) -> str:
    """Why a file was not put back; empty where it is as it was."""
    path = Path(entry.path)
    content = (folder / entry.copy).read_bytes()
    if _sha256(content) != entry.before:
        raise Unkept(f"The copy of {entry.path} in {folder} is damaged.")
    if path.is_symlink():
        return LINK
    now = path.read_bytes()
    if _sha256(now) == entry.before:
        return ""
    if _sha256(now) != entry.after:
        return CHANGED
    try:
        _swap(path, now, content, entry.mode)
    except Unkept:
        return CHANGED
    os.utime(path, ns=(entry.modified_ns, entry.modified_ns))
    return ""


def _swap(path: Path, before: bytes, after: bytes, mode: int) -> None:
    """Put ``after`` in the file's place in one step, if it still says ``before``."""
    temporary = path.with_name(f".{path.name}.perdure-{secrets.token_hex(4)}")
    try:
        _write(temporary, after, mode)
        now = read(path)
        if not isinstance(now, Found) or now.content != before:
            raise Unkept(f"{path} was changed by another program at this very moment.")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _write(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(mode)


def _record(folder: Path, kept: Sequence[Kept], *, restored: bool) -> None:
    temporary = folder / f".{_RECORD}.{secrets.token_hex(4)}"
    fields = [{name: getattr(entry, name) for name in Kept.__slots__} for entry in kept]
    _write(temporary, json.dumps({"restored": restored, "files": fields}, indent=1).encode(), 0o600)
    temporary.replace(folder / _RECORD)
    _sync_folder(folder)


def _recorded(folder: Path) -> tuple[list[Kept], bool]:
    try:
        record = json.loads((folder / _RECORD).read_bytes())
        return [Kept(**entry) for entry in record["files"]], bool(record["restored"])
    except (OSError, ValueError, KeyError, TypeError):
        raise Unkept(f"The record in {folder} cannot be read.") from None


def _entries(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return sorted(folder.iterdir())
    return []


def _is_memory(name: str) -> bool:
    return name.lower().endswith(".md") and name.lower() != INDEX and not name.startswith(".")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return  # a folder cannot be opened there
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
