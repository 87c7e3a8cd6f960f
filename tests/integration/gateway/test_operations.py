import pytest

from support.fake_backends import FakeServices, away
from support.gateway_client import gateway


@pytest.mark.requirement("REST-06")
async def test_health_needs_no_dependency() -> None:
    services = FakeServices()
    services.memories.fails = away()
    services.states = dict.fromkeys(services.states, "not ready")
    async with gateway(services) as client:
        answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


@pytest.mark.requirement("REST-06")
async def test_readiness_names_each_dependency() -> None:
    services = FakeServices()
    async with gateway(services) as client:
        assert (await client.get("/readyz")).status_code == 200
        services.states["embedding"] = "not ready"
        answer = await client.get("/readyz")
        enough = await client.get("/readyz?need=retrieval")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json() == {
        "status": "degraded",
        "dependencies": {
            "retrieval": {"status": "ready"},
            "embedding": {"status": "not ready"},
            "maintenance": {"status": "ready"},
        },
    }
    assert enough.status_code == 200


@pytest.mark.requirement("SKEL-04")
async def test_metrics_count_by_route_template_and_never_by_id() -> None:
    async with gateway(FakeServices()) as client:
        made = (await client.post("/memories", json={"content": "x", "project": "secret-project"})).json()
        await client.get(f"/memories/{made['id']}")
        await client.get("/no/such/path")
        text = (await client.get("/metrics")).text
    assert 'perdure_gateway_requests_total{method="GET",route="/memories/{id}",status="200"} 1.0' in text
    assert 'route="unmatched",status="404"' in text
    assert made["id"] not in text
    assert "secret-project" not in text


async def test_a_given_request_id_comes_back_and_reaches_the_services() -> None:
    services = FakeServices()
    async with gateway(services) as client:
        given = await client.get("/memories/stats", headers={"X-Request-Id": "req-1"})
        odd = await client.get("/memories/stats", headers={"X-Request-Id": "a b\tc" * 50})
    assert given.headers["x-request-id"] == "req-1" == services.memories.callers[0].request_id
    assert odd.headers["x-request-id"] == services.memories.callers[1].request_id
    assert " " not in odd.headers["x-request-id"]


@pytest.mark.requirement("JOB-01")
async def test_jobs_are_started_listed_read_and_cancelled() -> None:
    async with gateway(FakeServices()) as client:
        started = await client.post("/maintenance/jobs", json={"kind": "reembed"})
        again = await client.post("/maintenance/jobs", json={"kind": "reembed"})
        path = started.headers["location"]
        listed = (await client.get("/maintenance/jobs?kind=reembed")).json()["jobs"]
        read = (await client.get(path)).json()
        cancelled = (await client.post(f"{path}/cancel")).json()
    assert started.status_code == 202
    assert (started.json()["already_running"], again.json()["already_running"]) == (False, True)
    assert [job["id"] for job in listed] == [read["id"]]
    assert (cancelled["state"], cancelled["cancel_requested"]) == ("cancelled", True)


async def test_a_shutdown_closes_the_clients() -> None:
    import dataclasses

    from perdure.gateway.app import make_app
    from perdure.gateway.policy import Policy
    from support.gateway_client import running

    closed = []

    async def close() -> None:
        closed.append(True)

    async with running(make_app(dataclasses.replace(FakeServices().backends(), close=close), Policy())):
        assert not closed
    assert closed == [True]
