"""The project that the host works in: what it says by its environment or its roots, else this process's folder.

Tells the gateway, which takes it for calls that name no project, and the model, by a sentence in the instructions.
Refuses to decide what a folder's project is: ``perdure.project`` does.
"""

from __future__ import annotations

import json
import threading
import urllib.parse
from pathlib import Path

from perdure.project import GLOBAL, Project, project_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from perdure.bridge.eras import Message

ROOTS_ID = "perdure-roots-"
NAME_CHARS_MAX = 60
NAME_WORDS_MAX = 4
_NAMED_BY = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR")
"""Variables by which hosts tell their servers the folder of the session."""
_PROGRAMS = frozenset({"appdata", "library", "applications"})


class Workplace:
    """The host's project, which its roots may change at any time; every method may be called from any thread."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Look at the environment and at the folder that the process was started in."""
        self._lock = threading.Lock()
        self._asks = False
        self._asked = 0
        named = next((environment[name] for name in _NAMED_BY if environment.get(name, "").strip()), "")
        try:
            found = project_of(named or str(Path.cwd()))
            self._project = found.name if named or _is_plausible(found) else GLOBAL
        except OSError:
            self._project = GLOBAL  # the folder is gone

    @property
    def project(self) -> str:
        """Its name; empty where the host works in none, or none that is known."""
        with self._lock:
            return "" if self._project == GLOBAL else self._project

    def headers(self) -> dict[str, str]:
        """What a request to the gateway says of it."""
        project = self.project
        return {"Perdure-Project": urllib.parse.quote(project, safe="")} if project else {}

    def with_sentence(self, result: dict[str, Any], *, readonly: bool) -> dict[str, Any]:
        """A result with instructions that also name the project."""
        project, told = self.project, result.get("instructions")
        if not isinstance(told, str) or not _is_a_name(project):
            return result
        named = json.dumps(project, ensure_ascii=False)
        everywhere = "" if readonly else ' What is true everywhere is saved with project "_global".'
        sentence = f"The project of this session is named {named}; a call without project means it.{everywhere}\n"
        return {**result, "instructions": told + sentence}

    def heard(self, message: Message, emit: Callable[[bytes], None]) -> bool:
        """Follow what the host says of its roots.

        Args:
            message: Anything that the host sent in a legacy session.
            emit: Writes a line to the host, which a question for the roots is.

        Returns:
            Whether the message was for us alone and must not be passed on.
        """
        if message.method == "initialize":
            capabilities = message.params.get("capabilities")
            with self._lock:
                self._asks = isinstance(capabilities, dict) and isinstance(capabilities.get("roots"), dict)
        elif message.method in ("notifications/initialized", "notifications/roots/list_changed"):
            with self._lock:
                asks = self._asks
                self._asked += 1
                question = {"jsonrpc": "2.0", "id": f"{ROOTS_ID}{self._asked}", "method": "roots/list"}
            if asks:
                emit(json.dumps(question).encode("ascii"))
        elif message.method is None:
            return self._answered(message.body)
        return False

    def _answered(self, body: bytes) -> bool:
        value = json.loads(body)
        if not str(value.get("id")).startswith(ROOTS_ID):
            return False
        result = value.get("result")
        roots = result.get("roots") if isinstance(result, dict) else None
        for root in roots if isinstance(roots, list) else []:
            folder = _folder_of(root.get("uri")) if isinstance(root, dict) else ""
            if folder:
                # the first one, as hooks take the first of a host's workspace folders
                with self._lock:
                    self._project = project_of(folder).name
                break
        return True


def _is_a_name(project: str) -> bool:
    """Whether a name may stand in the instructions: a repository that is not to be trusted chooses its own."""
    letters = all(letter.isalnum() or letter in "-_./+# " for letter in project)
    return 0 < len(project) <= NAME_CHARS_MAX and letters and project.count(" ") < NAME_WORDS_MAX


def _is_plausible(found: Project) -> bool:
    """Whether a process's own folder is where the person works: desktop programs start servers anywhere.

    A repository or a project's top is; a plain folder only below the home, outside of where programs live.
    """
    if found.source != "folder":
        return True
    try:
        parts = Path(found.root).relative_to(Path.home().resolve()).parts
    except (ValueError, RuntimeError):
        return False
    return not any(part.startswith(".") or part.lower() in _PROGRAMS for part in parts)


def _folder_of(uri: object) -> str:
    """The folder of a ``file:`` address; empty for any other."""
    if not isinstance(uri, str) or not uri.lower().startswith("file://"):
        return ""
    try:
        path = urllib.parse.unquote(urllib.parse.urlsplit(uri).path)
    except ValueError:
        return ""
    windows = path[:1] == "/" and path[1:2].isalpha() and path[2:3] == ":"
    return path[1:] if windows else path
