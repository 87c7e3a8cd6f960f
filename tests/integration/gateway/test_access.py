"""Who may do what, found out from the token alone."""

import httpx
import pytest

from perdure.errors import Reason, Unavailable
from perdure.gateway.access import FRESH_S, Authenticator
from perdure.gateway.app import make_app
from perdure.gateway.policy import Policy
from support.fake_backends import FakeServices
from support.gateway_client import BASE, gateway, running

HOSTED = Policy(local=False)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.requirement("ACCESS-01")
async def test_locally_a_request_without_a_token_is_the_namespace_default() -> None:
    services = FakeServices()
    async with gateway(services) as client:
        await client.post("/memories", json={"content": "x"})
    (caller,) = services.memories.callers
    assert (caller.namespace, caller.actor, caller.scopes) == ("default", "local", {"read", "write", "experience"})


async def test_locally_a_token_that_is_sent_still_counts() -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_1", "acme", "read")
    async with gateway(services, token=token) as client:
        assert (await client.get("/memories")).status_code == 200
        refused = await client.post("/memories", json={"content": "x"})
    assert (refused.status_code, refused.json()["scope"]) == (403, "write")
    assert services.memories.callers[0].namespace == "acme"


@pytest.mark.requirement("ACCESS-01")
async def test_elsewhere_a_token_is_needed_for_everything_but_health() -> None:
    async with gateway(FakeServices(), HOSTED) as client:
        for path in ("/memories", "/memories/search?q=x", "/nothing", "/maintenance/jobs", "/memories/instructions"):
            answer = await client.get(path)
            assert (answer.status_code, answer.json()["reason"]) == (401, "token_missing")
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert "perdure token create" in answer.json()["detail"]
        assert (await client.post("/mcp", json={})).status_code == 401
        for path in ("/healthz", "/readyz", "/metrics"):
            assert (await client.get(path)).status_code == 200
        assert (await client.get("/.well-known/oauth-protected-resource")).status_code == 404


@pytest.mark.requirement("ACCESS-07")
async def test_two_tenants_see_nothing_of_each_other_on_any_path() -> None:
    services = FakeServices()
    ours, theirs = services.access.add("pdr_a_1", "acme"), services.access.add("pdr_b_2", "bolt")
    canary = "canary-7f3a secret of acme"
    async with gateway(services, HOSTED) as client:
        made = (
            await client.post("/memories", json={"content": canary, "project": "canary-7f3a"}, headers=bearer(ours))
        ).json()
        path = f"/memories/{made['id']}"
        reads = [
            "/memories", "/memories/search?q=canary-7f3a", "/memories/stats", "/memories/export", path,
            f"{path}/history",
            "/memories?namespace=acme", "/memories?project=canary-7f3a",
        ]  # fmt: skip
        for read in reads:
            answer = await client.get(
                read, headers={**bearer(theirs), "perdure-namespace": "acme", "X-Namespace": "acme"}
            )
            assert "canary" not in answer.text.replace("canary-7f3a'", ""), read
        for method, target in [
            ("PATCH", path),
            ("DELETE", path),
            ("DELETE", f"{path}?purge=true"),
            ("POST", f"{path}/restore"),
        ]:
            options = {"json": {"content": "x"}} if method == "PATCH" else {}
            answer = await client.request(method, target, headers=bearer(theirs), **options)  # type: ignore[arg-type]
            assert (answer.status_code, answer.json()["reason"]) == (404, "memory_not_found"), target
        assert "canary" not in (await client.post("/memories/sync", headers=bearer(theirs))).text
        assert (await client.get(path, headers=bearer(ours))).json()["content"] == canary


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [
        (("read",), {"GET /memories", "POST /memories/sync"}),
        (("write",), {"POST /memories", "POST /memories/import"}),
        (("admin",), {"GET /maintenance/jobs"}),
        (("read", "write", "admin"), {"GET /memories", "POST /memories/sync", "POST /memories", "POST /memories/import",
                                      "GET /maintenance/jobs"}),
        (("experience",), set()),
    ],
)  # fmt: skip
@pytest.mark.requirement("ACCESS-05")
async def test_scopes_are_enforced_on_each_route(scopes: tuple[str, ...], allowed: set[str]) -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_1", "acme", *scopes)
    passed = set()
    async with gateway(services, HOSTED, token=token) as client:
        for route, options in {
            "GET /memories": {},
            "POST /memories/sync": {},
            "POST /memories": {"json": {"content": "x"}},
            "POST /memories/import": {"content": b"{}", "headers": {"Content-Type": "application/x-ndjson"}},
            "GET /maintenance/jobs": {},
        }.items():
            answer = await client.request(*route.split(), **options)  # type: ignore[arg-type]
            if answer.status_code == 403:
                assert answer.json()["reason"] == "scope_missing"
            else:
                assert answer.status_code < 300
                passed.add(route)
    assert passed == allowed


async def test_the_size_of_the_store_is_for_the_operator() -> None:
    services = FakeServices()
    reader, admin = (
        services.access.add("pdr_a_1", "acme", "read"),
        services.access.add("pdr_b_2", "acme", "read", "admin"),
    )
    async with gateway(services, HOSTED) as client:
        assert "store_bytes" not in (await client.get("/memories/stats", headers=bearer(reader))).json()
        assert "store_bytes" in (await client.get("/memories/stats", headers=bearer(admin))).json()


async def test_a_tokens_answer_is_kept_for_seconds_only_and_a_revoked_one_ends() -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_1", "acme")
    at = 100.0
    authenticator = Authenticator(services.access, now=lambda: at)
    for _ in range(5):
        await authenticator.caller(token)
    assert services.access.asked == 1
    del services.access.tokens[token]
    assert (await authenticator.caller(token)).namespace == "acme"
    at += FRESH_S
    with pytest.raises(Exception, match="Unknown token"):
        await authenticator.caller(token)
    assert not authenticator.known(token)


async def test_a_token_is_not_kept_where_a_dump_of_memory_would_show_it() -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_verysecret", "acme")
    authenticator = Authenticator(services.access)
    await authenticator.caller(token)
    assert "verysecret" not in repr(vars(authenticator)["_kept"])


@pytest.mark.requirement("ACCESS-09")
async def test_guessing_is_slowed_down_by_address_and_a_known_token_is_not_locked_out() -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_1", "acme")
    policy = Policy(local=False, strangers_per_minute=5)
    app = make_app(services.backends(), policy)

    def at(address: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(transport=httpx.ASGITransport(app=app, client=(address, 1)), base_url=BASE)

    async with running(app), at("10.0.0.1") as guesser, at("10.0.0.2") as other:
        assert (await guesser.get("/memories", headers=bearer(token))).status_code == 200
        statuses = [(await guesser.get("/memories", headers=bearer(f"pdr_x_{n}"))).status_code for n in range(8)]
        assert statuses == [401] * 5 + [429] * 3
        limited = await guesser.get("/memories")
        assert (limited.status_code, limited.json()["reason"]) == (429, "rate")
        assert int(limited.headers["retry-after"]) >= 1
        asked = services.access.asked
        await guesser.get("/memories", headers=bearer("pdr_x_99"))
        assert services.access.asked == asked, "a limited guess is not even looked at"
        assert (await guesser.get("/memories", headers=bearer(token))).status_code == 200
        assert (await other.get("/memories", headers=bearer("pdr_y_1"))).status_code == 401
        spoofed = await guesser.get("/memories", headers={**bearer("pdr_x_7"), "X-Forwarded-For": "10.9.9.9"})
        assert spoofed.status_code == 429


async def test_a_token_has_its_rate() -> None:
    services = FakeServices()
    one, two = services.access.add("pdr_a_1", "acme"), services.access.add("pdr_b_2", "acme")
    async with gateway(services, Policy(local=False, rate_per_minute=3)) as client:
        statuses = [(await client.get("/memories", headers=bearer(one))).status_code for _ in range(5)]
        limited = await client.get("/memories", headers=bearer(one))
        assert (await client.get("/memories", headers=bearer(two))).status_code == 200
    assert statuses == [200, 200, 200, 429, 429]
    assert int(limited.headers["retry-after"]) >= 1


async def test_when_nobody_can_tell_whose_token_it_is_the_answer_is_503_and_not_401() -> None:
    services = FakeServices()
    services.access.fails = Unavailable("Away.", reason=Reason.SERVICE_AWAY)
    async with gateway(services, HOSTED, token="pdr_a_1") as client:
        answer = await client.get("/memories")
    assert answer.status_code == 503
    assert answer.headers["retry-after"]


async def test_two_authorization_headers_are_refused() -> None:
    services = FakeServices()
    token = services.access.add("pdr_a_1", "acme")
    async with gateway(services, HOSTED) as client:
        headers = [("Authorization", f"Bearer {token}"), ("Authorization", "Bearer other")]
        assert (await client.get("/memories", headers=headers)).status_code == 401
