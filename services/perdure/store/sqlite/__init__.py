"""The store in one SQLite file, with sqlite-vec and FTS5."""

from perdure.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
