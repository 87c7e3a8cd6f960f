"""A foreign, damaged or newer file is refused and left as it was, byte for byte."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

import apsw
import pytest

from perdure.errors import DataCorrupt, FailedPrecondition, NotFound, PerdureError, Reason
from perdure.store import open_store
from perdure.store.sqlite.file import APPLICATION_ID, SCHEMA, inspect
from support.store_samples import ACTOR, HERE, SPACE, memory, vector


def _made(path: Path, count: int = 40) -> Path:
    store = open_store(f"sqlite:///{path}")
    with store.write(HERE, ACTOR) as unit:
        for at in range(count):
            unit.add(memory(f"number {at} " + "text " * 50), vector=vector(at), space=SPACE)
    store.close()
    return path


def _refused(path: Path) -> PerdureError:
    before = {one.name: one.read_bytes() for one in path.parent.iterdir() if one.is_file()}
    with pytest.raises(PerdureError) as caught:
        open_store(f"sqlite:///{path}")
    assert {one.name: one.read_bytes() for one in path.parent.iterdir() if one.is_file()} == before
    return caught.value


@pytest.mark.requirement("STORE-13", "PAST-16")
def test_a_new_store_is_private_and_marked(tmp_path: Path) -> None:
    path = tmp_path / "home" / "perdure.db"
    store = open_store(f"sqlite:///{path}")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.with_name("perdure.db-wal").stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    header = path.read_bytes()[:100]
    assert int.from_bytes(header[68:72], "big") == APPLICATION_ID
    assert int.from_bytes(header[60:64], "big") == SCHEMA
    store.close()


@pytest.mark.parametrize("data", [b"hello, this is a letter\n" * 100, b"PK\x03\x04", b"x"])
@pytest.mark.requirement("STORE-04")
def test_a_file_that_is_not_sqlite_is_refused_untouched(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "perdure.db"
    path.write_bytes(data)
    assert _refused(path).reason is Reason.STORE_FOREIGN


@pytest.mark.requirement("STORE-04")
def test_a_database_of_another_program_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE memory (x); INSERT INTO memory VALUES (1)")
    other.close()
    assert _refused(path).reason is Reason.STORE_FOREIGN


def test_our_mark_on_another_schema_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    other = apsw.Connection(str(path))
    other.execute(f"PRAGMA application_id = {APPLICATION_ID}; CREATE TABLE memory (x); PRAGMA user_version = 1")
    other.close()
    assert _refused(path).reason is Reason.STORE_CORRUPT


@pytest.mark.requirement("STORE-03")
def test_a_newer_schema_is_refused_untouched_with_both_numbers(tmp_path: Path) -> None:
    path = _made(tmp_path / "perdure.db")
    newer = apsw.Connection(str(path))
    newer.execute("PRAGMA journal_mode = DELETE").fetchall()
    newer.execute(f"PRAGMA user_version = {SCHEMA + 7}")
    newer.close()
    error = _refused(path)
    assert isinstance(error, FailedPrecondition)
    assert error.reason is Reason.STORE_NEWER
    assert error.details == {"schema": SCHEMA + 7, "known": SCHEMA}


@pytest.mark.parametrize("keep", [50, 100, 4096, 20_000])
@pytest.mark.requirement("STORE-04", "PAST-09")
def test_a_cut_file_is_refused_untouched(tmp_path: Path, keep: int) -> None:
    path = _made(tmp_path / "perdure.db")
    path.write_bytes(path.read_bytes()[:keep])
    assert _refused(path).reason is Reason.STORE_CORRUPT


@pytest.mark.parametrize("page", [1, 3, 5, 9])
@pytest.mark.requirement("STORE-04")
def test_a_file_with_an_overwritten_page_is_refused_untouched(tmp_path: Path, page: int) -> None:
    path = _made(tmp_path / "perdure.db")
    data = bytearray(path.read_bytes())
    noise = hashlib.sha256(bytes([page])).digest() * 128
    data[page * 4096 : page * 4096 + 4096] = noise
    path.write_bytes(data)
    error = _refused(path)
    assert isinstance(error, DataCorrupt)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FailedPrecondition) as caught:
        inspect(tmp_path)
    assert caught.value.reason is Reason.STORE_FOREIGN


def test_a_missing_store_is_not_made_unless_asked(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        open_store(f"sqlite:///{tmp_path / 'none.db'}", create=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "perdure.db"
    path.touch()
    open_store(f"sqlite:///{path}").close()
    assert inspect(path)


@pytest.mark.parametrize("url", ["", "postgres://x", "sqlite:///", "sqlite://x"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(PerdureError) as caught:
        open_store(url)
    assert caught.value.reason is Reason.FIELD_INVALID
