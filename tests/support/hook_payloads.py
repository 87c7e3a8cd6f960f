# ruff: noqa: E501 - rows as the hosts write them, one a line
"""What the hosts really send to a hook and write into transcripts: shapes as seen, contents our own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

DECISION = "We decided to use Postgres 16 instead of MySQL for the billing service."
CAUSE = "The root cause of the slow login was a missing index on users.email."
PROMPT = "Which database does the billing service use for its invoices?"

SESSION = "0199f0a4-6c1e-7b7e-9a4e-0e8f5f3f6a11"


@dataclass(frozen=True)
class Transcript:
    """A transcript's text, what it is called, and the turns in it."""

    text: str
    suffix: str
    turns: list[tuple[str, str]]


def lines(*rows: Any) -> str:
    return "".join((row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)) + "\n" for row in rows)


def claude_row(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/w/shop", "sessionId": SESSION,
        "version": "2.1.332", "gitBranch": "main", "type": kind, "message": {"role": kind, "content": content},
        "uuid": "3f0c", "timestamp": "2026-11-30T10:00:00.000Z", **more,
    }  # fmt: skip


SAID = [("user", DECISION), ("assistant", CAUSE)]

TRANSCRIPTS: dict[str, Transcript] = {
    "claude": Transcript(
        lines(
            {"type": "queue-operation", "operation": "enqueue", "content": "We always use tabs."},
            claude_row("user", DECISION),
            {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["We never use tabs."]}},
            "{ this line is torn",
            claude_row(
                "assistant",
                [
                    {"type": "thinking", "thinking": "We must never tell.", "signature": "x"},
                    {"type": "text", "text": CAUSE},
                    {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "echo we always use tabs"}},
                ],
            ),
            claude_row(
                "user",
                [{"type": "tool_result", "tool_use_id": "t1", "content": "We always deploy on Fridays."}],
                toolUseResult={"stdout": "We always deploy on Fridays."},
            ),
            claude_row("user", "We never run subagents.", isSidechain=True),
            {"type": "system", "subtype": "info", "content": "We always log."},
        ),
        ".jsonl",
        SAID,
    ),
    "codex": Transcript(
        lines(
            {"timestamp": "2026-11-30T10:00:00Z", "type": "session_meta", "payload": {"id": SESSION, "cwd": "/w/shop"}},
            {"type": "response_item", "payload": {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "We always obey."}]}},
            {"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": DECISION}]}},
            {"type": "event_msg", "payload": {"type": "user_message", "message": DECISION}},
            {"type": "response_item", "payload": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "We must never tell."}]}},
            {"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "{}"}},
            {"type": "response_item", "payload": {"type": "function_call_output", "output": "We always deploy on Fridays."}},
            {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": CAUSE}]}},
        ),
        ".jsonl",
        SAID,
    ),
    "copilot": Transcript(
        lines(
            {"type": "session.start", "data": {"sessionId": SESSION, "version": 1}, "id": "1", "parentId": None},
            {"type": "user.message", "data": {"content": DECISION, "transformedContent": "<x>"}, "id": "2"},
            {"type": "tool.execution_complete", "data": {"result": {"content": "We always deploy on Fridays."}}, "id": "3"},
            {"type": "assistant.message", "data": {"content": CAUSE, "toolRequests": []}, "id": "4"},
        ),
        ".jsonl",
        SAID,
    ),
    "cursor": Transcript(
        lines(
            {"role": "user", "message": {"content": [{"type": "text", "text": DECISION}]}},
            {"role": "assistant", "message": {"content": [{"type": "text", "text": CAUSE}, {"type": "tool_use", "name": "x"}]}},
        ),
        ".jsonl",
        SAID,
    ),
    "gemini": Transcript(
        json.dumps(
            {
                "sessionId": SESSION,
                "messages": [
                    {"id": "1", "type": "user", "content": [{"text": DECISION}]},
                    {"id": "2", "type": "info", "content": "We always update."},
                    {"id": "3", "type": "gemini", "content": CAUSE, "thoughts": [], "toolCalls": [{"result": "x"}]},
                ],
            }
        ),
        ".json",
        SAID,
    ),
}  # fmt: skip


def payload(
    host: str, event: str, *, cwd: str, transcript: str = "", prompt: str = PROMPT, **more: Any
) -> dict[str, Any]:
    """The standard input of a hook, in the host's own field names. ``event`` is the host's own name."""
    match host:
        case "claude" | "codex" | "vscode" | "gemini":
            body: dict[str, Any] = {
                "session_id": SESSION,
                "transcript_path": transcript,
                "cwd": cwd,
                "hook_event_name": event,
            }
            if host == "claude":
                body |= {"permission_mode": "default", "prompt_id": "p1"}
            if host == "codex":
                body |= {"turn_id": "t1", "model": "fake"}
            if event == "SessionStart":
                body["source"] = "startup"
            if event in ("UserPromptSubmit", "BeforeAgent", "AfterAgent"):
                body["prompt"] = prompt
            if event == "AfterAgent":
                body |= {"prompt_response": CAUSE, "stop_hook_active": False}
            if event == "Stop":
                body |= {"stop_hook_active": False, "last_assistant_message": CAUSE}
            if event == "SessionEnd":
                body["reason"] = "other"
        case "copilot":
            body = {"sessionId": SESSION, "cwd": cwd, "timestamp": 1796000000000, "transcriptPath": transcript}
            if event == "userPromptSubmitted":
                body["prompt"] = prompt
        case "cursor":
            body = {
                "conversation_id": SESSION, "generation_id": "g1", "hook_event_name": event, "workspace_roots": [cwd],
                "transcript_path": transcript or None,
            }  # fmt: skip
            if event == "beforeSubmitPrompt":
                body |= {"prompt": prompt, "attachments": []}
            if event == "afterAgentResponse":
                body["text"] = CAUSE
        case "windsurf":
            body = {
                "agent_action_name": event,
                "trajectory_id": SESSION,
                "execution_id": "e1",
                "timestamp": "2026-11-30T10:00:00Z",
            }
            body["tool_info"] = {"user_prompt": prompt} if event == "pre_user_prompt" else {"response": CAUSE}
        case "kiro":
            body = {"hook_event_name": event, "cwd": cwd, "session_id": SESSION}
            if event == "userPromptSubmit":
                body["prompt"] = prompt
            if event == "stop":
                body["assistant_response"] = CAUSE
        case _:
            raise AssertionError(host)
    return body | more
