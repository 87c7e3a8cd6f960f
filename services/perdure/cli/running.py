"""Which services of a home are running: the lock, the state file, and whether a pid is still the process it names.

A pid alone proves nothing, since it is given out again; a pid with the time of its birth does. Knows no commands.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO

LOCK_NAME = "up.lock"
STATE_NAME = "processes.json"
STOP_WAIT_S = 8.0
_POLL_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningProcess:
    """One supervised process; ``pid`` None while it is not running, ``since`` seconds since the epoch."""

    pid: int | None
    born: str
    since: float
    restarts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a supervisor says about itself and its processes."""

    pid: int
    born: str
    since: float
    url: str
    detached: bool
    processes: Mapping[str, RunningProcess] = field(default_factory=dict)

    def with_processes(self, processes: Mapping[str, RunningProcess]) -> Run:
        """The same supervisor with these processes."""
        return replace(self, processes=dict(processes))


def birth(pid: int) -> str:
    """When the process was born, in the system's own words; empty where there is no such process.

    Together with the pid it names a process for good: on Linux the boot and the clock ticks since it, elsewhere what
    ``ps`` calls ``lstart``.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "" if sys.platform.startswith("linux") else _birth_by_ps(pid)
    # the name in brackets may hold anything, so count from behind it; field 3 is the state, 22 the start
    fields = stat.rpartition(")")[2].split()
    if not fields or fields[0] == "Z":
        return ""
    boot = ""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot}/{fields[19]}"


def _birth_by_ps(pid: int) -> str:
    import subprocess

    answer = subprocess.run(  # noqa: S603 - constant command and a number
        ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return answer.stdout.strip()


def resident_bytes(pid: int) -> int | None:
    """Resident memory of a process and of those in its group, in bytes; None where the system does not tell.

    Pages that forked processes share are counted once for each.
    """
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            # counted from behind the name: 2 is the process group, 21 the resident pages
            if int(fields[2]) == pid:
                total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return total or None


def alive(pid: int | None, born: str) -> bool:
    """Whether the process that was born then under this pid still runs."""
    return pid is not None and pid > 1 and bool(born) and birth(pid) == born


def write_run(path: Path, run: Run) -> None:
    """Write the state file in one step, for this user only."""
    temporary = path.with_suffix(".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    state = asdict(run)
    for process in state["processes"].values():
        process["running"] = process["pid"] is not None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(state, file)
    temporary.replace(path)


def read_run(path: Path) -> Run | None:
    """What the state file says, dead or alive; None where there is none that can be read."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        processes = {
            str(name): RunningProcess(
                pid=int(entry["pid"]) if entry["pid"] is not None else None,
                born=str(entry["born"]),
                since=float(entry["since"]),
                restarts=int(entry["restarts"]),
            )
            for name, entry in value["processes"].items()
        }
        return Run(
            pid=int(value["pid"]),
            born=str(value["born"]),
            since=float(value["since"]),
            url=str(value["url"]),
            detached=bool(value["detached"]),
            processes=processes,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def living_run(run_dir: Path) -> Run | None:
    """The run whose supervisor is alive, or None."""
    run = read_run(run_dir / STATE_NAME)
    return run if run is not None and alive(run.pid, run.born) else None


def leftovers(run_dir: Path) -> dict[str, RunningProcess]:
    """Processes of a supervisor that died without stopping them, by name."""
    run = read_run(run_dir / STATE_NAME)
    if run is None or alive(run.pid, run.born):
        return {}
    return {name: process for name, process in run.processes.items() if alive(process.pid, process.born)}


def stop_leftovers(run_dir: Path, *, wait_s: float = STOP_WAIT_S) -> list[str]:
    """End what a dead supervisor left running, politely at first, and forget its state file.

    Returns:
        The names of the processes that were ended.
    """
    left = leftovers(run_dir)
    for number, patience_s in ((signal.SIGTERM, wait_s), (signal.SIGKILL, wait_s)):
        for process in left.values():
            _signal_group(process, number)
        deadline = time.monotonic() + patience_s
        while any(alive(process.pid, process.born) for process in left.values()) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
    run = read_run(run_dir / STATE_NAME)
    if run is None or not alive(run.pid, run.born):
        (run_dir / STATE_NAME).unlink(missing_ok=True)
    return sorted(left)


def _signal_group(process: RunningProcess, number: signal.Signals) -> None:
    if process.pid is None or not alive(process.pid, process.born):
        return
    with contextlib.suppress(OSError):
        # each leads a group of its own; anything else is not ours to signal as a group
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, number)
        else:
            os.kill(process.pid, number)


class Lock:
    """Held by the one supervisor of a home, for as long as it lives; the system lets go of it when it dies."""

    def __init__(self, run_dir: Path) -> None:
        self._path = run_dir / LOCK_NAME
        self._file: IO[str] | None = None

    def take(self) -> bool:
        """Take it if it is free."""
        import fcntl

        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        file = os.fdopen(descriptor, "r+", encoding="ascii")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return False
        self._file = file
        return True

    def release(self) -> None:
        """Let go."""
        if self._file is not None:
            self._file.close()
            self._file = None


def held(run_dir: Path) -> bool:
    """Whether some supervisor holds the home's lock."""
    if not (run_dir / LOCK_NAME).exists():
        return False
    lock = Lock(run_dir)
    free = lock.take()
    lock.release()
    return not free
