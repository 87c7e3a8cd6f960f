"""The store's file: made, looked at before it is touched, brought up to date.

Looks at the bytes first and opens only what is its own, so that a foreign, damaged or newer file is left as it was.
"""

from __future__ import annotations

import os
import re
import uuid
from importlib import resources
from pathlib import Path

import apsw

from perdure.errors import FailedPrecondition, NotFound, Reason
from perdure.store.sqlite.driver import Connection, connect, corrupt, rolled_back

APPLICATION_ID = 0x50445245
"""``PDRE``, in the file's header."""

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_NAME = re.compile(r"(\d{4})_\w+\.sql\Z")
_QUICK_CHECK_BYTES = 32 * 1024**2
"""Files up to this size are checked page by page when opened (0.1 s); larger ones by their schema and length."""


def migrations() -> tuple[tuple[int, str], ...]:
    """Number and SQL of each migration, in order."""
    folder = resources.files("perdure.store.sqlite").joinpath("migrations")
    return tuple(
        sorted(
            (int(match[1]), entry.read_text(encoding="utf-8"))
            for entry in folder.iterdir()
            if (match := _NAME.match(entry.name))
        )
    )


SCHEMA = max(number for number, _ in migrations())
"""The newest schema this code knows."""


def inspect(path: Path) -> bool:
    """Look at the file without changing a byte of it.

    Returns:
        False where there is none, or an empty one.

    Raises:
        FailedPrecondition: not a store of Perdure (STORE_FOREIGN), or of a newer Perdure (STORE_NEWER).
        DataCorrupt: damaged (STORE_CORRUPT).
    """
    if not path.exists() or (path.is_file() and path.stat().st_size == 0):
        return False
    if not path.is_file():
        raise _foreign(path, "is not a file")
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if not header.startswith(_MAGIC):
        raise _foreign(path, "is not a SQLite file")
    if len(header) < _HEADER_BYTES:
        raise corrupt()
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise _foreign(path, "is a SQLite file of another program")
    refuse_newer(int.from_bytes(header[60:64], "big"))
    _refuse_damaged(path, header)
    return True


def refuse_newer(schema: int) -> None:
    """Check a schema's number.

    Raises:
        FailedPrecondition: this code is older than it (STORE_NEWER).
    """
    if schema > SCHEMA:
        raise FailedPrecondition(
            f"The store has schema {schema}, made by a newer Perdure; this one knows {SCHEMA}. Upgrade Perdure.",
            reason=Reason.STORE_NEWER,
            details={"schema": schema, "known": SCHEMA},
        )


def prepare(path: Path, *, create: bool, now_us: int) -> None:
    """Make the file, or bring its schema up to date; afterwards it is in WAL mode with mode 0600.

    Raises:
        NotFound: there is none and ``create`` is False.
        FailedPrecondition, DataCorrupt: as ``inspect``.
        apsw.Error: it cannot be written.
    """
    there = inspect(path)
    if not there:
        if not create:
            raise NotFound(f"There is no store at {path.name}.", reason=Reason.STORE_FOREIGN)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = connect(path)
    try:
        _migrate(connection, now_us)
        # After the first commit, so that the header itself, not only the log, always tells whose file it is.
        if connection.execute("PRAGMA journal_mode").get != "wal":
            _to_wal(connection)
    finally:
        connection.close()
    for suffix in ("", "-wal", "-shm"):
        side = path.with_name(path.name + suffix)
        if side.exists():
            side.chmod(0o600)


def _migrate(connection: Connection, now_us: int) -> None:
    present = connection.execute("PRAGMA user_version").get
    refuse_newer(present)
    if present == SCHEMA:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        present = connection.execute("PRAGMA user_version").get
        refuse_newer(present)
        for number, sql in migrations():
            if number > present:
                connection.execute(sql)
        if present == 0:
            connection.execute("INSERT INTO meta VALUES ('uuid', ?), ('created', ?)", (str(uuid.uuid4()), str(now_us)))
            connection.execute("INSERT INTO namespace (name, created_at) VALUES ('default', ?)", (now_us,))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute("COMMIT")
    except BaseException:
        rolled_back(connection)
        raise
    if connection.execute("PRAGMA journal_mode").get == "wal":
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def _to_wal(connection: Connection) -> None:
    """Switch to WAL; another process that opens the same new file may hold it for a moment."""
    for attempt in range(20):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except apsw.BusyError:
            if attempt == 19:
                raise


def _refuse_damaged(path: Path, header: bytes) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size > 0:
        return  # in use, or left by a crash: pages may be in the log, so the file alone proves nothing
    size = path.stat().st_size
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = 65536 if page_bytes == 1 else page_bytes
    pages = int.from_bytes(header[28:32], "big")
    healthy = page_bytes >= 512 and pages * page_bytes <= size and _readable(path, size)
    if not healthy and not (log.exists() and log.stat().st_size > 0):
        raise corrupt()


def _readable(path: Path, size: int) -> bool:
    """Whether SQLite can read it; ``immutable``: takes no lock, makes no side file, changes nothing."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    name = path.absolute().as_uri() + "?immutable=1"
    try:
        connection = apsw.Connection(name, flags=flags)
        try:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
            if not {"memory", "namespace", "meta"} <= tables:
                return False
            if size > _QUICK_CHECK_BYTES:
                return True
            problems = [str(row[0]) for row in connection.execute("PRAGMA quick_check(10)")]
            # A damaged full-text index can be made anew from the rows (``repair``), so it is no reason to refuse.
            return all(problem == "ok" or "fts5" in problem.lower() for problem in problems)
        finally:
            connection.close()
    except apsw.Error:
        return False


def _foreign(path: Path, what: str) -> FailedPrecondition:
    return FailedPrecondition(
        f"{path.name} {what}; Perdure leaves it alone. Set PERDURE_STORE_URL to another file.",
        reason=Reason.STORE_FOREIGN,
    )
