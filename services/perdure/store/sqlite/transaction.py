"""A transaction that begins as a reader and becomes a writer at its first write.

So that looking a token up, or asking for due work, never waits for a writer. What is read before the first write may be
older than the write: every write checks what it depends on.
"""

from __future__ import annotations

from typing import Protocol

from perdure.store.sqlite.driver import Connection


class Connections(Protocol):
    """Who lends connections."""

    def borrow(self) -> Connection:
        """A connection to read with."""

    def give_back(self, connection: Connection) -> None:
        """Takes it back, outside any transaction."""

    def begin_write(self) -> Connection:
        """The writer's connection, in an immediate transaction."""

    def end_write(self, *, commit: bool) -> None:
        """Commits or undoes, and frees the writer."""


class Transaction:
    """Reads on a borrowed connection, writes on the writer's."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._reader: Connection | None = None
        self._writer: Connection | None = None

    @property
    def reading(self) -> Connection:
        """A connection to read with; the writer's once something was written."""
        if self._writer is not None:
            return self._writer
        if self._reader is None:
            self._reader = self._connections.borrow()
            self._reader.execute("BEGIN")
        return self._reader

    @property
    def writing(self) -> Connection:
        """A connection to write with."""
        if self._writer is None:
            self._end_reading()
            self._writer = self._connections.begin_write()
        return self._writer

    def end(self, *, commit: bool) -> None:
        """Commit or undo."""
        self._end_reading()
        if self._writer is not None:
            self._writer = None
            self._connections.end_write(commit=commit)

    def _end_reading(self) -> None:
        if self._reader is not None:
            reader, self._reader = self._reader, None
            self._connections.give_back(reader)
