from __future__ import annotations

import apsw
import pytest

from perdure.errors import Code, DataCorrupt, FailedPrecondition, Internal, PerdureError, Reason, Unavailable
from perdure.store.sqlite.driver import has_wal_reset_race, meaning, refuse_unsafe, translated


@pytest.mark.parametrize(
    ("version", "unsafe"),
    [
        ("3.6.23", False),
        ("3.7.0", True),
        ("3.40.1", True),
        ("3.44.5", True),
        ("3.44.6", False),
        ("3.45.0", True),
        ("3.50.4", True),
        ("3.50.7", False),
        ("3.51.0", True),
        ("3.51.2", True),
        ("3.51.3", False),
        ("3.54.1", False),
    ],
)
def test_versions_with_the_wal_reset_race_are_known(version: str, unsafe: bool) -> None:
    major, minor, patch = map(int, version.split("."))
    assert has_wal_reset_race(major * 1_000_000 + minor * 1000 + patch) is unsafe


@pytest.mark.requirement("STORE-08")
def test_an_unsafe_sqlite_is_refused_with_its_version() -> None:
    with pytest.raises(FailedPrecondition) as caught:
        refuse_unsafe("3.51.2")
    assert caught.value.reason is Reason.SQLITE_UNSAFE
    assert caught.value.details == {"sqlite": "3.51.2"}


def test_the_sqlite_in_use_is_safe() -> None:
    refuse_unsafe(apsw.sqlite_lib_version())


@pytest.mark.parametrize(
    ("error", "kind", "reason"),
    [
        (apsw.BusyError(), Unavailable, Reason.STORE_BUSY),
        (apsw.LockedError(), Unavailable, Reason.STORE_BUSY),
        (apsw.FullError(), Unavailable, Reason.STORE_FULL),
        (apsw.CorruptError(), DataCorrupt, Reason.STORE_CORRUPT),
        (apsw.NotADBError(), DataCorrupt, Reason.STORE_CORRUPT),
        (apsw.IOError(), Unavailable, Reason.STORE_BUSY),
        (apsw.SQLError("no such table: secret"), Internal, Reason.UNEXPECTED),
    ],
)
def test_errors_of_sqlite_become_errors_of_the_taxonomy(
    error: apsw.Error, kind: type[PerdureError], reason: Reason
) -> None:
    found = meaning(error)
    assert type(found) is kind
    assert found.reason is reason
    assert "secret" not in found.message


def test_no_error_of_sqlite_gets_out() -> None:
    with pytest.raises(PerdureError) as caught, translated():
        apsw.Connection(":memory:").execute("SELECT * FROM nowhere")
    assert caught.value.code is Code.INTERNAL
