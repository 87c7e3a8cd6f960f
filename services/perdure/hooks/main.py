"""Entry point of ``perdure-hook``: reads what the host tells, does it within the budget, answers, ends with 0.

Fails open: whatever goes wrong, the host gets nothing on stdout and status 0. A watch ends the process when the budget
is spent, also where a name look-up hangs; what was to be saved is in the spool by then.
"""

from __future__ import annotations

import _thread
import os
import sys
import time

from perdure.hooks import json_text
from perdure.hooks.answers import envelope, takes_context
from perdure.hooks.hosts import COMPACT, COMPACTED, EDIT, END, HOSTS, PROMPT, START, STOP, Occasion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from perdure.hooks.gateway import Gateway
    from perdure.hooks.place import Place
    from perdure.hooks.recall import Shown
    from perdure.hooks.sessions import Session
    from perdure.project import Project

BUDGET_S = 1.8
"""From the start of the interpreter's work to the end of the process; with the interpreter's own start below 2 s."""
END_BUDGET_S = 1.1
"""Hosts give a session's end 1.5 s, shared by all hooks."""
ANSWER_BUDGET_S = 1.5
"""How long the gateway may take for what the host waits for; the rest is for ourselves."""
FLUSH_WAIT_S = 0.7
FLUSH_POLL_S = 0.05
"""How long the end of a turn waits for the assistant's words in a transcript that lags behind, and how often it looks:
Copilot CLI runs its hooks before it has written them. A turn without words costs this wait once."""

DRAIN_AFTER_ANSWER_S = 0.4
"""How long a prompt may be held up by what waits in the spool."""
PAYLOAD_BYTES_MAX = 32 * 1024 * 1024
PENDING_MAX = 10
PROMPT_CHARS_MAX = 20_000
ASSISTANT_CONFIDENCE = 0.35
"""Below the 0.5 of a save: a model says many things that nobody has checked."""
READONLY = "--readonly"
_SETTABLE = ("PERDURE_HOME=", "PERDURE_PORT=")
_DIGEST = "digest"
"""Beside the ids of what a session was shown: it was given its digest."""
_HOSTS_WITH_END = frozenset({"claude", "codex", "gemini", "copilot", "cursor"})
"""The others never say that a session is over, so nothing can wait for it."""
_USAGE = """\
usage: perdure-hook [--readonly] --host claude|codex|gemini|copilot|cursor|vscode|windsurf|kiro EVENT

A coding tool runs this at the moments of a session and writes to its standard input; `perdure connect` sets that up.
PERDURE_HOOKS=off stops it; recall or capture leaves only the one. --readonly is recall and nothing else.
See docs/explanation/capture.md.
"""


def arguments(words: list[str]) -> tuple[str, str]:
    """Host and event of a command line; either may be empty where it is not named."""
    host, rest = "", []
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--host":
            host = words.pop(0) if words else ""
        elif word.startswith("--host="):
            host = word.removeprefix("--host=")
        elif word == READONLY or word.startswith(_SETTABLE):
            continue  # for ``settings_in``
        else:
            rest.append(word)
    if not host and rest and rest[0] in HOSTS:
        host = rest.pop(0)
    return host.strip().lower(), rest[0] if rest else ""


def settings_in(words: list[str]) -> dict[str, str]:
    """Variables that the command line sets, for systems where nothing else can, and what its options mean."""
    values = dict(word.split("=", 1) for word in words if word.startswith(_SETTABLE))
    if READONLY in words:
        values["PERDURE_READONLY"] = "1"
    return values


def respond(occasion: Occasion, environment: Mapping[str, str], started: float) -> tuple[bytes, Work | None]:
    """The answer for the host, and what may be done after it was given.

    Args:
        occasion: What the host told.
        environment: The process's variables.
        started: When the budget began, on the monotonic clock.
    """
    if occasion.kind == "" or occasion.subagent or occasion.host not in HOSTS:
        return b"", None
    from perdure.hooks.place import Place
    from perdure.project import project_of

    place = Place(environment)
    project = project_of(occasion.cwd)
    work = Work(occasion, place, project, started)
    if occasion.kind in (START, PROMPT):
        text = work.context()
        if text:
            return envelope(occasion, text), work
    elif occasion.kind == STOP and place.nudges:
        text = work.nudge()
        if text:
            from perdure.hooks.answers import going_on

            return going_on(text), work
    return b"", work


class Work:
    """One run: an occasion in a project, a place, a budget."""

    def __init__(self, occasion: Occasion, place: Place, project: Project, started: float) -> None:
        """Do nothing yet."""
        self._occasion = occasion
        self._place = place
        self._project = project
        self._started = started
        self._recalls = place.recalls and project.recalls
        self._captures = place.captures and project.captures
        self._captured = False
        self._session = occasion.session or occasion.transcript or occasion.cwd

    def context(self) -> str:
        """The text to put before the model, or nothing."""
        from perdure.hooks.gateway import Away, Refused

        if not self._recalls or not takes_context(self._occasion):
            return ""
        try:
            return self._digest() if self._occasion.kind == START else self._recall()
        except (Away, Refused):
            return ""

    def afterwards(self) -> None:
        """Everything that the host does not wait for an answer to: capture, file sync, delivery."""
        from perdure.hooks import spool
        from perdure.hooks.gateway import Gateway

        kind = self._occasion.kind
        if self._captures and kind == EDIT:
            self._sync_files()
        elif self._captures and kind == PROMPT:
            self._note_prompt()
        elif self._captures and kind in (STOP, COMPACT, COMPACTED, END) and not self._captured:
            self._capture()
        elif kind == START:
            from perdure.hooks.sessions import prune

            prune(self._place.home)
        if self._place.readonly:
            return
        ends_at = self._started + (END_BUDGET_S if kind == END else ANSWER_BUDGET_S)
        if kind in (START, PROMPT):
            ends_at = min(ends_at, time.monotonic() + DRAIN_AFTER_ANSWER_S)
        spool.drain(self._place.home, Gateway(self._place, ends_at))

    def nudge(self) -> str:
        """Capture, and what to ask the model before its turn ends, or nothing."""
        from perdure.hooks.nudge import HOSTS as NUDGED
        from perdure.hooks.nudge import question

        if not self._captures or self._occasion.continued or self._occasion.host not in NUDGED:
            return ""
        asked = self._capture(asks=True)
        self._captured = True
        return question(asked, self._project.name) if asked else ""

    def _digest(self) -> str:
        from perdure.hooks.recall import digest

        if self._occasion.source == "resume":
            return ""  # the host replays what it was given
        shown = digest(self._gateway(), self._project.name, readonly=self._place.readonly)
        return shown.text if self._remember(shown) else ""

    def _recall(self) -> str:
        from perdure.hooks.recall import find, query_of, recalled
        from perdure.hooks.sessions import opened

        query = query_of(self._occasion.prompt)
        if not query:
            return ""
        hits = find(self._gateway(), query, self._project.name)
        if not hits:
            return ""
        with opened(self._place.home, self._occasion.host, self._session) as state:
            if state is None:
                return ""  # another hook of this session is at it; twice would be worse than not at all
            shown = recalled(
                hits,
                prompt=self._occasion.prompt,
                project=self._project.name,
                session=self._occasion.session,
                shown=frozenset(state.shown),
            )
            _note(state, shown)
        return shown.text

    def _remember(self, shown: Shown) -> bool:
        """Note what a digest shows; False where the session was given one when it began.

        A host that runs two registrations of us (a plugin and its settings, or VS Code with what is another tool's
        too) asks twice; a context that was emptied is told again.
        """
        from perdure.hooks.sessions import opened

        with opened(self._place.home, self._occasion.host, self._session) as state:
            if state is None:
                return True
            if self._occasion.source == "clear":
                state.shown = []
            told = _DIGEST in state.shown and self._occasion.source in ("", "startup", "new")
            _note(state, shown)
            if _DIGEST not in state.shown:
                state.shown.append(_DIGEST)
            return not told

    def _note_prompt(self) -> None:
        """Keep the prompt until the turn ends, when there is time to read it.

        Where the host writes a transcript, only for a question at the turn's end, which the transcript lags behind.
        """
        from perdure.hooks.sessions import opened

        if (self._occasion.transcript and not self._place.nudges) or not self._occasion.prompt:
            return
        with opened(self._place.home, self._occasion.host, self._session) as state:
            if state is not None:
                state.said.append(self._occasion.prompt[:PROMPT_CHARS_MAX])

    def _capture(self, *, asks: bool = False) -> list[list[Any]]:
        """Store what is worth it; with ``asks``, the candidates to ask the model about, which then decides on them."""
        from perdure.hooks import spool
        from perdure.hooks.capture import SESSION_MAX, STRONG, candidates
        from perdure.hooks.fences import fingerprint
        from perdure.hooks.sessions import opened

        occasion = self._occasion
        with opened(self._place.home, occasion.host, self._session) as state:
            if state is None:
                return []  # the hook that holds it reads the same transcript
            path = os.path.expanduser(occasion.transcript)
            seen = state.offsets.get(fingerprint(path), 0)
            turns = self._turns(state)
            found = candidates(turns, frozenset(state.captured) | frozenset(state.hashes))
            fresh = [[c.score, c.text, c.type, c.role] for c in found]
            pool = _merged(state, fresh)
            last_chance = occasion.kind != STOP or occasion.host not in _HOSTS_WITH_END
            chosen = [item for item in pool if last_chance or item[0] >= STRONG]
            chosen = chosen[: max(0, SESSION_MAX - state.taken)]
            if chosen:
                spool.put(self._place.home, [self._memory(*item[1:]) for item in chosen])
                state.captured += [fingerprint(item[1]) for item in chosen]
                state.taken += len(chosen)
            state.pending = [item for item in pool if item not in chosen][:PENDING_MAX]
            if not asks:
                return []
            from perdure.hooks.nudge import saved_itself, unsure

            asked = [] if saved_itself(path, seen) else unsure(state.pending, fresh)
            state.pending = [item for item in state.pending if item not in asked]
            state.captured += [fingerprint(item[1]) for item in asked]
            return asked

    def _turns(self, state: Session) -> list[tuple[str, str]]:
        """What was said since the last look: of the transcript, and what the payload itself carries."""
        from perdure.hooks.fences import fingerprint
        from perdure.hooks.transcripts import turns_since
        from perdure.regular_file import NotRegular

        occasion = self._occasion
        turns: list[tuple[str, str]] = []
        path = os.path.expanduser(occasion.transcript)
        if path:
            mark = fingerprint(path)
            lags = occasion.kind == STOP and not occasion.answer
            while True:
                try:
                    more, state.offsets[mark] = turns_since(path, state.offsets.get(mark, 0), self._started + 0.9)
                    turns += more
                except NotRegular:
                    break
                except OSError:
                    pass  # not there yet, perhaps
                if not lags or any(role == "assistant" for role, _ in turns):
                    break
                if time.monotonic() > self._started + FLUSH_WAIT_S:
                    break
                time.sleep(FLUSH_POLL_S)
        if not turns or self._place.nudges:
            turns += [("user", text) for text in (*state.said, occasion.prompt) if text]
        state.said = []
        # the transcript lags behind the end of a turn
        turns += [("assistant", text) for text in (occasion.answer, occasion.summary) if text]
        return turns

    def _memory(self, text: str, type_: str, role: str) -> dict[str, object]:
        memory: dict[str, object] = {
            "content": text,
            "type": type_,
            "project": self._project.name,
            "tags": ["captured"],
            "origin": {"host": self._occasion.host, "agent": role, "session": self._occasion.session[:200]},
        }
        if role == "assistant":
            memory["confidence"] = ASSISTANT_CONFIDENCE
        return memory

    def _sync_files(self) -> None:
        from perdure.hooks import spool
        from perdure.hooks.memory_files import memories_of, relative_name, text_of

        occasion = self._occasion
        for path in occasion.paths:
            name = relative_name(path)
            if not name:
                continue
            try:
                text = text_of(os.path.join(occasion.cwd, path), name)
            except (OSError, ValueError):
                continue
            memories = memories_of(
                path, name, text, project=self._project.name, host=occasion.host, session=occasion.session
            )
            if memories:
                spool.put(self._place.home, memories)

    def _gateway(self) -> Gateway:
        from perdure.hooks.gateway import Gateway

        return Gateway(self._place, self._started + ANSWER_BUDGET_S)


def _note(state: Session, shown: Shown) -> None:
    state.shown += [name for name in shown.ids if name not in state.shown]
    state.hashes += [mark for mark in shown.hashes if mark not in state.hashes]


def _merged(state: Session, found: list[list[Any]]) -> list[list[Any]]:
    """Pending and new candidates, best first, each once, without what was captured or shown."""
    from perdure.hooks.fences import fingerprint

    known = set(state.captured) | set(state.hashes)
    kept: list[list[Any]] = []
    for item in sorted([*state.pending, *found], key=lambda entry: -entry[0]):
        mark = fingerprint(item[1])
        if mark not in known:
            known.add(mark)
            kept.append(item)
    return kept


def _payload() -> dict[str, object]:
    """What the host wrote; nothing for a terminal or for what is no JSON object."""
    if sys.stdin is None or os.isatty(0):
        return {}
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(0, 1 << 20):
        pieces.append(piece)
        size += len(piece)
        if size > PAYLOAD_BYTES_MAX:
            return {}
    text = b"".join(pieces).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    value = json_text.read(text or "{}")
    return value if isinstance(value, dict) else {}


def _write(data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(1, rest) :]


def _end_after(seconds: float) -> None:
    time.sleep(seconds)
    os._exit(0)


def main() -> int:
    """Serve one event. Returns 0, or ends the process with 0."""
    if sys.argv[1:2] in (["-h"], ["--help"]):
        sys.stdout.write(_USAGE)
        return 0
    started = time.monotonic()
    # a bare thread, because `threading` takes as long to import as everything here; it outlives a blocked look-up
    _thread.start_new_thread(_end_after, (BUDGET_S,))
    try:
        host, event = arguments(sys.argv[1:])
        environment = {**os.environ, **settings_in(sys.argv[1:])}
        answer, work = respond(Occasion(host, event, _payload(), environment), environment, started)
        if answer:
            _write(answer)
        if work is not None:
            work.afterwards()
    except BaseException:  # noqa: S110 - fails open by contract: a hook must never disturb its host
        pass
    os._exit(0)  # not a return: neither the watch nor the interpreter's own end may hold the host


if __name__ == "__main__":
    sys.exit(main())
