"""The lifecycle as its users meet it: real processes, real kills."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from perdure.domain.memory import Filter, Memory, Status
from perdure.domain.namespace import DEFAULT_NAMESPACE, Scope
from perdure.store import open_lifecycle_store
from support.aged_store import aged_facts, fact, topic_vectors, write
from support.stack import Stack, running, wait_until

pytestmark = pytest.mark.e2e

HERE = Scope(DEFAULT_NAMESPACE)
COUNT, TOPICS = 3000, 15


def _space(stack: Stack) -> tuple[str, int]:
    """The space of the stack's embedder, by way of one save."""
    saved = stack.call("POST", "/memories", {"content": "A first one.", "type": "fact", "project": "p"}).json
    wait_until(lambda: stack.call("GET", f"/memories/{saved['id']}").json.get("space"), what="the first vector")
    store = open_lifecycle_store(f"sqlite:///{stack.home / 'perdure.db'}", resident_bytes=0)
    try:
        with store.survey(HERE) as reader:
            space = reader.active_space()
            assert space is not None
            (vector,) = reader.vectors([saved["id"]], space).values()
    finally:
        store.close()
    return space, len(vector)


def _all(stack: Stack) -> dict[str, Memory]:
    store = open_lifecycle_store(f"sqlite:///{stack.home / 'perdure.db'}", resident_bytes=0)
    try:
        assert store.check().findings == ()
        found: dict[str, Memory] = {}
        after = None
        with store.survey(HERE) as reader:
            while True:
                page = reader.page(Filter(statuses=tuple(Status)), after=after, limit=500)
                found |= {memory.id: memory for memory in page.memories}
                after = page.next
                if after is None:
                    return found
    finally:
        store.close()


def _runs(stack: Stack) -> list[dict[str, Any]]:
    return list(stack.call("GET", "/maintenance/runs?limit=200").json["runs"])


def _over(stack: Stack) -> bool:
    return all(run["state"] not in ("queued", "running") for run in _runs(stack))


@pytest.mark.requirement("LIFE-15")
def test_a_killed_worker_leaves_whole_groups_and_another_goes_on() -> None:
    with running(PERDURE_EMBEDDING_PROVIDER="test", PERDURE_VISIBILITY_TIMEOUT_S="5") as stack:
        space, dimension = _space(stack)
        memories = list(aged_facts(COUNT, TOPICS, now=datetime.now(UTC)))
        write(stack.home / "perdure.db", memories, topic_vectors(COUNT, TOPICS, dimension), space)
        for kill in range(3):
            wait_until(
                lambda kill=kill: _made(stack) > 15 * kill or (kill and _over(stack)),  # type: ignore[misc]
                within_s=90,
                what="some progress of the run that the writing set off",
            )
            stack.kill("worker")
            _assert_whole(_all(stack))
        wait_until(lambda: _over(stack), within_s=120, what="the end of the runs")
        found = _all(stack)
        _assert_whole(found)
        active = "\n".join(m.statement.content for m in found.values() if m.status is Status.ACTIVE)
        assert [n for n in range(COUNT) if fact(n % TOPICS, n) not in active] == []
        runs = _runs(stack)
        assert {run["state"] for run in runs} == {"succeeded"}
        assert max(run["attempts"] for run in runs) > 1


def _made(stack: Stack) -> int:
    return sum(int(run["counts"].get("new_memories_created", 0)) for run in _runs(stack))


def _assert_whole(found: dict[str, Memory]) -> None:
    """Every consolidated memory is of one active memory that says what it says, and the other way round."""
    for memory in found.values():
        if memory.status is Status.CONSOLIDATED:
            assert memory.consolidated_into is not None
            made = found[memory.consolidated_into]
            assert memory.id in made.consolidated_from
            assert memory.statement.content in made.statement.content
        for original in memory.consolidated_from:
            assert found[original].status is Status.CONSOLIDATED


@pytest.mark.requirement("LIFE-03")
def test_triggers_of_a_broker_that_was_away_are_late_and_each_save_is_answered_for_once() -> None:
    with running(holdable=True, PERDURE_EMBEDDING_PROVIDER="test") as stack:
        stack.hold("broker")
        for number in range(95):
            body = {"content": f"Saved number {number} while the broker was away.", "type": "fact", "project": "p"}
            assert stack.call("POST", "/memories", body).status == 201
        assert [run["state"] for run in _runs(stack)] == ["queued"]
        stack.release("broker")
        wait_until(lambda: _over(stack), within_s=90, what="the late run")
        for number in range(5):
            body = {"content": f"Another number {number}.", "type": "fact", "project": "p"}
            stack.call("POST", "/memories", body)
        wait_until(lambda: _over(stack), within_s=60, what="the last run")
        counted = sum(run["saves"] for run in _runs(stack))
        assert counted in (95, 100)
        assert all(run["state"] == "succeeded" for run in _runs(stack))


@pytest.mark.requirement("LIFE-01")
def test_the_day_trigger_fires_after_a_restart_with_the_clock_moved() -> None:
    with running(PERDURE_EMBEDDING_PROVIDER="test") as stack:
        stack.call("POST", "/memories", {"content": "One save.", "type": "fact", "project": "p"})
        assert _runs(stack) == []
        stack.stop()
        stack.env["PERDURE_CLOCK_OFFSET_S"] = str(25 * 3600)
        stack.start()
        wait_until(lambda: [run["trigger"] for run in _runs(stack)] == ["day"], within_s=60, what="the day's run")
