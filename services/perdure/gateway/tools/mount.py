"""The SDK's server on the gateway: stateless, both protocol eras, at /mcp and /mcp/, behind the gateway's own access.

Tenant and scopes come from the caller that the access layer put into the ASGI scope of this very request.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from mcp.server import CacheHint, Server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextResourceContents,
)
from starlette.datastructures import Headers
from starlette.routing import Route

from perdure.domain.memory import PROJECT_CHARS_MAX, Origin
from perdure.domain.namespace import Caller, TokenScope
from perdure.errors import InvalidArgument, PerdureError, Reason
from perdure.gateway.access import LOCAL_ACTOR, need
from perdure.gateway.backends import Backends
from perdure.gateway.errors import problem, problem_response
from perdure.gateway.fencing import new_word
from perdure.gateway.instructions import MCP_INSTRUCTIONS, READ_ONLY_INSTRUCTIONS
from perdure.gateway.journal import CALLER, ERROR, REQUEST_ID, ROUTE
from perdure.gateway.metering import Meter
from perdure.gateway.metrics import GatewayMetrics
from perdure.gateway.narrowing import NARROWED, only_reads
from perdure.gateway.policy import Policy
from perdure.gateway.routes.request import JsonResponse, memory_id
from perdure.gateway.shielding import Shield
from perdure.gateway.tools import texts
from perdure.gateway.tools.arguments import schema
from perdure.gateway.tools.calls import ToolCalls
from perdure.gateway.tools.card import ToolCard
from perdure.gateway.tools.catalogue import CARDS, cards_of

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from starlette.types import ASGIApp, Receive, Scope, Send

NAME = "perdure"
TITLE = "Perdure memory"
LIST_TTL_MS = 300_000
TOOLSETS = "perdure.toolsets"
RESOURCE_PREFIX = "memory://"
PROJECT_HEADER = "perdure-project"
PROJECT_PARAMETER = "project"
IN_A_PROJECT = frozenset({"memory_sync", "memory_save", "memory_search", "memory_checkpoint"})
"""Tools that take the client's project where the call names none; the others mean every project then."""


class McpMount:
    """The MCP endpoint. Its ``running`` is entered once, by the application's lifespan."""

    def __init__(
        self,
        backends: Backends,
        policy: Policy,
        shield: Shield,
        metrics: GatewayMetrics,
        meter: Meter,
        version: str,
    ) -> None:
        # an unknown toolset in the settings is found at the start, not at the first request
        cards_of(policy.toolsets)
        self._memories = backends.memories
        self._default_toolsets = policy.toolsets
        self._calls = ToolCalls(backends, shield, metrics, meter)
        self._servers = {only_reads: self._server(version, only_reads=only_reads) for only_reads in (False, True)}
        self._endpoint = _Endpoint(*(_endpoint(server, policy.body_limit_bytes) for server in self._servers.values()))

    def _server(self, version: str, *, only_reads: bool) -> Server[Any]:
        """The SDK's server: two faces of one memory, since the SDK has its instructions once for all callers."""
        shared = CacheHint(ttl_ms=LIST_TTL_MS, scope="private" if only_reads else "public")
        return Server(
            NAME,
            title=TITLE,
            version=version,
            instructions=READ_ONLY_INSTRUCTIONS if only_reads else MCP_INSTRUCTIONS,
            cache_hints={
                "server/discover": shared,
                "tools/list": shared,
                "prompts/list": shared,
                "resources/list": shared,
                "resources/templates/list": shared,
                "resources/read": CacheHint(ttl_ms=0, scope="private"),
            },
            get_tool_input_schema=_input_schema,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=_list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=_list_prompts,
            on_get_prompt=_get_prompt,
            on_completion=_complete,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serves while it is entered."""
        async with contextlib.AsyncExitStack() as stack:
            for server in self._servers.values():
                await stack.enter_async_context(server.session_manager.run())
            yield

    def routes(self) -> list[Route]:
        """The endpoint with and without a slash at the end; a redirect would lose clients."""
        return [Route("/mcp", self._endpoint), Route("/mcp/", self._endpoint)]

    async def _list_tools(
        self, ctx: ServerRequestContext[Any, Any], _: PaginatedRequestParams | None
    ) -> ListToolsResult:
        """The tools of the toolsets asked for; a caller who may only read is not shown what would be refused."""
        caller, cards = _caller(ctx), self._cards(ctx)
        if only_reads(caller):
            cards = tuple(card for card in cards if _is_readable(card, caller))
        return ListToolsResult(tools=[card.listed() for card in cards])

    def _cards(self, ctx: ServerRequestContext[Any, Any]) -> tuple[ToolCard, ...]:
        toolsets = _scope(ctx).get(TOOLSETS) or self._default_toolsets
        caller = _caller(ctx)
        if caller.actor != LOCAL_ACTOR and TokenScope.EXPERIENCE.value in caller.scopes:
            # whoever made the token asked for it; without a token the settings or the address must
            toolsets = (*toolsets, "experience")
        return cards_of(toolsets)

    async def _call_tool(self, ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        card = CARDS.get(params.name)
        if _scope(ctx).get(NARROWED) and card is not None and card.scope not in (None, TokenScope.READ):
            return self._calls.refused(
                card.name, f"This connection only reads (readonly), so {card.name} is not carried out."
            )
        given = dict(params.arguments or {})
        project = project_named(_scope(ctx))
        if project and params.name in IN_A_PROJECT and given.get("project") in (None, ""):
            given["project"] = project
        return await self._calls.call(params.name, given, _caller(ctx), _origin(ctx), self._cards(ctx))

    async def _read_resource(
        self, ctx: ServerRequestContext[Any, Any], params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        caller = _caller(ctx)
        try:
            need(caller, TokenScope.READ)
            if not uri.startswith(RESOURCE_PREFIX):
                raise InvalidArgument("Resources are memory://<id>.", reason=Reason.FIELD_INVALID)
            memory = await self._memories.get(caller, memory_id(uri.removeprefix(RESOURCE_PREFIX).strip("/")))
        except PerdureError as failure:
            raise MCPError(INVALID_PARAMS, failure.message, {"uri": uri}) from failure
        text = texts.one(memory, new_word(), max_tokens=None)
        return ReadResourceResult(contents=[TextResourceContents(uri=params.uri, mime_type="text/plain", text=text)])


class _Endpoint:
    """POST to the SDK; GET and DELETE, which only sessions need, are refused at once."""

    def __init__(self, inner: ASGIApp, reading: ASGIApp) -> None:
        self._inner = inner
        self._reading = reading

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[ROUTE] = "/mcp"
        if scope["method"] != "POST":
            scope[ERROR] = "method_not_allowed"
            body = problem(
                405,
                code="invalid_argument",
                reason="method_not_allowed",
                detail="This MCP endpoint is stateless and takes POST only.",
                request_id=scope[REQUEST_ID],
            )
            await JsonResponse(body, 405, {"Allow": "POST"}, "application/problem+json")(scope, receive, send)
            return
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("toolsets")
        if asked:
            toolsets = tuple(part.strip() for value in asked for part in value.split(",") if part.strip())
            try:
                cards_of(toolsets)
            except InvalidArgument as refusal:
                scope[ERROR] = refusal.reason.value
                await problem_response(refusal, scope[REQUEST_ID], status=400)(scope, receive, send)
                return
            scope[TOOLSETS] = toolsets
        # RFC 9110, 5.5: white space around a value is not part of it; httptools leaves it there
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        caller = scope.get(CALLER)
        inner = self._reading if isinstance(caller, Caller) and only_reads(caller) else self._inner
        await inner(scope, receive, send)


def _endpoint(server: Server[Any], body_limit_bytes: int) -> ASGIApp:
    """The ASGI application of a server's one route."""
    inner = server.streamable_http_app(
        stateless_http=True,
        max_request_body_size=body_limit_bytes,
        # the gateway checks Host and Origin of every request before it gets here
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    (route,) = inner.routes
    assert isinstance(route, Route)  # noqa: S101 - the SDK mounts exactly one route
    return route.endpoint


def project_named(scope: Scope) -> str:
    """The project that the client is in, as its header (in percent-encoding) or the address says; empty for none."""
    values = [unquote(value) for value in Headers(scope=scope).getlist(PROJECT_HEADER)]
    values += parse_qs(scope.get("query_string", b"").decode("latin-1")).get(PROJECT_PARAMETER, [])
    named = (" ".join(value.split()) for value in values)
    return next((name for name in named if name and name.isprintable() and len(name) <= PROJECT_CHARS_MAX), "")


def _is_readable(card: ToolCard, caller: Caller) -> bool:
    return card.read_only and (card.scope is None or card.scope.value in caller.scopes)


def _scope(ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    request = ctx.request
    return dict(request.scope) if request is not None else {}


def _caller(ctx: ServerRequestContext[Any, Any]) -> Caller:
    caller = _scope(ctx).get(CALLER)
    if not isinstance(caller, Caller):
        raise MCPError(INVALID_PARAMS, "This request carries no caller.")
    return caller


def _origin(ctx: ServerRequestContext[Any, Any]) -> Origin:
    """The client's own name, where the request says it."""
    client = getattr(ctx.session, "client_params", None)
    info = getattr(client, "client_info", None)
    name = getattr(info, "name", "") or ""
    return Origin(host=str(name)[:200])


def _input_schema(name: str) -> dict[str, Any] | None:
    card = CARDS.get(name)
    return None if card is None else schema(card.arguments)


async def _list_resources(
    _: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
) -> ListResourcesResult:
    return ListResourcesResult(resources=[])


async def _list_templates(
    _: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None
) -> ListResourceTemplatesResult:
    template = ResourceTemplate(
        uri_template="memory://{id}",
        name="memory",
        title="A memory",
        description="One memory in full, as memory_get shows it.",
        mime_type="text/plain",
    )
    return ListResourceTemplatesResult(resource_templates=[template])


async def _list_prompts(_: ServerRequestContext[Any, Any], _params: PaginatedRequestParams | None) -> ListPromptsResult:
    return ListPromptsResult(prompts=[])


async def _get_prompt(_: ServerRequestContext[Any, Any], _params: GetPromptRequestParams) -> GetPromptResult:
    raise MCPError(INVALID_PARAMS, "There is no prompt of this name.")


async def _complete(_: ServerRequestContext[Any, Any], _params: CompleteRequestParams) -> CompleteResult:
    # ids are found by searching; some clients ask for completions whatever a server says it can do
    return CompleteResult(completion=Completion(values=[], total=0, has_more=False))
