"""Resident matrices: fresh, bounded in bytes, and never showing what is not committed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.domain.memory import Filter
from perdure.domain.namespace import NamespaceName, Scope
from perdure.store.sqlite import SqliteStore
from support.store_samples import ACTOR, DIMENSION, HERE, SPACE, START, memory, vector

ROW_BYTES = DIMENSION * 4 + 36 + 4 * 8 + 4 + 3


def _opened(path: Path, *, resident_bytes: int = 1 << 30, min_rows: int = 10) -> SqliteStore:
    return SqliteStore(path, create=True, resident_bytes=resident_bytes, resident_min_rows=min_rows)


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "store.db"
    store = _opened(file)
    _fill(store, HERE, 100)
    store.close()
    yield file


def _fill(store: SqliteStore, scope: Scope, count: int) -> None:
    with store.write(scope, ACTOR) as unit:
        for at in range(count):
            unit.add(memory(f"text {at}", namespace=scope.namespace), vector=vector(at), space=SPACE)


def _nearest(store: SqliteStore, scope: Scope = HERE, seed: int = 1) -> str:
    with store.read(scope) as reader:
        return reader.dense(vector(seed), SPACE, Filter(), limit=1)[0].id


def _views(store: SqliteStore) -> list[int]:
    return [entry.view.count for entry in store._residents._entries.values() if entry.view is not None]


def test_a_small_namespace_is_searched_in_the_file(path: Path) -> None:
    store = _opened(path, min_rows=101)
    _nearest(store)
    assert _views(store) == []
    store.close()


def test_a_large_enough_one_becomes_resident_once(path: Path) -> None:
    store = _opened(path)
    _nearest(store)
    view = next(iter(store._residents._entries.values())).view
    _nearest(store, seed=2)
    assert next(iter(store._residents._entries.values())).view is view
    assert _views(store) == [100]
    store.close()


def test_without_room_nothing_becomes_resident(path: Path) -> None:
    for room in (0, 10 * ROW_BYTES):
        store = _opened(path, resident_bytes=room)
        assert _nearest(store)
        assert _views(store) == []
        store.close()


def test_the_namespace_used_longest_ago_gives_way(path: Path) -> None:
    scopes = [Scope(NamespaceName(f"n{at}")) for at in range(3)]
    filler = _opened(path)
    with filler.access() as access:
        for scope in scopes:
            access.create_namespace(scope.namespace, START)
    for scope in scopes:
        _fill(filler, scope, 100)
    filler.close()
    store = _opened(path, resident_bytes=2 * 130 * ROW_BYTES)
    for scope in scopes:
        _nearest(store, scope)
    numbers = [namespace for namespace, _ in store._residents._entries]
    assert len(numbers) == 2
    assert numbers == sorted(numbers)
    assert max(numbers) == 4
    store.close()


def test_another_stores_save_change_and_purge_are_seen_at_the_next_search(path: Path) -> None:
    store, other = _opened(path), _opened(path)
    _nearest(store)
    with other.write(HERE, ACTOR) as unit:
        unit.add(new := memory("new"), vector=vector(777), space=SPACE)
    assert _nearest(store, seed=777) == new.id
    with other.write(HERE, ACTOR) as unit:
        unit.set_vector(new.id, vector(778), SPACE)
    assert _nearest(store, seed=778) == new.id
    with other.write(HERE, ACTOR) as unit:
        unit.purge(new.id)
    assert _nearest(store, seed=778) != new.id
    other.close()
    store.close()


def test_an_uncommitted_memory_is_seen_by_its_own_transaction_alone(path: Path) -> None:
    store = _opened(path)
    _nearest(store)
    with pytest.raises(ZeroDivisionError), store.write(HERE, ACTOR) as unit:
        unit.add(new := memory("new"), vector=vector(777), space=SPACE)
        assert unit.dense(vector(777), SPACE, Filter(), limit=1)[0].id == new.id
        assert _nearest(store, seed=777) != new.id
        raise ZeroDivisionError
    assert _nearest(store, seed=777) != new.id
    with store.write(HERE, ACTOR) as unit:
        unit.add(after := memory("after"), vector=vector(779), space=SPACE)
    assert _nearest(store, seed=779) == after.id
    store.close()


def test_many_replaced_vectors_do_not_pile_up(path: Path) -> None:
    store = _opened(path)
    _fill_more = 2000
    with store.write(HERE, ACTOR) as unit:
        for at in range(_fill_more):
            unit.add(memory(f"more {at}"), vector=vector(at), space=SPACE)
    with store.read(HERE) as reader:
        ids = [one.id for one in reader.page(Filter(), after=None, limit=2000).memories]
    for round_ in range(3):
        for start in range(0, len(ids), 500):
            with store.write(HERE, ACTOR) as unit:
                for at, id_ in enumerate(ids[start : start + 500]):
                    unit.set_vector(id_, vector(10_000 + round_ * 5000 + start + at), SPACE)
            _nearest(store)
    assert _views(store)[0] < 2 * (100 + _fill_more)
    store.close()
