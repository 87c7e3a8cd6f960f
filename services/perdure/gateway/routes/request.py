"""What every route reads from a request and how it answers."""

from __future__ import annotations

import re
from typing import Annotated, Any, cast

import orjson
from fastapi import Depends, Header, Path, Request, Response

from perdure.domain.memory import MemoryId
from perdure.domain.namespace import Caller, TokenScope
from perdure.errors import InvalidArgument, NotFound, Reason
from perdure.gateway.access import need, need_operator
from perdure.gateway.journal import CALLER

IDEMPOTENCY_KEY_CHARS_MAX = 200
_KEY = re.compile(rf"[\x21-\x7e]{{1,{IDEMPOTENCY_KEY_CHARS_MAX}}}\Z")
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_TAG = re.compile(r'(?:W/)?"?(\d{1,18})"?\Z')


class JsonResponse(Response):
    """A prepared JSON answer; FastAPI passes it on as it is."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The content as JSON."""
        return orjson.dumps(content)


def memory_id(text: str) -> MemoryId:
    """``text`` as an id.

    Raises:
        NotFound: no memory can have it.
    """
    lowered = text.lower()
    if not _ID.match(lowered):
        raise NotFound("There is no memory of this id.", reason=Reason.MEMORY_NOT_FOUND)
    return MemoryId(lowered)


def _caller(request: Request) -> Caller:
    return cast("Caller", request.scope[CALLER])


# these are coroutines because FastAPI sends plain functions to a thread, which costs more than the whole request


async def _reader(request: Request) -> Caller:
    caller = _caller(request)
    need(caller, TokenScope.READ)
    return caller


async def _writer(request: Request) -> Caller:
    caller = _caller(request)
    need(caller, TokenScope.WRITE)
    return caller


async def _experienced(request: Request) -> Caller:
    caller = _caller(request)
    need(caller, TokenScope.EXPERIENCE)
    return caller


async def _operator(request: Request) -> Caller:
    caller = _caller(request)
    need_operator(caller)
    return caller


async def _named(memory: Annotated[str, Path(alias="id", description="Id of a memory.")]) -> MemoryId:
    return memory_id(memory)


async def _idempotency_key(
    key: Annotated[
        str | None,
        Header(alias="Idempotency-Key", description="Repeats of a request with the same key get the first answer."),
    ] = None,
) -> str | None:
    if key is None:
        return None
    if not _KEY.match(key):
        raise InvalidArgument(
            f"An Idempotency-Key has 1 to {IDEMPOTENCY_KEY_CHARS_MAX} visible ASCII characters.",
            reason=Reason.FIELD_INVALID,
            details={"field": "Idempotency-Key"},
        )
    return key


async def _expected_revision(
    tag: Annotated[
        str | None,
        Header(alias="If-Match", description="Revision the change is based on (the ETag of a read); 409 if it moved."),
    ] = None,
) -> int | None:
    if tag is None or tag.strip() == "*":
        return None
    match = _TAG.match(tag.strip())
    if match is None or int(match[1]) < 1:
        raise InvalidArgument(
            'If-Match takes a revision, such as "3".', reason=Reason.FIELD_INVALID, details={"field": "If-Match"}
        )
    return int(match[1])


Reader = Annotated[Caller, Depends(_reader)]
Writer = Annotated[Caller, Depends(_writer)]
Experienced = Annotated[Caller, Depends(_experienced)]
Operator = Annotated[Caller, Depends(_operator)]
Named = Annotated[MemoryId, Depends(_named)]
IdempotencyKey = Annotated[str | None, Depends(_idempotency_key)]
ExpectedRevision = Annotated[int | None, Depends(_expected_revision)]


def etag(revision: int) -> dict[str, str]:
    """The header that names a revision."""
    return {"ETag": f'"{revision}"'}
