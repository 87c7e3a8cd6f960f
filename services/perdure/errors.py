"""The one error taxonomy of Perdure.

Knows what can go wrong, in words of the product; knows no transport. Tables elsewhere translate it:
``store/*`` (from SQLite), ``wire/errors.py`` (to and from gRPC), ``gateway/errors.py`` (to HTTP and MCP).
Source: docs/reference/errors.md.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

Detail = str | int | float | bool


class Code(enum.StrEnum):
    """Coarse class of an error: decides status, retry and audience."""

    INVALID_ARGUMENT = "invalid_argument"
    UNAUTHENTICATED = "unauthenticated"
    PERMISSION_DENIED = "permission_denied"
    NOT_FOUND = "not_found"
    ALREADY_EXISTS = "already_exists"
    CONFLICT = "conflict"
    FAILED_PRECONDITION = "failed_precondition"
    LIMIT_EXCEEDED = "limit_exceeded"
    DEADLINE_EXCEEDED = "deadline_exceeded"
    UNAVAILABLE = "unavailable"
    DATA_CORRUPT = "data_corrupt"
    INTERNAL = "internal"


class Reason(enum.StrEnum):
    """Fine reason within a code; stable, for programs to act on."""

    # invalid_argument
    FIELD_INVALID = "field_invalid"
    FIELD_MISSING = "field_missing"
    FIELD_UNKNOWN = "field_unknown"
    OUT_OF_RANGE = "out_of_range"
    TOO_LARGE = "too_large"
    BODY_MALFORMED = "body_malformed"
    CONTENT_TYPE = "content_type"
    CURSOR_INVALID = "cursor_invalid"
    SECRET_REFUSED = "secret_refused"  # noqa: S105 - a reason, not a secret
    TEXT_UNUSABLE = "text_unusable"
    VECTOR_INVALID = "vector_invalid"
    STEP_UNKNOWN = "step_unknown"
    SCHEMA_UNKNOWN = "schema_unknown"
    CONFIRM_MISSING = "confirm_missing"
    # unauthenticated, permission_denied
    TOKEN_MISSING = "token_missing"  # noqa: S105 - a reason, not a secret
    TOKEN_INVALID = "token_invalid"  # noqa: S105 - a reason, not a secret
    TOKEN_EXPIRED = "token_expired"  # noqa: S105 - a reason, not a secret
    TOKEN_REVOKED = "token_revoked"  # noqa: S105 - a reason, not a secret
    SCOPE_MISSING = "scope_missing"
    HOST_REFUSED = "host_refused"
    ORIGIN_REFUSED = "origin_refused"
    # not_found
    MEMORY_NOT_FOUND = "memory_not_found"
    NAMESPACE_NOT_FOUND = "namespace_not_found"
    TOKEN_NOT_FOUND = "token_not_found"  # noqa: S105 - a reason, not a secret
    JOB_NOT_FOUND = "job_not_found"
    ROUTE_NOT_FOUND = "route_not_found"
    EPISODE_NOT_FOUND = "episode_not_found"
    SKILL_NOT_FOUND = "skill_not_found"
    RUN_NOT_FOUND = "run_not_found"
    SCREENSHOT_NOT_FOUND = "screenshot_not_found"
    # already_exists, conflict
    NAMESPACE_EXISTS = "namespace_exists"
    KEY_TAKEN = "key_taken"
    REVISION_MOVED = "revision_moved"
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch"
    LEASE_TAKEN = "lease_taken"
    # failed_precondition
    NOT_ARCHIVED = "not_archived"
    ALREADY_ARCHIVED = "already_archived"
    SPACE_MISMATCH = "space_mismatch"
    STORE_NEWER = "store_newer"
    STORE_FOREIGN = "store_foreign"
    SQLITE_UNSAFE = "sqlite_unsafe"
    JOB_FINISHED = "job_finished"
    JOB_UNFINISHED = "job_unfinished"
    NAMESPACE_NOT_EMPTY = "namespace_not_empty"
    RUN_ENDED = "run_ended"
    APPROVAL_MISSING = "approval_missing"
    MODEL_MISSING = "model_missing"
    TRAINING_RUNNING = "training_running"
    # limit_exceeded
    RATE = "rate"
    QUOTA = "quota"
    QUEUE_FULL = "queue_full"
    # deadline_exceeded, unavailable
    DEADLINE = "deadline"
    EMBEDDER_AWAY = "embedder_away"
    EMBEDDER_LOADING = "embedder_loading"
    STORE_BUSY = "store_busy"
    STORE_FULL = "store_full"
    SERVICE_AWAY = "service_away"
    BROKER_AWAY = "broker_away"
    CIRCUIT_OPEN = "circuit_open"
    # data_corrupt, internal
    STORE_CORRUPT = "store_corrupt"
    MODEL_CORRUPT = "model_corrupt"
    UNEXPECTED = "unexpected"


class PerdureError(Exception):
    """Base of every error Perdure raises on purpose.

    Args:
        message: One sentence for a person: what was wrong and what to do.
        reason: Fine reason, one of ``Reason``.
        details: Flat facts, never memory text, queries, vectors or tokens.
        retry_after_s: Seconds after which a retry may succeed, or None.
    """

    code: Code = Code.INTERNAL

    def __init__(
        self,
        message: str,
        *,
        reason: Reason = Reason.UNEXPECTED,
        details: Mapping[str, Detail] | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.details: dict[str, Detail] = dict(details or {})
        self.retry_after_s = retry_after_s


class InvalidArgument(PerdureError):
    """The caller's input is wrong; the same input will never work."""

    code = Code.INVALID_ARGUMENT


class Unauthenticated(PerdureError):
    """Nobody is known to be calling."""

    code = Code.UNAUTHENTICATED


class PermissionDenied(PerdureError):
    """The caller is known and may not do this."""

    code = Code.PERMISSION_DENIED


class NotFound(PerdureError):
    """No such thing in the caller's namespace (another tenant's thing is not found either)."""

    code = Code.NOT_FOUND


class AlreadyExists(PerdureError):
    """The thing to create is there already."""

    code = Code.ALREADY_EXISTS


class Conflict(PerdureError):
    """The thing moved on since the caller read it; read again, then retry."""

    code = Code.CONFLICT


class FailedPrecondition(PerdureError):
    """The system is in a state in which this cannot be done."""

    code = Code.FAILED_PRECONDITION


class LimitExceeded(PerdureError):
    """A rate or quota is used up; retry after the delay."""

    code = Code.LIMIT_EXCEEDED


class DeadlineExceeded(PerdureError):
    """There was no time left to finish."""

    code = Code.DEADLINE_EXCEEDED


class Unavailable(PerdureError):
    """A part is away or busy; retry with back-off."""

    code = Code.UNAVAILABLE


class DataCorrupt(PerdureError):
    """Stored data is damaged; nothing was changed."""

    code = Code.DATA_CORRUPT


class Internal(PerdureError):
    """A defect of ours; the cause is in the log under the request id."""

    code = Code.INTERNAL


BY_CODE: Mapping[Code, type[PerdureError]] = {
    cls.code: cls
    for cls in (
        InvalidArgument,
        Unauthenticated,
        PermissionDenied,
        NotFound,
        AlreadyExists,
        Conflict,
        FailedPrecondition,
        LimitExceeded,
        DeadlineExceeded,
        Unavailable,
        DataCorrupt,
        Internal,
    )
}
"""The closed table from code to class; errors from the wire are rebuilt from it and from nothing else."""
