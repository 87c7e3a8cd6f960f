"""The SQLite store: one file, many processes; per process a pool of readers and one writer.

Open it after a fork, never before: a forked connection corrupts the file. Threads may share a store.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from perdure.domain.namespace import Actor, Scope
from perdure.errors import AlreadyExists, FailedPrecondition, Reason
from perdure.ports import (
    AccessUnit,
    CheckReport,
    Clock,
    ExperienceReader,
    ExperienceUnit,
    LifecycleReader,
    LifecycleUnit,
    MemoryReader,
    MemoryUnit,
    Progress,
    StoreInfo,
    WorkUnit,
)
from perdure.store.sqlite import check as checks
from perdure.store.sqlite.access import SqliteAccess
from perdure.store.sqlite.centres import Centres
from perdure.store.sqlite.dense import Dense
from perdure.store.sqlite.driver import (
    BUSY_TIMEOUT_MS,
    Connection,
    busy,
    connect,
    meaning,
    refuse_unsafe,
    rolled_back,
    translated,
)
from perdure.store.sqlite.experience import SqliteExperienceReader, SqliteExperienceUnit
from perdure.store.sqlite.file import SCHEMA, prepare
from perdure.store.sqlite.lexical import Frequencies
from perdure.store.sqlite.lifecycle import SqliteLifecycleReader, SqliteLifecycleUnit
from perdure.store.sqlite.reader import Engines, SqliteReader
from perdure.store.sqlite.resident import Residents
from perdure.store.sqlite.rows import micros
from perdure.store.sqlite.transaction import Transaction
from perdure.store.sqlite.unit import SqliteUnit
from perdure.store.sqlite.work import SqliteWork
from perdure.store.tokens import Tokens
from perdure.system import RandomIds, SystemClock

_Reader = TypeVar("_Reader", bound=SqliteReader)
_Unit = TypeVar("_Unit", bound=SqliteUnit)

SCRUB_WAIT_MS = 200
"""How long an erasure waits for readers to move on; what it could not empty, later writes do."""


class SqliteStore:
    """A ``Store`` in one SQLite file.

    Args:
        path: The file; made with its folder where ``create``.
        create: Whether a missing file is made.
        resident_bytes: Memory for resident matrices; 0 searches every namespace in the file.
        resident_min_rows: Namespaces with fewer vectors are searched in the file.
        clock: Tells when jobs are queued, memories purged and idempotency keys expired.

    Raises:
        FailedPrecondition: SQLite is unsafe, or the file foreign or newer.
        DataCorrupt: the file is damaged.
        NotFound: there is no file and ``create`` is False.
    """

    def __init__(
        self, path: Path, *, create: bool, resident_bytes: int, resident_min_rows: int, clock: Clock | None = None
    ) -> None:
        refuse_unsafe(apsw.sqlite_lib_version())
        self._path = path
        self._pid = os.getpid()
        clock = clock or SystemClock()
        self._residents = Residents(resident_bytes)
        self._engines = Engines(
            dense=Dense(self._residents, resident_min_rows),
            centres=Centres(),
            frequencies=Frequencies(Tokens()),
            clock=clock,
            ids=RandomIds(),
        )
        self._pool_lock = threading.Lock()
        self._pool: list[Connection] = []
        self._open = True
        self._writer_lock = threading.Lock()
        with translated():
            prepare(path, create=create, now_us=micros(clock.now()))
            self._writer = connect(path)

    # ------------------------------------------------------------ units

    def read(self, scope: Scope) -> AbstractContextManager[MemoryReader]:
        """A consistent view of one namespace."""
        return self._view(SqliteReader, scope)

    def write(self, scope: Scope, actor: Actor) -> AbstractContextManager[MemoryUnit]:
        """A transaction on one namespace."""
        return self._unit(SqliteUnit, scope, actor)

    def survey(self, scope: Scope) -> AbstractContextManager[LifecycleReader]:
        """A consistent view of one namespace for maintenance."""
        return self._view(SqliteLifecycleReader, scope)

    def maintain(self, scope: Scope, actor: Actor) -> AbstractContextManager[LifecycleUnit]:
        """A transaction of maintenance on one namespace."""
        return self._unit(SqliteLifecycleUnit, scope, actor)

    def experience_view(self, scope: Scope) -> AbstractContextManager[ExperienceReader]:
        """A consistent view of the experience of one namespace."""
        return self._view(SqliteExperienceReader, scope)

    def experience(self, scope: Scope, actor: Actor) -> AbstractContextManager[ExperienceUnit]:
        """A transaction on the experience of one namespace."""
        return self._unit(SqliteExperienceUnit, scope, actor)

    @contextmanager
    def _view(self, kind: type[_Reader], scope: Scope) -> Iterator[_Reader]:
        connection = self.borrow()
        try:
            with translated():
                connection.execute("BEGIN")
                reader = kind(connection, scope, self._engines)
            yield reader
        finally:
            self.give_back(connection)

    @contextmanager
    def _unit(self, kind: type[_Unit], scope: Scope, actor: Actor) -> Iterator[_Unit]:
        connection = self.begin_write()
        done = False
        try:
            with translated():
                unit = kind(connection, scope, actor, self._engines)
            yield unit
            with translated():
                unit.finish()
            done = True
        finally:
            self.end_write(commit=done)

    @contextmanager
    def access(self) -> Iterator[AccessUnit]:
        """A transaction on namespaces and tokens."""
        with self._transaction() as transaction:
            yield SqliteAccess(transaction)

    @contextmanager
    def work(self) -> Iterator[WorkUnit]:
        """A transaction on background bookkeeping."""
        with self._transaction() as transaction:
            yield SqliteWork(transaction, self._engines.clock)

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        transaction = Transaction(self)
        done = False
        try:
            yield transaction
            done = True
        finally:
            transaction.end(commit=done)

    # ------------------------------------------------------------ the whole file

    def info(self) -> StoreInfo:
        """Facts about the store; ``bytes`` with its write-ahead log."""
        sizes = [
            side.stat().st_size
            for suffix in ("", "-wal")
            if (side := self._path.with_name(self._path.name + suffix)).exists()
        ]
        return StoreInfo(url=f"sqlite:///{self._path}", schema=SCHEMA, bytes=sum(sizes), backend="sqlite")

    def backup(self, target: Path) -> int:
        """Writes a consistent, compact copy to ``target`` while others read and write; its bytes.

        Raises:
            AlreadyExists: there is something at ``target``.
        """
        if target.exists():
            raise AlreadyExists("The backup's file exists already; name another.", details={"file": target.name})
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        connection = self.borrow()
        try:
            with translated():
                # An empty file is accepted by VACUUM INTO and keeps its mode.
                connection.execute("VACUUM INTO ?", (str(target),))
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        finally:
            self.give_back(connection)
        return target.stat().st_size

    def check(self, progress: Progress | None = None) -> CheckReport:
        """Compares rows, vectors, full text and links with each other; changes nothing."""
        connection = self.borrow()
        try:
            with translated():
                connection.execute("BEGIN IMMEDIATE")
                return checks.check(connection, progress)
        finally:
            self.give_back(connection)

    def repair(self, progress: Progress | None = None) -> CheckReport:
        """Rebuilds full text and queues missing vectors from the rows, which it never touches; the report after it."""
        connection = self.begin_write()
        done = False
        try:
            with translated():
                checks.repair(connection, self._engines.clock, self._engines.ids, progress)
            done = True
        finally:
            self.end_write(commit=done)
        return self.check(progress)

    def checkpoint(self) -> None:
        """Moves what can be moved from the write-ahead log into the file, waiting for nobody."""
        with translated(), self._writer_lock:
            self._writer.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def writes_of_others(self) -> int:
        """A number that changes whenever another connection has committed, of this process or another."""
        with translated(), self._writer_lock:
            return int(self._writer.execute("PRAGMA data_version").get)

    def scrub(self) -> bool:
        """Empties the write-ahead log, which keeps old pages; False where readers stand in the way."""
        with translated(), self._writer_lock:
            self._writer.execute(f"PRAGMA busy_timeout = {SCRUB_WAIT_MS}")
            try:
                ((blocked, _, _),) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self._writer.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        return not blocked

    def close(self) -> None:
        """Lets go of the file."""
        with self._pool_lock:
            self._open = False
            pool, self._pool = self._pool, []
        if os.getpid() != self._pid:
            return  # a forked copy: closing would release the parent's locks
        for connection in pool:
            connection.close()
        with self._writer_lock:
            self._writer.close()
        self._residents.clear()

    # ------------------------------------------------------------ connections

    def borrow(self) -> Connection:
        """A connection to read with."""
        self._refuse_closed()
        with self._pool_lock:
            if self._pool:
                return self._pool.pop()
        with translated():
            return connect(self._path)

    def give_back(self, connection: Connection) -> None:
        """Takes it back, outside any transaction."""
        with translated():
            rolled_back(connection)
        with self._pool_lock:
            if self._open:
                self._pool.append(connection)
                return
        connection.close()

    def begin_write(self) -> Connection:
        """The writer's connection, in an immediate transaction.

        Raises:
            Unavailable: another held it too long (STORE_BUSY).
        """
        self._refuse_closed()
        if not self._writer_lock.acquire(timeout=BUSY_TIMEOUT_MS / 1000):
            raise busy()
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except apsw.Error as error:
            self._writer_lock.release()
            raise meaning(error) from error
        return self._writer

    def end_write(self, *, commit: bool) -> None:
        """Commits or undoes, and frees the writer."""
        try:
            with translated():
                try:
                    if commit:
                        self._writer.execute("COMMIT")
                finally:
                    rolled_back(self._writer)
        finally:
            self._writer_lock.release()

    def _refuse_closed(self) -> None:
        if not self._open or os.getpid() != self._pid:
            raise FailedPrecondition(
                "The store is closed, or was opened before a fork; open it anew.", reason=Reason.UNEXPECTED
            )
