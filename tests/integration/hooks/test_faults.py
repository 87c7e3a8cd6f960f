from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.hooks.conftest import saves, stored
from perdure.hooks import main
from support.hook_payloads import CAUSE, DECISION, claude_row, lines, payload
from support.hook_process import run_hook, start_hook
from support.rest_gateway import Answered, Asked, RestGateway, problem

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")


@pytest.fixture
def dead() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture
def hung() -> Iterator[str]:
    """Accepts connections and never answers."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(16)
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def dripping() -> Iterator[str]:
    """Answers without ever coming to an end."""
    stop = threading.Event()
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while not stop.is_set():
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                try:
                    client.sendall(b"HTTP/1.1 200 OK\r\n")
                    while not stop.wait(0.05):
                        client.sendall(b"X-A: b\r\n")
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.getsockname()[1]}"
    stop.set()
    server.close()


def test_the_budgets_leave_room_for_the_interpreters_own_start() -> None:
    assert main.BUDGET_S <= 1.9
    assert main.END_BUDGET_S < main.ANSWER_BUDGET_S < main.BUDGET_S
    assert main.END_BUDGET_S <= 1.3


@pytest.mark.parametrize("fault", ["dead", "hung", "dripping"])
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.requirement("HOOK-FAIL-OPEN-01")
def test_a_gateway_that_is_away_costs_nothing_but_the_budget_and_loses_nothing(
    request: pytest.FixtureRequest, home: Path, shop: Path, fault: str, event: str
) -> None:
    url = request.getfixturevalue(fault)
    body = payload("claude", event, cwd=str(shop), last_assistant_message=f"{DECISION} {CAUSE}")
    done = run_hook("claude", event, body, home=home, url=url)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    if event == "Stop":
        (kept,) = (home / "spool").glob("*.json")
        assert [memory["content"] for memory in json.loads(kept.read_text())["memories"]] == [DECISION, CAUSE]


@pytest.mark.parametrize(
    "answer",
    [
        problem(401, "no", "unauthenticated"), problem(500, "no", "internal"), problem(503, "no", "unavailable"),
        Answered(raw=b"<html>"), Answered(raw=b"[[["), Answered([1, 2]), Answered("text"), Answered(hang_up=True),
        Answered({"recall": [None, {"memory": 7}, {}]}), Answered({}, cut=True),
        Answered(status=302, headers={"Location": "/x"}),
    ],
)  # fmt: skip
@pytest.mark.requirement("HOOK-FAIL-OPEN-01")
def test_an_answer_that_is_none_is_silence(gateway: RestGateway, home: Path, shop: Path, answer: Answered) -> None:
    for route in ("GET /memories/search", "GET /memories/stats", "POST /memories/batch"):
        gateway.routes[route] = answer
    for event in ("UserPromptSubmit", "Stop"):
        body = payload("claude", event, cwd=str(shop), last_assistant_message=f"{DECISION} {CAUSE}")
        done = run_hook("claude", event, body, home=home, url=gateway.url)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"prompt": 7, "cwd": []}', b"{}" * 9, b"[" * 100_000]
)
@pytest.mark.requirement("HOOK-FAIL-OPEN-01")
def test_input_that_makes_no_sense_is_silence(gateway: RestGateway, home: Path, raw: bytes) -> None:
    done = run_hook("claude", "user-prompt-submit", raw, home=home, url=gateway.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(("host", "event"), [("nobody", "stop"), ("claude", "Dance"), ("", ""), ("claude", "")])
def test_a_command_line_that_makes_no_sense_is_silence(gateway: RestGateway, home: Path, host: str, event: str) -> None:
    done = run_hook(host, event, b"{}", home=home, url=gateway.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_home_that_cannot_be_written_is_silence(gateway: RestGateway, tmp_path: Path, shop: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    body = payload("claude", "Stop", cwd=str(shop), last_assistant_message=f"{DECISION} {CAUSE}")
    done = run_hook("claude", "stop", body, home=tmp_path / "file" / "home", url=gateway.url)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_host_that_never_closes_the_input_is_not_waited_for(home: Path) -> None:
    hook = start_hook("claude", "stop", home=home, url="http://127.0.0.1:9")
    assert hook.wait(timeout=30) == 0
    hook.communicate()


@pytest.mark.requirement("HOOK-SPOOL-01")
def test_what_was_kept_is_delivered_once_when_the_gateway_is_back(
    gateway: RestGateway, home: Path, shop: Path, dead: str
) -> None:
    run_hook(
        "claude",
        "stop",
        payload("claude", "Stop", cwd=str(shop), last_assistant_message=f"{DECISION} {CAUSE}"),
        home=home,
        url=dead,
    )
    gateway.routes["GET /memories/search"] = {"recall": []}
    asking = payload("codex", "UserPromptSubmit", cwd=str(shop))
    for _ in range(2):
        run_hook("codex", "UserPromptSubmit", asking, home=home, url=gateway.url)
    assert [memory["content"] for memory in saves(gateway)] == [DECISION, CAUSE]


@pytest.mark.requirement("HOOK-SPOOL-01")
def test_a_lost_answer_is_asked_for_again_with_the_same_key(gateway: RestGateway, home: Path, shop: Path) -> None:
    gateway.routes["POST /memories/batch"] = Answered(hang_up=True)
    run_hook(
        "claude",
        "stop",
        payload("claude", "Stop", cwd=str(shop), last_assistant_message=f"{DECISION} {CAUSE}"),
        home=home,
        url=gateway.url,
    )
    gateway.routes["POST /memories/batch"] = stored
    run_hook("claude", "session-end", payload("claude", "SessionEnd", cwd=str(shop)), home=home, url=gateway.url)
    posts = [asked for asked in gateway.asked if asked.method == "POST"]
    assert len(posts) == 2
    assert posts[0].raw == posts[1].raw
    assert posts[0].headers["idempotency-key"] == posts[1].headers["idempotency-key"]


def test_what_the_gateway_will_never_take_does_not_stop_the_rest(
    gateway: RestGateway, home: Path, shop: Path, dead: str
) -> None:
    for text in (DECISION, "We decided to use Kafka instead of RabbitMQ for events."):
        body = payload("claude", "Stop", cwd=str(shop), last_assistant_message=text)
        run_hook("claude", "stop", body, home=home, url=dead)

    def choosy(asked: Asked) -> Any:
        return problem(422, "no", "invalid_argument") if "Postgres" in asked.raw.decode() else stored(asked)

    gateway.routes["POST /memories/batch"] = choosy
    run_hook("claude", "session-end", payload("claude", "SessionEnd", cwd=str(shop)), home=home, url=gateway.url)
    assert list((home / "spool").glob("*.json")) == []
    assert len(list((home / "spool").glob("*.rejected"))) == 1


def test_single_memories_that_failed_for_a_passing_reason_are_sent_again(
    gateway: RestGateway, home: Path, shop: Path
) -> None:
    def full(asked: Asked) -> Any:
        answer = stored(asked)
        answer["results"][1] = {"index": 1, "error": {"code": "limit_exceeded", "reason": "r", "message": "m"}}
        return answer

    gateway.routes["POST /memories/batch"] = full
    run_hook(
        "claude",
        "stop",
        payload("claude", "Stop", cwd=str(shop), last_assistant_message=f"{DECISION} {CAUSE}"),
        home=home,
        url=gateway.url,
    )
    gateway.routes["POST /memories/batch"] = stored
    run_hook("claude", "session-end", payload("claude", "SessionEnd", cwd=str(shop)), home=home, url=gateway.url)
    assert [memory["content"] for memory in saves(gateway)] == [DECISION, CAUSE, CAUSE]


@pytest.mark.requirement("HOOK-SPOOL-01")
def test_hooks_that_run_at_once_capture_once(gateway: RestGateway, home: Path, shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(lines(claude_row("user", DECISION)))
    raw = json.dumps(payload("claude", "Stop", cwd=str(shop), transcript=str(path))).encode()
    hooks = [start_hook("claude", "stop", home=home, url=gateway.url) for _ in range(4)]
    for hook in hooks:
        assert hook.stdin is not None
        hook.stdin.write(raw)
        hook.stdin.close()
    assert [hook.wait(timeout=30) for hook in hooks] == [0] * 4
    for hook in hooks:
        assert hook.stdout is not None
        assert hook.stderr is not None
        assert hook.stdout.read() + hook.stderr.read() == b""
        hook.stdout.close()
        hook.stderr.close()
    run_hook("claude", "session-end", payload("claude", "SessionEnd", cwd=str(shop)), home=home, url=gateway.url)
    keys = {
        asked.headers["idempotency-key"]: asked.body["memories"] for asked in gateway.asked if asked.method == "POST"
    }
    assert sorted(m["content"] for memories in keys.values() for m in memories) == sorted([DECISION, CAUSE])


@pytest.mark.requirement("HOOK-BUDGET-01")
def test_a_transcript_of_15_mb_is_read_to_its_end_within_the_budget(
    gateway: RestGateway, home: Path, shop: Path, tmp_path: Path
) -> None:
    noise = "x = compute(y)\n" * 4000
    tool = claude_row(
        "user", [{"type": "tool_result", "tool_use_id": "t", "content": noise}], toolUseResult={"stdout": noise}
    )
    talk = claude_row("assistant", [{"type": "text", "text": "Let me look at the next file. " * 40}])
    block = lines(tool, talk, talk, talk)
    path = tmp_path / "t.jsonl"
    with path.open("w") as file:
        while file.tell() < 15 * 1024 * 1024:
            file.write(block)
        file.write(lines(claude_row("user", DECISION)))
    body = payload("claude", "Stop", cwd=str(shop), transcript=str(path), last_assistant_message="")
    assert run_hook("claude", "stop", body, home=home, url=gateway.url).returncode == 0
    assert [memory["content"] for memory in saves(gateway)] == [DECISION]
