"""Drafts, checkpoints, edits and what became of them; exports and imports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from perdure.domain.memory import GLOBAL_PROJECT, Filter, Memory, MemoryId, Provenance, Revision, Statement, Status
from perdure.domain.namespace import NamespaceName
from perdure.domain.saving import (
    BATCH_MAX,
    Checkpoint,
    Draft,
    Edit,
    Failure,
    ImportProblem,
    ImportReport,
    Outcome,
    SaveResult,
)
from perdure.errors import PerdureError, Reason
from perdure.rpc.model.v1 import model_pb2
from perdure.rpc.retrieval.v1 import memory_pb2 as pb
from perdure.wire.convert import fields
from perdure.wire.convert.memory import (
    PROVENANCES,
    TYPES,
    filter_from_proto,
    filter_to_proto,
    memory_from_proto,
    memory_to_proto,
    origin_from_proto,
    origin_to_proto,
    revision_from_proto,
    revision_to_proto,
)

OUTCOMES = fields.Names(Outcome, model_pb2.Outcome.items(), "OUTCOME")

CLEARABLE = frozenset({"key", "problem", "solution", "expires_at"})

ImportItem = tuple[Memory, tuple[Revision, ...]]


def draft_to_proto(draft: Draft) -> model_pb2.Draft:
    """The message of ``draft``.

    Raises:
        InvalidArgument: ``expires_at`` has no time zone.
    """
    said = draft.statement
    return model_pb2.Draft(
        content=fields.text(said.content),
        type=TYPES.number(said.type),  # type: ignore[arg-type]  # stubs want the enum's own type
        project=fields.text(said.project),
        key=fields.optional_text(said.key),
        problem=fields.optional_text(said.problem),
        solution=fields.optional_text(said.solution),
        concepts=fields.texts(said.concepts),
        files=fields.texts(said.files),
        tags=fields.texts(said.tags),
        provenance=PROVENANCES.number(draft.provenance),  # type: ignore[arg-type]  # as above
        confidence=draft.confidence,
        importance=draft.importance,
        expires_at=fields.optional_timestamp(draft.expires_at, "expires_at"),
        origin=origin_to_proto(draft.origin),
    )


def draft_from_proto(message: model_pb2.Draft) -> Draft:
    """The draft in ``message``; an empty project is the global one, an unspecified provenance is ``save``.

    Raises:
        InvalidArgument: an enum, a time or a number is missing or malformed.
    """
    has = message.HasField
    return Draft(
        statement=Statement(
            content=message.content,
            type=TYPES.member(message.type, "type"),
            project=message.project or GLOBAL_PROJECT,
            key=message.key if has("key") else None,
            problem=message.problem if has("problem") else None,
            solution=message.solution if has("solution") else None,
            concepts=tuple(message.concepts),
            files=tuple(message.files),
            tags=tuple(message.tags),
        ),
        provenance=PROVENANCES.member(message.provenance, "provenance") if message.provenance else Provenance.SAVE,
        confidence=fields.number(message.confidence, "confidence", 0.0, 1.0) if has("confidence") else None,
        importance=fields.number(message.importance, "importance", 0.0, 1.0) if has("importance") else None,
        expires_at=fields.moment(message.expires_at, "expires_at") if has("expires_at") else None,
        origin=origin_from_proto(message.origin),
    )


def save_request(draft: Draft, idempotency_key: str | None) -> pb.SaveRequest:
    """The request to save ``draft``."""
    return pb.SaveRequest(draft=draft_to_proto(draft), idempotency_key=fields.text(idempotency_key or ""))


def save_from_request(request: pb.SaveRequest) -> Draft:
    """The draft of a save.

    Raises:
        InvalidArgument: it is missing or malformed.
    """
    fields.present(request, "draft")
    return draft_from_proto(request.draft)


def save_many_request(drafts: Sequence[Draft], idempotency_key: str | None) -> pb.SaveManyRequest:
    """The request to save ``drafts``."""
    return pb.SaveManyRequest(
        drafts=[draft_to_proto(draft) for draft in drafts], idempotency_key=fields.text(idempotency_key or "")
    )


def save_many_from_request(request: pb.SaveManyRequest) -> tuple[Draft | Failure, ...]:
    """The drafts of a batch in their order; one that cannot be read is a ``Failure`` and spoils no other.

    Raises:
        InvalidArgument: there are more than 500 (TOO_LARGE).
    """
    if len(request.drafts) > BATCH_MAX:
        raise fields.invalid("drafts", f"A batch holds up to {BATCH_MAX} memories.", Reason.TOO_LARGE)
    read: list[Draft | Failure] = []
    for message in request.drafts:
        try:
            read.append(draft_from_proto(message))
        except PerdureError as error:
            read.append(failure_of(error))
    return tuple(read)


def failure_of(error: PerdureError) -> Failure:
    """``error`` as the outcome of one item of a batch."""
    return Failure(code=error.code.value, reason=error.reason.value, message=error.message)


def checkpoint_request(checkpoint: Checkpoint, idempotency_key: str | None) -> pb.CheckpointRequest:
    """The request to store ``checkpoint``."""
    return pb.CheckpointRequest(
        task_summary=fields.text(checkpoint.task_summary),
        problem=fields.text(checkpoint.problem),
        solution=fields.text(checkpoint.solution),
        files=fields.texts(checkpoint.files),
        concepts=fields.texts(checkpoint.concepts),
        project=fields.text(checkpoint.project),
        tags=fields.texts(checkpoint.tags),
        origin=origin_to_proto(checkpoint.origin),
        idempotency_key=fields.text(idempotency_key or ""),
        confidence=checkpoint.confidence,
        importance=checkpoint.importance,
    )


def checkpoint_from_request(request: pb.CheckpointRequest) -> Checkpoint:
    """The checkpoint in ``request``.

    Raises:
        InvalidArgument: a number is out of range.
    """
    has = request.HasField
    return Checkpoint(
        task_summary=request.task_summary,
        problem=request.problem,
        solution=request.solution,
        files=tuple(request.files),
        concepts=tuple(request.concepts),
        project=request.project or GLOBAL_PROJECT,
        tags=tuple(request.tags),
        origin=origin_from_proto(request.origin),
        confidence=fields.number(request.confidence, "confidence", 0.0, 1.0) if has("confidence") else None,
        importance=fields.number(request.importance, "importance", 0.0, 1.0) if has("importance") else None,
    )


def result_to_proto(result: SaveResult) -> pb.SaveResult:
    """The message of ``result``."""
    return pb.SaveResult(
        outcome=OUTCOMES.number(result.outcome),  # type: ignore[arg-type]  # stubs want the enum's own type
        id=result.id,
        superseded=result.superseded,
        related=result.related,
        embedded=result.embedded,
        truncated=result.truncated,
        redacted=fields.texts(result.redacted),
        revision=result.revision,
        summary=fields.text(result.summary),
        project=fields.text(result.project),
        replayed=result.replayed,
        nearest_similarity=result.nearest_similarity,
    )


def result_from_proto(message: pb.SaveResult) -> SaveResult:
    """The result in ``message``.

    Raises:
        InvalidArgument: an id, the outcome or a number is missing or malformed.
    """
    near = fields.finite(message.nearest_similarity, "nearest_similarity")
    return SaveResult(
        outcome=OUTCOMES.member(message.outcome, "outcome"),
        id=fields.memory_id(message.id),
        project=message.project,
        summary=message.summary,
        revision=fields.whole(message.revision, "revision", 1),
        embedded=message.embedded,
        superseded=fields.memory_ids(message.superseded, "superseded"),
        related=fields.memory_ids(message.related, "related"),
        truncated=message.truncated,
        redacted=tuple(message.redacted),
        replayed=message.replayed,
        nearest_similarity=near if message.HasField("nearest_similarity") else None,
    )


def results_to_response(results: Sequence[SaveResult | Failure]) -> pb.SaveManyResponse:
    """The answer to a batch."""
    return pb.SaveManyResponse(
        items=[
            pb.SaveManyItem(
                error=pb.ItemError(code=result.code, reason=result.reason, message=fields.text(result.message))
            )
            if isinstance(result, Failure)
            else pb.SaveManyItem(result=result_to_proto(result))
            for result in results
        ]
    )


def results_from_response(response: pb.SaveManyResponse) -> tuple[SaveResult | Failure, ...]:
    """The outcomes of a batch, in the order of its drafts.

    Raises:
        InvalidArgument: an item is malformed.
    """
    return tuple(_item(item) for item in response.items)


def _item(item: pb.SaveManyItem) -> SaveResult | Failure:
    if item.HasField("error"):
        return Failure(code=item.error.code, reason=item.error.reason, message=item.error.message)
    fields.present(item, "result")
    return result_from_proto(item.result)


def update_request(memory: MemoryId, edit: Edit) -> pb.UpdateRequest:
    """The request to edit ``memory``.

    Raises:
        InvalidArgument: ``expires_at`` has no time zone.
    """
    return pb.UpdateRequest(
        id=memory,
        content=fields.optional_text(edit.content),
        type=None if edit.type is None else TYPES.number(edit.type),  # type: ignore[arg-type]  # stubs want the enum's own type
        project=fields.optional_text(edit.project),
        key=fields.optional_text(edit.key),
        problem=fields.optional_text(edit.problem),
        solution=fields.optional_text(edit.solution),
        concepts=_list(edit.concepts),
        files=_list(edit.files),
        tags=_list(edit.tags),
        provenance=None if edit.provenance is None else PROVENANCES.number(edit.provenance),  # type: ignore[arg-type]  # as above
        confidence=edit.confidence,
        importance=edit.importance,
        expires_at=fields.optional_timestamp(edit.expires_at, "expires_at"),
        clear=sorted(edit.clear),
        expected_revision=edit.expected_revision or 0,
    )


def update_from_request(request: pb.UpdateRequest) -> tuple[MemoryId, Edit]:
    """Whose edit, and which.

    Raises:
        InvalidArgument: the id, an enum, a time, a number or a name in ``clear`` is malformed.
    """
    has = request.HasField
    unknown = sorted(set(request.clear) - CLEARABLE)
    if unknown:
        raise fields.invalid(
            "clear", f"Only these can be cleared: {', '.join(sorted(CLEARABLE))}.", Reason.FIELD_UNKNOWN
        )
    return fields.memory_id(request.id), Edit(
        content=request.content if has("content") else None,
        type=TYPES.member(request.type, "type") if has("type") else None,
        project=request.project if has("project") else None,
        key=request.key if has("key") else None,
        problem=request.problem if has("problem") else None,
        solution=request.solution if has("solution") else None,
        concepts=tuple(request.concepts.items) if has("concepts") else None,
        files=tuple(request.files.items) if has("files") else None,
        tags=tuple(request.tags.items) if has("tags") else None,
        provenance=PROVENANCES.member(request.provenance, "provenance") if has("provenance") else None,
        confidence=fields.number(request.confidence, "confidence", 0.0, 1.0) if has("confidence") else None,
        importance=fields.number(request.importance, "importance", 0.0, 1.0) if has("importance") else None,
        expires_at=fields.moment(request.expires_at, "expires_at") if has("expires_at") else None,
        clear=frozenset(request.clear),
        expected_revision=expected_revision(request.expected_revision),
    )


def expected_revision(value: int) -> int | None:
    """The revision a change insists on; None where ``value`` is 0.

    Raises:
        InvalidArgument: it is negative.
    """
    return fields.whole(value, "expected_revision", 0) or None


def _list(values: tuple[str, ...] | None) -> model_pb2.StringList | None:
    return None if values is None else model_pb2.StringList(items=fields.texts(values))


# ---------------------------------------------------------------- export and import


def export_request(filter_: Filter, *, every_status: bool, without_history: bool) -> pb.ExportRequest:
    """The request for a stream of memories; with ``every_status`` the filter's default of active only gives way."""
    message = filter_to_proto(filter_)
    if every_status and filter_.statuses == (Status.ACTIVE,):
        message.ClearField("statuses")
    return pb.ExportRequest(filter=message, without_history=without_history, every_status=every_status)


def export_from_request(request: pb.ExportRequest) -> tuple[Filter, bool]:
    """The filter, and whether history is wanted.

    Raises:
        InvalidArgument: the filter is malformed.
    """
    return filter_from_proto(request.filter, every_status=request.every_status), not request.without_history


def export_response(item: ImportItem) -> pb.ExportResponse:
    """One memory of an export."""
    memory, revisions = item
    return pb.ExportResponse(
        memory=memory_to_proto(memory), revisions=[revision_to_proto(revision) for revision in revisions]
    )


def export_item(response: pb.ExportResponse) -> ImportItem:
    """The memory and its history in ``response``.

    Raises:
        InvalidArgument: either is malformed.
    """
    fields.present(response, "memory")
    return memory_from_proto(response.memory), tuple(revision_from_proto(message) for message in response.revisions)


def import_request(item: ImportItem, *, dry_run: bool) -> pb.ImportRequest:
    """One memory of an import; every message says ``dry_run``, the first one counts."""
    memory, revisions = item
    return pb.ImportRequest(
        memory=memory_to_proto(memory),
        revisions=[revision_to_proto(revision) for revision in revisions],
        dry_run=dry_run,
    )


def import_from_requests(
    requests: Iterator[pb.ImportRequest], namespace: NamespaceName
) -> tuple[bool, Iterator[ImportItem]]:
    """Whether it is a dry run, and what to take in, every item moved into ``namespace``.

    Nothing is read ahead but the first message. The iterator raises InvalidArgument at a malformed one.
    """
    first = next(requests, None)
    if first is None:
        return False, iter(())

    def items() -> Iterator[ImportItem]:
        yield _import_item(first, namespace)
        for request in requests:
            yield _import_item(request, namespace)

    return first.dry_run, items()


def _import_item(request: pb.ImportRequest, namespace: NamespaceName) -> ImportItem:
    fields.present(request, "memory")
    # what the file says of its tenant is not what the caller's token says
    request.memory.namespace = namespace
    for message in request.revisions:
        message.before.namespace = namespace
    return memory_from_proto(request.memory), tuple(revision_from_proto(message) for message in request.revisions)


def report_to_proto(report: ImportReport) -> pb.ImportResponse:
    """The message of ``report``."""
    return pb.ImportResponse(
        read=report.read,
        created=report.created,
        unchanged=report.unchanged,
        merged=report.merged,
        failed=report.failed,
        problems=[
            pb.ImportProblem(line=problem.line, reason=problem.reason, message=fields.text(problem.message))
            for problem in report.problems
        ],
        dry_run=report.dry_run,
    )


def report_from_proto(message: pb.ImportResponse) -> ImportReport:
    """The report in ``message``.

    Raises:
        InvalidArgument: a count is negative.
    """
    return ImportReport(
        read=fields.whole(message.read, "read", 0),
        created=fields.whole(message.created, "created", 0),
        unchanged=fields.whole(message.unchanged, "unchanged", 0),
        merged=fields.whole(message.merged, "merged", 0),
        failed=fields.whole(message.failed, "failed", 0),
        problems=tuple(
            ImportProblem(line=problem.line, reason=problem.reason, message=problem.message)
            for problem in message.problems
        ),
        dry_run=message.dry_run,
    )
