"""The whole of a namespace's experience by REST: overview, training, what it costs, in and out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Path, Query, Response
from starlette.responses import StreamingResponse

from perdure.domain.experience.transfer import Part, PartKind
from perdure.errors import InvalidArgument, Reason
from perdure.gateway import present_experience as present
from perdure.gateway.backends_experience import Experience
from perdure.gateway.metering import Meter
from perdure.gateway.routes import answers, experience_answers
from perdure.gateway.routes.request import Experienced, JsonResponse, Reader
from perdure.gateway.schemas import NoQuery
from perdure.gateway.schemas_experience import (
    WAIT_S,
    DaysQuery,
    ForgetAllBody,
    ImportQuery,
    OverviewQuery,
    TrainBody,
)
from perdure.gateway.shielding import Shield

NO_QUERY = Annotated[NoQuery, Query()]
JOB = Annotated[str, Path(min_length=1, max_length=64)]
JSON = "application/json"
LISTS = {"episodes": PartKind.EPISODE, "skills": PartKind.SKILL, "runs": PartKind.RUN}


def learning_routes(experience: Experience, shield: Shield, meter: Meter) -> APIRouter:
    """The routes under /experience, and /usage."""
    router = APIRouter(tags=["experience"], responses=answers.PROBLEMS)

    @router.get("/experience/overview", response_model=experience_answers.Overview, summary="Where it stands")
    async def overview(query: Annotated[OverviewQuery, Query()], caller: Experienced) -> Response:
        found = await experience.overview(caller, days=query.days, offset_minutes=query.tz_offset_minutes)
        return JsonResponse(present.overview(found))

    @router.get("/experience/records", response_model=experience_answers.Records, summary="What runs taught, by skill")
    async def records(caller: Experienced, _: NO_QUERY) -> Response:
        found = await experience.skill_records(caller, None)
        return JsonResponse({"records": [present.record(one) for one in found]})

    @router.post(
        "/experience/forget-all",
        response_model=experience_answers.Forgotten,
        summary="Erase episodes, skills and runs; memories and model stay",
    )
    async def forget_all(body: ForgetAllBody, caller: Experienced, _: NO_QUERY) -> Response:
        await shield(experience.forget_all(caller, confirm=body.confirm))
        return JsonResponse({"forgotten": True})

    @router.post(
        "/experience/train",
        response_model=experience_answers.Training,
        responses={202: {"model": experience_answers.Training, "description": "It goes on; poll the training."}},
        summary="Train the private model",
    )
    async def train(caller: Experienced, _: NO_QUERY, body: TrainBody | None = None) -> Response:
        asked = body if body is not None else TrainBody(dry_run=False, curate=False, wait=True)
        wait_s = WAIT_S if asked.wait else 0.0
        report = await shield(experience.train(caller, dry_run=asked.dry_run, curate=asked.curate, wait_s=wait_s))
        unfinished = report.status.value in ("queued", "running")
        location = {"Location": f"/experience/trainings/{report.job}"} if report.job else {}
        return JsonResponse(present.training(report), 202 if unfinished else 200, location)

    @router.get("/experience/trainings/{job}", response_model=experience_answers.Training, summary="One training")
    async def training(job: JOB, caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse(present.training(await experience.training(caller, job)))

    @router.post(
        "/experience/model/rollback",
        response_model=experience_answers.RolledBack,
        summary="Go back to the last model",
    )
    async def rollback(caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse({"number": await shield(experience.rollback_model(caller))})

    @router.get("/experience/export", response_class=Response, summary="All of it as evermind.experience/1")
    async def export(caller: Experienced, _: NO_QUERY) -> Response:
        stream = aiter(experience.export(caller))
        # the head is fetched before the answer begins, so that a failure still has its status
        head = await anext(stream)
        return StreamingResponse(
            _whole(head, stream), media_type="application/json", headers={"X-Accel-Buffering": "no"}
        )

    @router.post("/experience/import", response_model=experience_answers.ImportedExperience, summary="Take it in")
    async def import_(query: Annotated[ImportQuery, Query()], body: dict[str, Any], caller: Experienced) -> Response:
        _check_lists(body)
        report = await shield(experience.import_(caller, _parts(body), dry_run=query.dry_run))
        return JsonResponse(present.imported(report, dry_run=query.dry_run))

    @router.get("/usage", response_model=experience_answers.UsageOut, summary="Tokens served and saved")
    async def usage(query: Annotated[DaysQuery, Query()], caller: Reader) -> Response:
        await meter.flush()  # the last few seconds count too
        return JsonResponse(present.usage(await experience.usage(caller, days=query.days)))

    return router


async def _whole(head: Part, rest: AsyncIterator[Part]) -> AsyncIterator[bytes]:
    """One JSON object: the head's members, then each list. The parts come kind by kind."""
    yield orjson.dumps(head.document)[:-1]
    open_: PartKind | None = None
    async for part in rest:
        if part.kind is not open_:
            if open_ is not None:
                yield b"]"
            name = next(name for name, kind in LISTS.items() if kind is part.kind)
            yield b',"' + name.encode() + b'":['
            open_ = part.kind
        else:
            yield b","
        yield orjson.dumps(part.document)
    yield b"]}" if open_ is not None else b"}"


async def _parts(whole: dict[str, Any]) -> AsyncIterator[Part]:
    """The head, then each document of each list."""
    yield Part(PartKind.HEAD, {name: value for name, value in whole.items() if name not in LISTS})
    for name, kind in LISTS.items():
        for item in whole.get(name, []):
            # what is no object lacks every field, and is left out by its place as such
            yield Part(kind, item if isinstance(item, dict) else {})


def _check_lists(whole: dict[str, Any]) -> None:
    """Pass where every list is one; before anything is stored.

    Raises:
        InvalidArgument: one is not.
    """
    for name in LISTS:
        if not isinstance(whole.get(name, []), list):
            raise InvalidArgument(f"'{name}' is not a list.", reason=Reason.FIELD_INVALID, details={"field": name})
