"""Saving, finding and keeping memories by REST."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from perdure.gateway import present
from perdure.gateway.access import LOCAL_ACTOR
from perdure.gateway.backends import Memories
from perdure.gateway.budgeting import within_tokens
from perdure.gateway.instructions import REST_INSTRUCTIONS
from perdure.gateway.metering import Meter, client_of
from perdure.gateway.routes import answers
from perdure.gateway.routes.request import (
    ExpectedRevision,
    IdempotencyKey,
    JsonResponse,
    Named,
    Reader,
    Writer,
    etag,
)
from perdure.gateway.schemas import (
    BatchBody,
    CheckpointBody,
    DeleteQuery,
    GetQuery,
    ListQuery,
    NoQuery,
    SaveBody,
    SearchQuery,
    SyncBody,
    UpdateBody,
)
from perdure.gateway.shielding import Shield

NO_QUERY = Annotated[NoQuery, Query()]


def memory_routes(memories: Memories, shield: Shield, meter: Meter) -> APIRouter:
    """The routes under /memories, without import and export."""
    router = APIRouter(tags=["memories"], responses=answers.PROBLEMS)

    @router.post("/memories", status_code=201, response_model=answers.Saved, summary="Save a memory")
    async def save(body: SaveBody, caller: Writer, key: IdempotencyKey, _: NO_QUERY) -> Response:
        result = await shield(memories.save(caller, body.draft(), idempotency_key=key))
        return JsonResponse(present.saved(result), 201)

    @router.post("/memories/batch", response_model=answers.Batch, summary="Save up to 500 memories")
    async def save_many(body: BatchBody, caller: Writer, key: IdempotencyKey, _: NO_QUERY) -> Response:
        drafts = [item.draft() for item in body.memories]
        return JsonResponse(present.batch(await shield(memories.save_many(caller, drafts, idempotency_key=key))))

    @router.post(
        "/memories/checkpoint", status_code=201, response_model=answers.Saved, summary="Save what a task taught"
    )
    async def checkpoint(body: CheckpointBody, caller: Writer, key: IdempotencyKey, _: NO_QUERY) -> Response:
        result = await shield(memories.checkpoint(caller, body.checkpoint(), idempotency_key=key))
        return JsonResponse(present.saved(result), 201)

    @router.post("/memories/sync", response_model=answers.Synced, summary="What a session should know")
    async def sync(caller: Reader, _: NO_QUERY, body: SyncBody | None = None) -> Response:
        asked = body if body is not None else SyncBody(recent=10)
        briefing = await memories.sync(caller, project=asked.project or None, recent=asked.recent)
        return JsonResponse(present.briefing(briefing))

    @router.get("/memories/search", response_model=answers.Found, summary="Find memories by meaning and by words")
    async def search(query: Annotated[SearchQuery, Query()], caller: Reader, request: Request) -> Response:
        answer = await memories.search(caller, query.question())
        found = present.search(answer, timings=query.timings)
        if query.max_tokens is not None:
            within_tokens(found, query.max_tokens)
        answer_ = JsonResponse(found)
        meter.served(caller, client_of(request), bytes(answer_.body).decode())
        return answer_

    @router.get("/memories/stats", response_model=answers.Counted, summary="Counts of the namespace")
    async def stats(caller: Reader, _: NO_QUERY) -> Response:
        counts, space, store_bytes = await memories.stats(caller)
        runs_it = caller.actor == LOCAL_ACTOR or "admin" in caller.scopes
        return JsonResponse(present.stats(counts, space, store_bytes if runs_it else None))

    @router.get("/memories/instructions", summary="System prompt for agents without MCP", response_class=Response)
    async def instructions(_caller: Reader, _: NO_QUERY) -> Response:
        return Response(REST_INSTRUCTIONS, media_type="text/plain; charset=utf-8")

    @router.get("/memories", response_model=answers.Listed, summary="List memories, newest first")
    async def list_(query: Annotated[ListQuery, Query()], caller: Reader) -> Response:
        page, cursor = await memories.list(
            caller, query.conditions(tuple(query.project)), limit=query.limit, cursor=query.cursor
        )
        out: present.Json = {"memories": [present.memory(item) for item in page]}
        if cursor:
            out["next_cursor"] = cursor
        return JsonResponse(out)

    @router.get("/memories/{id}", response_model=answers.MemoryOut, summary="One memory, whatever its status")
    async def get(memory: Named, query: Annotated[GetQuery, Query()], caller: Reader) -> Response:
        found = await memories.get(caller, memory, peek=query.peek)
        return JsonResponse(present.memory(found), headers=etag(found.revision))

    @router.patch("/memories/{id}", response_model=answers.Updated, summary="Edit a memory")
    async def update(
        memory: Named, body: UpdateBody, caller: Writer, revision: ExpectedRevision, _: NO_QUERY
    ) -> Response:
        after, embedded, redacted = await shield(memories.update(caller, memory, body.edit(revision)))
        out = {
            "updated": after.id,
            "revision": after.revision,
            "embedded": embedded,
            "redacted": list(redacted),
            "memory": present.memory(after),
        }
        return JsonResponse(out, headers=etag(after.revision))

    @router.delete("/memories/{id}", response_model=answers.Removed, summary="Archive or purge a memory")
    async def delete(
        memory: Named, query: Annotated[DeleteQuery, Query()], caller: Writer, revision: ExpectedRevision
    ) -> Response:
        if query.purge:
            await shield(memories.purge(caller, memory, expected_revision=revision))
            return JsonResponse({"purged": memory})
        after = await shield(memories.archive(caller, memory, expected_revision=revision))
        return JsonResponse({"archived": after.id, "revision": after.revision}, headers=etag(after.revision))

    @router.post("/memories/{id}/restore", response_model=answers.Restored, summary="Bring a memory back")
    async def restore(memory: Named, caller: Writer, revision: ExpectedRevision, _: NO_QUERY) -> Response:
        after = await shield(memories.restore(caller, memory, expected_revision=revision))
        return JsonResponse({"restored": after.id, "revision": after.revision}, headers=etag(after.revision))

    @router.get("/memories/{id}/history", response_model=answers.Past, summary="Earlier states, newest first")
    async def history(memory: Named, caller: Reader, _: NO_QUERY) -> Response:
        present_state, revisions = await memories.history(caller, memory)
        out = {
            "id": present_state.id,
            "memory": present.memory(present_state),
            "revisions": [present.revision(item) for item in revisions],
        }
        return JsonResponse(out)

    return router
