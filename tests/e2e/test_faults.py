"""Parts that are away, full or killed, seen from outside (issue 2, "Bad input and faults").

One stack whose processes can be kept down; what needs other settings has a stack of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from support.stack import Stack, children, free_port, running, wait_until
from support.surfaces import over_http, said

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running(holdable=True) as started:
        yield started


@contextlib.contextmanager
def away(stack: Stack, *names: str) -> Iterator[None]:
    """The named processes are killed and stay down for the block; all are ready after it."""
    stack.hold(*names)
    try:
        yield
    finally:
        stack.release(*names)
        stack.wait_ready()


def save(stack: Stack, content: str, **fields: Any) -> dict[str, Any]:
    answer = stack.call("POST", "/memories", {"content": content, **fields})
    assert answer.status == 201, answer.body
    return dict(answer.json)


def search(stack: Stack, **query: Any) -> dict[str, Any]:
    answer = stack.call("GET", f"/memories/search?{urlencode(query)}")
    assert answer.status == 200, answer.body
    return dict(answer.json)


def ids(found: dict[str, Any]) -> list[str]:
    return [item["id"] for item in found["recall"]]


def unembedded(stack: Stack) -> int:
    return int(stack.call("GET", "/memories/stats").json["unembedded"])


def job(stack: Stack, id: str) -> dict[str, Any]:
    return dict(stack.call("GET", f"/maintenance/jobs/{id}").json)


@pytest.mark.requirement("PAST-07", "SAVE-10", "SEARCH-05")
def test_without_an_embedder_saves_succeed_words_find_them_and_vectors_follow(stack: Stack) -> None:
    before = save(stack, "The billing ledger runs on Postgres 14 at host orion", project="ledger")
    assert before["embedded"] is True
    with away(stack, "embedding"):
        kept = save(stack, "Falcons nest above the northern turbine hall", project="birds")
        assert (kept["outcome"], kept["embedded"]) == ("created", False)
        newer = save(stack, "The billing ledger runs on Postgres 16 at host orion", project="ledger")
        assert newer["embedded"] is False
        found = search(stack, q="where do falcons nest")
        assert ids(found)[0] == kept["id"]
        assert (found["dense_ran"], found["lexical_ran"]) == (False, True)
        assert found["dense_skipped"]
        assert found["warnings"], "a fall back to words alone is never silent"
        ready = stack.call("GET", "/readyz")
        assert (ready.status, ready.json["dependencies"]["embedding"]["status"] != "ready") == (503, True)
        assert ready.json["dependencies"]["retrieval"]["status"] == "ready"
        added = stack.perdure("add", "Otters sleep holding hands", "-p", "animals")
        assert added.returncode == 0
        assert "no vector yet" in added.stderr
    wait_until(lambda: unembedded(stack) == 0, within_s=90, what="the last vector")
    found = search(stack, q="where do falcons nest")
    assert found["dense_ran"] is True
    assert found["recall"][0]["parts"]["similarity"] > 0
    # what could not be compared at its save is compared later: the changed statement replaces the older
    old = stack.call("GET", f"/memories/{before['id']}").json
    assert (old["status"], old["superseded_by"]) == ("superseded", newer["id"])
    assert before["id"] not in ids(search(stack, q="billing ledger postgres", project="ledger"))


@pytest.mark.requirement("FAULT-04")
async def test_without_retrieval_the_answer_is_503_with_the_time_to_come_back(stack: Stack) -> None:
    known = save(stack, "Walruses whistle at dawn")["id"]
    with away(stack, "retrieval"):
        calls: list[tuple[str, str, dict[str, Any] | None]] = [
            ("POST", "/memories", {"content": "said to nobody"}),
            ("GET", "/memories/search?q=walruses", None),
            ("GET", "/memories", None),
            ("GET", f"/memories/{known}", None),
            ("PATCH", f"/memories/{known}", {"importance": 0.9}),
            ("GET", "/memories/stats", None),
            ("GET", "/memories/export", None),
        ]
        with ThreadPoolExecutor() as pool:  # each is tried again for a while before it is given up
            answers = list(pool.map(lambda call: stack.call(*call), calls))
        for (method, path, _body), answer in zip(calls, answers, strict=True):
            assert answer.status == 503, (method, path, answer.body)
            assert int(answer.headers["retry-after"]) >= 1
            assert answer.headers["content-type"] == "application/problem+json"
            problem = answer.json
            assert (problem["code"], problem["reason"]) == ("unavailable", "service_away")
            assert problem["detail"]
            assert problem["request_id"]
        async with over_http(stack, "legacy") as legacy, over_http(stack, "modern") as modern:
            said_of_search = await asyncio.gather(
                *(said(client, "memory_search", query="walruses") for client in (legacy, modern))
            )
            assert all(text.startswith("ERROR: ") for text in said_of_search), said_of_search
            for client in (legacy, modern):
                assert "retrieval" in await said(client, "memory_health")
        assert stack.call("GET", "/healthz").status == 200
        assert stack.perdure("search", "walruses").returncode == 5
    assert known in ids(search(stack, q="walruses whistle"))
    assert ids(search(stack, q="said to nobody")) == []


@pytest.mark.requirement("JOB-08", "FAULT-10", "JOB-02")
def test_what_is_asked_while_the_broker_is_away_is_done_when_it_is_back(stack: Stack) -> None:
    with away(stack, "broker", "embedding"):
        kept = [save(stack, f"Tram {3 * n + 100} stops at depot {n}", project="trams") for n in range(12)]
        assert not any(one["embedded"] for one in kept)
        asked = stack.call("POST", "/maintenance/jobs", {"kind": "expire_idempotency"})
        assert asked.status == 202, asked.body
        assert search(stack, q="tram 103 depot")["recall"]
    wait_until(lambda: unembedded(stack) == 0, within_s=90, what="the last vector")
    wait_until(lambda: job(stack, asked.json["id"])["state"] == "succeeded", within_s=90, what="the job")
    listed = stack.call("GET", "/memories?project=trams&limit=500&status=active&status=superseded").json["memories"]
    assert {one["id"] for one in listed} == {one["id"] for one in kept}


@pytest.mark.requirement("FAULT-10")
def test_without_maintenance_worker_beat_and_broker_memory_works(stack: Stack) -> None:
    with away(stack, "maintenance", "worker", "beat", "broker"):
        kept = save(stack, "Llamas hum while they wait")
        assert kept["embedded"] is True
        assert ids(search(stack, q="llamas hum"))[0] == kept["id"]
        refused = stack.call("POST", "/maintenance/jobs", {"kind": "reembed"})
        assert (refused.status, refused.json["reason"]) == (503, "service_away")
        assert refused.headers["retry-after"]


@pytest.mark.requirement("PAST-05", "FAULT-03")
def test_six_processes_that_add_one_text_at_once_make_one_memory(stack: Stack) -> None:
    command = [sys.executable, "-m", "perdure.cli.main", "add", "Beavers dam the mill race", "-p", "mill", "--json"]
    adding = [
        subprocess.Popen(command, env=stack.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(6)
    ]
    outputs = [process.communicate(timeout=120) for process in adding]
    assert [process.returncode for process in adding] == [0] * 6, outputs
    listed = stack.call("GET", "/memories?project=mill&status=active&status=archived&status=superseded").json
    (memory,) = listed["memories"]
    assert all(memory["id"].encode() in out for out, _ in outputs)


@pytest.mark.requirement("CLI-06")
def test_a_second_start_of_a_home_is_refused_and_the_first_goes_on(stack: Stack) -> None:
    before = stack.pids()
    other_port = stack.environment() | {"PERDURE_PORT": str(free_port())}
    second = subprocess.run(
        [sys.executable, "-m", "perdure.cli.main", "up"],
        env=other_port, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert second.returncode == 1
    assert "running already" in second.stderr
    assert stack.url in second.stderr
    assert stack.pids() == before
    assert stack.call("GET", "/readyz").status == 200


@pytest.mark.requirement("CLI-06")
def test_of_two_starts_of_one_new_home_at_once_one_is_refused() -> None:
    with tempfile.TemporaryDirectory(prefix="pd-") as folder:
        starts = [Stack(Path(folder) / "home", free_port(), {"PERDURE_EMBEDDING_PROVIDER": "test"}) for _ in range(2)]
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", "perdure.cli.main", "up"],
                env=one.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                start_new_session=True,
            )
            for one in starts
        ]  # fmt: skip
        try:
            wait_until(lambda: any(process.poll() is not None for process in processes), what="the refusal")
            (loser,) = [at for at, process in enumerate(processes) if process.poll() is not None]
            refused, kept = processes[loser], processes[1 - loser]
            assert refused.stderr is not None
            assert refused.returncode == 1
            assert b"running already" in refused.stderr.read()
            starts[1 - loser].wait_ready()
            assert kept.poll() is None
            assert save(starts[1 - loser], "One home, one Perdure")["outcome"] == "created"
        finally:
            for process in processes:
                if process.poll() is None:
                    process.terminate()
                process.wait(timeout=30)
                if process.stderr is not None:
                    process.stderr.close()


WORDS = [
    f"{a}{b}{c}" for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u") for c in ("ndle", "rtis", "mmok", "xel")
]


@pytest.mark.requirement("JOB-07", "JOB-02")
def test_a_killed_workers_job_is_done_by_another() -> None:
    rng = random.Random(5)
    with running(holdable=True, PERDURE_EMBEDDING_TEST_DELAY_MS="400", PERDURE_SAVE_VECTOR_WAIT_MS="10") as stack:
        stack.hold("worker")
        body = {"memories": [{"content": " ".join(rng.sample(WORDS, 9))} for _ in range(300)]}
        assert stack.call("POST", "/memories/batch", body).status == 200
        assert unembedded(stack) == 300
        stack.release("worker")
        kind = "/maintenance/jobs?kind=embed_pending"

        def at_work() -> dict[str, Any] | None:
            found = [one for one in stack.call("GET", kind).json["jobs"] if one["state"] == "running" and one["done"]]
            return found[0] if found else None

        first = wait_until(at_work, within_s=60, what="a job at work")
        # another worker, while the one at work is killed for good
        other = subprocess.Popen(
            [sys.executable, "-m", "perdure.worker"],
            env=stack.environment() | {"PERDURE_PORT": str(free_port())},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            stack.hold("worker")
            assert job(stack, first["id"])["state"] == "running"
            assert unembedded(stack) > 0
            ended = wait_until(
                lambda: (now := job(stack, first["id"]))["state"] == "succeeded" and now, within_s=60, what="the job"
            )
            assert ended["attempts"] == first["attempts"] + 1
            wait_until(lambda: unembedded(stack) == 0, within_s=60, what="the last vector")
        finally:
            for pid in [*children(other.pid), other.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
            other.wait(timeout=20)


@contextlib.contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """A file system of ``size``; skips where none may be mounted."""
    folder = Path(tempfile.mkdtemp(prefix="pd-"))
    made = sys.platform.startswith("linux") and os.getuid() == 0 and not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, check=False
    ).returncode  # fmt: skip
    try:
        if not made:
            pytest.skip("only root on Linux may mount a small disk; the store's own test covers the rest")
        yield folder
    finally:
        if made:
            subprocess.run(["umount", "-l", str(folder)], check=False)
        folder.rmdir()


@pytest.mark.requirement("FAULT-02")
def test_a_full_disk_is_said_nothing_is_half_written_and_room_mends_it() -> None:
    rng = random.Random(11)
    with small_disk("5m") as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(3 << 20))
        with running(PERDURE_STORE_URL=f"sqlite:///{disk / 'perdure.db'}") as stack:
            kept: dict[str, str] = {}
            for number in range(400):
                text = f"Entry {number}: " + " ".join(rng.choices(WORDS, k=2500))
                answer = stack.call("POST", "/memories", {"content": text})
                if answer.status != 201:
                    break
                kept[answer.json["id"]] = text
            assert kept
            assert (answer.status, answer.json["reason"]) == (503, "store_full")
            assert answer.headers["content-type"] == "application/problem+json"
            assert int(answer.headers["retry-after"]) >= 1
            assert "disk is full" in answer.json["detail"]
            some = next(iter(kept))
            assert stack.call("GET", f"/memories/{some}?peek=true").json["content"] == kept[some]
            ballast.unlink()
            after = wait_until(
                lambda: (
                    (one := stack.call("POST", "/memories", {"content": "There is room again"})).status == 201 and one
                ),
                what="a save with room",
            ).json["id"]
            kept[after] = "There is room again"
            checked = stack.perdure("db", "check")
            assert checked.returncode == 0, checked.stdout
            listed = stack.call("GET", "/memories?limit=500&status=active&status=superseded").json["memories"]
            assert {one["id"]: one["content"] for one in listed} == kept
