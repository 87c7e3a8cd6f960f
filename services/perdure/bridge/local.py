"""What the bridge answers by itself: the catalogue in the gateway's stead, and the tools of this machine.

The catalogue (``catalogue.json``) is what the gateway of this release answers to the questions that every host asks
first; it lets a host have its tools while the services are still starting. Refuses to know whether the gateway is
there.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

from perdure.bridge.eras import LEGACY_VERSIONS, UNSUPPORTED_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from perdure.bridge.eras import Message

CATALOGUE_FILE = Path(__file__).with_name("catalogue.json")

START_TOOL_NAME = "memory_start"

START_TOOL: dict[str, Any] = {
    "name": START_TOOL_NAME,
    "title": "Start the memory services",
    "description": (
        "Start the local Perdure memory services if they are not running, and say whether memory is ready. "
        "Call it when another memory tool reports that the services cannot be reached; not needed otherwise. "
        "Installs and downloads nothing."
    ),
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
    "annotations": {
        "title": "Start the memory services",
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
}

COMPRESS_TOOL_NAME = "memory_compress"

COMPRESS_TOOL: dict[str, Any] = {
    "name": COMPRESS_TOOL_NAME,
    "title": "Shorten Claude Code's memory files",
    "description": (
        "Replace Claude Code's memory files on this machine (.claude/projects/*/memory/*.md) by one-line stubs where "
        "their whole text, fetched and compared, is in memory. Says by default only what it would do; call it with "
        "dry_run false when the user agreed. Files are kept first; `perdure compress --undo` puts them back."
    ),
    "inputSchema": {
        "type": "object",
        "properties": {"dry_run": {"type": "boolean", "default": True, "description": "Write nothing."}},
        "additionalProperties": False,
    },
    "annotations": {
        "title": "Shorten Claude Code's memory files",
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": True,
        "openWorldHint": False,
    },
}


class Catalogue:
    """The static answers, read from disk at the first need."""

    __slots__ = ("_answers", "_lock")

    def __init__(self, answers: dict[str, dict[str, Any]] | None = None) -> None:
        """Take the answers by era and method, or leave them to be read from ``catalogue.json``."""
        self._answers = answers
        self._lock = threading.Lock()

    def _section(self, era: str) -> dict[str, Any]:
        with self._lock:
            if self._answers is None:
                self._answers = json.loads(CATALOGUE_FILE.read_text(encoding="utf-8"))
            section = self._answers.get(era)
        return section if isinstance(section, dict) else {}

    def has(self, message: Message) -> bool:
        """Whether the message is one of the first questions, which need not wait for the gateway."""
        return not message.params.get("cursor") and message.method in self._section(_era(message))

    def result(self, message: Message, *, readonly: bool = False) -> dict[str, Any]:
        """The result the gateway would give, as a new object; only for a message that ``has`` accepts.

        A legacy ``initialize`` agrees on the version asked for if it is known, else on the newest legacy one. A
        modern answer says that it must not be cached: the gateway's own may name more tools.
        """
        result = dict(self._section(_era(message))[message.method or ""])
        if message.method == "initialize":
            asked = message.params.get("protocolVersion")
            result["protocolVersion"] = asked if asked in LEGACY_VERSIONS else LEGACY_VERSIONS[-1]
        if readonly and "instructions" in result:
            result["instructions"] = self._section("readonly").get("instructions", "")
        if "ttlMs" in result:
            result["ttlMs"] = 0
            result["cacheScope"] = "private"
        return result

    def unsupported(self, message: Message) -> dict[str, Any] | None:
        """The error of a modern message in a version that this release does not speak; None if it does."""
        if not message.modern:
            return None
        supported = self._section("modern").get("server/discover", {}).get("supportedVersions", [])
        if message.version in supported:
            return None
        return {
            "code": UNSUPPORTED_VERSION,
            "message": "Unsupported protocol version",
            "data": {"supported": supported, "requested": message.version},
        }

    def tools(self) -> list[dict[str, Any]]:
        """The tools of the legacy list, which every release has."""
        tools = self._section("legacy").get("tools/list", {}).get("tools", [])
        return tools if isinstance(tools, list) else []


def _era(message: Message) -> str:
    return "modern" if message.modern else "legacy"


def with_start_tool(result: dict[str, Any]) -> dict[str, Any]:
    """A result of ``tools/list`` with the bridge's own tools at its end; unchanged on a page that is not the last.

    ``memory_compress`` is listed only where Claude Code has kept anything: elsewhere it would cost every session's
    context and do nothing.
    """
    tools = result.get("tools")
    if not isinstance(tools, list) or result.get("nextCursor"):
        return result
    own = [COMPRESS_TOOL, START_TOOL] if _claude_was_here() else [START_TOOL]
    names = {START_TOOL_NAME, COMPRESS_TOOL_NAME}
    others = [tool for tool in tools if not (isinstance(tool, dict) and tool.get("name") in names)]
    return {**result, "tools": [*others, *own]}


def _claude_was_here() -> bool:
    folder = os.environ.get("CLAUDE_CONFIG_DIR", "").strip() or "~/.claude"
    return Path(os.path.expanduser(folder), "projects").is_dir()  # noqa: PTH111 - this one does not raise without a home


def without_writing_tools(result: dict[str, Any]) -> dict[str, Any]:
    """A result of ``tools/list`` with those tools alone that declare themselves read-only."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        return result
    names = read_only_names(tools)
    return {**result, "tools": [tool for tool in tools if isinstance(tool, dict) and tool.get("name") in names]}


def read_only_names(tools: list[Any]) -> frozenset[str]:
    """Names of the tools that declare themselves read-only, so that calling one twice changes nothing."""
    return frozenset(
        tool["name"]
        for tool in tools
        if isinstance(tool, dict)
        and isinstance(tool.get("name"), str)
        and isinstance(tool.get("annotations"), dict)
        and tool["annotations"].get("readOnlyHint") is True
    )


def tool_result(text: str, *, failed: bool, modern: bool) -> dict[str, Any]:
    """The result of a local tool call, in the shape of its era."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": failed}
    if modern:
        result["resultType"] = "complete"
    return result


def encode_result(request_id: Any, result: dict[str, Any]) -> bytes:
    """A JSON-RPC answer on one line, ASCII only."""
    return _encode({"jsonrpc": "2.0", "id": request_id, "result": result})


def encode_error(request_id: Any, code: int, sentence: str, data: Any = None) -> bytes:
    """A JSON-RPC error on one line, ASCII only."""
    error: dict[str, Any] = {"code": code, "message": sentence}
    if data is not None:
        error["data"] = data
    return _encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def _encode(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")
