"""Both arms of the SQLite store, in the file and on the resident matrix, answer as the plain in-memory scan does."""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from perdure.domain.memory import Filter, Memory, MemoryType, Status, Tier
from perdure.domain.namespace import DEFAULT_NAMESPACE, NamespaceName, Scope
from perdure.domain.recall.lexical import query_terms
from perdure.errors import AlreadyExists
from perdure.ports import MemoryUnit, Store
from perdure.store import open_store
from support.store_samples import (
    ACTOR,
    DIMENSION,
    SPACE,
    START,
    SetClock,
    random_memory,
    random_query,
    vector,
)

OTHER = NamespaceName("other")
ALWAYS_RESIDENT, NEVER_RESIDENT = 0, 10**9


def _filter(rng: random.Random) -> Filter:
    def some(values: list[object], most: int = 2) -> tuple:  # type: ignore[type-arg]
        return tuple(rng.sample(values, k=rng.randint(1, most))) if rng.random() < 0.3 else ()

    moment = START + timedelta(minutes=rng.randint(0, 500))
    return Filter(
        projects=some(["p0", "p1", "p2", "absent"]),
        not_projects=some(["p1", "p3", "absent"]),
        types=some(list(MemoryType), 3),
        tags=some(["alpha", "BETA", "gamma"], 1),
        concepts=some(["AUTH", "strasse"], 1),
        files=some(["SRC/a.py", "b.md"], 1),
        tiers=some(list(Tier), 1),
        created_from=moment if rng.random() < 0.2 else None,
        created_to=moment + timedelta(minutes=100) if rng.random() < 0.2 else None,
        statuses=rng.choice([(Status.ACTIVE,)] * 3 + [(), (Status.ARCHIVED, Status.SUPERSEDED)]),
        as_of=moment if rng.random() < 0.4 else None,
    )


class _Pair:
    """The reference and the stores on one file, changed alike."""

    def __init__(self, rng: random.Random, reference: Store, stores: list[Store]) -> None:
        self.rng, self.reference, self.stores = rng, reference, stores
        self.known: list[tuple[Scope, Memory]] = []
        self.made = 0

    def step(self) -> None:
        """One random transaction, through a random one of the stores."""
        scope = Scope(self.rng.choice([DEFAULT_NAMESPACE, DEFAULT_NAMESPACE, OTHER]))
        store = self.rng.choice(self.stores)
        seed = self.rng.random()
        for target in (self.reference, store):
            rng = random.Random(seed)
            with target.write(scope, ACTOR) as unit:
                known = list(self.known)
                made = self.made
                for _ in range(rng.randint(1, 4)):
                    made = self._change(rng, unit, scope, known, made)
                self._compare_inside(rng, unit, scope) if target is store else self._remember(rng, unit)
        self.known, self.made = known, made

    def _change(self, rng: random.Random, unit: MemoryUnit, scope: Scope, known: list, made: int) -> int:  # type: ignore[type-arg]
        mine = [one for one in known if one[0] == scope]
        act = rng.random()
        if act < 0.55 or not mine:
            fresh = self._memory(rng, made, scope)
            direction = vector(rng.randint(0, 40)) if rng.random() < 0.9 else None
            if rng.random() < 0.05:
                direction = vector(1) * 0
            unit.add(fresh, vector=direction, space=SPACE if direction is not None else None)
            known.append((scope, fresh))
            return made + 1
        entry = rng.choice(mine)
        name = entry[1].id
        stored = unit.get(name)
        assert stored is not None
        if act < 0.7:
            unit.purge(name)
            known.remove(entry)
        elif act < 0.8:
            unit.set_vector(name, vector(rng.randint(0, 40)), SPACE)
        elif act < 0.85:
            unit.drop_vectors(name)
        else:
            said = stored.statement
            changed = replace(
                stored,
                status=rng.choice([Status.ACTIVE, Status.ARCHIVED]),
                statement=replace(
                    said,
                    project=f"p{rng.randint(0, 3)}",
                    tags=("beta",),
                    content=said.content if rng.random() < 0.5 else f"{said.content} rewritten {made}",
                ),
                tier=rng.choice(list(Tier)),
            )
            unit.change(stored, changed, why="updated")
        return made + 1

    def _memory(self, rng: random.Random, made: int, scope: Scope) -> Memory:
        made_here = self._cache.setdefault((scope, made), None) if hasattr(self, "_cache") else None
        if made_here is None:
            self._cache = getattr(self, "_cache", {})
            made_here = self._cache[scope, made] = random_memory(rng, made, scope.namespace)
        else:
            random_memory(rng, made, scope.namespace)  # so that both sides draw the same numbers
        return made_here

    def _remember(self, rng: random.Random, unit: MemoryUnit) -> None:
        """What the reference answers inside the transaction."""
        self._inside = [self._answers(unit, *question) for question in self._questions(rng, 2)]

    def _compare_inside(self, rng: random.Random, unit: MemoryUnit, scope: Scope) -> None:
        for question, expected in zip(self._questions(rng, 2), self._inside, strict=True):
            _alike(self._answers(unit, *question), expected)

    @staticmethod
    def _questions(rng: random.Random, count: int) -> list[tuple[int, str, Filter, int]]:
        return [(rng.randint(0, 60), random_query(rng), _filter(rng), rng.choice([1, 3, 10, 50])) for _ in range(count)]

    @staticmethod
    def _answers(reader, seed: int, query: str, filter_: Filter, limit: int):  # type: ignore[no-untyped-def]
        nearest = reader.dense(vector(seed), SPACE, filter_, limit=limit)
        without = reader.dense(vector(seed), SPACE, filter_, limit=limit, exclude=[hit.id for hit in nearest[:2]])
        terms = query_terms(query)
        every = {hit.id: hit.bm25 for hit in reader.lexical(terms, filter_, limit=10_000).hits}
        return nearest, without, reader.lexical(terms, filter_, limit=limit), every, reader.unembedded(filter_)

    def compare(self) -> None:
        for scope in (Scope(DEFAULT_NAMESPACE), Scope(OTHER)):
            questions = self._questions(self.rng, 3)
            with self.reference.read(scope) as reader:
                expected = [self._answers(reader, *question) for question in questions]
                stats = reader.stats()
            for store in self.stores:
                with store.read(scope) as reader:
                    for question, right in zip(questions, expected, strict=True):
                        _alike(self._answers(reader, *question), right)
                    assert reader.stats() == stats


def _alike(found, expected) -> None:  # type: ignore[no-untyped-def]
    assert found[0] == expected[0]
    assert found[1] == expected[1]
    assert found[3] == pytest.approx(expected[3], abs=1e-6)
    scores = [hit.bm25 for hit in found[2].hits]
    assert scores == pytest.approx([hit.bm25 for hit in expected[2].hits], abs=1e-6)
    assert {hit.id for hit in found[2].hits} <= set(expected[3])
    assert found[2].ceiling == pytest.approx(expected[2].ceiling)
    assert all(hit.bm25 <= found[2].ceiling + 1e-9 for hit in found[2].hits)
    assert found[4] == expected[4]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.requirement("STORE-02")
def test_answers_equal_a_plain_scan_after_any_changes_by_two_processes_views(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    clock = SetClock()
    url = f"sqlite:///{tmp_path / 'store.db'}"
    with ExitStack() as closing:
        stores = []
        for min_rows in (ALWAYS_RESIDENT, NEVER_RESIDENT):
            stores.append(open_store(url, resident_min_rows=min_rows, clock=clock))
            closing.callback(stores[-1].close)
        reference = open_store("memory:", clock=clock)
        for store in (stores[0], reference):
            with store.access() as unit:
                unit.create_namespace(OTHER, START)
        pair = _Pair(rng, reference, stores)
        for round_ in range(24):
            pair.step()
            if round_ % 3 == 0:
                pair.compare()
        pair.compare()
        assert stores[0].check().findings == ()


def test_many_equal_vectors_are_ordered_by_id_on_both_paths(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    rng = random.Random(5)
    near = vector(3, DIMENSION)
    memories = [random_memory(rng, at) for at in range(300)]
    with ExitStack() as closing:
        answers = []
        for min_rows in (ALWAYS_RESIDENT, NEVER_RESIDENT):
            store = open_store(url, resident_min_rows=min_rows)
            closing.callback(store.close)
            if not answers:
                with store.write(Scope(DEFAULT_NAMESPACE), ACTOR) as unit:
                    for one in rng.sample(memories, k=len(memories)):
                        unit.add(replace(one, status=Status.ACTIVE), vector=near, space=SPACE)
            with store.read(Scope(DEFAULT_NAMESPACE)) as reader:
                answers.append(reader.dense(near, SPACE, Filter(), limit=20))
        first = sorted(one.id for one in memories)[:20]
        assert [[hit.id for hit in answer] for answer in answers] == [first, first]


def test_a_key_or_text_taken_by_another_leaves_the_transaction_undone(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'store.db'}")
    one, two = random_memory(random.Random(1), 1), random_memory(random.Random(1), 1)
    one, two = replace(one, status=Status.ACTIVE), replace(two, status=Status.ACTIVE)
    with store.write(Scope(DEFAULT_NAMESPACE), ACTOR) as unit:
        unit.add(one, vector=None, space=None)
    with pytest.raises(AlreadyExists), store.write(Scope(DEFAULT_NAMESPACE), ACTOR) as unit:
        unit.add(replace(random_memory(random.Random(2), 2)), vector=None, space=None)
        unit.add(two, vector=None, space=None)
    with store.read(Scope(DEFAULT_NAMESPACE)) as reader:
        assert reader.stats().total == 1
    assert store.check().findings == ()
    store.close()
