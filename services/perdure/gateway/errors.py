"""The taxonomy's errors as HTTP: status, headers and an ``application/problem+json`` body (RFC 9457).

The body never repeats what was sent; the cause of an internal error stays in the log under the request id.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import orjson
from starlette.responses import Response

from perdure.errors import Code, Internal, PerdureError, Reason

STATUS: Mapping[Code, int] = {
    Code.INVALID_ARGUMENT: 400,
    Code.UNAUTHENTICATED: 401,
    Code.PERMISSION_DENIED: 403,
    Code.NOT_FOUND: 404,
    Code.ALREADY_EXISTS: 409,
    Code.CONFLICT: 409,
    Code.FAILED_PRECONDITION: 409,
    Code.LIMIT_EXCEEDED: 429,
    Code.DEADLINE_EXCEEDED: 504,
    Code.UNAVAILABLE: 503,
    Code.DATA_CORRUPT: 500,
    Code.INTERNAL: 500,
}

STATUS_BY_REASON: Mapping[Reason, int] = {
    Reason.FIELD_INVALID: 422,
    Reason.FIELD_MISSING: 422,
    Reason.FIELD_UNKNOWN: 422,
    Reason.OUT_OF_RANGE: 422,
    Reason.SECRET_REFUSED: 422,
    Reason.TEXT_UNUSABLE: 422,
    Reason.CONTENT_TYPE: 415,
    Reason.HOST_REFUSED: 421,
}

TITLE: Mapping[int, str] = {
    400: "Bad request",
    401: "Not authenticated",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    406: "Not acceptable",
    409: "Conflict",
    413: "Too large",
    415: "Wrong content type",
    421: "Wrong host",
    422: "Invalid input",
    429: "Too many requests",
    500: "Internal error",
    503: "Unavailable",
    504: "Out of time",
}

RETRY_AFTER_DEFAULT_S = 1.0
"""For unavailable parts that do not say when to come back."""

CHALLENGE = 'Bearer realm="perdure"'
PROBLEM_JSON = "application/problem+json"


def status_of(error: PerdureError) -> int:
    """The HTTP status of ``error``."""
    if error.reason is Reason.TOO_LARGE:
        # one field that is too long is a matter of the input, a whole body of the transfer
        return 422 if "field" in error.details else 413
    return STATUS_BY_REASON.get(error.reason, STATUS[error.code])


def retry_after_s(error: PerdureError) -> float | None:
    """Seconds for Retry-After, or None where a retry will not help."""
    if error.retry_after_s is not None:
        return error.retry_after_s
    return RETRY_AFTER_DEFAULT_S if error.code in (Code.UNAVAILABLE, Code.LIMIT_EXCEEDED) else None


def sentence_of(error: PerdureError) -> str:
    """What people may read; of an internal error only that there was one."""
    if error.code in (Code.INTERNAL, Code.DATA_CORRUPT):
        return "Something went wrong inside Perdure. The log holds the cause under this request id."
    return error.message


def problem(
    status: int, *, code: str, reason: str, detail: str, request_id: str, extra: Mapping[str, object] | None = None
) -> dict[str, object]:
    """The members of a problem body; ``extra`` cannot replace the standard ones."""
    return {
        **(extra or {}),
        "type": f"urn:perdure:problem:{reason}",
        "title": TITLE.get(status, "Error"),
        "status": status,
        "detail": detail,
        "code": code,
        "reason": reason,
        "request_id": request_id,
    }


def problem_response(
    error: PerdureError, request_id: str, *, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """``error`` as a response; ``status`` where the situation has a finer one than the table."""
    code = status if status is not None else status_of(error)
    out = dict(headers or {})
    if code == 401:
        out.setdefault("WWW-Authenticate", challenge(error))
    wait = retry_after_s(error)
    extra: dict[str, object] = {}
    if error.code not in (Code.INTERNAL, Code.DATA_CORRUPT):
        extra.update(error.details)
    if wait is not None:
        out.setdefault("Retry-After", str(max(1, math.ceil(wait))))
        extra["retry_after_s"] = wait
    body = problem(
        code,
        code=error.code.value,
        reason=error.reason.value,
        detail=sentence_of(error),
        request_id=request_id,
        extra=extra,
    )
    return Response(orjson.dumps(body), code, out, PROBLEM_JSON)


def challenge(error: PerdureError) -> str:
    """The WWW-Authenticate header: a bare challenge, or what was wrong with the token."""
    if error.reason is Reason.TOKEN_MISSING:
        return CHALLENGE
    return f'{CHALLENGE}, error="invalid_token"'


def unexpected(request_id: str) -> Response:
    """The answer to a defect of ours."""
    return problem_response(Internal("unexpected"), request_id)
