"""Experience on a hosted Perdure: the token's scope opens it, and nothing of it crosses to another tenant."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from support.stack import Stack, running
from support.surfaces import over_http

pytestmark = pytest.mark.e2e

EPISODE = {
    "id": "shared-name",
    "name": "Quokka the narwhal",
    "program": "crm",
    "steps": [{"id": "s1", "atMs": 0, "action": {"kind": "click", "target": {"name": "Open quokka"}}}],
}


def _token(stack: Stack, namespace: str, scopes: str) -> dict[str, str]:
    made = stack.perdure("token", "create", "-n", namespace, "--create-namespace", "--json", "--scopes", scopes)
    assert made.returncode == 0, made.stderr
    return {"Authorization": f"Bearer {json.loads(made.stdout)['secret']}"}


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running(PERDURE_AUTH="token") as started:
        yield started


@pytest.mark.requirement("I5-WALL-1")
def test_every_route_of_experience_needs_the_scope(stack: Stack) -> None:
    plain = _token(stack, "acme", "read,write")
    api = stack.call("GET", "/openapi.json").json["paths"]
    asked = 0
    for path, methods in api.items():
        if not path.startswith(("/episodes", "/skills", "/runs", "/experience")):
            continue
        for method in methods:
            answer = stack.call(method.upper(), _filled(path), _body(path, method), headers=plain)
            assert answer.status in (403, 415, 422), (method, path, answer.status)
            if answer.status == 403:
                assert answer.json["reason"] == "scope_missing"
                asked += 1
    assert asked >= 25


def _filled(path: str) -> str:
    for name in ("id", "name", "job"):
        path = path.replace("{" + name + "}", "x")
    return path


def _body(path: str, method: str) -> Any:
    if method not in ("post", "put"):
        return None
    bodies: dict[str, Any] = {
        "/skills/due": {"holder": "h"},
        "/skills/{id}/heartbeat": {"holder": "h"},
        "/skills/{id}/release": {"holder": "h"},
        "/skills/{id}/routine": {"schedule": {"every": "minutes", "minutes": 5}},
        "/runs": {"skill_id": "x"},
        "/runs/{id}/steps": {"idx": 0, "step_id": "s", "outcome": "ok"},
        "/runs/{id}/finish": {"status": "succeeded"},
        "/experience/forget-all": {"confirm": True},
    }
    return bodies.get(path, {})


@pytest.mark.requirement("I5-WALL-1", "I5-SURF-1")
def test_a_token_with_the_scope_is_shown_the_tools_and_another_is_not(stack: Stack) -> None:
    async def names(headers: dict[str, str]) -> set[str]:
        token = headers["Authorization"].removeprefix("Bearer ")
        async with over_http(stack, "modern", token=token) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert "episode_save" in asyncio.run(names(_token(stack, "acme", "read,write,experience")))
    assert "episode_save" not in asyncio.run(names(_token(stack, "acme", "read,write")))


@pytest.mark.requirement("I5-WALL-2")
def test_nothing_of_one_tenants_experience_reaches_another(stack: Stack) -> None:
    acme, bolt = (_token(stack, name, "read,write,experience") for name in ("acme", "bolt"))
    assert stack.call("POST", "/episodes", EPISODE, headers=acme).status == 201
    skill = stack.call("POST", "/episodes/shared-name/compile", {}, headers=acme).json
    stack.call("PUT", f"/skills/{skill['id']}/routine", {"schedule": {"every": "minutes", "minutes": 1}}, headers=acme)
    run = stack.call("POST", "/runs", {"skill_id": skill["id"]}, headers=acme).json

    for path in (
        "/episodes/shared-name",
        f"/skills/{skill['id']}",
        f"/skills/{skill['id']}/versions",
        f"/runs/{run['id']}",
    ):
        answer = stack.call("GET", path, headers=bolt)
        assert answer.status == 404, path
    for path in ("/episodes", "/skills", "/runs", "/experience/overview", "/experience/records", "/experience/export"):
        answer = stack.call("GET", path, headers=bolt)
        assert answer.status == 200
        assert b"uokka" not in answer.body, path
    assert stack.call("POST", "/skills/due", {"holder": "h"}, headers=bolt).json["skills"] == []
    assert stack.call("POST", f"/runs/{run['id']}/cancel", {}, headers=bolt).status == 404
    assert stack.call("POST", "/runs", {"skill_id": skill["id"]}, headers=bolt).status == 404
    found = stack.call("GET", "/memories/search?q=quokka%20narwhal", headers=bolt)
    assert b"uokka" not in found.body

    # the same id is another tenant's own
    assert stack.call("POST", "/episodes", {**EPISODE, "name": "Other"}, headers=bolt).status == 201
    assert stack.call("POST", "/experience/forget-all", {"confirm": True}, headers=bolt).status == 200
    assert stack.call("GET", "/episodes/shared-name", headers=acme).json["name"] == EPISODE["name"]
