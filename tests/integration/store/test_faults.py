"""The SQLite store when processes are killed, disks are full, and many write at once."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from perdure.domain.memory import Filter, MemoryId
from perdure.domain.recall.lexical import query_terms
from perdure.errors import AlreadyExists, Reason, Unavailable
from perdure.store import open_store
from perdure.store.sqlite import SqliteStore
from support.store_samples import ACTOR, HERE, SPACE, START, memory, new_id, random_memory, vector

KILLS = 50
ID_BYTES = 36


def _forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Process id of a child that runs ``work(pipe)``, and the pipe's reading end. The child never returns."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(writing)
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


def _save_for_ever(url: str, seed: int, pipe: int) -> None:
    rng = random.Random(seed)
    store = open_store(url)
    known: list[MemoryId] = []
    for at in range(100_000):
        one = replace(random_memory(rng, at), id=new_id())
        one = replace(one, statement=replace(one.statement, content=f"{one.statement.content} {one.id}"))
        with store.write(HERE, ACTOR) as unit:
            unit.add(one, vector=vector(at) if at % 3 else None, space=SPACE if at % 3 else None)
            if known and rng.random() < 0.3:
                stored = unit.get(rng.choice(known))
                assert stored is not None
                unit.change(stored, replace(stored, importance=rng.random()), why="updated")
        known.append(one.id)
        os.write(pipe, one.id.encode())


@pytest.mark.e2e
@pytest.mark.requirement("FAULT-01", "PAST-08")
def test_a_writer_killed_at_any_moment_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    rng = random.Random(20260301)
    saved: set[str] = set()
    for round_ in range(KILLS):
        child, reading = _forked(lambda pipe, seed=round_: _save_for_ever(url, seed, pipe))  # type: ignore[misc]
        data = os.read(reading, ID_BYTES)  # it saves: now any moment will do
        pause = threading.Event()
        pause.wait(rng.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(reading, 65536):
            data += more
        os.close(reading)
        saved.update(data[at : at + ID_BYTES].decode() for at in range(0, len(data) // ID_BYTES * ID_BYTES, ID_BYTES))
        if round_ % 10 == 9:
            store = open_store(url, create=False)
            assert store.check().findings == ()
            with store.read(HERE) as reader:
                assert reader.get_many([MemoryId(one) for one in saved]).keys() == saved
            store.close()
    assert len(saved) >= KILLS


def _save_some(url: str, count: int, pipe: int) -> None:
    store = open_store(url)
    for at in range(count):
        one = memory(f"from {os.getpid()} number {at}")
        with store.write(HERE, ACTOR) as unit:
            unit.add(one, vector=vector(at), space=SPACE)
        os.write(pipe, b".")
    store.close()


@pytest.mark.e2e
@pytest.mark.requirement("PAST-10")
def test_two_processes_make_and_write_one_new_file_at_once(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'store.db'}"
    children = [_forked(lambda pipe: _save_some(url, 60, pipe)) for _ in range(3)]
    written = []
    for child, reading in children:
        count = 0
        while data := os.read(reading, 4096):
            count += len(data)
        os.close(reading)
        os.waitpid(child, 0)
        written.append(count)
    assert written == [60, 60, 60]
    store = open_store(url, create=False)
    with store.read(HERE) as reader:
        assert reader.stats().total == 180
    assert store.check().findings == ()
    store.close()


def _one_text(url: str, pipe: int) -> None:
    store = open_store(url)
    try:
        with store.write(HERE, ACTOR) as unit:
            unit.add(memory("the same text"), vector=None, space=None)
        os.write(pipe, b"1")
    except AlreadyExists:
        os.write(pipe, b"0")
    store.close()


@pytest.mark.e2e
@pytest.mark.requirement("FAULT-03")
def test_six_processes_that_add_one_text_make_one_memory(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    children = [_forked(lambda pipe: _one_text(url, pipe)) for _ in range(6)]
    answers = b""
    for child, reading in children:
        answers += os.read(reading, 1)
        os.close(reading)
        os.waitpid(child, 0)
    assert sorted(answers) == sorted(b"000001")


@pytest.mark.requirement("FAULT-02")
def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    assert isinstance(store, SqliteStore)
    with store.write(HERE, ACTOR) as unit:
        unit.add(first := memory("before"), vector=vector(1), space=SPACE)
    writer = store._writer
    pages = writer.execute("PRAGMA page_count").get
    writer.execute(f"PRAGMA max_page_count = {pages + 4}").fetchall()
    saved = 0
    with pytest.raises(Unavailable) as caught:
        for at in range(100):
            with store.write(HERE, ACTOR) as unit:
                unit.add(memory(f"text {at} " + "word " * 2000), vector=vector(at), space=SPACE)
            saved += 1
    assert caught.value.reason is Reason.STORE_FULL
    assert "disk is full" in caught.value.message
    assert store.check().findings == ()
    writer.execute("PRAGMA max_page_count = 1000000").fetchall()
    with store.write(HERE, ACTOR) as unit:
        assert unit.get(first.id) is not None
        assert unit.stats().total == 1 + saved
        unit.add(memory("after"), vector=vector(9), space=SPACE)
    assert store.check().findings == ()
    store.close()


def test_a_writer_that_waits_too_long_says_busy(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(f"sqlite:///{path}")
    assert isinstance(store, SqliteStore)
    store._writer.set_busy_timeout(10)  # type: ignore[attr-defined]  # apsw's own
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable) as caught, store.write(HERE, ACTOR):
        pass
    assert caught.value.reason is Reason.STORE_BUSY
    other.execute("ROLLBACK")
    other.close()
    with store.write(HERE, ACTOR) as unit:
        unit.add(memory(), vector=None, space=None)
    store.close()


@pytest.mark.requirement("FAULT-09")
def test_eight_readers_and_two_writers_never_meet_a_lock(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    stores = [open_store(url, resident_min_rows=0), open_store(url, resident_min_rows=10**9)]
    with stores[0].write(HERE, ACTOR) as unit:
        for at in range(300):
            unit.add(memory(f"text {at} shared words"), vector=vector(at), space=SPACE)
    done = threading.Event()
    errors: list[BaseException] = []
    counts = [0] * 10

    def read(me: int) -> None:
        while not done.is_set():
            with stores[me % 2].read(HERE) as reader:
                hits = reader.dense(vector(me), SPACE, Filter(), limit=20)
                words = reader.lexical(query_terms("shared text"), Filter(), limit=20).hits
                found = reader.get_many([hit.id for hit in (*hits, *words)])
                assert found.keys() == {hit.id for hit in (*hits, *words)}
                assert len(hits) == 20
            counts[me] += 1

    def write(me: int) -> None:
        rng = random.Random(me)
        mine: list[MemoryId] = []
        for at in range(60):
            with stores[me % 2].write(HERE, ACTOR) as unit:
                one = memory(f"written by {me} at {at} shared")
                unit.add(one, vector=vector(at), space=SPACE)
                mine.append(one.id)
                if rng.random() < 0.3:
                    unit.purge(mine.pop(rng.randrange(len(mine))))
            counts[me] += 1

    def guarded(work: Callable[[int], None], me: int) -> None:
        try:
            work(me)
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=guarded, args=(read, me)) for me in range(8)]
    writers = [threading.Thread(target=guarded, args=(write, me)) for me in (8, 9)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    deadline = time.monotonic() + 60
    while not errors and min(counts) == 0 and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    done.set()
    for thread in readers:
        thread.join()
    assert errors == []
    assert min(counts) > 0
    assert stores[0].check().findings == ()
    for store in stores:
        store.close()


@pytest.mark.requirement("STORE-12", "PAST-17")
def test_purge_leaves_no_byte_of_the_text_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(f"sqlite:///{path}")
    one = memory("the canary zyxwvut sings", tags=("qponmlk",), files=("jihgfed.py",), project="cba0cba")
    with store.write(HERE, ACTOR) as unit:
        for at in range(50):
            unit.add(memory(f"filler {at}"), vector=vector(at), space=SPACE)
        unit.add(one, vector=vector(99), space=SPACE)
    with store.write(HERE, ACTOR) as unit:
        stored = unit.get(one.id)
        assert stored is not None
        unit.change(
            stored, replace(stored, statement=replace(stored.statement, content="zyxwvut again")), why="updated"
        )
    store.close()
    store = open_store(f"sqlite:///{path}")
    assert b"zyxwvut" in path.read_bytes()
    with store.write(HERE, ACTOR) as unit:
        unit.purge(one.id)
    store.close()  # the last one out empties the log into the file
    data = path.read_bytes()
    for word in (b"zyxwvut", b"qponmlk", b"jihgfed", b"cba0cba", vector(99).tobytes()):
        assert word not in data
    assert not path.with_name("store.db-wal").exists()


DAMAGES = {
    "full_text": "DELETE FROM full_text_docsize WHERE id = 3",
    "full text row": 'DELETE FROM document WHERE "row" = 4',
    "index": "DELETE FROM full_text_data WHERE id > 10",
    "labels": "DELETE FROM label",
    "vectors": "UPDATE vector SET e = zeroblob(length(e)) WHERE memory = 5",
    "vector length": "UPDATE vector SET e = x'00' WHERE memory = 5",
    "lost vector": "DELETE FROM vector WHERE memory = 6",
    "vector of nobody": "UPDATE vector SET namespace = 99 WHERE memory = 7",
    "links": "INSERT INTO link VALUES ('related', 1, 999)",
    "count": "UPDATE namespace SET memories = 3",
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.requirement("STORE-07")
def test_damage_is_found_and_repaired_from_rows_that_stay_as_they_were(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "store.db"
    store = open_store(f"sqlite:///{path}")
    with store.write(HERE, ACTOR) as unit:
        for at in range(30):
            unit.add(memory(f"text number {at}", tags=(f"t{at}",)), vector=vector(at), space=SPACE)
    store.close()
    other = apsw.Connection(str(path))
    rows = other.execute("SELECT * FROM memory").fetchall()
    other.execute(DAMAGES[damage])
    other.close()
    store = open_store(f"sqlite:///{path}")
    assert store.check().findings
    report = store.repair()
    assert report.findings == ()
    assert report.memories == 30
    with store.read(HERE) as reader:
        assert len(reader.lexical(query_terms("number"), Filter(), limit=50).hits) == 30
        assert len(reader.lexical(query_terms("text"), Filter(tags=("T7",)), limit=50).hits) == 1
    with store.work() as work:
        assert work.pending_count() == 30 - report.vectors
    store.close()
    other = apsw.Connection(str(path))
    assert other.execute("SELECT * FROM memory").fetchall() == rows
    other.close()


def test_a_store_opened_before_a_fork_refuses_to_work_after_it(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")

    def use(pipe: int) -> None:
        try:
            with store.read(HERE):
                os.write(pipe, b"worked")
        except Exception as error:
            os.write(pipe, type(error).__name__.encode())
        store.close()

    child, reading = _forked(use)
    assert os.read(reading, 100) == b"FailedPrecondition"
    os.close(reading)
    os.waitpid(child, 0)
    with store.read(HERE) as reader:
        assert reader.stats().total == 0
    store.close()
    assert START
