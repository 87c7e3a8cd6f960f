from __future__ import annotations

import json
from pathlib import Path

import pytest

from perdure.hooks import specs
from perdure.hooks.answers import envelope
from perdure.hooks.hosts import EDIT, HOSTS, PROMPT, START, STOP, Occasion
from perdure.hooks.main import arguments
from support.hook_payloads import CAUSE, SESSION, payload
from support.hook_payloads import PROMPT as SAID

PROMPTS = {
    "claude": "UserPromptSubmit", "codex": "UserPromptSubmit", "vscode": "UserPromptSubmit", "gemini": "BeforeAgent",
    "copilot": "userPromptSubmitted", "cursor": "beforeSubmitPrompt", "windsurf": "pre_user_prompt",
    "kiro": "userPromptSubmit",
}  # fmt: skip
STARTS = {
    "claude": "SessionStart", "codex": "SessionStart", "vscode": "SessionStart", "gemini": "SessionStart",
    "copilot": "sessionStart", "cursor": "sessionStart", "kiro": "agentSpawn",
}  # fmt: skip
STOPS = {
    "claude": "Stop", "codex": "Stop", "vscode": "Stop", "gemini": "AfterAgent", "cursor": "afterAgentResponse",
    "windsurf": "post_cascade_response", "kiro": "stop",
}  # fmt: skip


def occasion(host: str, event: str, **more: object) -> Occasion:
    return Occasion(host, event, payload(host, event, cwd="/w/shop", **more), {})  # type: ignore[arg-type]  # open keywords


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.requirement("HOOK-HOSTS-01")
def test_the_prompt_is_read_from_the_field_the_host_really_sends(host: str) -> None:
    told = occasion(host, PROMPTS[host])
    assert (told.kind, told.prompt, told.session) == (PROMPT, SAID, SESSION)
    if host != "windsurf":
        assert told.cwd == "/w/shop"


@pytest.mark.parametrize("host", sorted(STOPS))
def test_the_end_of_a_turn_carries_what_was_answered(host: str) -> None:
    told = occasion(host, STOPS[host])
    assert (told.kind, told.answer) == (STOP, CAUSE)


@pytest.mark.parametrize("event", ["user-prompt-submit", "UserPromptSubmit", "userPromptSubmit", "USER_PROMPT_SUBMIT"])
def test_events_may_be_spelled_in_any_way(event: str) -> None:
    assert Occasion("claude", event, {}, {}).kind == PROMPT
    assert Occasion("claude", "", {"hook_event_name": event}, {}).kind == PROMPT


def test_events_that_do_not_concern_us_are_no_kind() -> None:
    assert Occasion("claude", "Notification", {"hook_event_name": "Notification"}, {}).kind == ""
    assert Occasion("claude", "SubagentStop", {}, {}).kind == ""


def test_a_subagent_is_known() -> None:
    assert occasion("claude", "UserPromptSubmit", agent_id="a1").subagent


def test_the_session_belongs_to_the_folder_it_was_opened_in() -> None:
    told = Occasion("claude", "Stop", {"cwd": "/w/shop/sub"}, {"CLAUDE_PROJECT_DIR": "/w/shop"})
    assert told.cwd == "/w/shop"
    assert Occasion("cursor", "stop", {"workspace_roots": ["/c:/Users/me/shop"]}, {}).cwd == "c:/Users/me/shop"


@pytest.mark.parametrize(
    ("host", "event", "body"),
    [
        ("claude", "PostToolUse", {"tool_name": "Write", "tool_input": {"file_path": "m/a.md", "content": "x"}}),
        ("gemini", "AfterTool", {"tool_name": "write_file", "tool_input": {"file_path": "m/a.md"}}),
        ("vscode", "PostToolUse", {"tool_name": "create_file", "tool_input": {"filePath": "m/a.md"}}),
        ("copilot", "postToolUse", {"toolName": "create", "toolArgs": '{"path": "m/a.md"}'}),
        ("cursor", "afterFileEdit", {"file_path": "m/a.md", "edits": []}),
        ("windsurf", "post_write_code", {"tool_info": {"file_path": "m/a.md", "edits": []}}),
        ("kiro", "postToolUse", {"tool_name": "fs_write", "tool_input": {"path": "m/a.md", "command": "create"}}),
        (
            "codex",
            "PostToolUse",
            {
                "tool_name": "apply_patch",
                "tool_input": {"command": "*** Begin Patch\n*** Update File: m/a.md\n@@\n+x\n*** End Patch"},
            },
        ),
    ],
)
@pytest.mark.requirement("HOOK-FILES-01")
def test_the_file_that_was_written_is_found_in_every_hosts_payload(
    host: str, event: str, body: dict[str, object]
) -> None:
    told = Occasion(host, event, body, {})
    assert (told.kind, told.paths) == (EDIT, ("m/a.md",))


@pytest.mark.parametrize("host", ["claude", "codex", "vscode", "gemini"])
@pytest.mark.requirement("HOOK-HOSTS-02")
def test_hosts_of_claudes_form_get_its_envelope_with_their_own_event(host: str) -> None:
    for events in (PROMPTS, STARTS):
        told = Occasion(host, events[host], {}, {})
        assert json.loads(envelope(told, "täxt")) == {
            "hookSpecificOutput": {"hookEventName": events[host], "additionalContext": "täxt"}
        }
    spelled = Occasion(host, "session-start", {}, {})
    assert json.loads(envelope(spelled, "x"))["hookSpecificOutput"]["hookEventName"] == "SessionStart"


@pytest.mark.requirement("HOOK-HOSTS-02")
def test_the_others_get_theirs_or_nothing() -> None:
    def said(host: str, event: str) -> bytes:
        return envelope(Occasion(host, event, {}, {}), "日本 text")

    assert json.loads(said("copilot", "userPromptSubmitted")) == {"additionalContext": "日本 text"}
    assert json.loads(said("cursor", "sessionStart")) == {"additional_context": "日本 text"}
    assert said("cursor", "beforeSubmitPrompt") == b""
    assert said("windsurf", "pre_user_prompt") == b""
    assert said("kiro", "userPromptSubmit").decode() == "日本 text\n"
    assert said("claude", "Stop") == b""
    assert envelope(Occasion("claude", "SessionStart", {}, {}), "") == b""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--host", "claude", "stop"], ("claude", "stop")),
        (["stop", "--host=Codex"], ("codex", "stop")),
        (["claude", "user-prompt-submit"], ("claude", "user-prompt-submit")),
        (["--host"], ("", "")),
        ([], ("", "")),
    ],
)
def test_the_command_line_is_taken_in_any_order(words: list[str], expected: tuple[str, str]) -> None:
    assert arguments(words) == expected


def test_the_specs_name_every_host_and_only_events_that_are_understood() -> None:
    assert set(specs.SPECS) == set(HOSTS)
    json.dumps(specs.SPECS)
    for host, spec in specs.SPECS.items():
        kinds = {Occasion(host, entry["event"], {}, {}).kind for entry in spec["events"]}
        assert "" not in kinds
        assert {PROMPT, EDIT} <= kinds
        assert kinds & {STOP}
        assert host == "windsurf" or START in kinds
        for entry in spec["events"]:
            said = json.dumps(entry["handler"])
            assert "{command}" in said or ("{program}" in said and "--host" in said)


def test_the_package_is_listed_as_a_command() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8")
    assert 'perdure-hook = "perdure.hooks.main:main"' in text
