"""A language model may word what was consolidated; it never stands between a memory and its facts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from perdure.domain.memory import Provenance, Status
from perdure.domain.runs import Task
from perdure.errors import InvalidArgument, Reason, Unavailable
from perdure.ports import JobKind
from perdure.usecases.clean import Clean
from perdure.usecases.consolidate import Consolidate
from perdure.usecases.maintain import Maintain
from perdure.usecases.run_job import RunJob
from perdure.worker.summaries import INSTRUCTION, ChatSummariser
from support.aged import aged, near
from support.maintenance_world import MaintenanceWorld


class Words:
    """A summariser that counts, and fails when told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = False

    def __call__(self, text: str) -> str:
        self.asked.append(text)
        if self.fails:
            raise Unavailable("No answer.", reason=Reason.SERVICE_AWAY)
        return f"In short, {len(self.asked)}. And more."


def _worded(world: MaintenanceWorld, words: Words, per_day: int) -> None:
    consolidate = Consolidate(world.store, world.clock, world.ids, summarise=words, summaries_per_day=per_day)
    maintain = Maintain(world.store, world.clock, world.embedder, consolidate, Clean(world.store, world.clock))
    world.worker = RunJob(world.store, world.clock, "worker", {JobKind.MAINTAIN: maintain})


def _topics(world: MaintenanceWorld, count: int) -> None:
    dimension = world.embedder.space().dimension
    for topic in range(count):
        members = [aged(f"Topic {topic} says fact {n}.", idle_days=120 + n) for n in range(3)]
        world.put(members, near(3, topic=topic, dimension=dimension))


def _made(world: MaintenanceWorld) -> list[str]:
    return sorted(m.statement.content for m in world.all().values() if m.provenance is Provenance.CONSOLIDATION)


def test_the_summary_is_the_text_and_the_originals_keep_theirs(world: MaintenanceWorld) -> None:
    words = Words()
    _worded(world, words, 10)
    _topics(world, 1)
    run = world.run(Task.CONSOLIDATE)
    (made,) = [m for m in world.all().values() if m.provenance is Provenance.CONSOLIDATION]
    assert (made.statement.content, made.summary) == ("In short, 1. And more.", "In short, 1.")
    assert run.counts["summaries"] == 1
    assert "Topic 0 says fact 2." in words.asked[0]
    originals = [m for m in world.all().values() if m.status is Status.CONSOLIDATED]
    assert {m.statement.content for m in originals} == {f"Topic 0 says fact {n}." for n in range(3)}


def test_beyond_the_days_budget_the_text_is_deterministic(world: MaintenanceWorld) -> None:
    words = Words()
    _worded(world, words, 2)
    _topics(world, 4)
    world.run(Task.CONSOLIDATE)
    assert len(words.asked) == 2
    assert sum(text.startswith("In short") for text in _made(world)) == 2


def test_after_a_failure_the_rest_of_the_run_is_deterministic(world: MaintenanceWorld) -> None:
    words = Words()
    words.fails = True
    _worded(world, words, 100)
    _topics(world, 4)
    run = world.run(Task.CONSOLIDATE)
    assert run.state == "succeeded"
    assert len(words.asked) == 1
    assert all("fact 2." in text for text in _made(world))


@contextmanager
def _server(status: int, answer: Any) -> Iterator[tuple[str, list[tuple[dict[str, Any], str | None]]]]:
    seen: list[tuple[dict[str, Any], str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((json.loads(body), self.headers.get("Authorization")))
            data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_it_speaks_to_an_openai_compatible_server() -> None:
    with _server(200, {"choices": [{"message": {"content": " Short. "}}]}) as (url, seen):
        assert ChatSummariser(url, "small", "key", timeout_s=5)("Notes.") == "Short."
    body, authorization = seen[0]
    assert authorization == "Bearer key"
    assert body["model"] == "small"
    assert [message["content"] for message in body["messages"]] == [INSTRUCTION, "Notes."]


@pytest.mark.parametrize(
    ("status", "answer"),
    [(500, {}), (200, b"no json"), (200, {"choices": []}), (200, {"choices": [{"message": {"content": ""}}]})],
)
def test_an_unusable_answer_is_unavailable(status: int, answer: Any) -> None:
    with _server(status, answer) as (url, _), pytest.raises(Unavailable):
        ChatSummariser(url, "m", "", timeout_s=5)("Notes.")


def test_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(Unavailable):
        ChatSummariser("http://127.0.0.1:9/v1", "m", "", timeout_s=1)("Notes.")


def test_a_url_that_is_none_is_refused_at_the_start() -> None:
    with pytest.raises(InvalidArgument):
        ChatSummariser("file:///etc/passwd", "m", "", timeout_s=1)
