"""What is to be saved, on disk until the gateway has it.

Everything is written here first and deleted once the gateway has answered, so that a gateway that is away, or a host
that kills the hook, loses nothing. Each file carries the idempotency key of its request: sent again after a lost
answer, it is not carried out twice. One process drains at a time, in the order of writing, because the later edit of a
file must win.
"""

from __future__ import annotations

import os
import time

from perdure.hooks import json_text
from perdure.hooks.gateway import Away, Refused
from perdure.hooks.locking import digest_of, locked, make_private, remove, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from perdure.hooks.gateway import Gateway

FILES_MAX = 1000
"""Beyond it the oldest go: a machine whose gateway never comes back must not fill its disk."""
REJECTED_MAX = 20
_HOPELESS = frozenset({400, 409, 413, 415, 422})
"""Sent again, it would be refused again; 409: the key was used for another request."""
_PASSING = frozenset({"limit_exceeded", "deadline_exceeded", "unavailable", "conflict", "internal"})
_MIN_REQUEST_S = 0.05


def put(home: str, memories: list[dict[str, Any]]) -> str:
    """Keep a save of one or more memories until it is delivered; the path of its file."""
    directory = _directory(home)
    make_private(directory)
    _bound(directory)
    moment = time.time_ns()
    key = _key(memories, moment)
    path = os.path.join(directory, f"{moment:020d}-{key[:12]}.json")
    write_whole(path, _packed(key, memories))
    return path


def drain(home: str, gateway: Gateway, *, keep_s: float = 0.0) -> int:
    """Deliver what waits, oldest first, until it is all gone, the gateway fails or the time is up.

    Args:
        home: ``$PERDURE_HOME``.
        gateway: Where to; its budget bounds the whole drain.
        keep_s: Seconds of that budget to leave.

    Returns:
        How many files were delivered.
    """
    directory = _directory(home)
    if not _waiting(directory):
        return 0
    delivered = 0
    with locked(os.path.join(directory, ".lock")) as mine:
        if not mine:
            return 0
        for name in _waiting(directory):
            if gateway.seconds_left < keep_s + _MIN_REQUEST_S:
                break
            try:
                delivered += _deliver(os.path.join(directory, name), gateway)
            except (Away, Refused):
                break
    return delivered


def _deliver(path: str, gateway: Gateway) -> int:
    try:
        with open(path, "rb") as file:
            record = json_text.read(file.read())
        key, memories = str(record["key"]), list(record["memories"])
    except FileNotFoundError:
        return 0
    except (ValueError, KeyError, TypeError, RecursionError):
        _reject(path)
        return 0
    try:
        answer = gateway.post("/memories/batch", {"memories": memories}, key=key)
    except Refused as refusal:
        if refusal.status not in _HOPELESS:
            raise
        _reject(path)
        return 0
    again = _to_repeat(memories, answer)
    if again:
        write_whole(path, _packed(_key(again, time.time_ns()), again))
        raise Away("some memories could not be stored yet")
    os.unlink(path)
    return 1


def _to_repeat(memories: list[Any], answer: Any) -> list[Any]:
    """The memories that failed for a reason that passes."""
    results = answer.get("results") if isinstance(answer, dict) else None
    again = []
    for item in results if isinstance(results, list) else []:
        error, index = item.get("error"), item.get("index")
        if isinstance(error, dict) and error.get("code") in _PASSING and index in range(len(memories)):
            again.append(memories[index])
    return again


def _directory(home: str) -> str:
    return os.path.join(home, "spool")


def _waiting(directory: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(directory) if name.endswith(".json"))
    except OSError:
        return []


def _key(memories: list[Any], moment: int) -> str:
    return digest_of(f"{moment}{json_text.written(memories)}")


def _packed(key: str, memories: list[Any]) -> bytes:
    return json_text.written({"key": key, "memories": memories}).encode("ascii")


def _reject(path: str) -> None:
    """Set aside what the gateway will never take, for a person to look at; the newest few are kept."""
    try:  # noqa: SIM105 - contextlib takes as long to import as everything here
        os.replace(path, path.removesuffix(".json") + ".rejected")
    except OSError:
        pass
    directory = os.path.dirname(path)
    for name in sorted(name for name in os.listdir(directory) if name.endswith(".rejected"))[:-REJECTED_MAX]:
        remove(os.path.join(directory, name))


def _bound(directory: str) -> None:
    for name in _waiting(directory)[: -FILES_MAX + 1]:
        remove(os.path.join(directory, name))
