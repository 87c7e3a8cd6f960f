"""Episodes, skills and runs by REST."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRunId, StepOutcome
from perdure.domain.experience.skill import SkillId
from perdure.gateway import present_experience as present
from perdure.gateway.backends_experience import Experience
from perdure.gateway.routes import answers, experience_answers
from perdure.gateway.routes.request import Experienced, JsonResponse
from perdure.gateway.schemas import NoQuery
from perdure.gateway.schemas_experience import (
    DiffQuery,
    DueBody,
    EditsBody,
    FinishBody,
    HolderBody,
    LeaseBody,
    PageQuery,
    RoutineBody,
    SkillQuery,
    SkillRunsQuery,
    StartBody,
    StepBody,
)
from perdure.gateway.shielding import Shield

NO_QUERY = Annotated[NoQuery, Query()]
ID = Annotated[str, Path(min_length=1, max_length=64)]
NAME = Annotated[str, Path(min_length=1, max_length=200)]
PICTURE: dict[str, dict[str, Any]] = {"image/png": {}, "image/jpeg": {}, "image/webp": {}}


def episode_routes(experience: Experience, shield: Shield) -> APIRouter:
    """The routes under /episodes."""
    router = APIRouter(tags=["experience"], responses=answers.PROBLEMS)

    @router.post(
        "/episodes", status_code=201, response_model=experience_answers.Document, summary="Keep a demonstration"
    )
    async def save(body: dict[str, Any], caller: Experienced, _: NO_QUERY) -> Response:
        stored = await shield(experience.save_episode(caller, body))
        return JsonResponse(present.episode(stored), 201, {"Location": f"/episodes/{stored.id}"})

    @router.get("/episodes", response_model=experience_answers.Episodes, summary="Demonstrations, newest first")
    async def listed(query: Annotated[PageQuery, Query()], caller: Experienced) -> Response:
        page = await experience.episodes(caller, limit=query.limit, cursor=query.cursor)
        return JsonResponse(
            {"episodes": [present.episode_line(one) for one in page.episodes], "next_cursor": page.next}
        )

    @router.get("/episodes/{id}", response_model=experience_answers.Document, summary="One demonstration")
    async def get(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse(present.episode(await experience.episode(caller, EpisodeId(id))))

    @router.delete("/episodes/{id}", response_model=experience_answers.Forgotten, summary="Erase a demonstration")
    async def forget(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse({"forgotten": await shield(experience.forget_episode(caller, EpisodeId(id)))})

    @router.put(
        "/episodes/{id}/screenshots/{name}",
        status_code=201,
        response_model=experience_answers.Picture,
        summary="Add a picture (PNG, JPEG or WebP)",
        openapi_extra={"requestBody": {"required": True, "content": PICTURE}},
    )
    async def put_screenshot(id: ID, name: NAME, request: Request, caller: Experienced, _: NO_QUERY) -> Response:
        data = await request.body()
        kept = await shield(experience.put_screenshot(caller, EpisodeId(id), name, data))
        return JsonResponse(present.screenshot(kept), 201)

    @router.get("/episodes/{id}/screenshots", response_model=experience_answers.Pictures, summary="Its pictures")
    async def screenshots(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        found = await experience.screenshots(caller, EpisodeId(id))
        return JsonResponse({"screenshots": [present.screenshot(one) for one in found]})

    @router.get(
        "/episodes/{id}/screenshots/{name}",
        response_class=Response,
        responses={200: {"content": PICTURE}},
        summary="One picture",
    )
    async def screenshot(id: ID, name: NAME, caller: Experienced, _: NO_QUERY) -> Response:
        kept, data = await experience.screenshot(caller, EpisodeId(id), name)
        # a picture is shown as what it is and nothing else, whatever a browser makes of its bytes
        headers = {"ETag": f'"{kept.sha256}"', "X-Content-Type-Options": "nosniff", "Cache-Control": "private"}
        return Response(data, media_type=kept.media_type, headers=headers)

    @router.post(
        "/episodes/{id}/preview", response_model=experience_answers.Document, summary="The skill that it would become"
    )
    async def preview(id: ID, caller: Experienced, _: NO_QUERY, body: EditsBody | None = None) -> Response:
        skill = await experience.preview_skill(caller, EpisodeId(id), body.edits if body else None)
        return JsonResponse(present.skill(skill))

    @router.post(
        "/episodes/{id}/compile",
        status_code=201,
        response_model=experience_answers.Document,
        summary="Make a skill of it, or the next version of its skill",
    )
    async def compile_(id: ID, caller: Experienced, _: NO_QUERY, body: EditsBody | None = None) -> Response:
        skill = await shield(experience.compile_skill(caller, EpisodeId(id), body.edits if body else None))
        return JsonResponse(present.skill(skill), 201, {"Location": f"/skills/{skill.id}"})

    return router


def skill_routes(experience: Experience, shield: Shield) -> APIRouter:
    """The routes under /skills."""
    router = APIRouter(tags=["experience"], responses=answers.PROBLEMS)

    @router.get("/skills", response_model=experience_answers.Skills, summary="Skills, newest first")
    async def listed(query: Annotated[PageQuery, Query()], caller: Experienced) -> Response:
        page = await experience.skills(caller, limit=query.limit, cursor=query.cursor)
        return JsonResponse({"skills": [present.skill_line(one) for one in page.skills], "next_cursor": page.next})

    @router.post("/skills/due", response_model=experience_answers.Due, summary="Take what is due; nobody else gets it")
    async def due(body: DueBody, caller: Experienced, _: NO_QUERY) -> Response:
        taken = await shield(
            experience.due_skills(
                caller,
                holder=body.holder,
                offset_minutes=body.tz_offset_minutes,
                claim=body.claim,
                lease_s=body.lease_s,
            )
        )
        return JsonResponse({"skills": [present.skill(one) for one in taken]})

    @router.get("/skills/{id}", response_model=experience_answers.Document, summary="One skill")
    async def get(id: ID, query: Annotated[SkillQuery, Query()], caller: Experienced) -> Response:
        return JsonResponse(present.skill(await experience.skill(caller, SkillId(id), query.version)))

    @router.delete("/skills/{id}", response_model=experience_answers.Forgotten, summary="Erase a skill; its runs stay")
    async def forget(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse({"forgotten": await shield(experience.forget_skill(caller, SkillId(id)))})

    @router.get("/skills/{id}/versions", response_model=experience_answers.Versions, summary="Versions, newest first")
    async def versions(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        found = await experience.skill_versions(caller, SkillId(id))
        return JsonResponse({"versions": [present.skill(one) for one in found]})

    @router.get("/skills/{id}/diff", response_model=experience_answers.Diff, summary="What changed between versions")
    async def diff(id: ID, query: Annotated[DiffQuery, Query()], caller: Experienced) -> Response:
        new = query.new or (await experience.skill(caller, SkillId(id), None)).version
        old = query.old or max(1, new - 1)
        lines = await experience.diff_skill(caller, SkillId(id), old, new)
        return JsonResponse({"old": old, "new": new, "lines": list(lines)})

    @router.put("/skills/{id}/routine", response_model=experience_answers.Document, summary="Schedule a skill")
    async def schedule(id: ID, body: RoutineBody, caller: Experienced, _: NO_QUERY) -> Response:
        routine = {"schedule": body.schedule, "values": body.values, "enabled": body.enabled}
        return JsonResponse(present.skill(await shield(experience.schedule_skill(caller, SkillId(id), routine))))

    @router.delete("/skills/{id}/routine", response_model=experience_answers.Document, summary="Take the schedule away")
    async def unschedule(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse(present.skill(await shield(experience.schedule_skill(caller, SkillId(id), None))))

    @router.post("/skills/{id}/heartbeat", response_model=experience_answers.Document, summary="Keep what was taken")
    async def heartbeat(id: ID, body: LeaseBody, caller: Experienced, _: NO_QUERY) -> Response:
        kept = experience.heartbeat_skill(caller, SkillId(id), body.holder, lease_s=body.lease_s)
        return JsonResponse(present.skill(await shield(kept)))

    @router.post("/skills/{id}/release", response_model=experience_answers.Document, summary="Give back what was taken")
    async def release(id: ID, body: HolderBody, caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse(present.skill(await shield(experience.release_skill(caller, SkillId(id), body.holder))))

    @router.get("/skills/{id}/record", response_model=experience_answers.Records, summary="What its runs taught")
    async def record(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        found = await experience.skill_records(caller, SkillId(id))
        return JsonResponse({"records": [present.record(one) for one in found]})

    return router


def run_routes(experience: Experience, shield: Shield) -> APIRouter:
    """The routes under /runs."""
    router = APIRouter(tags=["experience"], responses=answers.PROBLEMS)

    @router.post("/runs", status_code=201, response_model=experience_answers.Document, summary="Begin a run")
    async def start(body: StartBody, caller: Experienced, _: NO_QUERY) -> Response:
        begun = experience.start_run(
            caller, SkillId(body.skill_id), RunTrigger(body.trigger), holder=body.holder, model=body.model
        )
        run = await shield(begun)
        return JsonResponse(present.run(run), 201, {"Location": f"/runs/{run.id}"})

    @router.get("/runs", response_model=experience_answers.Runs, summary="Runs, newest first")
    async def listed(query: Annotated[SkillRunsQuery, Query()], caller: Experienced) -> Response:
        skill = SkillId(query.skill_id) if query.skill_id else None
        page = await experience.runs(caller, skill=skill, limit=query.limit, cursor=query.cursor)
        return JsonResponse({"runs": [present.run_line(one) for one in page.runs], "next_cursor": page.next})

    @router.get("/runs/{id}", response_model=experience_answers.Document, summary="One run with its trail")
    async def get(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse(present.run(await experience.run(caller, SkillRunId(id))))

    @router.post("/runs/{id}/steps", response_model=experience_answers.Document, summary="Add a line to its trail")
    async def step(id: ID, body: StepBody, caller: Experienced, _: NO_QUERY) -> Response:
        logged = experience.log_step(
            caller, SkillRunId(id), body.idx, body.step_id, StepOutcome(body.outcome), detail=body.detail
        )
        return JsonResponse(present.run(await shield(logged)))

    @router.post("/runs/{id}/finish", response_model=experience_answers.Document, summary="End a run")
    async def finish(id: ID, body: FinishBody, caller: Experienced, _: NO_QUERY) -> Response:
        ended = experience.finish_run(
            caller,
            SkillRunId(id),
            RunStatus(body.status),
            error=body.error,
            tokens=body.tokens,
            cost=body.cost,
            model=body.model,
        )
        return JsonResponse(present.run(await shield(ended)))

    @router.post("/runs/{id}/cancel", response_model=experience_answers.Document, summary="Stop a run")
    async def cancel(id: ID, caller: Experienced, _: NO_QUERY) -> Response:
        return JsonResponse(present.run(await shield(experience.cancel_run(caller, SkillRunId(id)))))

    return router
