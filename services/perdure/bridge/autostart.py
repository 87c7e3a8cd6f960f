"""Starting the local services when nothing answers, once however many bridges ask.

Knows ``perdure up --detach`` and a lock in ``$PERDURE_HOME/run``. Refuses to install, download or repair anything,
and to stop what it started: the services belong to the user, not to the host that happened to need them first.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import threading
import time
from pathlib import Path

from perdure.bridge.transport import Unreachable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from typing import IO, Any

    from perdure.bridge.target import Target
    from perdure.bridge.transport import Call, Transport

# Services that were seen running and then vanish are probably being restarted by the person who stopped them.
RESTART_GRACE_S = 4.0
# A start that led to nothing is not tried again by itself for this long.
COOL_DOWN_S = 30.0
# `perdure up` is ready in 8 s on a warm machine; a first start also writes its store and loads its model.
START_TIMEOUT_S = 60.0
_POLL_S = 0.1


class Starter:
    """Starts the local services and says how that went."""

    def __init__(self, target: Target, transport: Transport, log: Callable[[str], None]) -> None:
        """Start nothing yet."""
        self._target = target
        self._transport = transport
        self._log = log
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._last_attempt = -COOL_DOWN_S
        self._down_since: float | None = None
        self._seen_up = False
        self.failure: str | None = None

    def noticed_up(self) -> None:
        """The gateway answered."""
        self._seen_up = True
        self._down_since = None
        self.failure = None

    def noticed_down(self) -> None:
        """The gateway cannot be reached: start the services if that is ours to do and nobody is doing it."""
        now = time.monotonic()
        if self._down_since is None:
            self._down_since = now
        if self._seen_up and now - self._down_since < RESTART_GRACE_S:
            return
        self._start(now, forced=False)

    def _start(self, now: float, *, forced: bool) -> None:
        with self._lock:
            running = self._thread is not None and self._thread.is_alive()
            cooling = not forced and now - self._last_attempt < COOL_DOWN_S
            if not self._target.autostart or running or cooling:
                return
            self._last_attempt = now
            self._thread = threading.Thread(target=self._run, args=(forced,), name="autostart", daemon=True)
            self._thread.start()

    def _run(self, forced: bool) -> None:
        try:
            with _start_lock(self._target.home) as stamp:
                if stamp is None:
                    return  # another bridge is at it
                if self.state()[0] != "unreachable" or (not forced and _recent(stamp)):
                    return
                _write_stamp(stamp)
                self._log("No memory service answers; starting the local ones.")
                self._watch(_spawn(self._target.home))
        except OSError as error:
            self.failure = f"The local services could not be started: {error.strerror or error}."
            self._log(self.failure)

    def _watch(self, child: subprocess.Popen[bytes]) -> None:
        """Hold the start lock until the gateway answers or the start has failed."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.state()[0] != "unreachable":
                return
            status = child.poll()
            if status not in (None, 0):
                self.failure = f"`perdure up` ended with status {status}{_last_line(self._target.home)}"
                self._log(self.failure)
                return
            time.sleep(_POLL_S)
        self.failure = "The local services were started but did not answer within a minute."
        self._log(self.failure)

    def state(self) -> tuple[str, str]:
        """What stands at the gateway's address, and a few words about it.

        Returns:
            ``ready``; ``starting`` with the names of what is not ready; ``foreign``: something answers, but not as
            Perdure does; ``unreachable`` with the reason.
        """
        try:
            status, body = self._transport.get("/readyz", timeout_s=2.0)
        except Unreachable as error:
            return "unreachable", str(error)
        if status == 200:
            return "ready", ""
        if status == 503:
            return "starting", _not_ready(body)
        return "foreign", f"HTTP {status}"

    def start_and_report(self, call: Call, timeout_s: float) -> tuple[str, bool]:
        """Start the services if needed and wait for them.

        Args:
            call: Ends the waiting early when it is cancelled.
            timeout_s: Longest wait.

        Returns:
            A sentence for the person or the model, and whether memory is ready.
        """
        where = self._target.url
        state, detail = self.state()
        if state == "ready":
            return f"Perdure is running at {where}. Memory is ready.", True
        if not self._target.autostart:
            return self._report_only(state, detail)
        if state == "unreachable":
            self.failure = None
            self._start(time.monotonic(), forced=True)
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline and not call.pause(_POLL_S):
            state, detail = self.state()
            if state == "ready":
                return f"The Perdure services are started at {where}. Memory is ready.", True
            if self.failure is not None:
                return f"{self.failure} Run `perdure doctor` in a terminal to see what is wrong.", False
        if state == "foreign":
            return f"Something else than Perdure answers at {where} ({detail}). Set PERDURE_PORT to a free port.", False
        missing = f" Not ready yet: {detail}." if detail else ""
        return (
            f"The Perdure services are starting at {where} but are not ready yet.{missing} Try again in a moment.",
            False,
        )

    def _report_only(self, state: str, detail: str) -> tuple[str, bool]:
        where = self._target.url
        why = "PERDURE_URL, PERDURE_TOKEN or PERDURE_AUTOSTART says that they are not the bridge's to start"
        match state:
            case "starting":
                return (
                    f"Perdure answers at {where} but is not ready yet.{f' Missing: {detail}.' if detail else ''}",
                    False,
                )
            case "foreign":
                return f"Something answers at {where}, but not as Perdure does ({detail}). Check PERDURE_URL.", False
            case _:
                return (
                    f"Perdure cannot be reached at {where} ({detail}), and {why}. Start it, or correct the setting.",
                    False,
                )


@contextlib.contextmanager
def _start_lock(home: Path) -> Iterator[IO[str] | None]:
    """The open lock file while this process alone may start the services, or None if another one holds it."""
    run = home / "run"
    for directory in (home, run):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(run / "bridge-start.lock", os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+", encoding="ascii") as file:
        try:
            _lock_now(file)
        except OSError:
            yield None
            return
        yield file  # closing the file releases the lock


def _lock_now(file: IO[str]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _recent(stamp: IO[str]) -> bool:
    """Whether another bridge began a start within the cool-down, by the wall clock: the stamp outlives its process."""
    with contextlib.suppress(ValueError):
        return 0 <= time.time() - float(stamp.read(64) or "nan") < COOL_DOWN_S
    return False


def _write_stamp(stamp: IO[str]) -> None:
    stamp.seek(0)
    stamp.truncate()
    stamp.write(f"{time.time():.3f}")
    stamp.flush()


def _log_file(home: Path) -> Path:
    return home / "logs" / "bridge-start.log"


def _command() -> list[str]:
    """The command line that starts the services.

    The script beside this interpreter, else the module beside this package. A bridge that came alone, in a desktop
    extension, looks where people install commands: its host may have been started without a shell's ``PATH``.

    Raises:
        FileNotFoundError: the services are not installed here.
    """
    name = "perdure.exe" if sys.platform == "win32" else "perdure"
    script = Path(sys.executable).with_name(name)
    if script.is_file() and os.access(script, os.X_OK):
        return [str(script), "up", "--detach"]
    if Path(__file__).parents[1].joinpath("cli").is_dir():
        return [sys.executable, "-m", "perdure.cli.main", "up", "--detach"]
    import shutil  # of use here only

    usual = (Path.home() / ".local" / "bin", Path("/usr/local/bin"), Path("/opt/homebrew/bin"))
    found = shutil.which("perdure", path=os.pathsep.join([os.environ.get("PATH", ""), *map(str, usual)]))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, "they are not installed here; no command `perdure` was found")
    return [found, "up", "--detach"]


def _spawn(home: Path) -> subprocess.Popen[bytes]:
    """Run the start command without terminal or pipe of ours, in a session of its own, so that it outlives the host."""
    import subprocess  # costs 15 ms that only a start need pay

    log = _log_file(home)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    options: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    try:
        # S603: the command is this installation's own, with constant arguments.
        return subprocess.Popen(  # noqa: S603
            _command(), stdin=subprocess.DEVNULL, stdout=descriptor, stderr=descriptor, close_fds=True, **options
        )
    finally:
        os.close(descriptor)


def _last_line(home: Path) -> str:
    """The last thing the start command said, as the end of a sentence."""
    with contextlib.suppress(OSError):
        lines = _log_file(home).read_text(encoding="utf-8", errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        if said:
            return f": {said[-1][:300]}"
    return "."


def _not_ready(body: bytes) -> str:
    """Names of the dependencies that a 503 of ``/readyz`` reports, sorted; empty if it does not say."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return ""
    found: dict[str, Any] = {}
    for part in (value, *(value.values() if isinstance(value, dict) else ())):
        if isinstance(part, dict):
            found |= {name: state for name, state in part.items() if isinstance(state, str | bool | dict)}
    good = {"ok", "ready", "up", "serving"}
    bad = []
    for name, state in found.items():
        said = state.get("status") if isinstance(state, dict) else state
        if said is False or (isinstance(state, dict) and isinstance(said, str) and said.lower() not in good):
            bad.append(name)
    return ", ".join(sorted(bad))
