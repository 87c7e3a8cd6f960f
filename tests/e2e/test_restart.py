"""Every service killed and started again, between two calls of clients that stay open (issue 2, done when 4)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from functools import partial

import pytest
from mcp import Client

from support.stack import Stack, running, wait_until
from support.surfaces import ERAS, over_http, over_the_bridge, said

pytestmark = pytest.mark.e2e

SERVICES = {"broker", "embedding", "retrieval", "maintenance", "worker", "beat", "gateway"}
BATCH = 40


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running() as started:
        yield started


def kill_everything(stack: Stack) -> None:
    """kill -9 every process but the supervisor; returns when none of them lives."""
    before = stack.pids()
    assert before.keys() == SERVICES
    stack.kill()
    wait_until(lambda: not set(before.values()) & set(stack.pids().values()), what="the end of the killed", within_s=60)


def has_restarted(stack: Stack, name: str, killed: int) -> bool:
    return stack.pids().get(name, killed) != killed


def all_are_back(stack: Stack) -> None:
    stack.wait_ready(within_s=120)
    wait_until(lambda: stack.pids().keys() == SERVICES, what="every process", within_s=120)


# first, because the supervisor waits longer each time a process ends soon after its start
@pytest.mark.requirement("CLI-06")
def test_each_service_alone_comes_back_and_the_rest_go_on(stack: Stack) -> None:
    for name in sorted(SERVICES - {"gateway"}):
        before = stack.pids()
        stack.kill(name)
        assert stack.call("GET", "/healthz").status == 200, name
        wait_until(partial(has_restarted, stack, name, before[name]), within_s=60, what=name)
        stack.wait_ready(within_s=60)
        after = stack.pids()
        assert {other: pid for other, pid in after.items() if other != name} == {
            other: pid for other, pid in before.items() if other != name
        }, name
    assert stack.call("GET", "/memories/search?q=buoy").status == 200


@pytest.mark.requirement("DONE-04", "BRIDGE-09", "CLI-06")
async def test_open_clients_do_not_notice_that_every_service_was_killed(stack: Stack) -> None:
    async with contextlib.AsyncExitStack() as open_:
        clients: dict[str, Client] = {
            f"{way} {era}": await open_.enter_async_context(connect(stack, era))
            for way, connect in (("http", over_http), ("bridge", over_the_bridge))
            for era in ERAS
        }
        saved = {}
        for number, (name, client) in enumerate(clients.items()):
            text = f"Before the restart {name} counted {number + 11} herons"
            assert (await said(client, "memory_save", content=text)).startswith("Memory saved"), name
            saved[name] = text
        await asyncio.to_thread(kill_everything, stack)
        await asyncio.to_thread(all_are_back, stack)
        for name, client in clients.items():
            found = await said(client, "memory_search", query=f"before the restart {name} counted herons")
            assert saved[name] in found, name
            assert (await said(client, "memory_save", content=f"After it {name} went on as ever")).startswith(
                "Memory saved"
            ), name
            assert len((await client.list_tools(cache_mode="bypass")).tools) >= 9, name


@pytest.mark.requirement("BRIDGE-09")
async def test_a_call_through_the_bridge_made_while_all_are_down_waits_and_succeeds(stack: Stack) -> None:
    async with over_the_bridge(stack, "legacy") as legacy, over_the_bridge(stack, "modern") as modern:
        clients = {"legacy": legacy, "modern": modern}
        for client in clients.values():
            await said(client, "memory_stats")
        await asyncio.to_thread(kill_everything, stack)
        texts = {era: f"Said into the silence of the {era} era" for era in clients}
        answers = await asyncio.gather(
            *(said(client, "memory_save", content=texts[era]) for era, client in clients.items())
        )
        assert all(answer.startswith("Memory saved") for answer in answers), answers
        for era, client in clients.items():
            assert texts[era] in await said(client, "memory_search", query=texts[era])
    await asyncio.to_thread(all_are_back, stack)


@pytest.mark.requirement("FAULT-12", "FAULT-01")
def test_every_acknowledged_save_is_there_after_every_process_was_killed(stack: Stack) -> None:
    acknowledged = {}
    for number in range(BATCH):
        answer = stack.call(
            "POST", "/memories", {"content": f"Buoy {number * 37} lies at mark {number}", "project": "buoys"}
        )
        assert answer.status == 201, answer.body
        acknowledged[answer.json["id"]] = f"Buoy {number * 37} lies at mark {number}"
    kill_everything(stack)
    all_are_back(stack)
    listed = stack.call("GET", "/memories?project=buoys&limit=500").json["memories"]
    assert {memory["id"]: memory["content"] for memory in listed} == acknowledged
    checked = stack.perdure("db", "check")
    assert checked.returncode == 0, checked.stdout
