"""The closed table between Perdure's errors and gRPC statuses.

An error travels as its status and an ``ErrorInfo`` in trailing metadata. Whatever a peer sends, nothing outside
``perdure.errors`` is built from it. The cause of an internal error stays in the log of the process it happened in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Protocol

import grpc
from google.protobuf.message import DecodeError

from perdure.errors import (
    BY_CODE,
    Code,
    DeadlineExceeded,
    Detail,
    Internal,
    InvalidArgument,
    PerdureError,
    Reason,
    Unavailable,
)
from perdure.rpc.model.v1 import model_pb2
from perdure.wire.metadata import ERROR

STATUS: Mapping[Code, grpc.StatusCode] = {
    Code.INVALID_ARGUMENT: grpc.StatusCode.INVALID_ARGUMENT,
    Code.UNAUTHENTICATED: grpc.StatusCode.UNAUTHENTICATED,
    Code.PERMISSION_DENIED: grpc.StatusCode.PERMISSION_DENIED,
    Code.NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    Code.ALREADY_EXISTS: grpc.StatusCode.ALREADY_EXISTS,
    Code.CONFLICT: grpc.StatusCode.ABORTED,
    Code.FAILED_PRECONDITION: grpc.StatusCode.FAILED_PRECONDITION,
    Code.LIMIT_EXCEEDED: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Code.DEADLINE_EXCEEDED: grpc.StatusCode.DEADLINE_EXCEEDED,
    Code.UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    Code.DATA_CORRUPT: grpc.StatusCode.DATA_LOSS,
    Code.INTERNAL: grpc.StatusCode.INTERNAL,
}
_CODE = {status: code for code, status in STATUS.items()}

AWAY_RETRY_S = 1.0
"""Retry-After of a service that does not answer: a restart takes about as long."""

_WITHHELD = "Something went wrong inside Perdure; the log has the cause under the request id."
_MESSAGE_CHARS_MAX = 1000
_DETAILS_MAX = 32
_DETAIL_CHARS_MAX = 400
_RETRY_MS_MAX = 24 * 3600 * 1000

# tells gRPC's own retry policy to leave an answer of ours alone: only a peer that did not answer is asked again
_NO_RETRY = ("grpc-retry-pushback-ms", "-1")


class FailedCall(Protocol):
    """What sync and async gRPC errors have in common."""

    def code(self) -> grpc.StatusCode:
        """The status."""

    def details(self) -> str | None:
        """The status' text."""

    def trailing_metadata(self) -> Iterable[tuple[str, str | bytes]] | None:
        """Metadata that came with the status."""


def withheld(request_id: str) -> Internal:
    """The error a caller sees instead of an unexpected one."""
    return Internal(_WITHHELD, reason=Reason.UNEXPECTED, details={"request_id": request_id} if request_id else None)


def status_of(error: PerdureError) -> grpc.StatusCode:
    """The status ``error`` travels as."""
    return STATUS[error.code]


def trailers(error: PerdureError) -> tuple[tuple[str, str | bytes], ...]:
    """Trailing metadata that carries ``error``."""
    info = model_pb2.ErrorInfo(
        code=error.code,
        reason=error.reason,
        message=_sendable(error.message)[:_MESSAGE_CHARS_MAX],
        details={
            _sendable(name): json.dumps(value[:_DETAIL_CHARS_MAX] if isinstance(value, str) else value)
            for name, value in list(error.details.items())[:_DETAILS_MAX]
        },
    )
    if error.retry_after_s is not None:
        info.retry_after_ms = max(0, min(_RETRY_MS_MAX, math.ceil(error.retry_after_s * 1000)))
    carried: tuple[tuple[str, str | bytes], ...] = ((ERROR, info.SerializeToString()),)
    return (*carried, _NO_RETRY) if error.code is Code.UNAVAILABLE else carried


def from_call(failed: FailedCall) -> PerdureError:
    """The error that a failed call means to its caller.

    Returns:
        The peer's own error where it sent one that fits its status; else ``Unavailable`` (no answer, or cut off),
        ``DeadlineExceeded``, ``InvalidArgument`` (a message over the size limit) or ``Internal``.
    """
    status = failed.code()
    for key, value in failed.trailing_metadata() or ():
        if key == ERROR and isinstance(value, bytes):
            told = _told(value, status)
            if told is not None:
                return told
    match status:
        case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.CANCELLED:
            return Unavailable(
                "A service of Perdure does not answer; it may be starting.",
                reason=Reason.SERVICE_AWAY,
                retry_after_s=AWAY_RETRY_S,
            )
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return DeadlineExceeded("A service of Perdure did not answer in time.", reason=Reason.DEADLINE)
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            return InvalidArgument("The message is larger than the services accept.", reason=Reason.TOO_LARGE)
        case grpc.StatusCode.UNIMPLEMENTED:
            return Internal("The services are of different versions; restart them.", reason=Reason.UNEXPECTED)
        case _:
            return Internal(_WITHHELD, reason=Reason.UNEXPECTED)


def _told(data: bytes, status: grpc.StatusCode) -> PerdureError | None:
    """The error in ``data``, or None where it is not one or does not fit the status."""
    code = _CODE.get(status)
    try:
        info = model_pb2.ErrorInfo.FromString(data)
    except DecodeError:
        return None
    if code is None or info.code != code.value:
        return None
    try:
        reason = Reason(info.reason)
    except ValueError:
        reason = Reason.UNEXPECTED
    details: dict[str, Detail] = {}
    for name in sorted(info.details)[:_DETAILS_MAX]:
        value = _detail(info.details[name])
        if value is not None:
            details[name[:_DETAIL_CHARS_MAX]] = value
    retry_ms = info.retry_after_ms if info.HasField("retry_after_ms") else None
    return BY_CODE[code](
        info.message[:_MESSAGE_CHARS_MAX],
        reason=reason,
        details=details,
        retry_after_s=None if retry_ms is None else max(0, min(_RETRY_MS_MAX, retry_ms)) / 1000,
    )


def _detail(text: str) -> Detail | None:
    if len(text) > 8 * _DETAIL_CHARS_MAX:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str | int | float | bool) else None


def _sendable(text: str) -> str:
    """``text`` as UTF-8 can carry it."""
    return text.encode("utf-8", "replace").decode()
