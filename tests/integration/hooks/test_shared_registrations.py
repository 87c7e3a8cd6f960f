"""One host that runs us by more than one registration: its own, and another tool's that it reads as well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from integration.hooks.conftest import MEMORY, saves
from support.hook_payloads import DECISION, PROMPT
from support.hook_process import run_hook
from support.rest_gateway import RestGateway


def vscode(event: str, shop: Path, **more: Any) -> dict[str, Any]:
    return {
        "timestamp": "2026-11-30T10:00:00.000Z",
        "cwd": str(shop),
        "sessionId": "9e1f",
        "hookEventName": event,
        **more,
    }


@pytest.mark.requirement("I4-HOSTS-02")
def test_vscode_is_told_once_though_it_runs_what_claude_code_and_copilot_have(
    gateway: RestGateway, home: Path, shop: Path
) -> None:
    where: dict[str, Any] = {"home": home, "url": gateway.url}
    for event, other, body in (
        ("SessionStart", "sessionStart", vscode("SessionStart", shop, source="new")),
        ("UserPromptSubmit", "userPromptSubmitted", vscode("UserPromptSubmit", shop, prompt=PROMPT)),
    ):
        # each in a session of its own: what the digest shows, a prompt of the session does not bring again
        told = {**body, "sessionId": event}
        by_claude = run_hook("claude", event, told, **where)
        by_copilot = run_hook("copilot", other, told, **where)
        answer = json.loads(by_claude.stdout)["hookSpecificOutput"]
        assert answer["hookEventName"] == event
        assert DECISION in answer["additionalContext"]
        assert (by_copilot.returncode, by_copilot.stdout) == (0, b"")


@pytest.mark.requirement("I4-HOSTS-02")
def test_what_was_said_in_vscode_is_captured_once_by_both(gateway: RestGateway, home: Path, shop: Path) -> None:
    where: dict[str, Any] = {"home": home, "url": gateway.url}
    said = vscode("UserPromptSubmit", shop, prompt="We decided to use Valkey instead of Redis for the job queue.")
    for host, prompt, stop in (
        ("claude", "UserPromptSubmit", "Stop"),
        ("copilot", "userPromptSubmitted", "agentStop"),
    ):
        run_hook(host, prompt, said, **where)
        run_hook(host, stop, vscode("Stop", shop, stop_hook_active=False), **where)
    assert [(memory["content"], memory["origin"]["host"]) for memory in saves(gateway)] == [(said["prompt"], "vscode")]


@pytest.mark.requirement("I4-HOSTS-02")
def test_a_plugin_beside_the_settings_does_not_tell_a_session_twice_and_an_emptied_one_is_told_again(
    gateway: RestGateway, home: Path, shop: Path
) -> None:
    def told(source: str) -> bool:
        body = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": str(shop), "source": source}
        done = run_hook("claude", "SessionStart", body, home=home, url=gateway.url)
        assert done.returncode == 0
        return MEMORY["id"].encode() in done.stdout

    assert [told(source) for source in ("startup", "startup", "compact", "clear", "startup")] == [
        True, False, True, True, False,
    ]  # fmt: skip
