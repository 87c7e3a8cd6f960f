"""Turns of the user and the assistant in a host's transcript.

Claude Code, Codex, Copilot CLI, Cursor and Gemini CLI write one JSON object a line (older Gemini CLI one object for
all). Only known kinds of rows and blocks are read: tool traffic, reasoning, sidechains, summaries and what hosts
attach are left out because they are not on the list, not because they are on another one. A line that is no JSON is
skipped.
"""

from __future__ import annotations

import json
import os
import time

from perdure.regular_file import opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

READ_BYTES_MAX = 32 * 1024 * 1024
"""Of a longer stretch of unread transcript, the end; single transcripts of 15 MB have been reported."""
LINE_BYTES_MAX = 1024 * 1024
"""A longer line is tool output or a pasted file."""
_TEXT_BLOCKS = frozenset({"text", "input_text", "output_text"})
_NEST_BLOCKS = frozenset({"message", "content", "group"})
_ROLES = {
    "user": "user", "human": "user", "user.message": "user",
    "assistant": "assistant", "model": "assistant", "gemini": "assistant", "assistant.message": "assistant",
}  # fmt: skip
_NOT_SAID = (b'"toolUseResult":', b'"isSidechain":true', b'"isSidechain": true', b'"isMeta":true')
_DEPTH_MAX = 6

Turn = tuple[str, str]
"""Role (``user`` or ``assistant``) and text."""


def turns_since(path: str, offset: int, ends_at: float) -> tuple[list[Turn], int]:
    """The turns after ``offset``, in order, and the offset to go on from.

    Args:
        path: The transcript.
        offset: What an earlier call returned, or 0.
        ends_at: Moment on the monotonic clock at which to stop; what is unread then is read by the next call.

    Raises:
        OSError: the file cannot be read, or is no regular one.
    """
    if path.endswith(".json"):
        return _of_document(path, offset)
    turns: list[Turn] = []
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        offset = offset if 0 <= offset <= size else 0
        start = max(offset, size - READ_BYTES_MAX)
        file.seek(start)
        if start > offset:
            start += len(file.readline())  # most likely the rest of a line
        for line in file:
            turn = _turn_of(line)
            if not line.endswith(b"\n") and turn is None:
                break  # still being written
            start += len(line)
            if turn is not None:
                turns.append(turn)
            if time.monotonic() > ends_at:
                break
    return turns, start


def turn_of(row: Any) -> Turn | None:
    """The turn that a row of any host holds, or None."""
    if not isinstance(row, dict):
        return None
    if any(row.get(name) for name in ("isSidechain", "isMeta", "isCompactSummary", "toolUseResult", "agent_id")):
        return None
    kind = row.get("type")
    if not isinstance(kind, str | None):
        return None
    body: Any = row
    if kind == "response_item":  # Codex
        body = row.get("payload")
        if not isinstance(body, dict) or body.get("type") != "message":
            return None
        kind = body.get("role")
    elif kind in ("user.message", "assistant.message"):  # Copilot CLI
        body = row.get("data")
    elif isinstance(row.get("message"), dict) and (kind is None or kind in _ROLES):  # Claude Code, Cursor
        body = row["message"]
        kind = body.get("role") or row.get("role") or kind
    elif kind in (None, "message"):
        kind = row.get("role")
    role = _ROLES.get(kind) if isinstance(kind, str) else None
    if role is None or not isinstance(body, dict):
        return None
    text = _text_of(body.get("content", body.get("text")), 0).strip()
    return (role, text) if text else None


def _turn_of(line: bytes) -> Turn | None:
    if len(line) > LINE_BYTES_MAX or any(mark in line for mark in _NOT_SAID):
        return None
    if b"user" not in line and b"assistant" not in line and b"gemini" not in line and b"model" not in line:
        return None
    try:
        return turn_of(json.loads(line))
    except (ValueError, RecursionError):
        return None


def _text_of(content: Any, depth: int) -> str:
    """The text of a content: a string, a block, or a list of blocks that may hold lists of blocks."""
    if isinstance(content, str):
        return content
    if depth > _DEPTH_MAX:
        return ""
    if isinstance(content, list):
        return "\n".join(part for part in (_text_of(item, depth + 1) for item in content) if part)
    if isinstance(content, dict):
        kind = content.get("type")
        if not isinstance(kind, str | None):
            return ""
        if kind in _TEXT_BLOCKS or (kind is None and set(content) == {"text"}):
            text = content.get("text")
            return text if isinstance(text, str) else ""
        if kind in _NEST_BLOCKS:
            return _text_of(content.get("content"), depth + 1)
    return ""


def _of_document(path: str, seen: int) -> tuple[list[Turn], int]:
    """Turns of a transcript that is one JSON object; the offset counts its messages."""
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size > READ_BYTES_MAX:
            return [], seen
        try:
            value = json.loads(file.read(READ_BYTES_MAX))
        except (ValueError, RecursionError):
            return [], seen
    messages = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(messages, list):
        return [], seen
    start = seen if 0 <= seen <= len(messages) else 0
    return [turn for turn in map(turn_of, messages[start:]) if turn is not None], len(messages)
