"""Every way a request can be wrong has its own clear answer (issue 2, "Errors are problem+json")."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from perdure.errors import Conflict, FailedPrecondition, Internal, PerdureError, Reason
from perdure.gateway.policy import Policy
from support.fake_backends import FakeServices, away
from support.gateway_client import gateway

GONE = "01900000-0000-7000-8000-00000000dead"
JSON = {"Content-Type": "application/json"}
GOOD = {"content": "x"}


def body(text: str) -> dict[str, Any]:
    return {"content": text.encode(), "headers": JSON}


async def chunks(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // 1024):
        yield b" " * 1024


CASES: dict[str, tuple[str, str, dict[str, Any], int, str]] = {
    "bad json": ("POST", "/memories", body("{"), 400, "body_malformed"),
    "json that is no object": ("POST", "/memories", body("[]"), 422, "field_invalid"),
    "no body": ("POST", "/memories", {"headers": JSON}, 422, "field_missing"),
    "missing field": ("POST", "/memories", body("{}"), 422, "field_missing"),
    "unknown field": ("POST", "/memories", body('{"content":"x","contents":"y"}'), 422, "field_unknown"),
    "wrong type": ("POST", "/memories", body('{"content":5}'), 422, "field_invalid"),
    "no such memory type": ("POST", "/memories", body('{"content":"x","type":"banana"}'), 422, "field_invalid"),
    "out of range": ("POST", "/memories", body('{"content":"x","confidence":2}'), 422, "out_of_range"),
    "unusable text": ("POST", "/memories", body('{"content":"unusable"}'), 422, "text_unusable"),
    "namespace in the body": ("POST", "/memories", body('{"content":"x","namespace":"a"}'), 422, "field_unknown"),
    "text/plain": ("POST", "/memories", {"content": b'{"content":"x"}', "headers": {"Content-Type": "text/plain"}}, 415,
                   "content_type"),
    "form": ("POST", "/memories", {"data": {"content": "x"}}, 415, "content_type"),
    "no content type": ("POST", "/memories", {"content": b'{"content":"x"}'}, 415, "content_type"),
    "text/plain without a body": ("POST", "/memories/sync", {"headers": {"Content-Type": "text/plain"}}, 415,
                                  "content_type"),
    "text/plain to mcp": ("POST", "/mcp", {"content": b"{}", "headers": {"Content-Type": "text/plain"}}, 415,
                          "content_type"),
    "text/plain import": ("POST", "/memories/import", {"content": b"{}", "headers": {"Content-Type": "text/plain"}},
                          415, "content_type"),
    "too large": ("POST", "/memories", body('{"content":"' + "a" * 70_000 + '"}'), 413, "too_large"),
    "too large in chunks": ("POST", "/memories", {"content": chunks(70_000), "headers": JSON}, 413, "too_large"),
    "too large to mcp": ("POST", "/mcp", {"content": chunks(70_000), "headers": JSON}, 413, "too_large"),
    "import line too long": ("POST", "/memories/import", {"content": chunks(70_000),
                             "headers": {"Content-Type": "application/x-ndjson"}}, 413, "too_large"),
    "no query": ("GET", "/memories/search", {}, 422, "field_missing"),
    "empty query": ("GET", "/memories/search?q=", {}, 422, "out_of_range"),
    "depth abc": ("GET", "/memories/search?q=x&depth=abc", {}, 422, "field_invalid"),
    "depth 0": ("GET", "/memories/search?q=x&depth=0", {}, 422, "out_of_range"),
    "depth 9": ("GET", "/memories/search?q=x&depth=9", {}, 422, "out_of_range"),
    "depth 1.5": ("GET", "/memories/search?q=x&depth=1.5", {}, 422, "field_invalid"),
    "limit 51": ("GET", "/memories/search?q=x&limit=51", {}, 422, "out_of_range"),
    "unknown parameter": ("GET", "/memories/search?q=x&projct=a", {}, 422, "field_unknown"),
    "unknown parameter of a post": ("POST", "/memories?namespace=a", {"json": GOOD}, 422, "field_unknown"),
    "bad date": ("GET", "/memories/search?q=x&created_from=soon", {}, 422, "field_invalid"),
    "bad cursor": ("GET", "/memories?cursor=%21", {}, 400, "cursor_invalid"),
    "empty batch": ("POST", "/memories/batch", {"json": {"memories": []}}, 422, "out_of_range"),
    "501 in a batch": ("POST", "/memories/batch", {"json": {"memories": [GOOD] * 501}}, 422, "out_of_range"),
    "bad item in a batch": ("POST", "/memories/batch", {"json": {"memories": [GOOD, {"content": 1}]}}, 422,
                            "field_invalid"),
    "checkpoint without concepts": ("POST", "/memories/checkpoint", {"json": {"task_summary": "a", "problem": "b",
                                    "solution": "c", "concepts": []}}, 422, "out_of_range"),
    "bad idempotency key": ("POST", "/memories", {"json": GOOD, "headers": {"Idempotency-Key": "a b"}}, 422,
                            "field_invalid"),
    "bad if-match": ("PATCH", f"/memories/{GONE}", {"json": GOOD, "headers": {"If-Match": "abc"}}, 422,
                     "field_invalid"),
    "no such memory": ("GET", f"/memories/{GONE}", {}, 404, "memory_not_found"),
    "no such memory to edit": ("PATCH", f"/memories/{GONE}", {"json": GOOD}, 404, "memory_not_found"),
    "no such memory to purge": ("DELETE", f"/memories/{GONE}?purge=true", {}, 404, "memory_not_found"),
    "an id that is none": ("GET", "/memories/banana", {}, 404, "memory_not_found"),
    "no such job": ("GET", "/maintenance/jobs/nope", {}, 404, "job_not_found"),
    "no such kind of job": ("POST", "/maintenance/jobs", {"json": {"kind": "rm"}}, 422, "field_invalid"),
    "no such path": ("GET", "/nothing", {}, 404, "route_not_found"),
    "oauth metadata": ("GET", "/.well-known/oauth-protected-resource/mcp", {}, 404, "route_not_found"),
    "oauth server metadata": ("GET", "/.well-known/oauth-authorization-server", {}, 404, "route_not_found"),
    "oauth registration": ("POST", "/register", {"json": {}}, 404, "route_not_found"),
    "wrong method": ("PUT", "/memories", {"json": GOOD}, 405, "method_not_allowed"),
    "options": ("OPTIONS", "/memories", {}, 405, "method_not_allowed"),
    "get on mcp": ("GET", "/mcp", {"headers": {"Accept": "text/event-stream"}}, 405, "method_not_allowed"),
    "delete on mcp": ("DELETE", "/mcp/", {}, 405, "method_not_allowed"),
    "unknown toolset": ("POST", "/mcp?toolsets=nope", {"json": {}}, 400, "field_invalid"),
    "foreign host": ("GET", "/memories", {"headers": {"Host": "evil.example"}}, 421, "host_refused"),
    "foreign host to mcp": ("POST", "/mcp", {"json": {}, "headers": {"Host": "evil.example"}}, 421, "host_refused"),
    "foreign host to health": ("GET", "/healthz", {"headers": {"Host": "evil.example"}}, 421, "host_refused"),
    "foreign origin": ("POST", "/memories", {"json": GOOD, "headers": {"Origin": "http://evil.example"}}, 403,
                       "origin_refused"),
    "null origin": ("GET", "/memories", {"headers": {"Origin": "null"}}, 403, "origin_refused"),
    "foreign origin to mcp": ("POST", "/mcp", {"json": {}, "headers": {"Origin": "http://localhost:5173"}}, 403,
                              "origin_refused"),
    "image on another site": ("GET", "/memories", {"headers": {"Sec-Fetch-Site": "cross-site",
                              "Sec-Fetch-Mode": "no-cors"}}, 403, "origin_refused"),
    "nested too deeply": ("POST", "/memories", body('{"content":' + "[" * 30_000 + "]" * 30_000 + "}"), 400,
                          "body_malformed"),
    "a number of 5000 digits": ("POST", "/memories", body('{"importance":' + "9" * 5000 + "}"), 400, "body_malformed"),
    "no utf-8": ("POST", "/memories", {"content": b'{"content":"\xff"}', "headers": JSON}, 400, "body_malformed"),
    "bad token": ("GET", "/memories", {"headers": {"Authorization": "Bearer pdr_x_y"}}, 401, "token_invalid"),
    "bad token to mcp": ("POST", "/mcp", {"json": {}, "headers": {"Authorization": "Bearer pdr_x_y"}}, 401,
                         "token_invalid"),
    "basic auth": ("GET", "/memories", {"headers": {"Authorization": "Basic YTpi"}}, 401, "token_invalid"),
    "unknown dependency": ("GET", "/readyz?need=moon", {}, 422, "field_invalid"),
}  # fmt: skip


@pytest.mark.requirement("REST-05", "PAST-18")
async def test_every_wrong_request_gets_its_own_problem() -> None:
    services = FakeServices()
    wrong: dict[str, str] = {}
    async with gateway(services, Policy(body_limit_bytes=65_536)) as client:
        for name, (method, path, options, status, reason) in CASES.items():
            answer = await client.request(method, path, **options)
            try:
                assert_problem(answer, status, reason)
            except AssertionError as failure:
                wrong[name] = str(failure)
    assert not wrong
    assert not services.memories.rows, "nothing was stored"


def assert_problem(answer: httpx.Response, status: int, reason: str) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["reason"] == reason
    assert problem["status"] == status
    assert problem["detail"].endswith((".", "'"))
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert not {name for name in answer.headers if name.startswith("access-control-")}, "no CORS"
    if status == 405:
        assert answer.headers["allow"]
    if status == 401:
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "perdure token create" in problem["detail"]


@pytest.mark.requirement("REST-05")
async def test_every_wrong_field_is_named_and_no_value_is_repeated() -> None:
    async with gateway(FakeServices()) as client:
        answer = await client.post(
            "/memories", json={"content": ["sk-canary"], "confidence": "sk-canary", "tagz": "sk-canary"}
        )
    assert [item["field"] for item in answer.json()["errors"]] == ["content", "confidence", "tagz"]
    assert "sk-canary" not in answer.text


async def test_a_405_names_every_method_of_the_path() -> None:
    async with gateway(FakeServices()) as client:
        assert (await client.put("/memories")).headers["allow"] == "GET, POST"
        assert (await client.put(f"/memories/{GONE}")).headers["allow"] == "DELETE, GET, PATCH"
        assert (await client.get("/mcp")).headers["allow"] == "POST"


FAILURES = [
    (away(), 503, "service_away"),
    (Conflict("Moved.", reason=Reason.REVISION_MOVED), 409, "revision_moved"),
    (FailedPrecondition("Not archived.", reason=Reason.NOT_ARCHIVED), 409, "not_archived"),
    (Internal("secret cause", reason=Reason.UNEXPECTED), 500, "unexpected"),
]


@pytest.mark.parametrize(("failure", "status", "reason"), FAILURES, ids=[reason for _, _, reason in FAILURES])
@pytest.mark.requirement("FAULT-04")
async def test_failures_of_the_services_have_their_status(failure: PerdureError, status: int, reason: str) -> None:
    services = FakeServices()
    services.memories.fails = failure
    async with gateway(services) as client:
        for path in ("/memories/search?q=x", "/memories", "/memories/stats", "/memories/export"):
            answer = await client.get(path)
            assert_problem(answer, status, reason)
            assert "secret cause" not in answer.text
            if status == 503:
                assert answer.headers["retry-after"] == "2"


@pytest.mark.requirement("REST-09")
async def test_a_defect_is_a_500_with_its_cause_withheld() -> None:
    services = FakeServices()
    services.memories.fails = RuntimeError("secret cause")
    async with gateway(services) as client:
        answer = await client.get("/memories/stats")
    assert_problem(answer, 500, "unexpected")
    assert "secret cause" not in answer.text
