"""What ``perdure up`` does before and after it starts the processes: home, port, Procfile, waiting for readiness.

Knows the settings; knows no command line.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from perdure import settings as settings_module
from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.gateway.policy import Policy, UnsafeSettings
from perdure.settings import Settings

READY_POLL_S = 0.1
READY_WAIT_S = 180.0
"""A first start writes the store and loads the model from a cold disk."""


def load_settings() -> Settings:
    """The settings.

    Raises:
        Failure: a value is malformed; the sentence names the variable.
    """
    try:
        return settings_module.load()
    except ValidationError as error:
        first = error.errors()[0]
        name = "PERDURE_" + "_".join(str(part) for part in first["loc"]).upper().removeprefix("PERDURE_")
        raise Failure(f"{name} is not usable: {first['msg']}.", Exit.USAGE) from error


def procfile() -> Path:
    """The Procfile that came with this installation.

    Raises:
        Failure: it is not there.
    """
    package = Path(__file__).parent
    # an installed wheel carries it beside this module; a checkout has it at its root
    for path in (package / "Procfile", package.parents[2] / "Procfile"):
        if path.is_file():
            return path
    raise Failure("This installation has no Procfile; install Perdure anew.")


def prepare_home(settings: Settings) -> list[str]:
    """Make the home and its folders, for this user only.

    Returns:
        Remarks for the person.

    Raises:
        Failure: a folder cannot be made or belongs to somebody else.
    """
    remarks = []
    for folder in (settings.home, settings.run_dir, settings.log_dir):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = folder.lstat()
        except OSError as error:
            raise Failure(f"{folder} cannot be used: {error.strerror}. Set PERDURE_HOME to another folder.") from error
        if not stat.S_ISDIR(status.st_mode) and not folder.is_dir():
            raise Failure(f"{folder} is not a folder. Set PERDURE_HOME to another one.")
        owner = folder.stat()
        if owner.st_uid != os.getuid() or (stat.S_ISLNK(status.st_mode) and folder == settings.run_dir):
            raise Failure(f"{folder} belongs to somebody else, so memories are not safe there. Set PERDURE_HOME.")
        if stat.S_IMODE(owner.st_mode) & 0o077:
            folder.chmod(0o700)
            remarks.append(f"{folder} could be used by others; it is yours alone now.")
    return remarks


def check_port(settings: Settings) -> None:
    """Make sure that the gateway can listen, and would not refuse its settings.

    Raises:
        Failure: another program listens there, or the address is not this machine's.
    """
    if settings.port == 0:
        raise Failure("PERDURE_PORT must be a number from 1 to 65535.", Exit.USAGE)
    try:
        Policy.of(settings)
    except UnsafeSettings as error:
        raise Failure(str(error), Exit.USAGE) from error
    family = socket.AF_INET6 if ":" in settings.bind else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # as the gateway does: a port that was closed a moment ago is free
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.bind, settings.port))
        except OSError as error:
            who = "another Perdure" if _is_perdure(settings) else "another program"
            if error.errno is not None and "in use" in (error.strerror or "").lower():
                raise Failure(
                    f"Port {settings.port} is taken by {who}. Stop it, or set PERDURE_PORT to a free port.", Exit.ERROR
                ) from error
            raise Failure(
                f"{settings.bind}:{settings.port} cannot be listened on: {error.strerror}. "
                "Check PERDURE_BIND and PERDURE_PORT."
            ) from error


def _is_perdure(settings: Settings) -> bool:
    status, _body = Gateway(local_place(settings), timeout_s=1.0).probe("/healthz", timeout_s=1.0)
    return status == 200


def local_url(settings: Settings) -> str:
    """Where the gateway that ``up`` starts is reached from this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.bind, settings.bind)  # noqa: S104 - compared, not bound
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"http://{host}:{settings.port}"


def local_place(settings: Settings) -> Place:
    """The gateway that ``up`` starts, even where PERDURE_URL points commands somewhere else."""
    place = Place({**os.environ, "PERDURE_URL": local_url(settings)})
    place.chosen = False
    return place


def child_environment(settings: Settings, *, on_terminal: bool) -> dict[str, str]:
    """The environment of the started processes."""
    environment = {**os.environ, "PERDURE_HOME": str(settings.home), "PYTHONUNBUFFERED": "1"}
    if settings.log_format == "auto" and on_terminal:
        environment["PERDURE_LOG_FORMAT"] = "console"
    # they run in the home, so that no module of a project shadows theirs; paths relative to this folder stay true
    for name in ("PYTHONPATH", "PERDURE_EMBEDDING_ONNX_DIR"):
        if given := os.environ.get(name):
            environment[name] = os.pathsep.join(str(Path(part).absolute()) for part in given.split(os.pathsep))
    # the folder of this Python first, so that `python` and our scripts mean this installation
    environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    return environment


def wait_ready(
    place: Place, *, stop: Callable[[], bool], seen: Callable[[int, Any], None], wait_s: float = READY_WAIT_S
) -> bool:
    """Ask ``/readyz`` until it says yes.

    Args:
        place: The gateway.
        stop: Ends the waiting when it says yes.
        seen: Told status and body of each answer that was no.
        wait_s: Longest wait.

    Returns:
        Whether the gateway is ready.
    """
    gateway = Gateway(place, timeout_s=5.0)
    deadline = time.monotonic() + wait_s
    while time.monotonic() < deadline and not stop():
        status, body = gateway.probe("/readyz")
        if status == 200:
            return True
        seen(status, body)
        time.sleep(READY_POLL_S)
    return False


def memories_count(place: Place) -> int | None:
    """How many active memories the caller's namespace has, or None where the gateway does not say."""
    try:
        answer = Gateway(place, timeout_s=5.0).get("/memories/stats")
    except Failure:
        return None
    count = answer.get("active") if isinstance(answer, dict) else None
    return count if isinstance(count, int) else None
