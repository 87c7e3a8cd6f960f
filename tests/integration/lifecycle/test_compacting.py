"""Compaction over a real store and its own search: stubs, probes, texts that come home, stubs without text."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from perdure.domain.memory import Memory
from perdure.domain.namespace import Caller
from perdure.domain.recall.answer import Answer, Question
from perdure.errors import InvalidArgument
from perdure.usecases.admit import Admit
from perdure.usecases.compact import Compact
from perdure.usecases.restore_content import RestoreContent
from perdure.usecases.search import Search
from perdure.usecases.use_log import UseLog
from support.aged import aged
from support.maintenance_world import MaintenanceWorld

DETAILS = "Every step is written down in the runbook and reviewed by the owners of the service. " * 6
LONG = f"Deploys of the ledger go through pipeline blue-lion-77.\n{DETAILS}"


class Compacting:
    """Compaction and restoring over a world."""

    def __init__(self, world: MaintenanceWorld, pool: ThreadPoolExecutor) -> None:
        def ask(caller: Caller, question: Question) -> Answer:
            return Search(world.store, world.embedder, UseLog(), world.clock, pool, query_wait_s=2.0)(caller, question)

        self.ask = ask
        self.compact = Compact(world.store, ask, world.clock)
        self.restore = RestoreContent(world.store, Admit("redact"), world.clock)


@pytest.fixture
def its(world: MaintenanceWorld) -> Iterator[Compacting]:
    with ThreadPoolExecutor(2) as pool:
        yield Compacting(world, pool)


def _put(world: MaintenanceWorld, *memories: Memory) -> None:
    world.put([*memories, *(aged(f"Something about topic {n} altogether.") for n in range(20))])


@pytest.mark.requirement("LIFE-11")
def test_a_long_memory_gets_a_stub_and_keeps_its_text(world: MaintenanceWorld, its: Compacting) -> None:
    long = aged(LONG, key="ledger")
    _put(world, long)
    done = its.compact(world.me, ["ledger"])
    assert [(item.id, item.key) for item in done.compacted] == [(long.id, "ledger")]
    assert done.bytes_saved == len(LONG.encode()) - len(done.compacted[0].stub.encode())
    after = world.get(long.id)
    assert after.statement.content == LONG
    assert after.stub == "[absorbed→Perdure v1] Deploys of the ledger go through pipeline blue-lion-77."
    found = its.ask(world.me, Question(query="pipeline of the ledger deploys")).recall[0].memory
    assert found.statement.content == LONG
    with world.store.read(world.me.scope) as reader:
        assert reader.history(long.id)[0].why == "compacted"


@pytest.mark.requirement("LIFE-11")
def test_what_its_own_search_would_not_bring_back_first_keeps_its_text(
    world: MaintenanceWorld, its: Compacting
) -> None:
    twins = [aged(LONG.replace("ledger", f"ledger{n}"), access_count=900 * n) for n in range(2)]
    _put(world, *twins)
    world.clock.advance(days=150)
    done = its.compact(world.me, [memory.id for memory in twins] + ["nobody"])
    skipped = {item.name: item.reason for item in done.skipped}
    assert skipped["nobody"] == "not_found"
    assert len(done.compacted) + len(skipped) == 3


def test_a_dry_run_probes_and_writes_nothing(world: MaintenanceWorld, its: Compacting) -> None:
    long = aged(LONG)
    _put(world, long)
    assert len(its.compact(world.me, [long.id], dry_run=True).compacted) == 1
    assert world.get(long.id).stub is None


def test_a_stub_of_ones_own_is_for_one_memory(world: MaintenanceWorld, its: Compacting) -> None:
    _put(world, aged(LONG))
    with pytest.raises(InvalidArgument):
        its.compact(world.me, ["a", "b"], stub="Mine.")


@pytest.mark.requirement("LIFE-12")
def test_a_text_comes_home_to_its_stub_and_is_found_again(world: MaintenanceWorld, its: Compacting) -> None:
    lost = aged("[absorbed→Evermind v7] Deploys of the ledger go through", key="ledger")
    _put(world, lost)
    restored, unmatched = its.restore(world.me, [("ledger", LONG), ("nobody", "Nobody's text.")])
    assert restored == (lost.id,)
    assert unmatched == ("nobody",)
    after = world.get(lost.id)
    assert after.statement.content == LONG.strip()
    assert after.stub == lost.statement.content
    assert its.ask(world.me, Question(query="blue-lion-77")).recall[0].memory.id == lost.id


def test_taking_a_stub_away_leaves_the_text(world: MaintenanceWorld, its: Compacting) -> None:
    long = aged(LONG)
    _put(world, long)
    its.compact(world.me, [long.id])
    restored, unmatched = its.restore(world.me, [], [long.id, "nobody"])
    assert (restored, unmatched) == ((long.id,), ("nobody",))
    after = world.get(long.id)
    assert (after.stub, after.statement.content) == (None, LONG)


@pytest.mark.requirement("LIFE-12")
def test_a_stub_without_text_ranks_behind_a_memory_that_says_the_same(world: MaintenanceWorld, its: Compacting) -> None:
    lost = aged("[absorbed→Evermind v7] The cache cluster is Redis in Frankfurt")
    whole = aged("The cache cluster is Redis in Frankfurt today")
    _put(world, lost, whole)
    order = [hit.memory.id for hit in its.ask(world.me, Question(query="cache cluster Redis Frankfurt")).recall]
    assert order.index(whole.id) < order.index(lost.id)
