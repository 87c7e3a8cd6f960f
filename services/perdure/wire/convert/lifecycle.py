"""Runs of maintenance, forecasts, compaction."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.compaction.plan import STUB_CHARS_MAX
from perdure.domain.lifecycle import Compacted, CompactedMemory, Foreseen, SkippedMemory
from perdure.domain.memory import MemoryId
from perdure.domain.namespace import NamespaceName
from perdure.domain.retention import Event, Forecast, Next
from perdure.domain.runs import Act, Run, RunItem, Task, Trigger, UndoReport
from perdure.errors import Reason
from perdure.rpc.maintenance.v1 import maintenance_pb2 as pb
from perdure.wire.convert import fields
from perdure.wire.convert.memory import memory_from_proto, memory_to_proto

PAGE_DEFAULT = 50
PAGE_MAX = 200
WAIT_MS_MAX = 25_000
NAMES_MAX = 200


def run_to_proto(run: Run) -> pb.Run:
    """The message of ``run``."""
    return pb.Run(
        id=run.id,
        namespace=run.namespace,
        tasks=[task.value for task in run.tasks],
        trigger=run.trigger.value,
        actor=fields.text(run.actor),
        state=run.state,
        created_at=fields.timestamp(run.created_at, "created_at"),
        project=fields.optional_text(run.project),
        dry_run=run.dry_run,
        began_at=fields.optional_timestamp(run.began_at, "began_at"),
        ended_at=fields.optional_timestamp(run.ended_at, "ended_at"),
        attempts=run.attempts,
        done=run.done,
        total=run.total,
        saves=run.saves,
        message=fields.text(run.message),
        error=fields.text(run.error),
        counts=run.counts,
        plan=fields.texts(run.plan),
        undone_at=fields.optional_timestamp(run.undone_at, "undone_at"),
        undone_by=fields.optional_text(run.undone_by),
    )


def run_from_proto(message: pb.Run) -> Run:
    """The run in ``message``.

    Raises:
        InvalidArgument: a part is missing or malformed.
    """
    has = message.HasField
    fields.present(message, "created_at")
    return Run(
        id=message.id,
        namespace=NamespaceName(message.namespace),
        tasks=tuple(fields.word(Task, name, "tasks") for name in message.tasks),
        trigger=fields.word(Trigger, message.trigger, "trigger"),
        actor=message.actor,
        state=message.state,
        created_at=fields.moment(message.created_at, "created_at"),
        project=message.project if has("project") else None,
        dry_run=message.dry_run,
        began_at=fields.moment(message.began_at, "began_at") if has("began_at") else None,
        ended_at=fields.moment(message.ended_at, "ended_at") if has("ended_at") else None,
        attempts=message.attempts,
        done=message.done,
        total=message.total,
        saves=message.saves,
        message=message.message,
        error=message.error,
        counts=dict(message.counts),
        plan=tuple(message.plan),
        undone_at=fields.moment(message.undone_at, "undone_at") if has("undone_at") else None,
        undone_by=message.undone_by if has("undone_by") else None,
    )


def item_to_proto(item: RunItem) -> pb.RunItem:
    """The message of ``item``."""
    return pb.RunItem(
        memory=item.memory,
        act=item.act.value,
        summary=fields.text(item.summary),
        winner=fields.optional_text(item.winner),
    )


def item_from_proto(message: pb.RunItem) -> RunItem:
    """The item in ``message``.

    Raises:
        InvalidArgument: an id or the act is malformed.
    """
    return RunItem(
        memory=fields.memory_id(message.memory, "memory"),
        act=fields.word(Act, message.act, "act"),
        summary=message.summary,
        winner=fields.memory_id(message.winner, "winner") if message.HasField("winner") else None,
    )


def wanted(request: pb.ConsolidateRequest | pb.CleanRequest) -> tuple[str | None, bool, float]:
    """Project (None is every one), whether to write nothing, and seconds to wait.

    Raises:
        InvalidArgument: the wait is too long.
    """
    wait_ms = fields.whole(request.wait_ms, "wait_ms", 0, WAIT_MS_MAX)
    return (request.project or None) if request.HasField("project") else None, request.dry_run, wait_ms / 1000


def page_limit(request: pb.ListRunsRequest) -> int:
    """How many runs; 0 is 50.

    Raises:
        InvalidArgument: more than 200.
    """
    return fields.whole(request.limit, "limit", 0, PAGE_MAX) or PAGE_DEFAULT


def undo_to_response(run: Run, report: UndoReport) -> pb.UndoRunResponse:
    """The message of an undo."""
    return pb.UndoRunResponse(
        run=run_to_proto(run), restored=report.restored, removed=report.removed, left=dict(report.left)
    )


def undo_from_response(message: pb.UndoRunResponse) -> tuple[Run, UndoReport]:
    """The run after its undo, and what was done."""
    report = UndoReport(restored=message.restored, removed=message.removed, left=dict(message.left))
    return run_from_proto(message.run), report


def foreseen_to_response(foreseen: Foreseen) -> pb.LifecycleResponse:
    """The message of a forecast."""
    future = foreseen.future
    return pb.LifecycleResponse(
        memory=memory_to_proto(foreseen.memory),
        decay_weight=future.weight,
        frequency_boost=foreseen.frequency_boost,
        confidence_boost=foreseen.confidence_boost,
        importance_boost=foreseen.importance_boost,
        idle_days=future.idle_days,
        half_life_days=future.half_life_days,
        events=[
            pb.LifecycleEvent(what=event.what.value, at=fields.timestamp(event.at, "at")) for event in future.events
        ],
        stays_because=future.stays_because,
        runs=foreseen.runs,
    )


def foreseen_from_response(message: pb.LifecycleResponse) -> Foreseen:
    """The forecast in ``message``.

    Raises:
        InvalidArgument: a part is missing or malformed.
    """
    memory = memory_from_proto(message.memory)
    return Foreseen(
        memory=memory,
        future=Forecast(
            status=memory.status,
            weight=message.decay_weight,
            idle_days=message.idle_days,
            half_life_days=message.half_life_days if message.HasField("half_life_days") else None,
            events=tuple(
                Event(what=fields.word(Next, event.what, "what"), at=fields.moment(event.at, "at"))
                for event in message.events
            ),
            stays_because=message.stays_because,
        ),
        frequency_boost=message.frequency_boost,
        confidence_boost=message.confidence_boost,
        importance_boost=message.importance_boost,
        runs=tuple(message.runs),
    )


def compact_request(names: Sequence[str], *, stub: str | None, chars: int, dry_run: bool) -> pb.CompactRequest:
    """The request to compact.

    Raises:
        InvalidArgument: too many names, or a number out of its range.
    """
    if not 1 <= len(names) <= NAMES_MAX:
        raise fields.invalid("memories", f"Name 1 to {NAMES_MAX} memories.", Reason.OUT_OF_RANGE)
    return pb.CompactRequest(
        memories=fields.texts(names),
        stub=fields.optional_text(stub),
        max_chars=fields.whole(chars, "max_chars", 0, STUB_CHARS_MAX),
        dry_run=dry_run,
    )


def compacted_to_response(done: Compacted) -> pb.CompactResponse:
    """The message of what was compacted."""
    return pb.CompactResponse(
        compacted=[
            pb.CompactedMemory(
                id=item.id,
                key=fields.optional_text(item.key),
                stub=fields.text(item.stub),
                bytes_saved=item.bytes_saved,
            )
            for item in done.compacted
        ],
        skipped=[pb.SkippedMemory(name=fields.text(item.name), reason=item.reason) for item in done.skipped],
        bytes_saved=done.bytes_saved,
    )


def compacted_from_response(message: pb.CompactResponse) -> Compacted:
    """What was compacted."""
    return Compacted(
        compacted=tuple(
            CompactedMemory(
                id=fields.memory_id(item.id),
                key=item.key if item.HasField("key") else None,
                stub=item.stub,
                bytes_saved=item.bytes_saved,
            )
            for item in message.compacted
        ),
        skipped=tuple(SkippedMemory(name=item.name, reason=item.reason) for item in message.skipped),
    )


def restored_from_response(message: pb.RestoreContentResponse) -> tuple[tuple[MemoryId, ...], tuple[str, ...]]:
    """Memories whose text is home, and the names that match none."""
    return tuple(fields.memory_id(item) for item in message.restored), tuple(message.unmatched)
