"""Jobs. Leases are the store's business and do not travel."""

from __future__ import annotations

from collections.abc import Mapping

from perdure.errors import Reason
from perdure.ports import Job, JobKind, JobState
from perdure.rpc.maintenance.v1 import maintenance_pb2 as pb
from perdure.wire.convert import fields

PAGE_DEFAULT = 50
PAGE_MAX = 200
PARAMETERS_MAX = 16


def job_to_proto(job: Job) -> pb.Job:
    """The message of ``job``, without its lease."""
    return pb.Job(
        id=job.id,
        kind=job.kind.value,
        state=job.state.value,
        done=job.done,
        total=job.total,
        message=fields.text(job.message),
        error=fields.text(job.error),
        created_at=fields.timestamp(job.created_at, "created_at"),
        started_at=fields.optional_timestamp(job.started_at, "started_at"),
        finished_at=fields.optional_timestamp(job.finished_at, "finished_at"),
        attempts=job.attempts,
        parameters=job.parameters,
        cancel_requested=job.cancel_requested,
    )


def job_from_proto(message: pb.Job) -> Job:
    """The job in ``message``, without a lease.

    Raises:
        InvalidArgument: its id, kind, state, a time or a count is missing or malformed.
    """
    has = message.HasField
    fields.present(message, "created_at")
    if not message.id:
        raise fields.invalid("id", "The job's id is missing.", Reason.FIELD_MISSING)
    return Job(
        id=message.id,
        kind=fields.word(JobKind, message.kind, "kind"),
        state=fields.word(JobState, message.state, "state"),
        created_at=fields.moment(message.created_at, "created_at"),
        parameters=dict(message.parameters),
        done=fields.whole(message.done, "done", 0),
        total=fields.whole(message.total, "total", 0),
        message=message.message,
        error=message.error,
        started_at=fields.moment(message.started_at, "started_at") if has("started_at") else None,
        finished_at=fields.moment(message.finished_at, "finished_at") if has("finished_at") else None,
        attempts=message.attempts,
        cancel_requested=message.cancel_requested,
    )


def start_request(kind: JobKind, parameters: Mapping[str, str]) -> pb.StartJobRequest:
    """The request to start a job."""
    return pb.StartJobRequest(
        kind=kind.value,
        parameters={fields.text(name): fields.text(value) for name, value in parameters.items()},
    )


def start_from_request(request: pb.StartJobRequest) -> tuple[JobKind, dict[str, str]]:
    """What to start, and how.

    Raises:
        InvalidArgument: the kind is unknown or not started this way, or there are more than 16 parameters.
    """
    if len(request.parameters) > PARAMETERS_MAX:
        raise fields.invalid("parameters", f"A job takes up to {PARAMETERS_MAX} parameters.", Reason.TOO_LARGE)
    kind = fields.word(JobKind, request.kind, "kind")
    if kind is JobKind.MAINTAIN:
        raise fields.invalid("kind", "Ask for maintenance of a namespace by Consolidate or Clean.")
    if kind in (JobKind.TRAIN, JobKind.EMBED_PROCEDURES):
        raise fields.invalid(
            "kind", "Ask for a training of a namespace by Train; procedures are embedded by themselves."
        )
    return kind, dict(request.parameters)


def list_from_request(request: pb.ListJobsRequest) -> tuple[JobKind | None, int]:
    """The kind asked for (None is every one) and how many (0 is 50).

    Raises:
        InvalidArgument: the kind is unknown or the limit out of range.
    """
    kind = fields.word(JobKind, request.kind, "kind") if request.kind else None
    return kind, fields.whole(request.limit, "limit", 0, PAGE_MAX) or PAGE_DEFAULT


def job_id(value: str) -> str:
    """A job's id.

    Raises:
        InvalidArgument: it is empty or longer than 64 characters.
    """
    if not value or len(value) > 64:
        raise fields.invalid("id", "A job's id has 1 to 64 characters.")
    return value
