"""``MaintenanceService`` over gRPC: convert, call, convert, return."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from perdure.domain.runs import Task
from perdure.rpc.maintenance.v1 import maintenance_pb2 as pb
from perdure.rpc.maintenance.v1.maintenance_pb2_grpc import MaintenanceServiceServicer
from perdure.usecases.compact import Compact
from perdure.usecases.erase_many import EraseMany
from perdure.usecases.foresee import Foresee
from perdure.usecases.read_runs import ReadRuns
from perdure.usecases.render_memory_md import RenderMemoryMd
from perdure.usecases.restore_content import RestoreContent
from perdure.usecases.start_job import StartJob
from perdure.usecases.start_run import StartRun
from perdure.usecases.undo_run import UndoRun
from perdure.usecases.watch_jobs import WatchJobs
from perdure.wire.convert import fields, jobs, lifecycle
from perdure.wire.metadata import caller_of

SERVICE = pb.DESCRIPTOR.services_by_name["MaintenanceService"].full_name


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleVerbs:
    """The use cases of the lifecycle behind the service."""

    start: StartRun
    runs: ReadRuns
    undo: UndoRun
    foresee: Foresee
    compact: Compact
    restore_content: RestoreContent
    memory_md: RenderMemoryMd
    erase: EraseMany


class MaintenanceServicer(MaintenanceServiceServicer):
    """Jobs, and the lifecycle of the memories of the namespace named in the call's metadata."""

    def __init__(self, start: StartJob, watch: WatchJobs, lifecycle: LifecycleVerbs) -> None:
        self._start = start
        self._watch = watch
        self._do = lifecycle

    def StartJob(self, request: pb.StartJobRequest, context: grpc.ServicerContext) -> pb.StartJobResponse:  # noqa: N802, ARG002, D102 - the protocol's
        kind, parameters = jobs.start_from_request(request)
        job, running = self._start(kind, parameters)
        return pb.StartJobResponse(job=jobs.job_to_proto(job), already_running=running)

    def ListJobs(self, request: pb.ListJobsRequest, context: grpc.ServicerContext) -> pb.ListJobsResponse:  # noqa: N802, ARG002, D102 - the protocol's
        kind, limit = jobs.list_from_request(request)
        return pb.ListJobsResponse(jobs=[jobs.job_to_proto(job) for job in self._watch.list(kind, limit)])

    def GetJob(self, request: pb.GetJobRequest, context: grpc.ServicerContext) -> pb.GetJobResponse:  # noqa: N802, ARG002, D102 - the protocol's
        return pb.GetJobResponse(job=jobs.job_to_proto(self._watch.get(jobs.job_id(request.id))))

    def CancelJob(self, request: pb.CancelJobRequest, context: grpc.ServicerContext) -> pb.CancelJobResponse:  # noqa: N802, ARG002, D102 - the protocol's
        return pb.CancelJobResponse(job=jobs.job_to_proto(self._watch.cancel(jobs.job_id(request.id))))

    def Consolidate(self, request: pb.ConsolidateRequest, context: grpc.ServicerContext) -> pb.ConsolidateResponse:  # noqa: N802, D102 - the protocol's
        project, dry_run, wait_s = lifecycle.wanted(request)
        run = self._do.start(caller_of(context), (Task.CONSOLIDATE,), project=project, dry_run=dry_run, wait_s=wait_s)
        return pb.ConsolidateResponse(run=lifecycle.run_to_proto(run))

    def Clean(self, request: pb.CleanRequest, context: grpc.ServicerContext) -> pb.CleanResponse:  # noqa: N802, D102 - the protocol's
        project, dry_run, wait_s = lifecycle.wanted(request)
        run = self._do.start(caller_of(context), (Task.CLEAN,), project=project, dry_run=dry_run, wait_s=wait_s)
        return pb.CleanResponse(run=lifecycle.run_to_proto(run))

    def ListRuns(self, request: pb.ListRunsRequest, context: grpc.ServicerContext) -> pb.ListRunsResponse:  # noqa: N802, D102 - the protocol's
        runs = self._do.runs.list(caller_of(context), lifecycle.page_limit(request))
        return pb.ListRunsResponse(runs=map(lifecycle.run_to_proto, runs))

    def GetRun(self, request: pb.GetRunRequest, context: grpc.ServicerContext) -> pb.GetRunResponse:  # noqa: N802, D102 - the protocol's
        run, items = self._do.runs.get(caller_of(context), jobs.job_id(request.id))
        return pb.GetRunResponse(run=lifecycle.run_to_proto(run), items=map(lifecycle.item_to_proto, items))

    def UndoRun(self, request: pb.UndoRunRequest, context: grpc.ServicerContext) -> pb.UndoRunResponse:  # noqa: N802, D102 - the protocol's
        return lifecycle.undo_to_response(*self._do.undo(caller_of(context), jobs.job_id(request.id)))

    def Lifecycle(self, request: pb.LifecycleRequest, context: grpc.ServicerContext) -> pb.LifecycleResponse:  # noqa: N802, D102 - the protocol's
        return lifecycle.foreseen_to_response(self._do.foresee(caller_of(context), fields.memory_id(request.id)))

    def Compact(self, request: pb.CompactRequest, context: grpc.ServicerContext) -> pb.CompactResponse:  # noqa: N802, D102 - the protocol's
        stub = request.stub if request.HasField("stub") else None
        done = self._do.compact(
            caller_of(context), list(request.memories), stub=stub, chars=request.max_chars, dry_run=request.dry_run
        )
        return lifecycle.compacted_to_response(done)

    def RestoreContent(  # noqa: N802, D102 - the protocol's
        self, request: pb.RestoreContentRequest, context: grpc.ServicerContext
    ) -> pb.RestoreContentResponse:
        texts = [(text.name, text.content) for text in request.texts]
        restored, unmatched = self._do.restore_content(caller_of(context), texts, list(request.unstub))
        return pb.RestoreContentResponse(restored=restored, unmatched=unmatched)

    def RenderMemoryMd(  # noqa: N802, D102 - the protocol's
        self, request: pb.RenderMemoryMdRequest, context: grpc.ServicerContext
    ) -> pb.RenderMemoryMdResponse:
        block, memories = self._do.memory_md(caller_of(context), request.project)
        return pb.RenderMemoryMdResponse(block=block, memories=memories)

    def Erase(self, request: pb.EraseRequest, context: grpc.ServicerContext) -> pb.EraseResponse:  # noqa: N802, D102 - the protocol's
        project = request.project if request.HasField("project") else None
        return pb.EraseResponse(erased=self._do.erase(caller_of(context), project=project, confirm=request.confirm))
