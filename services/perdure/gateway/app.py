"""The gateway's ASGI application, from its backends and its policy."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from perdure.errors import Code, InvalidArgument, PerdureError, Reason
from perdure.gateway.access import AccessControl, Authenticator
from perdure.gateway.backends import Backends
from perdure.gateway.errors import problem, problem_response
from perdure.gateway.journal import ERROR, REQUEST_ID, Journal
from perdure.gateway.metering import Meter
from perdure.gateway.metrics import GatewayMetrics
from perdure.gateway.narrowing import Narrowing
from perdure.gateway.perimeter import Perimeter
from perdure.gateway.policy import Policy
from perdure.gateway.routes.experience import episode_routes, run_routes, skill_routes
from perdure.gateway.routes.learning import learning_routes
from perdure.gateway.routes.lifecycle import lifecycle_routes
from perdure.gateway.routes.memories import memory_routes
from perdure.gateway.routes.operations import operation_routes
from perdure.gateway.routes.request import JsonResponse
from perdure.gateway.routes.transfer import transfer_routes
from perdure.gateway.shielding import Shield
from perdure.gateway.tools.mount import McpMount
from perdure.observability.tracing import PassThrough, Tracer

DRAIN_S = 5.0
"""Longest that a stopping gateway waits for writes that are under way."""

DESCRIPTION = (
    "Long-term memory for AI agents. Errors are application/problem+json with a stable `code` and `reason`. "
    "Without a token only where the gateway runs locally; else `Authorization: Bearer pdr_...`."
)


def product_version() -> str:
    """Version of the installed distribution."""
    try:
        return installed_version("perdure")
    except PackageNotFoundError:
        return "0"


def make_app(
    backends: Backends, policy: Policy, *, metrics: GatewayMetrics | None = None, tracer: Tracer | None = None
) -> FastAPI:
    """The application; serves REST at / and MCP at /mcp.

    Args:
        backends: The services behind it.
        policy: Access and limits.
        metrics: Where it counts; its own when left out.
        tracer: Makes the span of a request; none when left out.
    """
    metrics = metrics if metrics is not None else GatewayMetrics()
    version = product_version()
    shield = Shield()
    meter = Meter(backends.experience)
    mcp = McpMount(backends, policy, shield, metrics, meter, version)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            async with meter.running(), mcp.running():
                yield
        finally:
            await shield.drain(DRAIN_S)
            if backends.close is not None:
                await backends.close()

    app = FastAPI(
        title="Perdure",
        version=version,
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # outermost first
        middleware=[
            Middleware(Journal, metrics=metrics, tracer=tracer if tracer is not None else PassThrough()),
            Middleware(Perimeter, policy=policy),
            Middleware(AccessControl, policy=policy, authenticator=Authenticator(backends.access), metrics=metrics),
            Middleware(Narrowing),
        ],
        exception_handlers={
            PerdureError: _perdure_error,
            RequestValidationError: _validation_error,
            HTTPException: _http_exception,
        },
    )
    # named paths under /memories before /memories/{id}
    app.include_router(transfer_routes(backends.memories, shield, policy))
    app.include_router(lifecycle_routes(backends.lifecycle, shield))
    app.include_router(memory_routes(backends.memories, shield, meter))
    app.include_router(episode_routes(backends.experience, shield))
    app.include_router(skill_routes(backends.experience, shield))
    app.include_router(run_routes(backends.experience, shield))
    app.include_router(learning_routes(backends.experience, shield, meter))
    app.include_router(operation_routes(backends, metrics, version))
    app.router.routes.extend(mcp.routes())
    _describe_access(app)
    return app


def _describe_access(app: FastAPI) -> None:
    """Adds the bearer token to OpenAPI; FastAPI only knows schemes that it enforces itself."""
    made = app.openapi

    def described() -> dict[str, Any]:
        api = made()
        if "security" not in api:
            api["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            # the empty alternative is local mode, which needs none
            api["security"] = [{"token": []}, {}]
        return api

    app.openapi = described  # type: ignore[method-assign]  # the way FastAPI documents


async def _perdure_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, PerdureError)  # noqa: S101 - Starlette's handlers are typed for Exception
    request.scope[ERROR] = error.reason.value
    return problem_response(error, request.scope[REQUEST_ID])


_MISSING = frozenset({"missing"})
_UNKNOWN = frozenset({"extra_forbidden"})
_RANGE = frozenset(
    {
        "greater_than",
        "greater_than_equal",
        "less_than",
        "less_than_equal",
        "finite_number",
        "too_short",
        "too_long",
        "string_too_short",
        "string_too_long",
    }
)


def reason_of(kind: str) -> Reason:
    """The taxonomy's word for a kind of pydantic error."""
    if kind in _MISSING:
        return Reason.FIELD_MISSING
    if kind in _UNKNOWN:
        return Reason.FIELD_UNKNOWN
    return Reason.OUT_OF_RANGE if kind in _RANGE else Reason.FIELD_INVALID


def said_of(error: dict[str, Any], field: str) -> str:
    """One sentence about one pydantic error; never the value that was sent."""
    kind = str(error.get("type", ""))
    if kind in _MISSING:
        return f"'{field}' is missing."
    if kind in _UNKNOWN:
        return f"'{field}' is not a known field here."
    if kind == "string_unicode":
        return f"'{field}' holds half of a surrogate pair, which is no text."
    message = str(error.get("msg", "is not valid")).removeprefix("Value error, ").removeprefix("Input ")
    message = message.removeprefix("String ").removeprefix("List ")
    return f"'{field}' {message}."


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - Starlette's handlers are typed for Exception
    request_id = request.scope[REQUEST_ID]
    problems: list[dict[str, str]] = []
    for item in error.errors():
        kind = str(item.get("type", ""))
        if kind == "json_invalid":
            request.scope[ERROR] = Reason.BODY_MALFORMED.value
            return problem_response(
                InvalidArgument("The body is not valid JSON.", reason=Reason.BODY_MALFORMED), request_id
            )
        place, *path = item.get("loc", ("body",))
        field = ".".join(str(part) for part in path) or str(place)
        problems.append({"field": field[:200], "reason": reason_of(kind).value, "detail": said_of(dict(item), field)})
    first = problems[0]
    request.scope[ERROR] = first["reason"]
    body = problem(
        422,
        code=Code.INVALID_ARGUMENT.value,
        reason=first["reason"],
        detail=" ".join(item["detail"] for item in problems[:5]),
        request_id=request_id,
        extra={"field": first["field"], "errors": problems[:20]},
    )
    return JsonResponse(body, 422, media_type="application/problem+json")


async def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - Starlette's handlers are typed for Exception
    request_id = request.scope[REQUEST_ID]
    status = error.status_code
    reasons = {
        404: (Code.NOT_FOUND, Reason.ROUTE_NOT_FOUND, "There is nothing at this path. /openapi.json lists the paths."),
        405: (Code.INVALID_ARGUMENT, Reason.FIELD_INVALID, "This path does not take this method; see Allow."),
        400: (Code.INVALID_ARGUMENT, Reason.BODY_MALFORMED, "The body cannot be read."),
    }
    code, reason, detail = reasons.get(
        status, (Code.INVALID_ARGUMENT, Reason.FIELD_INVALID, "The request cannot be served.")
    )
    request.scope[ERROR] = "method_not_allowed" if status == 405 else reason.value
    body = problem(
        status,
        code=code.value,
        reason="method_not_allowed" if status == 405 else reason.value,
        detail=detail,
        request_id=request_id,
    )
    headers = dict(error.headers or {})
    if status == 405:
        headers["Allow"] = ", ".join(allowed_methods(request))
    return JsonResponse(body, status, headers, "application/problem+json")


def allowed_methods(request: Request) -> list[str]:
    """The methods this path takes; the router itself only names those of the first route that fits."""
    paths = request.app.openapi()["paths"]
    asked = request.scope["path"].rstrip("/").split("/")
    found = {
        method.upper() for template, methods in paths.items() if _fits(template.split("/"), asked) for method in methods
    }
    return sorted(found)


def _fits(template: list[str], asked: list[str]) -> bool:
    return len(template) == len(asked) and all(
        part.startswith("{") or part == given for part, given in zip(template, asked, strict=True)
    )
