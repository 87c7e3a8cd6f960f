"""The payloads of the hosts, read into one shape. Knows every field name; decides nothing.

Field names: Claude Code 2.1, Codex 0.171, Gemini CLI 0.61 and Copilot CLI 1.0 as seen from the real programs; Cursor,
VS Code, Windsurf and Kiro as documented. Unknown fields are ignored and missing ones are empty.
"""

from __future__ import annotations

import os

from perdure.hooks import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

HOSTS = ("claude", "codex", "gemini", "copilot", "cursor", "vscode", "windsurf", "kiro")

START, PROMPT, STOP, COMPACT, COMPACTED, END, EDIT = "start", "prompt", "stop", "compact", "compacted", "end", "edit"
_KINDS = {
    "sessionstart": START,
    "agentspawn": START,
    "userpromptsubmit": PROMPT,
    "userpromptsubmitted": PROMPT,
    "beforeagent": PROMPT,
    "beforesubmitprompt": PROMPT,
    "preuserprompt": PROMPT,
    "stop": STOP,
    "agentstop": STOP,
    "afteragent": STOP,
    "afteragentresponse": STOP,
    "postcascaderesponse": STOP,
    "precompress": STOP,  # Gemini CLI fires it at every turn
    "precompact": COMPACT,
    "postcompact": COMPACTED,
    "sessionend": END,
    "posttooluse": EDIT,
    "aftertool": EDIT,
    "afterfileedit": EDIT,
    "postwritecode": EDIT,
}
_READ_BY_VSCODE = {"claude": ("hookEventName",), "copilot": ("hookEventName", "hook_event_name")}
_PATH_NAMES = ("file_path", "filePath", "path", "target_file", "filename", "absolute_path")
_PATCHED = r"(?m)^\*\*\* (?:Add|Update) File: (.+)$|^\*\*\* Move to: (.+)$"


class Occasion:
    """What a host told.

    Attributes:
        host: One of ``HOSTS``.
        event: The event's name in the host's own spelling, for the answer.
        kind: ``START`` to ``EDIT``; empty for an event that does not concern us.
        session: The host's id of the session; empty if it gave none.
        cwd: The folder of the session.
        source: Why a session started: ``startup``, ``resume``, ``clear``, ``compact``.
        prompt: What the user said.
        answer: What the assistant said at the end of its turn.
        summary: The host's summary of the session after a compaction.
        transcript: Path of the transcript.
        paths: Files that a tool has just written.
        continued: The turn goes on because a hook wanted it to.
        subagent: It happened inside a subagent, whose turns are not the user's.
    """

    __slots__ = (
        "answer", "continued", "cwd", "event", "host", "kind", "paths", "prompt", "session", "source", "subagent",
        "summary", "transcript",
    )  # fmt: skip

    def __init__(self, host: str, event: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> None:
        """Read a payload."""
        told = _text(payload, "hook_event_name", "hookEventName", "agent_action_name")
        # VS Code runs the hooks that are registered for these two as well; neither of them writes such a name
        shared = host in _READ_BY_VSCODE and bool(_text(payload, *_READ_BY_VSCODE[host]))
        self.host = "vscode" if shared else host
        self.event = told or event
        self.kind = kind_of(event) or kind_of(told)
        info = payload.get("tool_info")
        info = info if isinstance(info, dict) else {}
        self.session = _text(
            payload, "session_id", "sessionId", "conversation_id", "conversationId", "trajectory_id"
        ) or environment.get("CLAUDE_CODE_SESSION_ID", "")
        self.cwd = _cwd(host, payload, environment)
        self.source = _text(payload, "source").lower()
        self.prompt = _text(payload, "prompt", "user_prompt", "userPrompt", "user_message") or _text(
            info, "user_prompt"
        )
        self.answer = (
            _text(payload, "last_assistant_message", "prompt_response", "lastAssistantMessage", "assistant_response")
            or _text(info, "response")
            or (_text(payload, "text") if self.kind == STOP else "")
        )
        self.summary = _text(payload, "compact_summary", "compactSummary")
        self.transcript = _text(payload, "transcript_path", "transcriptPath")
        self.paths = _paths(payload, info) if self.kind == EDIT else ()
        self.continued = bool(payload.get("stop_hook_active") or payload.get("stopHookActive"))
        self.subagent = bool(_text(payload, "agent_id", "agentId", "parent_session_id"))


def kind_of(event: str) -> str:
    """``START`` to ``EDIT`` for an event's name in any spelling; empty for one that does not concern us."""
    return _KINDS.get(_plain(event), "")


def _cwd(host: str, payload: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The session's folder: where it was opened, not where a command of it happens to stand."""
    if host == "claude" and environment.get("CLAUDE_PROJECT_DIR"):
        return environment["CLAUDE_PROJECT_DIR"]
    if host == "gemini" and environment.get("GEMINI_PROJECT_DIR"):
        return environment["GEMINI_PROJECT_DIR"]
    roots = payload.get("workspace_roots") or payload.get("workspaceRoots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str) and roots[0]:
        return _local(roots[0])
    return _text(payload, "cwd", "workspace_path", "workspacePath") or os.getcwd()


def _local(root: str) -> str:
    """A workspace root as a path: some hosts write ``/c:/work`` for ``c:/work``."""
    root = root.removeprefix("file://")
    drive = root[1:2]
    windows = root[:1] == "/" and drive.isascii() and drive.isalpha() and root[2:4] in (":/", ":\\")
    return root[1:] if windows else root


def _paths(payload: Mapping[str, Any], info: Mapping[str, Any]) -> tuple[str, ...]:
    found: list[str] = []
    for part in (payload.get("tool_input"), payload.get("toolArgs"), payload.get("tool_args"), info, payload):
        value: Any = part
        if isinstance(value, str):
            try:
                value = json_text.read(value)
            except (ValueError, RecursionError):
                value = {"command": value}
        if isinstance(value, dict):
            found += [value[name] for name in _PATH_NAMES if isinstance(value.get(name), str)]
            patch = next((value[n] for n in ("command", "input", "patch") if isinstance(value.get(n), str)), "")
            if patch:
                import re  # 6 ms that no prompt needs to pay

                found += [(one or other).strip() for one, other in re.findall(_PATCHED, patch)]
    return tuple(dict.fromkeys(path for path in found if path))


def _text(values: Mapping[str, Any], *names: str) -> str:
    """The first of the named values that is a text with something in it."""
    for name in names:
        value = values.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
