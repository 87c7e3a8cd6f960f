"""A private running Perdure: its own home, port and processes, started and stopped like a user does.

Everything goes through the public surface: ``perdure up`` starts it, HTTP talks to it, signals hurt it.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
READY_S = 60.0


def free_port() -> int:
    """A TCP port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], Any], *, within_s: float = 30.0, what: str = "the condition") -> Any:
    """The first true value of ``condition``, asked every 50 ms.

    Raises:
        AssertionError: it stayed false for ``within_s``.
    """
    deadline = time.monotonic() + within_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true within {within_s:g} s")
        time.sleep(0.05)


@dataclass
class Answer:
    """An HTTP answer: status, headers in lower case, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass
class Stack:
    """A running Perdure of its own."""

    home: Path
    port: int
    env: dict[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None
    holdable: bool = False
    """Whether processes can be kept down by ``hold``; the Procfile is then made from the real one."""
    without: tuple[str, ...] = ()
    """Processes of the Procfile that are not run at all."""

    @property
    def url(self) -> str:
        """Where the gateway listens."""
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """The environment of every process of this stack and of its clients."""
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PERDURE_")}
        return clean | {
            "PERDURE_HOME": str(self.home),
            "PERDURE_PORT": str(self.port),
            "PYTHONPATH": str(ROOT / "services"),
            **self.env,
        }

    def start(self, *, within_s: float = READY_S) -> Stack:
        """Start all processes and wait until the gateway says that everything is ready."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = (self.home / "up.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "perdure.cli.main", "up", *self._procfile()],
            env=self.environment(),
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()
        self.wait_ready(within_s=within_s)
        # worker and beat start when the others are ready
        wait_until(lambda: len(self.pids()) == len(self.processes()), within_s=within_s, what="every process")
        return self

    def _procfile(self) -> list[str]:
        if not self.holdable and not self.without:
            return []
        lines = []
        for line in (ROOT / "Procfile").read_text("utf-8").splitlines():
            name, _, command = line.partition(": ")
            if name in self.without:
                continue
            if self.holdable:
                waiting = f"while [ -e {self._held(name)} ]; do sleep 0.1; done; exec {command}"
                command = f"sh -c {shlex.quote(waiting)}"
            lines.append(f"{name}: {command}\n")
        path = self.home / "Procfile"
        path.write_text("".join(lines), "utf-8")
        return ["--procfile", str(path)]

    def _held(self, name: str) -> Path:
        return self.home / f"{name}.held"

    def hold(self, *names: str) -> None:
        """kill -9 the named processes and keep them down until ``release``."""
        for name in names:
            self._held(name).touch()
        before = {name: self.pids().get(name) for name in names}
        self.kill(*(name for name, pid in before.items() if pid))
        for name, pid in before.items():
            wait_until(lambda name=name, pid=pid: self.pids().get(name) != pid, what=f"the end of {name}")  # type: ignore[misc]

    def release(self, *names: str) -> None:
        """Let the named processes run again; they are up some time after this."""
        for name in names:
            self._held(name).unlink(missing_ok=True)

    def wait_ready(self, *, within_s: float = READY_S) -> None:
        """Wait until /readyz is 200, for what is run."""
        needed = [name for name in ("embedding", "retrieval", "maintenance") if name not in self.without]
        path = "/readyz" + ("?" + "&".join(f"need={name}" for name in needed) if self.without else "")

        def ready() -> bool:
            assert self.process is None or self.process.poll() is None, self.log_tail()
            with contextlib.suppress(OSError, http.client.HTTPException):
                return self.call("GET", path, timeout_s=5).status == 200
            return False

        try:
            wait_until(ready, within_s=within_s, what="the stack")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log_tail()}") from None

    def log_tail(self, lines: int = 60) -> str:
        """The end of what the processes wrote."""
        path = self.home / "up.log"
        return "\n".join(path.read_text("utf-8", "replace").splitlines()[-lines:]) if path.exists() else ""

    def processes(self) -> dict[str, dict[str, Any]]:
        """What the supervisor says of each process, by name."""
        for folder in (self.home / "run", *Path(tempfile.gettempdir()).glob("perdure-*")):
            state = folder / "processes.json"
            if state.exists():
                data = json.loads(state.read_text("utf-8"))
                if self.process is None or data["pid"] == self.process.pid:
                    return dict(data["processes"])
        return {}

    def pids(self) -> dict[str, int]:
        """Process ids by name of those that run, as the supervisor knows them."""
        return {name: entry["pid"] for name, entry in self.processes().items() if entry["running"]}

    def kill(self, *names: str) -> None:
        """kill -9 the named processes (all but the supervisor when none is named), children of the worker too."""
        pids = self.pids()
        for name in names or pids:
            for pid in [*children(pids[name]), pids[name]]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """Stop everything; kill what does not go."""
        if self.process is None:
            return
        left = [pid for top in self.pids().values() for pid in [*children(top), top]]
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process = None

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = 30.0,
    ) -> Answer:
        """One HTTP request on a connection of its own; a dict or list body is sent as JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout_s)
        sent = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        elif isinstance(body, str):
            body = body.encode()
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def perdure(
        self, *arguments: str, stdin: str | None = None, timeout_s: float = 60.0
    ) -> subprocess.CompletedProcess[str]:
        """Run the command line against this stack."""
        return subprocess.run(
            [sys.executable, "-m", "perdure.cli.main", *arguments],
            env=self.environment(),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
            cwd="/",  # nobody's project
        )


def children(pid: int) -> list[int]:
    """Process ids below ``pid``, deepest last; empty where the system does not tell."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children") if Path(f"/proc/{pid}").exists() else ():
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                found += [int(child), *children(int(child))]
    return found


@contextlib.contextmanager
def running(*, holdable: bool = False, without: tuple[str, ...] = (), **env: str) -> Iterator[Stack]:
    """A stack that lives for the block; settings by their PERDURE_ names. The default provider is ``test``."""
    home = Path(tempfile.mkdtemp(prefix="pd-"))
    stack = Stack(
        home=home / "home",
        port=free_port(),
        env={"PERDURE_EMBEDDING_PROVIDER": "test", **env},
        holdable=holdable,
        without=without,
    )
    try:
        yield stack.start()
    finally:
        stack.stop()
        shutil.rmtree(home, ignore_errors=True)
