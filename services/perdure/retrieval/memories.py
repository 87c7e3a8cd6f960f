"""The gRPC face of memories: convert, call, convert."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from perdure.domain.namespace import NamespaceName
from perdure.errors import InvalidArgument
from perdure.retrieval.measured import MeasuredSave, MeasuredSaveMany, MeasuredSearch
from perdure.rpc.retrieval.v1 import memory_pb2 as pb
from perdure.rpc.retrieval.v1 import memory_pb2_grpc as pb_grpc
from perdure.usecases.archive import Archive
from perdure.usecases.checkpoint import SaveCheckpoint
from perdure.usecases.export_memories import ExportMemories
from perdure.usecases.get import Get
from perdure.usecases.history import ReadHistory
from perdure.usecases.import_memories import ImportMemories, Line
from perdure.usecases.list_memories import ListMemories
from perdure.usecases.purge import Purge
from perdure.usecases.restore import Restore
from perdure.usecases.stats import CountMemories
from perdure.usecases.sync import Sync
from perdure.usecases.update import Update
from perdure.wire.convert import fields, recall, saving
from perdure.wire.convert.memory import memory_to_proto
from perdure.wire.metadata import caller_of

SERVICE = "perdure.rpc.retrieval.v1.MemoryService"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryVerbs:
    """The use cases behind the service."""

    save: MeasuredSave
    save_many: MeasuredSaveMany
    checkpoint: SaveCheckpoint
    get: Get
    update: Update
    archive: Archive
    restore: Restore
    purge: Purge
    list: ListMemories
    search: MeasuredSearch
    sync: Sync
    stats: CountMemories
    history: ReadHistory
    export: ExportMemories
    import_: ImportMemories


class MemoryServicer(pb_grpc.MemoryServiceServicer):
    """Answers for the namespace named in the call's metadata; no argument can widen it."""

    def __init__(self, verbs: MemoryVerbs) -> None:
        self._do = verbs

    def Save(self, request: pb.SaveRequest, context: Any) -> pb.SaveResponse:  # noqa: N802 - the protocol's name
        """Store one memory."""
        caller, draft = caller_of(context), saving.save_from_request(request)
        result = self._do.save(caller, draft, idempotency_key=request.idempotency_key or None)
        return pb.SaveResponse(result=saving.result_to_proto(result))

    def SaveMany(self, request: pb.SaveManyRequest, context: Any) -> pb.SaveManyResponse:  # noqa: N802 - the protocol's name
        """Store up to 500."""
        caller, drafts = caller_of(context), saving.save_many_from_request(request)
        results = self._do.save_many(caller, drafts, idempotency_key=request.idempotency_key or None)
        return saving.results_to_response(results)

    def Checkpoint(self, request: pb.CheckpointRequest, context: Any) -> pb.CheckpointResponse:  # noqa: N802 - the protocol's name
        """Store what a finished task taught."""
        caller, checkpoint = caller_of(context), saving.checkpoint_from_request(request)
        result = self._do.checkpoint(caller, checkpoint, idempotency_key=request.idempotency_key or None)
        return pb.CheckpointResponse(result=saving.result_to_proto(result))

    def Get(self, request: pb.GetRequest, context: Any) -> pb.GetResponse:  # noqa: N802 - the protocol's name
        """Deliver one in full."""
        memory = self._do.get(caller_of(context), fields.memory_id(request.id), peek=request.peek)
        return pb.GetResponse(memory=memory_to_proto(memory))

    def Update(self, request: pb.UpdateRequest, context: Any) -> pb.UpdateResponse:  # noqa: N802 - the protocol's name
        """Edit one."""
        memory, edit = saving.update_from_request(request)
        after, embedded, redacted = self._do.update(caller_of(context), memory, edit)
        return pb.UpdateResponse(memory=memory_to_proto(after), embedded=embedded, redacted=redacted)

    def Archive(self, request: pb.ArchiveRequest, context: Any) -> pb.ArchiveResponse:  # noqa: N802 - the protocol's name
        """Hide one."""
        memory, revision = fields.memory_id(request.id), saving.expected_revision(request.expected_revision)
        after = self._do.archive(caller_of(context), memory, expected_revision=revision)
        return pb.ArchiveResponse(memory=memory_to_proto(after))

    def Restore(self, request: pb.RestoreRequest, context: Any) -> pb.RestoreResponse:  # noqa: N802 - the protocol's name
        """Bring one back."""
        memory, revision = fields.memory_id(request.id), saving.expected_revision(request.expected_revision)
        after = self._do.restore(caller_of(context), memory, expected_revision=revision)
        return pb.RestoreResponse(memory=memory_to_proto(after))

    def Purge(self, request: pb.PurgeRequest, context: Any) -> pb.PurgeResponse:  # noqa: N802 - the protocol's name
        """Erase one."""
        memory, revision = fields.memory_id(request.id), saving.expected_revision(request.expected_revision)
        self._do.purge(caller_of(context), memory, expected_revision=revision)
        return pb.PurgeResponse(id=memory)

    def List(self, request: pb.ListRequest, context: Any) -> pb.ListResponse:  # noqa: N802 - the protocol's name
        """A page."""
        filter_, limit, after = recall.list_from_request(request)
        page = self._do.list(caller_of(context), filter_, limit=limit, after=after)
        return recall.page_to_response(page)

    def Search(self, request: pb.SearchRequest, context: Any) -> pb.SearchResponse:  # noqa: N802 - the protocol's name
        """Find."""
        answer = self._do.search(caller_of(context), recall.question_from_proto(request))
        return recall.answer_to_proto(answer)

    def Sync(self, request: pb.SyncRequest, context: Any) -> pb.SyncResponse:  # noqa: N802 - the protocol's name
        """Brief a session."""
        project, recent = recall.sync_from_request(request)
        return recall.briefing_to_proto(self._do.sync(caller_of(context), project=project, recent=recent))

    def Stats(self, request: pb.StatsRequest, context: Any) -> pb.StatsResponse:  # noqa: ARG002, N802 - the protocol's
        """Count."""
        stats, space, store_bytes = self._do.stats(caller_of(context))
        return recall.stats_to_proto(stats, space=space, store_bytes=store_bytes)

    def History(self, request: pb.HistoryRequest, context: Any) -> pb.HistoryResponse:  # noqa: N802 - the protocol's name
        """Earlier states."""
        memory, revisions = self._do.history(caller_of(context), fields.memory_id(request.id))
        return recall.history_to_response(memory, revisions)

    def Export(self, request: pb.ExportRequest, context: Any) -> Iterator[pb.ExportResponse]:  # noqa: N802 - the protocol's name
        """Everything, as a stream."""
        filter_, with_history = saving.export_from_request(request)
        for item in self._do.export(caller_of(context), filter_, without_history=not with_history):
            yield saving.export_response(item)

    def Import(self, request_iterator: Iterator[pb.ImportRequest], context: Any) -> pb.ImportResponse:  # noqa: N802 - the protocol's name
        """Take in a stream."""
        caller, first = caller_of(context), next(request_iterator, None)
        requests = request_iterator if first is None else chain([first], request_iterator)
        dry_run = first is not None and first.dry_run
        report = self._do.import_(caller, _lines(requests, caller.namespace), dry_run=dry_run)
        return saving.report_to_proto(report)


def _lines(requests: Iterator[pb.ImportRequest], namespace: NamespaceName) -> Iterator[Line]:
    """One line a message; a message that cannot be read is that line's problem and not the stream's."""
    for request in requests:
        try:
            _, items = saving.import_from_requests(iter((request,)), namespace)
            yield next(items)
        except InvalidArgument as error:
            yield error
