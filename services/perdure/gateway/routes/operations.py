"""Health, metrics and jobs; and honest 404s where clients look for OAuth that is not there."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response

from perdure.errors import InvalidArgument, Reason
from perdure.gateway import metrics as metrics_module
from perdure.gateway import present
from perdure.gateway.backends import Backends
from perdure.gateway.metrics import GatewayMetrics
from perdure.gateway.routes import answers
from perdure.gateway.routes.request import JsonResponse, Operator
from perdure.gateway.schemas import JobBody, JobsQuery, NoQuery, ReadyQuery
from perdure.ports import JobKind

READY = "ready"


def operation_routes(backends: Backends, metrics: GatewayMetrics, version: str) -> APIRouter:
    """Routes for those who run the system."""
    router = APIRouter()

    @router.get("/healthz", tags=["operations"], response_model=answers.Health, summary="The gateway is up")
    async def healthz() -> Response:
        return JsonResponse({"status": "ok", "version": version})

    @router.get("/readyz", tags=["operations"], response_model=answers.Readiness, summary="Each dependency, by name")
    async def readyz(query: Annotated[ReadyQuery, Query()]) -> Response:
        states = await asyncio.gather(*(probe() for probe in backends.probes.values()))
        by_name = dict(zip(backends.probes, states, strict=True))
        needed = query.need or list(by_name)
        if unknown := [name for name in needed if name not in by_name]:
            raise InvalidArgument(
                f"{len(unknown)} of these dependencies are unknown. They are: {', '.join(by_name)}.",
                reason=Reason.FIELD_INVALID,
                details={"field": "need"},
            )
        everything = all(state == READY for state in states)
        enough = all(by_name[name] == READY for name in needed)
        body = {
            "status": READY if everything else "degraded",
            "dependencies": {name: {"status": state} for name, state in by_name.items()},
        }
        return JsonResponse(body, 200 if enough else 503, {} if enough else {"Retry-After": "1"})

    @router.get("/metrics", tags=["operations"], summary="For Prometheus", response_class=Response)
    async def metrics_() -> Response:
        return Response(metrics.render(), media_type=metrics_module.CONTENT_TYPE)

    @router.get(
        "/maintenance/jobs",
        tags=["maintenance"],
        response_model=answers.JobsOut,
        responses=answers.PROBLEMS,
        summary="Jobs, newest first",
    )
    async def jobs(query: Annotated[JobsQuery, Query()], caller: Operator) -> Response:
        kind = JobKind(query.kind) if query.kind else None
        found = await backends.jobs.list(caller, kind, limit=query.limit)
        return JsonResponse({"jobs": [present.job(item) for item in found]})

    @router.post(
        "/maintenance/jobs",
        tags=["maintenance"],
        status_code=202,
        response_model=answers.JobOut,
        responses=answers.PROBLEMS,
        summary="Start a job, or answer the unfinished one of its kind",
    )
    async def start(body: JobBody, caller: Operator, _: Annotated[NoQuery, Query()]) -> Response:
        job, running = await backends.jobs.start(caller, body.job_kind(), body.parameters)
        answer = {**present.job(job), "already_running": running}
        return JsonResponse(answer, 202, {"Location": f"/maintenance/jobs/{job.id}"})

    @router.get(
        "/maintenance/jobs/{job_id}",
        tags=["maintenance"],
        response_model=answers.JobOut,
        responses=answers.PROBLEMS,
        summary="One job and how far it is",
    )
    async def job(job_id: str, caller: Operator, _: Annotated[NoQuery, Query()]) -> Response:
        return JsonResponse(present.job(await backends.jobs.get(caller, job_id)))

    @router.post(
        "/maintenance/jobs/{job_id}/cancel",
        tags=["maintenance"],
        response_model=answers.JobOut,
        responses=answers.PROBLEMS,
        summary="Ask a job to stop",
    )
    async def cancel(job_id: str, caller: Operator, _: Annotated[NoQuery, Query()]) -> Response:
        return JsonResponse(present.job(await backends.jobs.cancel(caller, job_id)))

    return router
