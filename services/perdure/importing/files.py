"""Files of a source: found, bounded, read as text; databases opened so that not a byte of theirs changes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from perdure.importing.draft import Unreadable
from perdure.regular_file import NotRegular, opened

if TYPE_CHECKING:
    import apsw

TEXT_BYTES_MAX = 2 * 1024 * 1024
"""Of one file of notes; a larger one is no note."""
JSON_BYTES_MAX = 512 * 1024 * 1024
_COPY_ATTEMPTS = 5
_SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def text_of(path: Path, *, bytes_max: int = TEXT_BYTES_MAX) -> str:
    """The file's text, line ends as they are.

    Raises:
        Unreadable: it is too large, not UTF-8, no regular file, or cannot be read.
    """
    try:
        with opened(path) as file:
            raw = file.read(bytes_max + 1)
    except NotRegular as error:
        raise Unreadable(f"{path} is no regular file.") from error
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from error
    if len(raw) > bytes_max:
        raise Unreadable(f"{path} is larger than {bytes_max // (1024 * 1024)} MiB.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"{path} is not UTF-8 (byte {error.start}).") from error


def json_of(path: Path) -> Any:
    """The file's JSON.

    Raises:
        Unreadable: it is none.
    """
    try:
        return json.loads(text_of(path, bytes_max=JSON_BYTES_MAX))
    except ValueError as error:
        raise Unreadable(f"{path} is not valid JSON ({error}).") from error
    except RecursionError as error:
        raise Unreadable(f"{path} is nested too deeply.") from error


def changed_at(path: Path) -> datetime:
    """When the file was last written."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def markdown_files(folder: Path) -> list[Path]:
    """Every ``.md`` file below a folder, in order; hidden and tools' folders and links to folders left out."""
    found: list[Path] = []
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(n for n in folders if not n.startswith(".") and n not in _SKIPPED_FOLDERS)
        found += [Path(top) / n for n in sorted(names) if n.lower().endswith((".md", ".markdown")) and n[0] != "."]
    return found


def is_sqlite(path: Path) -> bool:
    """Whether the file begins as an SQLite database does."""
    try:
        with opened(path) as file:
            return file.read(16) == b"SQLite format 3\x00"
    except OSError:
        return False


@contextlib.contextmanager
def database(path: Path) -> Iterator[apsw.Connection]:
    """A connection that only reads.

    A database without a write-ahead log is opened in place as immutable. One with a log that is not empty is copied
    with it and the copy is opened: reading the log in place would write a file beside it, and leaving it unread would
    lose what was saved last.

    Raises:
        Unreadable: it is no SQLite database, or keeps changing; or this installation has no SQLite.
    """
    try:
        import apsw
    except ImportError as error:
        raise Unreadable("Reading a database needs the store's parts: pip install 'perdure[store]'.") from error
    if not is_sqlite(path):
        raise Unreadable(f"{path} is not an SQLite database.")
    log = path.with_name(path.name + "-wal")
    with contextlib.ExitStack() as stack:
        target = path
        uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
        if log.exists() and log.stat().st_size > 0:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="perdure-import-")))
            target = folder / "copy.db"
            _copy(path, log, target)
            uri = f"file:{quote(str(target))}?mode=rw"
        flags = apsw.SQLITE_OPEN_URI | (apsw.SQLITE_OPEN_READONLY if target is path else apsw.SQLITE_OPEN_READWRITE)
        try:
            connection = apsw.Connection(uri, flags=flags)
            stack.callback(connection.close)
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        except apsw.Error as error:
            raise Unreadable(f"{path} cannot be read as a database ({error}).") from error
        yield connection


def _copy(path: Path, log: Path, target: Path) -> None:
    for _ in range(_COPY_ATTEMPTS):
        before = _stamps(path, log)
        try:
            shutil.copyfile(path, target)
            shutil.copyfile(log, target.with_name(target.name + "-wal"))
        except FileNotFoundError:  # the log was just folded in
            continue
        except OSError as error:
            raise Unreadable(f"{path} cannot be copied for reading: {error.strerror}.") from error
        if _stamps(path, log) == before:
            return
    raise Unreadable(f"{path} is being written all the time; close the program that uses it and try again.")


def _stamps(*paths: Path) -> list[tuple[int, int] | None]:
    found: list[tuple[int, int] | None] = []
    for path in paths:
        try:
            status = path.stat()
            found.append((status.st_size, status.st_mtime_ns))
        except OSError:
            found.append(None)
    return found


def columns_of(connection: apsw.Connection, table: str) -> tuple[str, ...]:
    """The names of a table's columns; empty where there is no such table."""
    rows = connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    return tuple(str(name) for (name,) in rows)


def rows_of(connection: apsw.Connection, table: str, columns: tuple[str, ...]) -> Iterator[dict[str, Any] | str]:
    """The rows of a table in the order they were written, by column; of a row that cannot be read, why."""
    import apsw

    names = ", ".join(f'"{name}"' for name in columns)
    numbers: list[int] = []
    damage = ""
    try:
        for (number,) in connection.execute(f'SELECT rowid FROM "{table}" ORDER BY rowid'):  # noqa: S608 - our own name
            numbers.append(number)
    except apsw.Error as error:
        damage = f"the rest of table {table} cannot be read ({error})"
    for number in numbers:
        statement = f'SELECT {names} FROM "{table}" WHERE rowid = ?'  # noqa: S608 - our own names
        try:
            rows = connection.execute(statement, (number,)).fetchall()
        except (apsw.Error, UnicodeDecodeError) as error:
            yield f"row {number} of table {table} cannot be read ({error})"
            continue
        for row in rows:
            yield dict(zip(columns, row, strict=True))
    if damage:
        yield damage
