"""One way to log: structured lines on standard error.

An event is a constant ``noun.past_verb``; facts are keys with their unit in the name. Records of foreign libraries pass
the same processors under the event ``library.logged``. Memory text, queries, vectors and tokens never reach a line:
keys that could hold them are dropped, and messages of exceptions that quote their input are withheld.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Mapping, MutableMapping
from types import TracebackType
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "json", "console"]

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}

DROPPED_KEYS = frozenset(
    {
        "answer", "api_key", "authorization", "before", "body", "content", "draft", "drafts", "internal_token",
        "memory_text", "password", "problem", "q", "queries", "query", "secret", "solution", "statement", "summary",
        "task_summary", "text", "texts", "token", "vector", "vectors",
    }
)  # fmt: skip
"""Keys whose values could be what users said, or open a door."""

# their records quote URLs with queries (access logs) or say one line a call
_QUIET = {"uvicorn.access": logging.CRITICAL, "httpx": logging.WARNING, "httpcore": logging.WARNING,
          # its steps of starting and stopping; the gateway says the one that counts
          "uvicorn.error": logging.WARNING,
          "asyncio": logging.WARNING, "urllib3": logging.WARNING, "grpc": logging.WARNING,
          "httpx2": logging.WARNING, "httpcore2": logging.WARNING,
          # at debug these two write whole messages
          "mcp": logging.WARNING, "sse_starlette": logging.WARNING}  # fmt: skip

# exceptions whose messages name files, types and states, not the values that were passed in
_OUTSPOKEN = (OSError, ImportError, AttributeError, TypeError, NotImplementedError, AssertionError, MemoryError)
_OUTSPOKEN_MODULES = ("apsw", "grpc", "perdure", "celery", "kombu", "redis")


def configure_logging(*, level: str, fmt: str, process: str, stream: TextIO | None = None) -> None:
    """Sets up structlog and the standard library's logging for this process; again is harmless.

    Args:
        level: Lowest level written: debug, info, warning or error.
        fmt: ``json``, ``console``, or ``auto`` for JSON unless the stream is a terminal.
        process: Name of the process, written into every line.
        stream: Where lines go; standard error by default.
    """
    out = stream if stream is not None else sys.stderr
    console = fmt == "console" or (fmt == "auto" and out.isatty())
    renderer: Processor = (
        structlog.dev.ConsoleRenderer(colors=out.isatty()) if console else structlog.processors.JSONRenderer(_dumps)
    )
    about = _About(process)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        about,
        render_exception,
        redact,
    ]
    if console and not out.isatty():
        # for a person, by way of the supervisor, whose prefix names the process
        shared.append(_without_process)
    least = _LEVELS[level]
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_foreign, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
            keep_exc_info=False,
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(least)
    for name, quiet in _QUIET.items():
        logging.getLogger(name).setLevel(max(quiet, least))
    logging.captureWarnings(True)


def redact(_logger: object, _method: str, event: EventDict) -> EventDict:
    """``event`` without the keys that could hold what users said, at any depth."""
    for name in [name for name in event if name.lower() in DROPPED_KEYS]:
        del event[name]
    for name, value in event.items():
        if isinstance(value, Mapping | list | tuple):
            event[name] = _without(value)
    return event


def render_exception(_logger: object, _method: str, event: EventDict) -> EventDict:
    """``event`` with ``exc_info`` turned into text: frames and types, and only messages that cannot quote input."""
    info = event.pop("exc_info", None)
    if not info:
        return event
    error: BaseException | None
    match info:
        case BaseException():
            error = info
        case (_, BaseException() as found, _):
            error = found
        case _:
            error = sys.exc_info()[1]
    if error is not None:
        event["exception"] = describe_exception(error)
    return event


def describe_exception(error: BaseException) -> str:
    """Traceback of ``error`` and its causes as text; messages that could quote memory text are withheld."""
    parts: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        parts.append(_frames(current.__traceback__) + _headline(current))
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return "\n\nwhich came from:\n\n".join(parts)


def _frames(trace: TracebackType | None) -> str:
    return "".join(traceback.format_tb(trace, limit=-25))


def _headline(error: BaseException) -> str:
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    module = kind.__module__.partition(".")[0]
    # UnicodeError and friends are ValueErrors, whose messages quote their argument
    if isinstance(error, _OUTSPOKEN) or module in _OUTSPOKEN_MODULES:
        return f"{name}: {error}"
    return f"{name}: (message withheld)"


def _without(value: object) -> object:
    if isinstance(value, Mapping):
        return {name: _without(inner) for name, inner in value.items() if str(name).lower() not in DROPPED_KEYS}
    if isinstance(value, list | tuple):
        return [_without(inner) for inner in value]
    return value


def _foreign(_logger: object, _method: str, event: EventDict) -> EventDict:
    """A foreign record: its text is a fact, not the event's name."""
    record = event.get("_record")
    event["message"] = event.get("event", "")
    event["event"] = "library.logged"
    if isinstance(record, logging.LogRecord):
        event["logger"] = record.name
        if record.exc_info:
            event["exc_info"] = record.exc_info
    return event


class _About:
    """Adds the process's name and id; the id is read each time because the worker forks."""

    def __init__(self, process: str) -> None:
        self._process = process

    def __call__(self, _logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["process"] = self._process
        event["pid"] = os.getpid()
        return event


def _without_process(_logger: object, _method: str, event: EventDict) -> EventDict:
    event.pop("process", None)
    event.pop("pid", None)
    return event


def _dumps(event: EventDict, **_: object) -> str:
    return json.dumps(event, ensure_ascii=False, default=str, separators=(",", ":"))
