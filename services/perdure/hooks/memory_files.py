"""Markdown files in which tools keep memories, as memories: one file, one memory, its path its key.

The same key replaces, so an edit is an edit. Any body is taken as it is. The index ``MEMORY.md`` is left alone: it
repeats what the files say.
"""

from __future__ import annotations

import errno
import os
import re

from perdure.hooks.front_matter import split
from perdure.regular_file import NotRegular, opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INDEX = "memory.md"
FILE_BYTES_MAX = 512 * 1024
PART_BYTES_MAX = 30 * 1024
"""Below the 32 KiB of a memory; a longer file becomes several, cut between paragraphs or lines."""
KEY_CHARS_MAX = 200
STUB = "[absorbed→"
STUB_POINTER = "(the whole text: "
_TOOL_FOLDERS = frozenset({".claude", ".codex", ".gemini", ".copilot", ".cursor", ".kiro", ".windsurf", ".github"})
_MEMORY_FOLDERS = frozenset({"memory", "memories"})
_TYPES = {
    "user": "fact", "feedback": "preference", "project": "context", "reference": "fact", "fact": "fact",
    "decision": "decision", "preference": "preference", "task": "task", "context": "context",
}  # fmt: skip


def relative_name(path: str) -> str:
    """Path of a memory file below its memory folder, with forward slashes; empty for any other file.

    A memory file is a ``.md`` in a folder ``memory`` or ``memories`` somewhere below a tool's own folder (``.claude``,
    ``.codex``, …). Paths of Windows and of POSIX are understood on both.
    """
    parts = path.replace("\\", "/").split("/")
    if not parts[-1].lower().endswith(".md") or parts[-1].lower() == INDEX:
        return ""
    tool = next((index for index, part in enumerate(parts) if part.lower() in _TOOL_FOLDERS), None)
    if tool is None:
        return ""
    for index in range(tool + 1, len(parts) - 1):
        if parts[index].lower() in _MEMORY_FOLDERS:
            return "/".join(parts[index + 1 :])
    return ""


def text_of(path: str, name: str) -> str:
    """The text of the memory file at ``path``, at most ``FILE_BYTES_MAX`` of it.

    A link is not followed, be it the file, the memory folder, or one between that leads out of it: what it leads to may
    be no memory, and may be a secret.

    Args:
        path: Where it is.
        name: Its ``relative_name``.

    Raises:
        OSError: it cannot be read, or is a link or no regular file, or lies elsewhere in truth.
    """
    folder = path
    for _ in name.split("/"):
        folder = os.path.dirname(folder)
    with opened(path, links=False) as file:
        inside = os.path.realpath(path).startswith(os.path.join(os.path.realpath(folder), ""))
        if not inside or os.path.islink(folder):
            raise NotRegular(errno.EINVAL, "outside the memory folder")
        return file.read(FILE_BYTES_MAX).decode("utf-8", "replace")


def memories_of(path: str, name: str, text: str, *, project: str, host: str, session: str) -> list[dict[str, Any]]:
    """What to save for a memory file.

    Args:
        path: Where it is, for the memory's ``files``.
        name: Its ``relative_name``.
        text: All of it.
        project: Where the memory belongs.
        host: Which tool wrote it.
        session: In which session.

    Returns:
        One memory, more for a long file, none for one without text.
    """
    values, body = split(text)
    body = body.strip()
    if body.startswith(STUB):
        # `perdure compress` put it there, since the text is in memory; what stands below it came later
        name, body = f"{name}+", _below_stub(body)
        if not body:
            return []
    description = values.get("description", "")
    if isinstance(description, str) and description and description.casefold() not in body.casefold():
        body = f"{description}\n\n{body}".strip()
    if not body:
        return []
    told = values.get("type", "")
    title = values.get("name", "")
    tags = values.get("tags", [])
    key = f"memory/{name}"[-KEY_CHARS_MAX + 8 :]
    parts = _cut(body)
    return [
        {
            "content": part,
            "type": _TYPES.get(told.strip().lower() if isinstance(told, str) else "", "fact"),
            "project": project,
            "key": key if number == 1 else f"{key}#{number}",
            "concepts": [title[:100]] if isinstance(title, str) and title else [],
            "files": [os.path.basename(path.replace("\\", "/"))],
            "tags": ["memory-file", *_tags(tags)],
            "origin": {"host": host, "session": session[:200]},
        }
        for number, part in enumerate(parts, 1)
    ]


def _below_stub(body: str) -> str:
    lines = body.split("\n")[1:]
    if lines and lines[0].startswith(STUB_POINTER):
        lines = lines[1:]
    return "\n".join(lines).strip()


def _tags(given: str | list[str]) -> list[str]:
    names = given if isinstance(given, list) else re.split(r",\s*", given)
    return [name[:50] for name in names if name][:10]


def _cut(text: str) -> list[str]:
    """``text`` in parts of at most ``PART_BYTES_MAX``, all of it."""
    parts: list[str] = []
    data = text.encode("utf-8", "replace")
    while len(data) > PART_BYTES_MAX:
        window = data[:PART_BYTES_MAX]
        at = max(window.rfind(b"\n\n"), window.rfind(b"\n")) if b"\n" in window[PART_BYTES_MAX // 2 :] else -1
        if at <= 0:
            at = PART_BYTES_MAX
            while data[at] & 0xC0 == 0x80:  # inside a character
                at -= 1
        parts.append(data[:at].decode("utf-8").strip())
        data = data[at:]
    parts.append(data.decode("utf-8").strip())
    return [part for part in parts if part]
