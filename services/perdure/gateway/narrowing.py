"""A caller who asks to be allowed less: reading alone, whatever the token allows.

Pure ASGI, behind the access layer. ``Perdure-Readonly: 1`` on any request, or ``?readonly=1`` on the MCP endpoint's
address, which is all that some clients can set. It takes scopes away and can add none.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers

from perdure.domain.namespace import Caller, TokenScope
from perdure.gateway.journal import CALLER

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HEADER = "perdure-readonly"
PARAMETER = "readonly"
NARROWED = "perdure.narrowed"
READING = frozenset({TokenScope.READ.value})
WRITING = frozenset({TokenScope.WRITE.value, TokenScope.EXPERIENCE.value})
_MCP_PATHS = frozenset({"/mcp", "/mcp/"})
_NO = frozenset({"0", "false", "no", "off"})


class Narrowing:
    """Leaves of the caller's scopes the reading one where the request asks for that."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, with a narrower caller where it asks for one."""
        caller = scope.get(CALLER)
        if isinstance(caller, Caller) and asks_to_read_only(scope):
            scope[CALLER] = dataclasses.replace(caller, scopes=caller.scopes & READING)
            scope[NARROWED] = True
        await self._app(scope, receive, send)


def asks_to_read_only(scope: Scope) -> bool:
    """Whether the request wants to read alone; a value that is not plainly a no is a yes, since that is harmless."""
    values = Headers(scope=scope).getlist(HEADER)
    if scope["path"] in _MCP_PATHS:
        query = scope.get("query_string", b"").decode("latin-1")
        values += parse_qs(query, keep_blank_values=True).get(PARAMETER, [])
    return any(value.strip().lower() not in _NO for value in values)


def only_reads(caller: Caller) -> bool:
    """Whether no tool that changes anything would be carried out for this caller."""
    return not caller.scopes & WRITING
