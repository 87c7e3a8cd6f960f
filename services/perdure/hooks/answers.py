"""What a host wants to hear: its own envelope around the text, or nothing where it cannot take any."""

from __future__ import annotations

from perdure.hooks import json_text
from perdure.hooks.hosts import PROMPT, START

TYPE_CHECKING = False
if TYPE_CHECKING:
    from perdure.hooks.hosts import Occasion

# The exact names, because some hosts reject an envelope whose event is not theirs, and the command line may have
# been spelled otherwise.
_EVENT_NAMES = {
    "claude": {START: "SessionStart", PROMPT: "UserPromptSubmit"},
    "codex": {START: "SessionStart", PROMPT: "UserPromptSubmit"},
    "vscode": {START: "SessionStart", PROMPT: "UserPromptSubmit"},
    "gemini": {START: "SessionStart", PROMPT: "BeforeAgent"},
}


def takes_context(occasion: Occasion) -> bool:
    """Whether the host puts a text of ours into the model's context at this event."""
    return hears(occasion.host, occasion.kind)


def hears(host: str, kind: str) -> bool:
    """Whether this host takes a text at events of this kind."""
    if kind not in (START, PROMPT) or host == "windsurf":
        return False
    return host != "cursor" or kind == START  # Cursor's beforeSubmitPrompt lets pass or blocks


def going_on(reason: str) -> bytes:
    """Standard output for the end of a turn: the model is to read ``reason`` before it ends."""
    return json_text.written({"decision": "block", "reason": reason}).encode("ascii") + b"\n"


def envelope(occasion: Occasion, text: str) -> bytes:
    """Standard output for the host: ``text`` as context, or nothing.

    Returns:
        UTF-8 for Kiro, whose standard output is the context itself; otherwise JSON in ASCII, so that no code page of
        a console can spoil it.
    """
    if not text or not takes_context(occasion):
        return b""
    if occasion.host == "kiro":
        return text.encode("utf-8", "replace") + b"\n"
    if occasion.host == "copilot":
        value: dict[str, object] = {"additionalContext": text}
    elif occasion.host == "cursor":
        value = {"additional_context": text}
    else:
        name = _EVENT_NAMES[occasion.host][occasion.kind]
        value = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
    return json_text.written(value).encode("ascii") + b"\n"
