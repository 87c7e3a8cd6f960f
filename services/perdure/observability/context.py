"""Facts that follow a request or a job through one process: request id, namespace, job id, trace parent.

Knows names and ids; never texts, queries or secrets. They are written into every log line by ``logging`` and carried to
other processes in gRPC metadata and task headers.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from structlog import contextvars as bound_values

_ACCEPTED_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}\Z")
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}\Z")

_traceparent: ContextVar[str] = ContextVar("perdure_traceparent", default="")


def new_request_id() -> str:
    """A new request id: 16 hex digits."""
    return secrets.token_hex(8)


def accepted_request_id(text: str | None) -> str:
    """``text`` where it is a harmless id (1 to 64 of ``A-Z a-z 0-9 _ . : -``), else a new one."""
    return text if text and _ACCEPTED_ID.match(text) else new_request_id()


def clear() -> None:
    """Forgets everything bound in this thread or task; for the outermost code that serves a request."""
    bound_values.clear_contextvars()
    _traceparent.set("")


def request_id() -> str:
    """The id of the request being served, or empty outside of one."""
    value = bound_values.get_contextvars().get("request_id", "")
    return value if isinstance(value, str) else ""


def traceparent() -> str:
    """The W3C trace parent that came with the request, or empty."""
    return _traceparent.get()


@contextmanager
def bind(
    *, request_id: str | None = None, namespace: str | None = None, job_id: str | None = None, traceparent: str = ""
) -> Iterator[None]:
    """Binds the given facts to everything that runs inside the ``with`` block.

    Args:
        request_id: Id of the request.
        namespace: The namespace it is bound to.
        job_id: The job being run.
        traceparent: W3C trace parent of the caller; a malformed one is ignored.
    """
    given = {"request_id": request_id, "namespace": namespace, "job_id": job_id}
    before = bound_values.bind_contextvars(**{name: value for name, value in given.items() if value})
    trace = _traceparent.set(traceparent if _TRACEPARENT.match(traceparent) else _traceparent.get())
    try:
        yield
    finally:
        _traceparent.reset(trace)
        bound_values.reset_contextvars(**before)
