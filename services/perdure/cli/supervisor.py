"""Runs the Procfile's processes through honcho, and starts again what ends by itself.

honcho stops everything when one process ends; a memory that people rely on must not. So its loop is replaced by one
that restarts a process that ended, after a pause that grows while it keeps ending. A signal still stops all. Each
process is watched by a thread instead of honcho's forked Python, which would double the number of processes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from honcho.manager import SYSTEM_PRINTER_NAME, Manager
from honcho.printer import Message, Printer
from honcho.process import Process

from perdure.cli.running import Run, RunningProcess, birth, write_run

PAUSE_FIRST_S = 0.5
PAUSE_MAX_S = 15.0
STEADY_S = 30.0
"""A process that ran this long before it ended starts the pauses anew."""
KILL_AFTER_S = 8.0
LATER_S = 6.0
"""Longest that processes nobody waits for leave the machine to the others. On two cores the start until ready took
8.5 to 11.7 s with all at once and 5.5 to 9.5 s without them (three runs each, one machine busy with other work)."""
DRAIN_S = 2.0
"""Longest wait for the last lines of a process that has ended."""
_LINE = re.compile(r"^([A-Za-z0-9_-]+):\s*(.+)$")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PR_SET_PDEATHSIG = 1


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
        return self._terminal is not None and self._terminal.isatty() and not os.environ.get("NO_COLOR")

    def write(self, text: str) -> int:
        """Write to both; a terminal that went away, or a full disk, is no reason to stop."""
        if self._terminal is not None:
            try:
                self._terminal.write(text)
            except (OSError, ValueError):
                self._terminal = None
        with contextlib.suppress(OSError):
            self._log.write(_COLOUR.sub("", text))
        return len(text)

    def flush(self) -> None:
        """Flush both, and start a new log file when this one is full; one old one is kept."""
        if self._terminal is not None:
            with contextlib.suppress(OSError, ValueError):
                self._terminal.flush()
        with contextlib.suppress(OSError):
            self._log.flush()
            if self._log.tell() > self._limit:
                self._log.close()
                self._path.replace(self._path.with_suffix(".log.1"))
                self._log = self._open()


def _tie_to_parent() -> Callable[[], None] | None:
    """For Linux: what makes a child receive SIGTERM when the supervisor dies without a word."""
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)

    return tie


class _Watched(Process):  # type: ignore[misc]  # honcho ships no types
    """honcho's process, run in a thread, whose end is seen even while its own children hold its output open."""

    def run(self, events: queue.Queue[Message], ignore_signals: bool = False) -> None:
        """Start it, pass its lines on, and say when it has ended with everything it started."""
        del ignore_signals  # signals reach the main thread only
        self._events = events
        options: dict[str, Any] = {"stdin": _devnull(), "preexec_fn": self.tie}
        self._child = self._child_ctor(self.cmd, env=self.env, cwd=self.cwd, **options)
        self._send_message({"pid": self._child.pid}, type="start")
        reader = threading.Thread(target=self._read, daemon=True)
        reader.start()
        self._child.wait()
        # what it left behind in its process group has no parent any more, and would hold sockets and output
        with contextlib.suppress(OSError):
            os.killpg(self._child.pid, signal.SIGKILL)
        reader.join(DRAIN_S)
        self._send_message({"returncode": self._child.returncode}, type="stop")

    tie: Callable[[], None] | None = None

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in iter(self._child.stdout.readline, b""):
                self._send_message(line)
            self._child.stdout.close()


def _devnull() -> int:
    import subprocess

    return subprocess.DEVNULL


@dataclass(slots=True)
class _Restart:
    """When a process that ended starts again, and how often it has."""

    started_at: float = 0.0
    since: float = 0.0
    due_at: float | None = None
    pause_s: float = PAUSE_FIRST_S
    count: int = 0


@dataclass(slots=True)
class _State:
    restarts: dict[str, _Restart] = field(default_factory=dict)
    signals: list[int] = field(default_factory=list)
    stopping_since: float | None = None
    told_last: bool = False
    killed: bool = False


class Supervisor(Manager):  # type: ignore[misc]  # honcho ships no types
    """honcho's manager with restarts and a state file.

    Args:
        output: Where lines go.
        run: What the state file says about this supervisor; ``processes`` is filled in here.
        state_file: Where it says so.
        stop_last: Processes that are stopped when all others have ended.
        start_late: Processes that are started on ``hurry``, or after ``LATER_S``.
    """

    def __init__(
        self,
        output: TextIO | Tee,
        run: Run,
        state_file: Path,
        *,
        stop_last: Sequence[str] = (),
        start_late: Sequence[str] = (),
    ) -> None:
        super().__init__(Printer(output))
        self.events: queue.Queue[Message] = queue.Queue()
        self._process_ctor = _Watched
        self._output = output
        self._run = run
        self._state_file = state_file
        self._stop_last = frozenset(stop_last)
        self._start_late = frozenset(start_late)
        self._state = _State()

    def loop(self) -> None:
        """Run until SIGINT, SIGTERM or SIGHUP, then stop all; a second signal kills."""
        _Watched.tie = staticmethod(tie) if (tie := _tie_to_parent()) else None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _frame: self._state.signals.append(number))
        self._write_state()
        for name in self._processes:
            if name in self._start_late:
                self._state.restarts[name] = _Restart(due_at=time.monotonic() + LATER_S)
            else:
                self._launch(name)
        try:
            while not (self._state.stopping_since is not None and self._ended_all(self._processes)):
                self._turn()
        finally:
            self._state_file.unlink(missing_ok=True)

    def announce(self, text: str) -> None:
        """One line without prefix among the processes' own; from any thread."""
        self.events.put(Message(type="notice", data=text, time=self._clock.now(), name="", colour=None))

    def hurry(self) -> None:
        """Start what was to start late; from any thread."""
        self.events.put(Message(type="hurry", data="", time=self._clock.now(), name="", colour=None))

    @property
    def stopping(self) -> bool:
        """Whether a signal to stop has been seen."""
        return self._state.stopping_since is not None

    def _say(self, text: str) -> None:
        self._printer.write(
            Message(type="line", data=text, time=self._clock.now(), name=SYSTEM_PRINTER_NAME, colour=None)
        )

    def _turn(self) -> None:
        with contextlib.suppress(queue.Empty):
            self._take(self.events.get(timeout=0.1))
        while self._state.signals:
            self._stop(self._state.signals.pop(0))
        if self._state.stopping_since is None:
            now = time.monotonic()
            for name, restart in self._state.restarts.items():
                if restart.due_at is not None and restart.due_at <= now:
                    restart.due_at = None
                    self._launch(name)
        else:
            self._go_on_stopping(self._state.stopping_since)

    def _stop(self, number: int) -> None:
        if self._state.stopping_since is not None:
            self._say("stopping at once")
            self._signal(self._processes, signal.SIGKILL)
            return
        self.returncode = 0
        self._state.stopping_since = time.monotonic()
        for restart in self._state.restarts.values():
            restart.due_at = None
        self._say(f"{signal.Signals(number).name} received, stopping")
        self._signal(self._first_to_stop(), signal.SIGTERM)

    def _go_on_stopping(self, since: float) -> None:
        if not self._state.told_last and self._ended_all(self._first_to_stop()):
            self._state.told_last = True
            self._signal(self._stop_last, signal.SIGTERM)
        if not self._state.killed and time.monotonic() - since > KILL_AFTER_S:
            self._state.killed = True
            self._signal(self._processes, signal.SIGKILL)

    def _first_to_stop(self) -> list[str]:
        return [name for name in self._processes if name not in self._stop_last]

    def _take(self, message: Message) -> None:
        if message.type == "line":
            self._printer.write(message)
            return
        if message.type == "notice":
            print(message.data, file=self._output, flush=True)
            return
        if message.type == "hurry":
            for name in self._start_late & self._state.restarts.keys():
                if "process" not in self._processes[name] and not self.stopping:
                    self._state.restarts[name].due_at = time.monotonic()
            return
        entry = self._processes[message.name]
        if message.type == "start":
            entry["pid"] = message.data["pid"]
            if self._state.stopping_since is not None:
                self._signal([message.name], signal.SIGTERM)
        elif message.type == "stop":
            entry["returncode"] = message.data["returncode"]
            self._restart_later(message.name, message.data["returncode"])
        self._write_state()

    def _restart_later(self, name: str, returncode: int) -> None:
        if self._state.stopping_since is not None:
            return
        now = time.monotonic()
        restart = self._state.restarts[name]
        if now - restart.started_at > STEADY_S:
            restart.pause_s = PAUSE_FIRST_S
        restart.due_at = now + restart.pause_s
        restart.count += 1
        self._say(f"{name} ended ({_how(returncode)}); starting it again in {restart.pause_s:g} s")
        restart.pause_s = min(2 * restart.pause_s, PAUSE_MAX_S)

    def _launch(self, name: str) -> None:
        entry = self._processes[name]
        entry.pop("pid", None)
        entry.pop("returncode", None)
        restart = self._state.restarts.setdefault(name, _Restart())
        restart.started_at, restart.since = time.monotonic(), time.time()
        entry["process"] = threading.Thread(name=name, target=self._watch, args=(name, entry["obj"]), daemon=True)
        entry["process"].start()

    def _watch(self, name: str, process: _Watched) -> None:
        try:
            process.run(self.events)
        except OSError as error:
            self.announce(f"{name} cannot be started: {error.strerror or error}")
            self.events.put(
                Message(type="stop", data={"returncode": 127}, time=self._clock.now(), name=name, colour=None)
            )

    def _signal(self, names: Sequence[str] | frozenset[str] | dict[str, Any], number: signal.Signals) -> None:
        for name in names:
            entry = self._processes.get(name, {})
            if entry.get("pid") is not None and "returncode" not in entry:
                with contextlib.suppress(OSError):
                    os.killpg(entry["pid"], number)

    def _ended_all(self, names: Sequence[str] | dict[str, Any]) -> bool:
        return all("process" not in (entry := self._processes[name]) or "returncode" in entry for name in names)

    def _write_state(self) -> None:
        processes = {}
        for name, entry in self._processes.items():
            restart = self._state.restarts.get(name, _Restart())
            pid = entry.get("pid") if "returncode" not in entry else None
            processes[name] = RunningProcess(
                pid=pid,
                born=self._birth(name, pid),
                since=restart.since,
                restarts=restart.count,
            )
        write_run(self._state_file, self._run.with_processes(processes))

    def _birth(self, name: str, pid: int | None) -> str:
        if pid is None:
            return ""
        entry = self._processes[name]
        if entry.get("born_of") != pid:
            entry["born_of"], entry["born"] = pid, birth(pid)
        return str(entry["born"])


def _how(returncode: int) -> str:
    if returncode >= 0:
        return f"status {returncode}"
    with contextlib.suppress(ValueError):
        return f"by {signal.Signals(-returncode).name}"
    return f"by signal {-returncode}"
