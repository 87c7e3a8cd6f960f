"""For installers: where each host keeps its hooks, which events to register, and the exact shape of an entry.

Pure data. In an entry ``{program}`` is the absolute path of ``perdure-hook`` and ``{command}`` the whole command line,
quoted for the host's shell. Nothing here is read by the hook itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARKS = ("perdure-hook", "hooks/__main__.py", "hooks\\__main__.py")
"""What an entry of ours has in its command, for finding it again."""

LAUNCH = ["{python}", "-I", "-S", "{package}/hooks/__main__.py"]
"""The quickest start, instead of ``perdure-hook``. ``{python}`` is this installation's interpreter and
``{package}`` the folder of ``perdure``; without ``site``, because nothing outside the standard library is needed."""

_NESTED: dict[str, Any] = {"matcher": "{matcher}", "hooks": ["{handler}"]}


def _claude_handler(event: str) -> dict[str, Any]:
    return {"type": "command", "command": "{program}", "args": ["--host", "claude", event], "timeout": 5}


SPECS: dict[str, dict[str, Any]] = {
    "claude": {
        "title": "Claude Code",
        "strict": True,
        "files": {"user": "~/.claude/settings.json", "project": ".claude/settings.json"},
        "path": ["hooks"],
        "group": _NESTED,  # hooks.<Event>[] = {matcher, hooks: [handler]}
        "timeout_unit": "s",
        "events": [
            {"event": "SessionStart", "matcher": "", "handler": _claude_handler("session-start")},
            {"event": "UserPromptSubmit", "matcher": None, "handler": _claude_handler("user-prompt-submit")},
            {
                "event": "PostToolUse",
                "matcher": "Write|Edit|MultiEdit",
                "handler": _claude_handler("post-tool-use"),
            },
            {"event": "PreCompact", "matcher": "", "handler": _claude_handler("pre-compact")},
            {"event": "PostCompact", "matcher": "", "handler": _claude_handler("post-compact")},
            {"event": "Stop", "matcher": None, "handler": _claude_handler("stop")},
            {"event": "SessionEnd", "matcher": "", "handler": _claude_handler("session-end")},
        ],
    },
    "codex": {
        "title": "Codex",
        "files": {"user": "~/.codex/hooks.json", "project": ".codex/hooks.json"},
        "path": ["hooks"],
        "group": _NESTED,
        "timeout_unit": "s",
        "note": "Codex asks once, in its own interface, whether each hook is to be trusted.",
        "events": [
            {"event": event, "matcher": matcher, "handler": {"type": "command", "command": "{command}", "timeout": 5}}
            for event, matcher in (
                ("SessionStart", None),
                ("UserPromptSubmit", None),
                ("PostToolUse", "apply_patch|Write|Edit"),
                ("PreCompact", None),
                ("PostCompact", None),
                ("Stop", None),
            )
        ]
        + [
            # capped at 3 s by the host
            {
                "event": "SessionEnd",
                "matcher": None,
                "handler": {"type": "command", "command": "{command}", "timeout": 3},
            }
        ],
    },
    "vscode": {
        "title": "VS Code",
        "files": {"project": ".github/hooks/perdure.json"},
        "path": ["hooks"],
        "group": None,  # hooks.<Event>[] = handler
        "timeout_unit": "s",
        "events": [
            {"event": event, "handler": {"type": "command", "command": "{command}", "timeout": 5}}
            for event in ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop")
        ],
    },
    "gemini": {
        "title": "Gemini CLI",
        "files": {"user": "~/.gemini/settings.json", "project": ".gemini/settings.json"},
        "path": ["hooks"],
        "group": _NESTED,
        "timeout_unit": "ms",
        "events": [
            {
                "event": event,
                "matcher": matcher,
                "handler": {"type": "command", "name": "perdure", "command": "{command}", "timeout": 5000},
            }
            for event, matcher in (
                ("SessionStart", None),
                ("BeforeAgent", None),
                ("AfterTool", "write_file|replace"),
                ("AfterAgent", None),
                ("SessionEnd", None),
            )
        ],
    },
    "copilot": {
        "title": "Copilot CLI",
        "files": {"user": "~/.copilot/hooks/perdure.json", "project": ".github/hooks/perdure.json"},
        "path": ["hooks"],
        "group": None,
        "document": {"version": 1, "hooks": {}},
        "timeout_unit": "s",
        "events": [
            {
                "event": event,
                "handler": {"type": "command", "bash": "{command}", "powershell": "{command}", "timeoutSec": 5},
            }
            for event in (
                "sessionStart",
                "userPromptSubmitted",
                "postToolUse",
                "preCompact",
                "agentStop",
                "sessionEnd",
            )
        ],
    },
    "cursor": {
        "title": "Cursor",
        "files": {"user": "~/.cursor/hooks.json", "project": ".cursor/hooks.json"},
        "path": ["hooks"],
        "group": None,
        "document": {"version": 1, "hooks": {}},
        "timeout_unit": "s",
        "events": [
            {"event": event, "handler": {"command": "{command}", "timeout": 5}}
            for event in (
                "sessionStart",
                "beforeSubmitPrompt",
                "afterFileEdit",
                "afterAgentResponse",
                "preCompact",
                "stop",
                "sessionEnd",
            )
        ],
    },
    "windsurf": {
        "title": "Windsurf, Devin Desktop",
        "files": {"user": "~/.codeium/windsurf/hooks.json", "project": ".windsurf/hooks.json"},
        "path": ["hooks"],
        "group": None,
        "timeout_unit": None,
        "note": "Windsurf takes no context from hooks: what is said is captured, recall is by the tools.",
        "events": [
            {"event": event, "handler": {"command": "{command}", "show_output": False}}
            for event in ("pre_user_prompt", "post_write_code", "post_cascade_response")
        ],
    },
    "kiro": {
        "title": "Kiro",
        "files": {"user": "~/.kiro/hooks/perdure.json", "project": ".kiro/hooks/perdure.json"},
        "path": [],
        "group": None,
        "list": "hooks",  # hooks[] = {name, trigger, action, …}
        "document": {"version": "v1", "hooks": []},
        "timeout_unit": "s",
        "note": "Kiro CLI before 3.0 reads hooks from an agent's own file only: copy the command lines there.",
        "events": [
            {
                "event": event,
                "handler": {
                    "name": f"perdure {event}",
                    "trigger": event,
                    **matcher,
                    "action": {"type": "command", "command": "{command}"},
                    "timeout": 5,
                },
            }
            for event, matcher in (
                ("SessionStart", {}),
                ("UserPromptSubmit", {}),
                ("PostToolUse", {"matcher": "fs_write"}),
                ("Stop", {}),
            )
        ],
    },
}
"""Host to spec.

``files``: scope to file. ``path``: where in it the map of events stands. ``group``: the object around the handlers
of an event, or None where an event's list holds handlers directly; a ``matcher`` of None is left out. ``list``: the
one list that holds the handlers of all events, where there is no map. ``document``: what a new file begins as.
``strict``: the host ignores the whole of a file with comments or trailing commas.
``events``: event, matcher and handler. ``{command}`` ends in the event's own name:
``perdure-hook --host codex SessionStart``.
"""
