"""``up``, ``down``, ``status``, ``logs``: the services of this home."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.overview import dependencies
from perdure.cli.place import Place
from perdure.cli.running import (
    STATE_NAME,
    Lock,
    Run,
    alive,
    birth,
    held,
    leftovers,
    living_run,
    resident_bytes,
    stop_leftovers,
)
from perdure.cli.terminal import clean, note, paint, say, say_json, table
from perdure.cli.words import json_option

LOG_NAME = "perdure.log"
START_LOG_NAME = "up.log"
LOCK_WAIT_S = 0.5
STOP_WAIT_S = 20.0
FAILING_RESTARTS = 4
LATE_WAIT_S = 2.0
_POLL_S = 0.05
BROKER = "broker"
START_LATE = ("worker", "beat")
"""Nobody waits for these two, and they take as much of the machine to start as all others."""


@click.command()
@click.option("-d", "--detach", is_flag=True, help="Run in the background and return when ready.")
@click.option("--in-background", is_flag=True, hidden=True)
@click.option("--procfile", "processes", type=click.Path(exists=True, dir_okay=False, path_type=Path), hidden=True)
def up_command(detach: bool, in_background: bool, processes: Path | None) -> int:
    """Run the services in the foreground; Ctrl-C stops them."""
    if os.name == "nt":
        raise Failure("`perdure up` needs Linux, macOS or WSL.")
    from perdure.cli.starting import load_settings, prepare_home, procfile

    settings = load_settings()
    for remark in prepare_home(settings):
        note(remark)
    if detach:
        return _up_detached(settings, processes or procfile())
    return _up(settings, processes or procfile(), in_background=in_background)


def _refuse_second(settings: Any) -> Failure:
    run = living_run(settings.run_dir)
    where = f" (pid {run.pid}) at {run.url}" if run else ""
    return Failure(f"Perdure is running already with this home{where}; see `perdure status`, stop it: perdure down")


def _up(settings: Any, file: Path, *, in_background: bool) -> int:
    from perdure.cli.starting import (
        check_port,
        child_environment,
        local_place,
        local_url,
        memories_count,
        wait_ready,
    )

    began = time.monotonic()
    lock = Lock(settings.run_dir)
    # somebody who only looks whether it is held has it for an instant
    while not lock.take():
        if time.monotonic() - began > LOCK_WAIT_S:
            raise _refuse_second(settings)
        time.sleep(_POLL_S)
    if ended := stop_leftovers(settings.run_dir):
        note(f"An earlier run had left {', '.join(ended)} behind; stopped.")
    check_port(settings)
    try:
        from perdure.cli.supervisor import Supervisor, Tee, command_line, read_procfile
    except ModuleNotFoundError as error:
        raise Failure(f"{error.name} is not installed; run: pip install 'perdure[local]'") from error

    processes = read_procfile(file)
    if not settings.owns_broker:
        processes.pop(BROKER, None)
    terminal = None if in_background else sys.stdout
    environment = child_environment(settings, on_terminal=terminal is not None and terminal.isatty())
    pid = os.getpid()
    run = Run(pid=pid, born=birth(pid), since=time.time(), url=local_url(settings), detached=in_background)
    supervisor = Supervisor(
        Tee(terminal, settings.log_dir / LOG_NAME),
        run,
        settings.run_dir / STATE_NAME,
        stop_last=(BROKER,),
        start_late=START_LATE,
    )
    for name, command in processes.items():
        supervisor.add_process(name, command_line(command), env=environment, cwd=str(settings.home))

    def tell_ready() -> None:
        place = local_place(settings)
        if wait_ready(place, stop=lambda: supervisor.stopping, seen=lambda _status, _body: None, wait_s=float("inf")):
            took_s = time.monotonic() - began
            supervisor.hurry()
            line = ready_line(place.url, memories_count(place), took_s, "Ctrl-C stops.")
            supervisor.announce(paint(line, bold=True))

    supervisor.announce(f"Starting {', '.join(processes)} with the home {settings.home}")
    threading.Thread(target=tell_ready, daemon=True).start()
    supervisor.loop()
    lock.release()
    if not in_background:
        # the terminal may be what went away
        with contextlib.suppress(OSError, ValueError):
            say("Perdure is stopped.")
    return Exit.OK


def ready_line(url: str, memories: int | None, took_s: float, step: str) -> str:
    """The one friendly line."""
    counted = "" if memories is None else f" ({memories} {'memory' if memories == 1 else 'memories'})"
    return f"Perdure is ready at {url}{counted} in {took_s:.1f} s; {step}"


def _up_detached(settings: Any, processes: Path) -> int:
    from perdure.cli.starting import READY_WAIT_S, check_port, local_place, memories_count, wait_ready

    began = time.monotonic()
    if held(settings.run_dir):
        raise _refuse_second(settings)
    if not leftovers(settings.run_dir):
        check_port(settings)
    log = settings.log_dir / START_LOG_NAME
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        child = subprocess.Popen(  # noqa: S603 - this very program; -P: not what lies in the folder it is called from
            [sys.executable, "-P", "-m", "perdure.cli", "up", "--in-background", "--procfile", str(processes)],
            stdin=subprocess.DEVNULL,
            stdout=descriptor,
            stderr=descriptor,
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    place = local_place(settings)
    with waiting_line() as show:

        def seen(status: int, body: Any) -> None:
            missing = [name for name, good, _text in dependencies(body) if not good] if status else ["gateway"]
            show(f"Starting Perdure, {time.monotonic() - began:.0f} s; waiting for {', '.join(missing) or 'readiness'}")

        def hopeless() -> bool:
            return child.poll() is not None or bool(_failing(settings.run_dir))

        try:
            ready = wait_ready(place, stop=hopeless, seen=seen, wait_s=READY_WAIT_S)
        except KeyboardInterrupt:
            note("The services go on starting in the background; `perdure down` stops them.")
            raise
    if child.poll() is not None:
        raise Failure(f"The services ended at once. {_last_words(log)}")
    if not ready:
        # they stay: whatever they wait for may come
        child.returncode = 0
        if failing := _failing(settings.run_dir):
            said = f"{' and '.join(failing)} keep ending" if len(failing) > 1 else f"{failing[0]} keeps ending"
            raise Failure(f"Perdure is not ready: {said}; see: perdure logs {failing[0]}, perdure doctor", Exit.AWAY)
        raise Failure(f"Perdure is not ready after {READY_WAIT_S:g} s; see: perdure status, perdure logs", Exit.AWAY)
    _wait_all_started(settings.run_dir)
    took_s = time.monotonic() - began
    say(ready_line(place.url, memories_count(place), took_s, "`perdure down` stops it."))
    # it lives on by itself; Popen would warn of a child that nobody waits for
    child.returncode = 0
    return Exit.OK


def _failing(run_dir: Path) -> list[str]:
    """Processes that ended so often that waiting for them is no use."""
    run = living_run(run_dir)
    return [name for name, process in run.processes.items() if process.restarts >= FAILING_RESTARTS] if run else []


def _wait_all_started(run_dir: Path) -> None:
    """Wait for the processes that start late; they are started the moment the others are ready."""
    deadline = time.monotonic() + LATE_WAIT_S
    while time.monotonic() < deadline:
        run = living_run(run_dir)
        if run is None or all(process.pid is not None for process in run.processes.values()):
            return
        time.sleep(_POLL_S)


@contextlib.contextmanager
def waiting_line() -> Iterator[Any]:
    """A line on stderr that is written over and goes away at the end; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _text: None
        return
    try:
        yield lambda text: (sys.stderr.write(f"\r\x1b[K{text}"), sys.stderr.flush())
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _last_words(log: Path) -> str:
    with contextlib.suppress(OSError):
        lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
        if said := [line for line in lines if line]:
            return clean(said[-1]).removeprefix("perdure: ")
    return f"See {log}"


@click.command()
@json_option
def down_command(as_json: bool) -> int:
    """Stop the services of this home, those left by a killed supervisor too."""
    from perdure.cli.starting import load_settings

    settings = load_settings()
    stopped: list[str] = []
    run = living_run(settings.run_dir)
    if run is not None:
        stopped = [name for name, process in run.processes.items() if process.pid is not None]
        _stop(run)
    if settings.run_dir.is_dir():
        stopped += stop_leftovers(settings.run_dir)
    if as_json:
        say_json({"stopped": stopped})
    elif stopped or run is not None:
        say(f"Perdure is stopped ({', '.join(stopped) or 'nothing was running yet'}).")
    else:
        say(f"Perdure is not running with the home {settings.home}.")
    return Exit.OK


def _stop(run: Run) -> None:
    with contextlib.suppress(OSError):
        os.kill(run.pid, signal.SIGTERM)
    began = time.monotonic()
    with waiting_line() as show:
        while alive(run.pid, run.born):
            waited_s = time.monotonic() - began
            if waited_s > STOP_WAIT_S:
                with contextlib.suppress(OSError):
                    os.kill(run.pid, signal.SIGKILL)
            show(f"Stopping Perdure, {waited_s:.0f} s")
            time.sleep(_POLL_S)


@click.command()
@json_option
def status_command(as_json: bool) -> int:
    """Show the services, their pids and readiness. Exit status 5: not running, or not ready."""
    from perdure.cli.starting import load_settings, local_place

    settings = load_settings()
    run = living_run(settings.run_dir)
    if run is None:
        left = leftovers(settings.run_dir)
        if as_json:
            say_json({"running": False, "home": str(settings.home), "left_behind": sorted(left)})
        else:
            say(f"Perdure is not running with the home {settings.home}. Start it: perdure up --detach")
            if left:
                say(f"A killed run left {', '.join(sorted(left))} behind; `perdure down` stops them.")
        return Exit.AWAY
    place = local_place(settings)
    place.url = run.url
    status, body = Gateway(place).probe("/readyz", timeout_s=5.0)
    parts = {name: (good, text) for name, good, text in dependencies(body)}
    parts["gateway"] = (status != 0, "")
    now = time.time()
    answer: dict[str, Any] = {
        "running": True,
        "ready": status == 200,
        "url": run.url,
        "home": str(settings.home),
        "pid": run.pid,
        "up_s": round(now - run.since),
        "processes": {
            name: {
                "pid": process.pid,
                "up_s": round(now - process.since) if process.pid is not None else None,
                "restarts": process.restarts,
                "resident_bytes": resident_bytes(process.pid) if process.pid is not None else None,
                "ready": parts[name][0] if name in parts else process.pid is not None,
            }
            for name, process in run.processes.items()
        },
    }
    if as_json:
        say_json(answer)
    else:
        _show_status(answer, parts)
    return Exit.OK if status == 200 else Exit.AWAY


def _show_status(answer: dict[str, Any], parts: dict[str, tuple[bool, str]]) -> None:
    state = paint("ready", fg="green") if answer["ready"] else paint("not ready", fg="yellow")
    say(f"Perdure at {answer['url']} is {state}; pid {answer['pid']}, up {duration(answer['up_s'])}")
    rows = []
    for name, process in answer["processes"].items():
        if process["pid"] is None:
            shown = "starting again" if process["restarts"] else "starting"
        else:
            shown = "ready" if process["ready"] else f"not ready {parts.get(name, (False, ''))[1]}".strip()
        up = duration(process["up_s"]) if process["up_s"] is not None else "-"
        memory = f"{process['resident_bytes'] / 1e6:.0f} MB" if process["resident_bytes"] else "-"
        rows.append((name, process["pid"] or "-", up, process["restarts"], memory, shown))
    table(("process", "pid", "up", "restarts", "memory", "state"), rows)


def duration(seconds: int) -> str:
    """A duration as people say it: ``42 s``, ``12 min``, ``3 h 5 min``, ``2 d 4 h``."""
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds} s"
    if minutes < 120:
        return f"{minutes} min"
    if hours < 48:
        return f"{hours} h {minutes % 60} min"
    return f"{days} d {hours % 24} h"


@click.command()
@click.argument("process", required=False)
@click.option("-n", "--lines", type=click.IntRange(0), default=50, show_default=True, help="How many last lines.")
@click.option("-f", "--follow", is_flag=True, help="Go on as more is written; Ctrl-C ends.")
def logs_command(process: str | None, lines: int, follow: bool) -> None:
    """Show what the services wrote, of one PROCESS or of all."""
    path = Place().home / "logs" / LOG_NAME
    if not path.is_file():
        raise Failure(f"There is no log in {path.parent} yet; start the services: perdure up --detach", Exit.NOT_FOUND)
    with path.open(encoding="utf-8", errors="replace") as file:
        names: set[str] = set()
        last: deque[str] = deque(maxlen=lines)
        for line in file:
            name = _writer(line)
            names.add(name)
            if process in (None, name):
                last.append(line)
        if process is not None and process not in names and not follow:
            known = ", ".join(sorted(name for name in names if name)) or "none"
            raise Failure(f"Nothing in the log is by {process!r}; there is: {known}", Exit.NOT_FOUND)
        for line in last:
            click.echo(clean(line.rstrip("\n")))
        if follow:
            _follow(path, file, process)


def _writer(line: str) -> str:
    """The process that wrote a line such as ``12:00:01 gateway | …``; empty where none is named."""
    words = line.partition("|")[0].split()
    return words[1] if len(words) == 2 else ""


def _follow(path: Path, file: Any, process: str | None) -> None:
    rest = ""
    while True:
        piece = file.readline()
        if not piece:
            with contextlib.suppress(OSError):
                if path.stat().st_ino != os.fstat(file.fileno()).st_ino:
                    # the log was cut off and begun anew
                    with path.open(encoding="utf-8", errors="replace") as anew:
                        _follow(path, anew, process)
                    return
            sys.stdout.flush()
            time.sleep(0.2)
            continue
        rest += piece
        if rest.endswith("\n"):
            if process in (None, _writer(rest)):
                click.echo(clean(rest.rstrip("\n")))
            rest = ""
