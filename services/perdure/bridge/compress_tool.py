"""The bridge's own tool ``memory_compress``: the files are on this machine, so the gateway cannot do it.

Loaded when it is called, so that no host waits for it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import urllib.parse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from perdure.bridge.compress import Memory, Unanswered
from perdure.bridge.compress_files import projects_folder
from perdure.bridge.compress_run import compress

if TYPE_CHECKING:
    from perdure.bridge.target import Target

TIMEOUT_S = 30.0
LINES_MAX = 40
_ANSWER_BYTES_MAX = 32 * 1024 * 1024


def call(arguments: object, target: Target) -> tuple[str, bool]:
    """The text for the model, and whether the call failed."""
    given = arguments if isinstance(arguments, dict) else {}
    dry_run = given.get("dry_run", True)
    if not isinstance(dry_run, bool) or given.keys() - {"dry_run"}:
        return "memory_compress takes dry_run, true or false, and nothing else.", True
    try:
        report = compress([projects_folder(os.environ)], target.home, GatewayMemories(target), dry_run=dry_run)
    except Unanswered as fault:
        return f"{fault} No file was touched.", True
    lines = report.sentences()
    if len(lines) > LINES_MAX:
        lines = [*lines[: LINES_MAX - 3], f"… and {len(lines) - LINES_MAX} more", *lines[-2:]]
    if dry_run and report.shrunk:
        lines.append("Nothing was written. With dry_run false the files are kept first, then replaced.")
    return "\n".join(lines), bool(report.stopped)


class GatewayMemories:
    """Memories by the gateway's REST, a connection for each question."""

    def __init__(self, target: Target) -> None:
        """Send nothing yet."""
        self._target = target

    def keyed(self, keys: Sequence[str]) -> Sequence[Memory]:
        """The active memories of these keys, in every project."""
        found = self._get("/memories", [("limit", "500"), *(("key", key) for key in keys)])
        return list(found.get("memories", [])) if found else []

    def like(self, text: str) -> Sequence[Memory]:
        """Active memories that a search for ``text`` finds; their use is not counted."""
        found = self._get("/memories/search", [("q", text), ("limit", "20"), ("shown_only", "true")])
        return [hit["memory"] for hit in found.get("recall", [])] if found else []

    def get(self, memory: str) -> Memory | None:
        """The memory of this id as it is now."""
        return self._get(f"/memories/{urllib.parse.quote(memory, safe='')}", [("peek", "true")])

    def _get(self, path: str, query: list[tuple[str, str]]) -> dict[str, Any] | None:
        target = self._target
        headers = {"Accept": "application/json", "User-Agent": "perdure-bridge"}
        token = target.token()
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        kind = http.client.HTTPSConnection if target.scheme == "https" else http.client.HTTPConnection
        connection = kind(target.host, target.port, timeout=TIMEOUT_S)
        with contextlib.closing(connection):
            try:
                connection.request("GET", f"{target.prefix}{path}?{urllib.parse.urlencode(query)}", headers=headers)
                response = connection.getresponse()
                body = response.read(_ANSWER_BYTES_MAX)
                value = json.loads(body)
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise Unanswered(f"Perdure did not answer at {target.url} ({type(error).__name__}).") from None
        if response.status == 404:
            return None
        if response.status != 200 or not isinstance(value, dict):
            detail = value.get("detail") if isinstance(value, dict) else ""
            raise Unanswered(f"Perdure at {target.url} answered HTTP {response.status}. {detail or ''}".rstrip())
        return value
