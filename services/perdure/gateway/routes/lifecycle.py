"""What becomes of memories, by REST: consolidating, cleaning, compacting, erasing; runs and their undo."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from perdure.domain.runs import Run, Task
from perdure.gateway import present_lifecycle as present
from perdure.gateway.backends import Lifecycle
from perdure.gateway.routes import answers, lifecycle_answers
from perdure.gateway.routes.request import JsonResponse, Named, Reader, Writer
from perdure.gateway.schemas import NoQuery
from perdure.gateway.schemas_lifecycle import (
    CompactBody,
    EraseBody,
    MemoryMdQuery,
    RestoreContentBody,
    RunBody,
    RunsQuery,
)
from perdure.gateway.shielding import Shield

NO_QUERY = Annotated[NoQuery, Query()]
MARKDOWN = "text/markdown; charset=utf-8"


def lifecycle_routes(lifecycle: Lifecycle, shield: Shield) -> APIRouter:
    """The routes of the lifecycle."""
    router = APIRouter(tags=["lifecycle"], responses=answers.PROBLEMS)

    @router.post(
        "/memories/consolidate",
        response_model=lifecycle_answers.Consolidated,
        responses={202: {"model": lifecycle_answers.Consolidated, "description": "It goes on; poll the run."}},
        summary="Make one memory of many aged ones about one thing",
    )
    async def consolidate(caller: Writer, _: NO_QUERY, body: RunBody | None = None) -> Response:
        asked = body if body is not None else RunBody(project=None, dry_run=False, wait=True)
        return _ran(await shield(lifecycle.start(caller, Task.CONSOLIDATE, **asked.wanted())), present.consolidated)

    @router.post(
        "/memories/clean",
        response_model=lifecycle_answers.Cleaned,
        responses={202: {"model": lifecycle_answers.Cleaned, "description": "It goes on; poll the run."}},
        summary="Take out of search what faded, ended or interferes",
    )
    async def clean(caller: Writer, _: NO_QUERY, body: RunBody | None = None) -> Response:
        asked = body if body is not None else RunBody(project=None, dry_run=False, wait=True)
        return _ran(await shield(lifecycle.start(caller, Task.CLEAN, **asked.wanted())), present.cleaned)

    @router.post(
        "/memories/compact", response_model=lifecycle_answers.CompactedOut, summary="Put stubs for long memories"
    )
    async def compact(body: CompactBody, caller: Writer, _: NO_QUERY) -> Response:
        done = await shield(
            lifecycle.compact(caller, body.memories, stub=body.stub, chars=body.max_chars or 0, dry_run=body.dry_run)
        )
        return JsonResponse(present.compacted(done, dry_run=body.dry_run))

    @router.post(
        "/memories/restore-content",
        response_model=lifecycle_answers.ContentRestored,
        summary="Bring texts home to stubs, or take stubs away",
    )
    async def restore_content(body: RestoreContentBody, caller: Writer, _: NO_QUERY) -> Response:
        restored, unmatched = await shield(lifecycle.restore_content(caller, body.named_texts(), body.unstub))
        return JsonResponse({"restored": list(restored), "unmatched": list(unmatched)})

    @router.get("/memories/memory-md", summary="The managed block of MEMORY.md for a project", response_class=Response)
    async def memory_md(query: Annotated[MemoryMdQuery, Query()], caller: Reader) -> Response:
        block, _count = await lifecycle.memory_md(caller, query.project)
        return Response(block + "\n", media_type=MARKDOWN)

    @router.post("/memories/erase", response_model=lifecycle_answers.Erased, summary="Erase a project or the namespace")
    async def erase(body: EraseBody, caller: Writer, _: NO_QUERY) -> Response:
        erased = await shield(lifecycle.erase(caller, project=body.project or None, confirm=body.confirm))
        return JsonResponse({"erased": erased})

    @router.get(
        "/memories/{id}/lifecycle",
        response_model=lifecycle_answers.ForecastOut,
        summary="What a memory weighs, and what happens to it when",
    )
    async def foresee(memory: Named, caller: Reader, _: NO_QUERY) -> Response:
        return JsonResponse(present.foreseen(await lifecycle.foresee(caller, memory)))

    @router.get("/maintenance/runs", response_model=lifecycle_answers.RunsOut, summary="Runs, newest first")
    async def runs(query: Annotated[RunsQuery, Query()], caller: Reader) -> Response:
        found = await lifecycle.runs(caller, limit=query.limit)
        return JsonResponse({"runs": [present.run(item) for item in found]})

    @router.get("/maintenance/runs/{run_id}", response_model=lifecycle_answers.RunOut, summary="One run and its doings")
    async def run(run_id: str, caller: Reader, _: NO_QUERY) -> Response:
        found, items = await lifecycle.run(caller, run_id)
        return JsonResponse({**present.run(found), "items": [present.item(item) for item in items]})

    @router.post(
        "/maintenance/runs/{run_id}/undo",
        response_model=lifecycle_answers.Undone,
        summary="Put back what a run changed",
    )
    async def undo(run_id: str, caller: Writer, _: NO_QUERY) -> Response:
        after, report = await shield(lifecycle.undo(caller, run_id))
        return JsonResponse(present.undone(after, report))

    return router


def _ran(run: Run, shown: present.Shown) -> Response:
    location = {"Location": f"/maintenance/runs/{run.id}"}
    return JsonResponse(shown(run), 200 if run.finished else 202, location)
