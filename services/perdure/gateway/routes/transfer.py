"""Export and import: JSON Lines, one memory a line with its earlier states, streamed both ways."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from fastapi import APIRouter, Query, Request, Response
from starlette.responses import StreamingResponse

from perdure.domain.memory import Memory, Revision
from perdure.domain.namespace import Caller
from perdure.domain.saving import ImportProblem
from perdure.errors import InvalidArgument, PerdureError, Reason
from perdure.gateway import present
from perdure.gateway.backends import Memories, Stored
from perdure.gateway.lines import BadLine, stored_of
from perdure.gateway.policy import Policy
from perdure.gateway.routes import answers
from perdure.gateway.routes.request import JsonResponse, Reader, Writer
from perdure.gateway.schemas import ExportQuery, ImportQuery
from perdure.gateway.shielding import Shield

NDJSON = "application/x-ndjson"
PROBLEMS_MAX = 100


def transfer_routes(memories: Memories, shield: Shield, policy: Policy) -> APIRouter:
    """The routes for whole namespaces."""
    router = APIRouter(tags=["transfer"], responses=answers.PROBLEMS)

    @router.get(
        "/memories/export",
        summary="Every memory, as JSON Lines",
        response_class=Response,
        responses={200: {"content": {NDJSON: {"schema": {"type": "string"}}}}},
    )
    async def export(query: Annotated[ExportQuery, Query()], caller: Reader) -> Response:
        every_status = not query.status
        stream = memories.export(
            caller,
            query.conditions(tuple(query.project)),
            every_status=every_status,
            without_history=not query.history,
        )
        # the first memory is fetched before the head is sent, so that a failure still has its status
        first = await anext(stream, None)
        return StreamingResponse(
            _lines(first, stream), media_type=NDJSON, headers={"X-Accel-Buffering": "no", "Cache-Control": "no-store"}
        )

    @router.post(
        "/memories/import",
        response_model=answers.Imported,
        summary="Take in JSON Lines",
        openapi_extra={
            "requestBody": {"required": True, "content": {NDJSON: {"schema": {"type": "string"}}}},
        },
    )
    async def import_(request: Request, query: Annotated[ImportQuery, Query()], caller: Writer) -> Response:
        reading = Reading(caller, policy.body_limit_bytes)
        report = await memories.import_(caller, reading.memories(request.stream()), dry_run=query.dry_run)
        problems = sorted(
            [
                *(dataclasses.replace(issue, line=reading.line_of(issue.line)) for issue in report.problems),
                *reading.problems,
            ],
            key=lambda issue: issue.line,
        )
        whole = dataclasses.replace(
            report,
            read=report.read + reading.refused,
            failed=report.failed + reading.refused,
            problems=tuple(problems[:PROBLEMS_MAX]),
        )
        return JsonResponse(present.import_report(whole))

    _ = shield  # an import is a stream from the client: it ends when the client does
    return router


async def _lines(first: Stored | None, rest: AsyncIterator[Stored]) -> AsyncIterator[bytes]:
    if first is None:
        return
    yield line_of(*first)
    async for memory, revisions in rest:
        yield line_of(memory, revisions)


def line_of(memory: Memory, revisions: tuple[Revision, ...]) -> bytes:
    """A memory as one line of an export."""
    return orjson.dumps({**present.memory(memory), "revisions": [present.revision(item) for item in revisions]}) + b"\n"


class Reading:
    """An import's body while it is read: its good lines as memories, its bad ones as problems."""

    def __init__(self, caller: Caller, line_limit_bytes: int) -> None:
        self._caller = caller
        self._limit = line_limit_bytes
        self._sent: list[int] = []
        self.problems: list[ImportProblem] = []
        self.refused = 0

    def line_of(self, sent: int) -> int:
        """The line, from 1, of the ``sent``-th memory handed on, from 1."""
        return self._sent[sent - 1] if 0 < sent <= len(self._sent) else sent

    async def memories(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[Stored]:
        """The memories of the good lines.

        Raises:
            InvalidArgument: a line is longer than the limit (TOO_LARGE).
        """
        number = 0
        async for raw in self._split(chunks):
            number += 1
            if not raw.strip():
                continue
            try:
                item = stored_of(raw, self._caller.namespace)
            except (BadLine, PerdureError) as fault:
                self.refused += 1
                if len(self.problems) < PROBLEMS_MAX:
                    reason = fault.reason.value
                    self.problems.append(ImportProblem(line=number, reason=reason, message=str(fault)))
                continue
            self._sent.append(number)
            yield item

    async def _split(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        pending = bytearray()
        async for chunk in chunks:
            pending += chunk
            if b"\n" in chunk:
                *whole, rest = bytes(pending).split(b"\n")
                pending = bytearray(rest)
                for line in whole:
                    yield line
            if len(pending) > self._limit:
                raise InvalidArgument(
                    f"A line of the import is longer than {self._limit} bytes.",
                    reason=Reason.TOO_LARGE,
                    details={"limit_bytes": self._limit},
                )
        if pending:
            yield bytes(pending)
