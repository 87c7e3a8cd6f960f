"""Two tenants on one hosted Perdure: nothing crosses on any path, and no token does more than it says (issue 2).

Each tenant's canary is a word that is nowhere else: where the other tenant can read it, a wall is broken. What is asked
for is never repeated in an answer, so a canary in an answer is a leak even where it was part of the question.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote

import grpc
import pytest

from perdure.domain.memory import Filter, MemoryId
from perdure.domain.namespace import Caller, namespace_name
from perdure.domain.recall.answer import Question
from perdure.domain.saving import Edit
from perdure.errors import NotFound, PerdureError
from perdure.rpc.retrieval.v1 import memory_pb2, memory_pb2_grpc
from perdure.wire.clients import AccessClient, MemoryClient
from support.stack import Answer, Stack, running, wait_until
from support.surfaces import ERAS, over_http, over_the_bridge, said

pytestmark = pytest.mark.e2e

ANSWER_KEPT_S = 20.0
"""A token's answer is kept for 5 s by the gateway; four times that is a bounded wait on a busy machine."""


@dataclass
class Tenant:
    """A tenant, its token, its canary, and a memory that carries the canary in every field."""

    name: str
    canary: str
    token: str = ""
    token_id: str = ""
    memory: str = ""
    hidden: str = ""

    @property
    def project(self) -> str:
        return f"{self.canary}project"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def target(stack: Stack) -> str:
    return f"unix:{stack.home / 'run' / 'retrieval.sock'}"


def operator() -> Caller:
    return Caller(namespace=namespace_name("default"), actor="operator", scopes=frozenset({"admin"}))


def caller(tenant: Tenant) -> Caller:
    return Caller(namespace=namespace_name(tenant.name), actor=tenant.token_id, scopes=frozenset({"read", "write"}))


def new_token(stack: Stack, namespace: str, *options: str) -> tuple[str, str]:
    made = stack.perdure("token", "create", "-n", namespace, "--create-namespace", "--json", *options)
    assert made.returncode == 0, made.stderr
    token = json.loads(made.stdout)
    return token["id"], token["secret"]


def fill(stack: Stack, tenant: Tenant) -> None:
    tenant.token_id, tenant.token = new_token(stack, tenant.name)
    word = tenant.canary
    body = {
        "content": f"The {word} password rotates on Fridays", "type": "decision", "project": tenant.project,
        "key": f"{word}key", "problem": f"{word}problem", "solution": f"{word}solution", "concepts": [f"{word}concept"],
        "files": [f"src/{word}file.py"], "tags": [f"{word}tag"], "origin": {"host": f"{word}host"},
    }  # fmt: skip
    saved = stack.call("POST", "/memories", body, headers=bearer(tenant.token))
    assert saved.status == 201, saved.body
    tenant.memory = saved.json["id"]
    # a second one with history, that is archived
    other = stack.call(
        "POST",
        "/memories",
        {"content": f"Old {word} statement", "project": tenant.project},
        headers=bearer(tenant.token),
    ).json["id"]
    changed = stack.call(
        "PATCH", f"/memories/{other}", {"content": f"Newer {word} words"}, headers=bearer(tenant.token)
    )
    assert changed.status == 200, changed.body
    assert stack.call("DELETE", f"/memories/{other}", headers=bearer(tenant.token)).status == 200
    tenant.hidden = other


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running(PERDURE_AUTH="token") as started:
        yield started


@pytest.fixture(scope="module")
def tenants(stack: Stack) -> tuple[Tenant, Tenant]:
    both = Tenant("acme", "quokkamarmalade"), Tenant("bolt", "narwhaltrombone")
    for tenant in both:
        fill(stack, tenant)
    return both


def sides(tenants: tuple[Tenant, Tenant]) -> list[tuple[Tenant, Tenant]]:
    """Who looks, and whose things it looks for."""
    return [tenants, (tenants[1], tenants[0])]


def unchanging(stack: Stack, tenant: Tenant) -> dict[str, Any]:
    """The tenant's memory, without the counts that its own reads move some time later."""
    read = stack.call("GET", f"/memories/{tenant.memory}?peek=true", headers=bearer(tenant.token))
    assert read.status == 200
    moving = ("access_count", "shown_count", "last_accessed_at")
    return {name: value for name, value in read.json.items() if name not in moving}


def whole(answer: Answer) -> str:
    """Everything of an answer that a client can read."""
    return f"{answer.headers} {answer.body.decode()}"


@pytest.mark.requirement("ACCESS-07")
def test_no_route_shows_one_tenant_anything_of_the_other(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    for me, you in sides(tenants):
        word, memory = you.canary, you.memory
        body = {"project": you.project}
        calls: list[tuple[str, str, Any]] = [
            ("GET", "/memories", None),
            ("GET", f"/memories?project={you.project}&status=active&status=archived", None),
            ("GET", f"/memories?tags={word}tag", None),
            ("GET", f"/memories?files={quote(f'src/{word}file.py')}", None),
            *(("GET", f"/memories/search?q={word}+password&depth={depth}&limit=50", None) for depth in (1, 2, 3)),
            ("GET", f"/memories/search?q={word}&project={you.project}&strict=true", None),
            ("GET", f"/memories/search?q=password&concepts={word}concept&timings=true", None),
            ("GET", f"/memories/search?q={memory}", None),
            ("GET", "/memories/stats", None),
            ("GET", "/memories/export", None),
            ("GET", f"/memories/export?project={you.project}&history=true", None),
            ("GET", "/memories/instructions", None),
            ("POST", "/memories/sync", body),
            ("POST", "/memories/sync", None),
            ("GET", "/metrics", None),
            ("GET", "/readyz", None),
            ("GET", "/openapi.json", None),
            ("GET", "/maintenance/jobs", None),
            *(("GET", f"/memories/{id}{tail}", None) for id in (memory, you.hidden) for tail in ("", "/history")),
            # an error names an unknown field, and repeats no value
            ("POST", "/memories", {"content": "x", "type": word}),
            ("GET", f"/memories?cursor={word}", None),
        ]  # fmt: skip
        for method, path, sent in calls:
            # headers that a client may try: the token alone says who it is
            tries = {"Perdure-Namespace": you.name, "X-Namespace": you.name, "X-Forwarded-User": you.name}
            answer = stack.call(method, path, sent, headers=bearer(me.token) | tries)
            assert answer.status < 500, (method, path, answer.body)
            assert word not in whole(answer), (method, path)
        assert me.canary in whole(stack.call("GET", "/memories/export", headers=bearer(me.token)))
        assert stack.call("GET", "/memories/stats", headers=bearer(me.token)).json["total"] == 2


@pytest.mark.requirement("ACCESS-07")
def test_anothers_id_is_not_found_on_every_path_and_is_untouched_by_it(
    stack: Stack, tenants: tuple[Tenant, Tenant]
) -> None:
    for me, you in sides(tenants):
        before = unchanging(stack, you)
        unknown = "01900000-0000-7000-8000-00000000dead"
        for method, tail, sent in (
            ("GET", "", None), ("GET", "?peek=true", None), ("GET", "/history", None),
            ("PATCH", "", {"content": "mine"}), ("DELETE", "", None),
            ("DELETE", "?purge=true", None), ("POST", "/restore", None),
        ):  # fmt: skip
            theirs = stack.call(method, f"/memories/{you.memory}{tail}", sent, headers=bearer(me.token))
            nobodys = stack.call(method, f"/memories/{unknown}{tail}", sent, headers=bearer(me.token))
            assert (theirs.status, theirs.json["reason"]) == (404, "memory_not_found"), (method, tail)
            for answer in (theirs, nobodys):
                answer.json.pop("request_id")
            same = {"request_id": ""}
            assert theirs.json | same == nobodys.json | same, "existence does not leak"
        assert unchanging(stack, you) == before


@pytest.mark.requirement("ACCESS-07")
def test_one_key_and_one_text_are_two_memories_of_two_tenants(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    made = []
    for tenant in tenants:
        body = {"content": "The gate opens at seven", "key": "gate", "project": "shared-name"}
        headers = bearer(tenant.token) | {"Idempotency-Key": "the-same-key"}
        answer = stack.call("POST", "/memories", body, headers=headers)
        assert (answer.status, answer.json["outcome"], answer.json["replayed"]) == (201, "created", False)
        made.append(answer.json["id"])
    assert len(set(made)) == 2
    for tenant, memory in zip(tenants, made, strict=True):
        assert stack.call("DELETE", f"/memories/{memory}?purge=true", headers=bearer(tenant.token)).status == 200


@pytest.mark.requirement("ACCESS-07")
def test_an_import_of_anothers_export_makes_copies_and_changes_nothing_of_the_others(
    stack: Stack, tenants: tuple[Tenant, Tenant]
) -> None:
    me, you = tenants
    exported = stack.call("GET", "/memories/export", headers=bearer(you.token)).body
    before = unchanging(stack, you)
    _, third = new_token(stack, "third")
    answer = stack.call(
        "POST", "/memories/import", exported.decode(), headers=bearer(third) | {"Content-Type": "application/x-ndjson"}
    )
    assert answer.status == 200, answer.body
    assert unchanging(stack, you) == before
    listed = stack.call("GET", "/memories?status=active&status=archived", headers=bearer(third)).json["memories"]
    assert {memory["namespace"] for memory in listed} <= {"third"}
    assert me.canary not in json.dumps(listed)


@pytest.mark.requirement("ACCESS-07")
@pytest.mark.parametrize("era", ERAS)
async def test_no_tool_shows_one_tenant_anything_of_the_other(
    stack: Stack, tenants: tuple[Tenant, Tenant], era: str
) -> None:
    for me, you in sides(tenants):
        calls: list[tuple[str, dict[str, Any]]] = [
            ("memory_search", {"query": "password rotates on Fridays", "depth": 3, "limit": 50}),
            ("memory_search", {"query": "Fridays", "project": you.project, "strict": True}),
            ("memory_search", {"query": "words", "status": "archived"}),
            ("memory_sync", {"project": you.project}),
            ("memory_stats", {}),
            ("memory_health", {}),
            ("memory_list", {"project": you.project}),
            ("memory_list", {"status": "archived"}),
        ]
        by_id = ["memory_get", "memory_history", "memory_archive", "memory_restore", "memory_purge"]
        async with over_http(stack, era, token=me.token, path="/mcp?toolsets=all") as client:
            own = await said(client, "memory_search", query=f"{me.canary} password")
            assert me.canary in own
            for tool, arguments in calls:
                answer = await said(client, tool, **arguments)
                assert you.canary not in answer.replace(you.project, ""), tool
            for tool in by_id:
                answer = await said(client, tool, id=you.memory)
                assert answer.startswith("ERROR: "), tool
                assert you.canary not in answer
            assert (await said(client, "memory_update", id=you.memory, content="mine now")).startswith("ERROR: ")
            with pytest.raises(Exception, match="no memory with this id"):
                await client.read_resource(f"memory://{you.memory}")
    for tenant in tenants:
        still = stack.call("GET", f"/memories/{tenant.memory}?peek=true", headers=bearer(tenant.token)).json
        assert (still["status"], still["content"]) == ("active", f"The {tenant.canary} password rotates on Fridays")


@pytest.mark.requirement("ACCESS-07")
async def test_fifty_interleaved_calls_of_two_tenants_stay_apart(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    for era in ERAS:
        async with (
            over_http(stack, era, token=tenants[0].token) as one,
            over_the_bridge(stack, era, token=tenants[1].token) as two,
        ):
            answers = await asyncio.gather(
                *(said((one, two)[n % 2], "memory_search", query="password rotates Fridays") for n in range(50))
            )
        for number, answer in enumerate(answers):
            me, you = tenants[number % 2], tenants[1 - number % 2]
            assert me.canary in answer, (era, number)
            assert you.canary not in answer, (era, number)


@pytest.mark.requirement("ACCESS-07")
def test_grpc_shows_one_namespace_nothing_of_the_other(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    with MemoryClient(target(stack)) as client:
        for me, you in sides(tenants):
            mine, theirs = caller(me), MemoryId(you.memory)
            everything = repr(
                [
                    client.search(mine, Question(query=f"{you.canary} password", depth=3, limit=50)),
                    client.list(mine, Filter(), limit=100),
                    client.sync(mine, project=you.project),
                    client.stats(mine),
                    list(client.export(mine, Filter(), every_status=True)),
                ]
            )
            assert me.canary in everything
            assert you.canary not in everything.replace(you.project, "")
            for call in (
                partial(client.get, mine, theirs),
                partial(client.history, mine, theirs),
                partial(client.update, mine, theirs, Edit(content="mine")),
                partial(client.archive, mine, theirs),
                partial(client.restore, mine, theirs),
                partial(client.purge, mine, theirs),
            ):
                with pytest.raises(NotFound) as caught:
                    call()
                assert you.canary not in str(caught.value)


@pytest.mark.requirement("STORE-05")
def test_a_grpc_call_that_names_no_namespace_is_refused(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    with grpc.insecure_channel(target(stack)) as channel:
        stub = memory_pb2_grpc.MemoryServiceStub(channel)
        for metadata in ((), (("perdure-namespace", ""),), (("perdure-actor", "x"), ("perdure-scopes", "read,write"))):
            with pytest.raises(grpc.RpcError) as caught:
                stub.List(memory_pb2.ListRequest(), metadata=metadata, timeout=10)
            assert caught.value.code() in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INVALID_ARGUMENT)


@pytest.mark.requirement("ACCESS-07")
def test_the_command_line_shows_one_tenant_nothing_of_the_other(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    me, you = tenants
    stack.env["PERDURE_TOKEN"] = me.token
    try:
        for arguments, status in {
            ("search", "password", "rotates", "--json"): 0,
            ("search", you.canary, "-p", you.project, "--strict"): 6,
            ("list", "-s", "all", "--json"): 0,
            ("list", "-p", you.project): 0,
            ("get", you.memory): 3,
            ("history", you.hidden): 3,
            ("update", you.memory, "mine"): 3,
            ("archive", you.memory): 3,
            ("restore", you.hidden): 3,
            ("purge", you.memory, "--yes"): 3,
            ("sync", "--json"): 0,
            ("stats", "--json"): 0,
            ("export",): 0,
        }.items():
            done = stack.perdure(*arguments)
            assert done.returncode == status, (arguments, done.stderr)
            assert you.canary not in (done.stdout + done.stderr).replace(you.project, ""), arguments
    finally:
        del stack.env["PERDURE_TOKEN"]
    # without a token nobody is anybody
    assert stack.perdure("list").returncode == 4


def statuses(stack: Stack, headers: Mapping[str, str]) -> set[tuple[int, str]]:
    found = set()
    for method, path in (
        ("GET", "/memories"), ("GET", "/memories/search?q=x"), ("POST", "/memories/sync"), ("GET", "/memories/export"),
        ("GET", "/memories/stats"), ("GET", "/memories/instructions"), ("GET", "/maintenance/jobs"), ("POST", "/mcp"),
    ):  # fmt: skip
        answer = stack.call(method, path, {} if method == "POST" else None, headers=headers)
        assert answer.headers["www-authenticate"].startswith("Bearer"), path
        found.add((answer.status, answer.json["reason"]))
    return found


@pytest.mark.requirement("ACCESS-01", "ACCESS-03", "ACCESS-04")
def test_a_token_that_is_none_or_has_ended_is_401_everywhere(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    me, _ = tenants
    wrong_secret = me.token[:-6] + ("a" * 6 if not me.token.endswith("a" * 6) else "b" * 6)
    with AccessClient(target(stack)) as access:
        expiring, secret = access.create_token(
            operator(), me.name, "short", expires_at=datetime.now(UTC) + timedelta(seconds=2)
        )
    revoked_id, revoked = new_token(stack, me.name)
    assert stack.call("GET", "/memories", headers=bearer(revoked)).status == 200
    assert stack.perdure("token", "revoke", revoked_id).returncode == 0
    for token, what in ((secret, "the expiry"), (revoked, "the revocation")):
        wait_until(
            lambda token=token: stack.call("GET", "/memories", headers=bearer(token)).status == 401,  # type: ignore[misc]
            within_s=ANSWER_KEPT_S,
            what=what,
        )
    assert expiring.id
    assert stack.call("GET", "/memories", headers=bearer(secret)).json["reason"] == "token_expired"
    assert stack.call("GET", "/memories", headers=bearer(revoked)).json["reason"] == "token_revoked"
    assert statuses(stack, bearer(wrong_secret)) == {(401, "token_invalid")}
    assert statuses(stack, {}) == {(401, "token_missing")}
    for garbage in ("garbage", "pdr_", "pdr__", "pdr_" + "x" * 500, f"pdr_{me.token_id}_"):
        answer = stack.call("GET", "/memories", headers=bearer(garbage))
        assert answer.status in (401, 429), garbage
    # the tenant itself is not locked out by what others guess
    assert stack.call("GET", "/memories", headers=bearer(me.token)).status == 200


@pytest.mark.requirement("ACCESS-03")
def test_no_secret_is_in_the_store_or_the_logs(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    secrets = [tenant.token.rsplit("_", 1)[1].encode() for tenant in tenants]
    for path in (*stack.home.glob("perdure.db*"), *stack.home.glob("*.log"), *stack.home.glob("logs/*")):
        data = path.read_bytes()
        for secret in secrets:
            assert secret not in data, path
        if path.suffix == ".log":
            for tenant in tenants:
                assert tenant.canary.encode() not in data, f"{path}: a memory's text was logged"


@pytest.mark.requirement("ACCESS-05")
async def test_a_token_does_what_its_scopes_say_and_no_more(stack: Stack, tenants: tuple[Tenant, Tenant]) -> None:
    me, _ = tenants
    _, reader = new_token(stack, me.name, "--scopes", "read")
    _, writer = new_token(stack, me.name, "--scopes", "write")
    changes: list[tuple[str, str, Any]] = [
        ("POST", "/memories", {"content": "no"}),
        ("POST", "/memories/batch", {"memories": [{"content": "no"}]}),
        ("POST", "/memories/checkpoint", {"task_summary": "a", "problem": "b", "solution": "c", "concepts": ["d"]}),
        ("PATCH", f"/memories/{me.memory}", {"content": "no"}),
        ("DELETE", f"/memories/{me.memory}", None),
        ("DELETE", f"/memories/{me.memory}?purge=true", None),
        ("POST", f"/memories/{me.hidden}/restore", None),
    ]
    reads = ["/memories", "/memories/search?q=password", "/memories/stats", "/memories/export",
             f"/memories/{me.memory}", f"/memories/{me.memory}/history"]  # fmt: skip
    for method, path, body in changes:
        answer = stack.call(method, path, body, headers=bearer(reader))
        assert (answer.status, answer.json["reason"]) == (403, "scope_missing"), path
    for path in reads:
        assert stack.call("GET", path, headers=bearer(reader)).status == 200, path
        answer = stack.call("GET", path, headers=bearer(writer))
        assert (answer.status, answer.json["reason"]) == (403, "scope_missing"), path
    for token in (reader, writer, me.token):
        answer = stack.call("POST", "/maintenance/jobs", {"kind": "reembed"}, headers=bearer(token))
        assert (answer.status, answer.json["reason"]) == (403, "scope_missing")
    for era in ERAS:
        async with over_http(stack, era, token=reader, path="/mcp?toolsets=all") as client:
            assert me.canary in await said(client, "memory_search", query=f"{me.canary} password")
            for tool, arguments in {
                "memory_save": {"content": "no"},
                "memory_update": {"id": me.memory, "content": "no"},
                "memory_archive": {"id": me.memory},
                "memory_purge": {"id": me.memory},
                "memory_restore": {"id": me.hidden},
                "memory_checkpoint": changes[2][2],
            }.items():
                answer_text = await said(client, tool, **arguments)
                assert answer_text.startswith("ERROR: "), (era, tool)
                assert "write" in answer_text, (era, tool)
    assert stack.call("GET", "/memories/stats", headers=bearer(me.token)).json["active"] == 1
    with pytest.raises(PerdureError), MemoryClient(target(stack)) as grpc_client:
        read_only = Caller(namespace=namespace_name(me.name), actor="x", scopes=frozenset({"read"}))
        grpc_client.archive(read_only, me.memory)
