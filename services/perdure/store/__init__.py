"""The one store: where memories, tokens and the bookkeeping of work are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from perdure.errors import InvalidArgument, Reason
from perdure.ports import Clock, ExperienceStore, LifecycleStore, Store

if TYPE_CHECKING:
    from perdure.store.sqlite import SqliteStore

RESIDENT_BYTES = 1024**3
RESIDENT_MIN_ROWS = 256


def open_store(
    url: str,
    *,
    create: bool = True,
    resident_bytes: int = RESIDENT_BYTES,
    resident_min_rows: int = RESIDENT_MIN_ROWS,
    clock: Clock | None = None,
) -> Store:
    """The store at ``url``.

    Args:
        url: ``sqlite:///path`` (a third slash and an absolute or relative path) or ``memory:``.
        create: Whether a missing file is made.
        resident_bytes: Memory for resident matrices of hot namespaces; 0 for none.
        resident_min_rows: Namespaces with fewer vectors are searched in the file.
        clock: The time; the machine's own by default.

    Raises:
        InvalidArgument: not such a URL.
        NotFound: no file, and ``create`` is False.
        FailedPrecondition: SQLite is unsafe (SQLITE_UNSAFE), the file foreign (STORE_FOREIGN) or newer (STORE_NEWER).
        DataCorrupt: the file is damaged (STORE_CORRUPT).
    """
    if url == "memory:":
        from perdure.store.inmemory import InMemoryStore

        return InMemoryStore(clock=clock)
    prefix = "sqlite:///"
    if not url.startswith(prefix) or url == prefix:
        raise InvalidArgument(
            "A store's URL is sqlite:///path or memory:.", reason=Reason.FIELD_INVALID, details={"field": "store_url"}
        )
    from perdure.store.sqlite import SqliteStore

    return SqliteStore(
        Path(url.removeprefix(prefix)).absolute(),
        create=create,
        resident_bytes=resident_bytes,
        resident_min_rows=resident_min_rows,
        clock=clock,
    )


def open_lifecycle_store(
    url: str, *, resident_bytes: int = RESIDENT_BYTES, clock: Clock | None = None
) -> LifecycleStore:
    """The store at ``url``, as maintenance needs it; made where it is missing.

    Raises:
        InvalidArgument: not the URL of a store that is looked after.
        FailedPrecondition, DataCorrupt: as ``open_store``.
    """
    return _in_a_file(url, "Maintenance", resident_bytes=resident_bytes, clock=clock)


def open_experience_store(
    url: str,
    *,
    resident_bytes: int = RESIDENT_BYTES,
    resident_min_rows: int = RESIDENT_MIN_ROWS,
    clock: Clock | None = None,
) -> ExperienceStore:
    """The store at ``url``, as experience needs it; made where it is missing.

    Raises:
        InvalidArgument: not the URL of a store that keeps experience.
        FailedPrecondition, DataCorrupt: as ``open_store``.
    """
    return _in_a_file(
        url, "Experience", resident_bytes=resident_bytes, resident_min_rows=resident_min_rows, clock=clock
    )


def _in_a_file(
    url: str, who: str, *, resident_bytes: int, clock: Clock | None, resident_min_rows: int = RESIDENT_MIN_ROWS
) -> SqliteStore:
    store = open_store(url, resident_bytes=resident_bytes, resident_min_rows=resident_min_rows, clock=clock)
    from perdure.store.sqlite import SqliteStore

    if not isinstance(store, SqliteStore):
        store.close()
        raise InvalidArgument(
            f"{who} needs a store in a file: sqlite:///path.",
            reason=Reason.FIELD_INVALID,
            details={"field": "store_url"},
        )
    return store
