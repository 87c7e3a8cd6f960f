"""The question at a turn's end: off by default, at most one a turn, only about what a hook cannot judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from integration.hooks.conftest import saves
from support.hook_payloads import DECISION, claude_row, lines, payload
from support.hook_process import run_hook
from support.rest_gateway import RestGateway

UNSURE = "The build fails because the locale is missing."
LOOK = "Can you look at the build?"


def stop(home: Path, url: str, shop: Path, transcript: Path, host: str = "claude", **more: Any) -> str:
    fields = {name: more.pop(name) for name in ("stop_hook_active",) if name in more}
    event = "agentStop" if host == "copilot" else "Stop"
    body = {**payload(host, event, cwd=str(shop), transcript=str(transcript)), **fields}
    # the payload's own last words would be a candidate of their own
    body.pop("last_assistant_message", None)
    done = run_hook(host, event, body, home=home, url=url, **more)
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)
    assert answer["decision"] == "block"
    return str(answer["reason"])


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl"
    # which tools there are is no call of one
    tools = {"type": "attachment", "attachment": {"type": "tools", "tools": [{"name": "mcp__perdure__memory_save"}]}}
    said = lines(tools, claude_row("user", f"{UNSURE} {LOOK}"), claude_row("assistant", "I see."))
    path.write_text(said, encoding="utf-8")
    return path


@pytest.mark.requirement("I4-NUDGE-01")
def test_nothing_is_asked_unless_it_was_switched_on(
    gateway: RestGateway, home: Path, shop: Path, transcript: Path
) -> None:
    for value in ("", "0", "off"):
        assert stop(home, gateway.url, shop, transcript, PERDURE_NUDGE=value) == ""


@pytest.mark.requirement("I4-NUDGE-01")
def test_a_sentence_is_asked_about_once_as_a_fact_and_not_as_an_order(
    gateway: RestGateway, home: Path, shop: Path, transcript: Path
) -> None:
    asked = stop(home, gateway.url, shop, transcript, PERDURE_NUDGE="1")
    assert f"“{UNSURE}”" in asked
    assert LOOK not in asked
    assert "must" not in asked.lower()
    assert stop(home, gateway.url, shop, transcript, PERDURE_NUDGE="1") == ""
    # said again in another turn, it was decided on
    with transcript.open("a", encoding="utf-8") as file:
        file.write(lines(claude_row("user", UNSURE)))
    assert stop(home, gateway.url, shop, transcript, PERDURE_NUDGE="1") == ""
    # and what the model was asked about is not stored behind its back when the session ends
    body = payload("claude", "SessionEnd", cwd=str(shop), transcript=str(transcript))
    run_hook("claude", "SessionEnd", body, home=home, url=gateway.url, PERDURE_NUDGE="1")
    assert saves(gateway) == []


@pytest.mark.requirement("I4-NUDGE-01", "HOOK-LOOP-01")
@pytest.mark.parametrize(
    "around", ["%s", "Stop hook feedback:\n%s", '<hook_prompt hook_run_id="stop:6:/h">%s</hook_prompt>']
)
def test_the_question_is_not_captured_as_if_the_user_had_said_it(
    gateway: RestGateway, home: Path, shop: Path, transcript: Path, around: str
) -> None:
    asked = stop(home, gateway.url, shop, transcript, PERDURE_NUDGE="1")
    with transcript.open("a", encoding="utf-8") as file:
        file.write(lines(claude_row("user", around % asked)))
    stop(home, gateway.url, shop, transcript, PERDURE_NUDGE="1", stop_hook_active=True)
    body = payload("claude", "SessionEnd", cwd=str(shop), transcript=str(transcript))
    run_hook("claude", "SessionEnd", body, home=home, url=gateway.url, PERDURE_NUDGE="1")
    assert saves(gateway) == []


@pytest.mark.requirement("I4-NUDGE-01")
def test_a_prompt_that_the_transcript_does_not_hold_yet_is_asked_about_once(
    gateway: RestGateway, home: Path, shop: Path, transcript: Path
) -> None:
    written = transcript.read_text(encoding="utf-8")
    transcript.write_text("", encoding="utf-8")
    body = payload("claude", "UserPromptSubmit", cwd=str(shop), transcript=str(transcript), prompt=UNSURE)
    run_hook("claude", "UserPromptSubmit", body, home=home, url=gateway.url, PERDURE_NUDGE="1")
    assert UNSURE in stop(home, gateway.url, shop, transcript, PERDURE_NUDGE="1")
    transcript.write_text(written, encoding="utf-8")
    assert stop(home, gateway.url, shop, transcript, PERDURE_NUDGE="1") == ""


@pytest.mark.requirement("I4-NUDGE-01")
@pytest.mark.parametrize(
    "why", ["the turn goes on already", "the model saved it", "it was stored unasked", "only reads", "captures nothing"]
)
def test_nothing_is_asked_where(gateway: RestGateway, home: Path, shop: Path, transcript: Path, why: str) -> None:
    more: dict[str, Any] = {"PERDURE_NUDGE": "1"}
    match why:
        case "the turn goes on already":
            more["stop_hook_active"] = True
        case "the model saved it":
            call = {"type": "tool_use", "id": "t", "name": "mcp__perdure__memory_save", "input": {"content": UNSURE}}
            with transcript.open("a", encoding="utf-8") as file:
                file.write(lines(claude_row("assistant", [call])))
        case "it was stored unasked":
            transcript.write_text(lines(claude_row("user", DECISION)), encoding="utf-8")
        case "only reads":
            more["PERDURE_READONLY"] = "1"
        case "captures nothing":
            more["PERDURE_HOOKS"] = "recall"
    assert stop(home, gateway.url, shop, transcript, **more) == ""


@pytest.mark.requirement("I4-NUDGE-01")
def test_hosts_that_cannot_go_on_are_never_asked(
    gateway: RestGateway, home: Path, shop: Path, transcript: Path
) -> None:
    body = payload("gemini", "AfterAgent", cwd=str(shop), prompt=UNSURE)
    assert run_hook("gemini", "AfterAgent", body, home=home, url=gateway.url, PERDURE_NUDGE="1").stdout == b""


@pytest.mark.requirement("I4-NUDGE-01")
def test_with_the_server_away_the_question_is_asked_and_what_is_sure_waits(
    home: Path, shop: Path, transcript: Path
) -> None:
    with transcript.open("a", encoding="utf-8") as file:
        file.write(lines(claude_row("user", DECISION)))
    asked = stop(home, "http://127.0.0.1:9", shop, transcript, PERDURE_NUDGE="1")
    assert f"“{UNSURE}”" in asked
    assert DECISION not in asked
    [waiting] = home.glob("spool/*.json")
    assert DECISION in waiting.read_text(encoding="utf-8")
