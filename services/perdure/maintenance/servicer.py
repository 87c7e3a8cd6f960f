"""``MaintenanceService`` over gRPC: convert, call, convert, return."""

from __future__ import annotations

import grpc

from perdure.rpc.maintenance.v1 import maintenance_pb2 as pb
from perdure.rpc.maintenance.v1.maintenance_pb2_grpc import MaintenanceServiceServicer
from perdure.usecases.start_job import StartJob
from perdure.usecases.watch_jobs import WatchJobs
from perdure.wire.convert import jobs

SERVICE = pb.DESCRIPTOR.services_by_name["MaintenanceService"].full_name


class MaintenanceServicer(MaintenanceServiceServicer):
    """Jobs: started, watched, cancelled."""

    def __init__(self, start: StartJob, watch: WatchJobs) -> None:
        self._start = start
        self._watch = watch

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
