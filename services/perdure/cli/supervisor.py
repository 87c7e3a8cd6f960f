"""Runs the Procfile's processes through honcho, and starts again what ends by itself.

honcho stops everything when one process ends; a memory that people rely on must not. So its loop is replaced by one
that restarts a process that ended, after a pause that grows while it keeps ending. A signal still stops all.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import queue
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from honcho.manager import Manager
from honcho.printer import Message, Printer

PAUSE_FIRST_S = 0.5
PAUSE_MAX_S = 15.0
STEADY_S = 30.0
"""A process that ran this long before it ended starts the pauses anew."""
KILL_AFTER_S = 8.0
_LINE = re.compile(r"^([A-Za-z0-9_-]+):\s*(.+)$")


def read_procfile(path: Path) -> dict[str, str]:
    """Commands by process name, in the file's order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {match[1]: match[2] for line in lines if (match := _LINE.match(line))}


def command_line(command: str) -> str:
    """``command`` with this very Python, replacing the shell that honcho starts it in."""
    words = shlex.split(command)
    if words and words[0] == "python":
        words[0] = sys.executable
    return "exec " + shlex.join(words)


class Tee:
    """Writes lines to the terminal and to a log file that is cut off at a size."""

    def __init__(self, terminal: TextIO | None, log: Path, *, limit_bytes: int = 20_000_000) -> None:
        self._terminal = terminal
        self._path = log
        self._limit = limit_bytes
        self._log = self._open()

    def _open(self) -> TextIO:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        return os.fdopen(descriptor, "a", encoding="utf-8", errors="replace")

    def isatty(self) -> bool:
        """Whether colours may be used."""
        return self._terminal is not None and self._terminal.isatty()

    def write(self, text: str) -> int:
        """Write to both; a terminal that went away is no reason to stop."""
        if self._terminal is not None:
            try:
                self._terminal.write(text)
            except (OSError, ValueError):
                self._terminal = None
        self._log.write(re.sub(r"\x1b\[[0-9;]*m", "", text))
        return len(text)

    def flush(self) -> None:
        """Flush both, and start a new log file when this one is full; one old one is kept."""
        if self._terminal is not None:
            with contextlib.suppress(OSError, ValueError):
                self._terminal.flush()
        self._log.flush()
        if self._log.tell() > self._limit:
            self._log.close()
            self._path.replace(self._path.with_suffix(".log.1"))
            self._log = self._open()


@dataclass(slots=True)
class _Restart:
    """When a process that ended starts again, and how often it has."""

    started_at: float = 0.0
    due_at: float | None = None
    pause_s: float = PAUSE_FIRST_S
    count: int = 0


@dataclass(slots=True)
class _State:
    restarts: dict[str, _Restart] = field(default_factory=dict)
    stopping_since: float | None = None


class Supervisor(Manager):  # type: ignore[misc]  # honcho ships no types
    """honcho's manager with restarts and a state file."""

    def __init__(self, output: TextIO | Tee, state_file: Path, *, on_stop: Callable[[], None] | None = None) -> None:
        super().__init__(Printer(output))
        self._state_file = state_file
        self._on_stop = on_stop
        self._state = _State()

    def loop(self) -> None:
        """Run until SIGINT, SIGTERM or SIGHUP, then stop all; a second signal kills."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        for name in self._processes:
            self._launch(name)
        try:
            while not (self._state.stopping_since is not None and self._all_gone()):
                self._turn()
        finally:
            self._state_file.unlink(missing_ok=True)
            if self._on_stop is not None:
                self._on_stop()

    def say(self, text: str) -> None:
        """One line among the processes' own."""
        self._system_print(text + "\n")

    def _on_signal(self, number: int, _frame: Any) -> None:
        if self._state.stopping_since is not None:
            self.kill()
            return
        self.returncode = 0
        self._state.stopping_since = time.monotonic()
        self._state.restarts.clear()
        self.say(f"{signal.Signals(number).name} received, stopping")
        self.terminate()

    def _turn(self) -> None:
        try:
            message = self.events.get(timeout=0.1)
        except (queue.Empty, InterruptedError):
            message = None
        if message is not None:
            self._take(message)
        now = time.monotonic()
        stopping = self._state.stopping_since
        if stopping is None:
            for name, restart in self._state.restarts.items():
                if restart.due_at is not None and restart.due_at <= now:
                    restart.due_at = None
                    self._launch(name)
        elif now - stopping > KILL_AFTER_S:
            self.kill()

    def _take(self, message: Message) -> None:
        if message.type == "line":
            self._printer.write(message)
            return
        entry = self._processes[message.name]
        if message.type == "start":
            entry["pid"] = message.data["pid"]
            if self._state.stopping_since is not None:
                self._procmgr.terminate(entry["pid"])
        elif message.type == "stop":
            entry["returncode"] = message.data["returncode"]
            self._ended(message.name, message.data["returncode"])
        self._write_state()

    def _ended(self, name: str, returncode: int) -> None:
        if self._state.stopping_since is not None:
            return
        now = time.monotonic()
        restart = self._state.restarts[name]
        if now - restart.started_at > STEADY_S:
            restart.pause_s = PAUSE_FIRST_S
        restart.due_at = now + restart.pause_s
        restart.count += 1
        self.say(f"{name} ended (status {returncode}); starting it again in {restart.pause_s:g} s")
        restart.pause_s = min(2 * restart.pause_s, PAUSE_MAX_S)

    def _launch(self, name: str) -> None:
        entry = self._processes[name]
        entry.pop("pid", None)
        entry.pop("returncode", None)
        self._state.restarts.setdefault(name, _Restart()).started_at = time.monotonic()
        entry["process"] = multiprocessing.Process(name=name, target=entry["obj"].run, args=(self.events, True))
        entry["process"].start()

    def _killall(self, force: bool = False) -> None:
        for entry in self._processes.values():
            pid = entry.get("pid")
            if pid is not None and "returncode" not in entry:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    (self._procmgr.kill if force else self._procmgr.terminate)(pid)

    def _all_gone(self) -> bool:
        return all(
            entry.get("returncode") is not None or "process" not in entry or not entry["process"].is_alive()
            for entry in self._processes.values()
        )

    def _write_state(self) -> None:
        state = {
            "pid": os.getpid(),
            "processes": {
                name: {
                    "pid": entry.get("pid"),
                    "running": entry.get("pid") is not None and "returncode" not in entry,
                    "restarts": self._state.restarts[name].count if name in self._state.restarts else 0,
                }
                for name, entry in self._processes.items()
            },
        }
        temporary = self._state_file.with_suffix(".tmp")
        temporary.write_text(json.dumps(state), encoding="utf-8")
        temporary.replace(self._state_file)
