"""SQLite by apsw: which versions are safe, how a connection is set up, what its errors mean.

Knows apsw and sqlite-vec; knows no table. A connection is opened after a fork, never before one.
Source: docs/reference/storage.md; the design, section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, cast

import apsw
import sqlite_vec

from perdure.errors import DataCorrupt, FailedPrecondition, Internal, PerdureError, Reason, Unavailable

BUSY_TIMEOUT_MS = 5000
MMAP_BYTES = 128 * 1024**2
"""Of the file, mapped. With 2 GiB the stack took 940 MB at 100 000 memories, with this 892, and searched as fast: the
vectors are read once, into a resident matrix."""
CACHE_KIB = 16 * 1024
JOURNAL_LIMIT_BYTES = 64 * 1024**2


class Rows(Protocol):
    """What a statement answers. apsw types each value as a union; the schema says which it is."""

    @property
    def get(self) -> Any:
        """The first row's only value, None where there is no row."""

    def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows left."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...


class Connection(Protocol):
    """The part of ``apsw.Connection`` that the store uses."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    def execute(self, statements: str, bindings: Sequence[Any] = (), /) -> Rows:
        """Runs the statements."""

    def executemany(self, statements: str, sequence: Iterable[Sequence[Any]], /) -> object:
        """Runs a statement for each row of values."""

    def changes(self) -> int:
        """Rows the last statement changed."""

    def close(self) -> None:
        """Lets go of the file."""


def has_wal_reset_race(version: int) -> bool:
    """Whether that SQLite can lose committed pages when two processes checkpoint one WAL file.

    Args:
        version: ``SQLITE_VERSION_NUMBER``, e.g. 3054001.

    Source:
        SQLite release notes: in 3.7.0 to 3.51.2; mended in 3.51.3 and, back-ported, in 3.44.6 and 3.50.7.
    """
    if 3044006 <= version < 3045000 or 3050007 <= version < 3051000:
        return False
    return 3007000 <= version < 3051003


def refuse_unsafe(version: str) -> None:
    """Check the SQLite in use.

    Raises:
        FailedPrecondition: it has the WAL-reset race (SQLITE_UNSAFE).
    """
    major, minor, patch = (int(part) for part in version.split(".")[:3])
    if has_wal_reset_race(major * 1_000_000 + minor * 1000 + patch):
        raise FailedPrecondition(
            f"SQLite {version} can lose data when several processes use one file; install apsw 3.54 or newer.",
            reason=Reason.SQLITE_UNSAFE,
            details={"sqlite": version},
        )


def connect(path: Path, *, create: bool = False) -> Connection:
    """A connection ready for use: pragmas set, vector functions loaded.

    Raises:
        apsw.Error: the file cannot be opened.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    connection.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
    for pragma in (
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",
        "temp_store = MEMORY",
        f"cache_size = -{CACHE_KIB}",
        f"mmap_size = {MMAP_BYTES}",
        f"journal_size_limit = {JOURNAL_LIMIT_BYTES}",
    ):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
    return cast(Connection, connection)


def rolled_back(connection: Connection) -> None:
    """Undo the open transaction, if SQLite has not done so itself (it does on a full disk)."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def meaning(error: apsw.Error) -> PerdureError:
    """``error`` in the words of the taxonomy. No text of a row gets into it."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return busy()
    if isinstance(error, apsw.FullError):
        return Unavailable(
            "The disk is full, or the store reached its size limit; nothing was written. Free some space and retry.",
            reason=Reason.STORE_FULL,
            retry_after_s=30.0,
        )
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return corrupt()
    if isinstance(error, apsw.IOError | apsw.CantOpenError | apsw.ReadOnlyError | apsw.PermissionsError):
        return Unavailable(
            "The store's file cannot be read or written; check the disk, the folder and its permissions.",
            reason=Reason.STORE_BUSY,
            details={"sqlite": type(error).__name__},
            retry_after_s=5.0,
        )
    return Internal("The store failed in a way nobody foresaw.", details={"sqlite": type(error).__name__})


def busy() -> Unavailable:
    """Another writer held the store too long."""
    return Unavailable("Another writer held the store too long; retry.", reason=Reason.STORE_BUSY, retry_after_s=1.0)


def corrupt() -> DataCorrupt:
    """The file is damaged."""
    return DataCorrupt(
        "The store's file is damaged; nothing was changed. Restore a backup, or copy it and run `perdure db check`.",
        reason=Reason.STORE_CORRUPT,
    )


@contextmanager
def translated() -> Iterator[None]:
    """Lets no error of apsw out."""
    try:
        yield
    except apsw.Error as error:
        raise meaning(error) from error
