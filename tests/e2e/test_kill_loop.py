"""kill -9 of the retrieval service at random points of a save loop through HTTP: nothing acknowledged is lost.

Fifty rounds at the level of the process that writes the store are in ``integration/store/test_faults.py``; a round here
costs the start of a service, so there are fewer.
"""

from __future__ import annotations

import http.client
import json
import random
import subprocess
import sys
import threading

import pytest

from support.stack import Stack, running, wait_until

pytestmark = pytest.mark.e2e

ROUNDS = 8
WRITERS = 4
SEED = 20261201
WORDS = [
    a + b
    for a in ("bal", "cor", "den", "fim", "gur", "hal", "jot", "kem", "lur", "mip")
    for b in ("ado", "est", "ine", "ock")
]


class Retrieval:
    """The retrieval service, started and killed by the test: a supervisor would wait longer each time."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "perdure.retrieval"],
            env=self._stack.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


class Writers:
    """Threads that save without pause; what is acknowledged is noted by id."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._done = threading.Event()
        self._threads = [threading.Thread(target=self._write, args=(me,)) for me in range(WRITERS)]
        self.acknowledged: dict[str, str] = {}

    def __enter__(self) -> Writers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _write(self, me: int) -> None:
        rng = random.Random(f"{SEED} {me}")
        at = 0
        while not self._done.is_set():
            at += 1
            text = f"{' '.join(rng.sample(WORDS, 7))} {me}-{at}"
            try:
                answer = self._stack.call("POST", "/memories", {"content": text, "project": f"p{me}"}, timeout_s=20)
            except (OSError, http.client.HTTPException):
                continue
            if answer.status == 201:
                self.acknowledged[answer.json["id"]] = text


@pytest.mark.requirement("FAULT-01", "PAST-08")
def test_a_service_killed_while_it_saves_loses_nothing_it_acknowledged() -> None:
    rng = random.Random(SEED)
    with running(without=("broker", "worker", "beat", "maintenance", "retrieval")) as stack:
        retrieval = Retrieval(stack)
        try:
            with Writers(stack) as writers:
                acknowledged = writers.acknowledged
                for _ in range(ROUNDS):
                    before = len(acknowledged)
                    retrieval.start()
                    wait_until(lambda before=before: len(acknowledged) > before, within_s=60, what="a save")  # type: ignore[misc]
                    threading.Event().wait(rng.uniform(0.0, 0.4))  # any moment will do
                    retrieval.kill()
                    checked = stack.perdure("db", "check", "--json")
                    assert checked.returncode == 0, checked.stdout
                    assert json.loads(checked.stdout)["clean"] is True
                retrieval.start()
            wait_until(
                lambda: stack.call("GET", "/readyz?need=retrieval").status == 200, within_s=60, what="the service"
            )
            lines = stack.call("GET", "/memories/export", timeout_s=120).body.splitlines()
            kept = {memory["id"] for memory in map(json.loads, lines)}
            assert {id: text for id, text in acknowledged.items() if id not in kept} == {}
            assert len(acknowledged) > ROUNDS
        finally:
            if retrieval.process is not None and retrieval.process.poll() is None:
                retrieval.process.terminate()
                retrieval.process.wait(timeout=30)
