"""What memory served is counted by the gateway, by client, and handed on in batches."""

from __future__ import annotations

import pytest

from perdure.domain.namespace import Caller, NamespaceName
from perdure.errors import NotFound, Unavailable
from perdure.gateway.metering import CLIENTS_MAX, OTHERS, Meter
from support.fake_backends import FakeServices
from support.fake_experience import FakeExperience
from support.gateway_client import gateway

ME = Caller(namespace=NamespaceName("acme"), actor="token", scopes=frozenset({"read"}))


@pytest.mark.requirement("I5-COST-1")
async def test_counts_of_one_client_are_handed_on_together() -> None:
    service = FakeExperience()
    meter = Meter(service)  # type: ignore[arg-type]  # the part of it that is asked for
    for _ in range(3):
        meter.served(ME, "claude-code", "one two three four")
    meter.served(ME, "", "one")
    await meter.flush()
    by_client = {client: (calls, tokens) for _, client, calls, tokens in service.served}
    assert by_client["claude-code"][0] == 3
    assert by_client["claude-code"][1] > by_client["unknown"][1] > 0
    await meter.flush()
    assert len(service.served) == 2


@pytest.mark.requirement("I5-COST-1")
async def test_what_cannot_be_handed_on_waits() -> None:
    service = FakeExperience()
    service.fails = Unavailable("away")
    meter = Meter(service)  # type: ignore[arg-type]  # the part of it that is asked for
    meter.served(ME, "codex", "one two")
    await meter.flush()
    meter.served(ME, "codex", "three")
    service.fails = None
    await meter.flush()
    assert [(client, calls) for _, client, calls, _ in service.served] == [("codex", 2)]


async def test_what_is_refused_is_not_asked_for_again() -> None:
    service = FakeExperience()
    service.fails = NotFound("the namespace is gone")
    meter = Meter(service)  # type: ignore[arg-type]  # the part of it that is asked for
    meter.served(ME, "codex", "one two")
    await meter.flush()
    service.fails = None
    await meter.flush()
    assert service.served == []


async def test_a_flood_of_names_is_counted_under_one() -> None:
    service = FakeExperience()
    meter = Meter(service)  # type: ignore[arg-type]  # the part of it that is asked for
    for number in range(CLIENTS_MAX + 5):
        meter.served(ME, f"client {number}", "x")
    await meter.flush()
    assert [calls for _, client, calls, _ in service.served if client == OTHERS] == [5]


@pytest.mark.requirement("I5-COST-1")
async def test_a_search_over_rest_is_counted_and_shown_by_client_and_day() -> None:
    services = FakeServices()
    async with gateway(services) as client:
        await client.post("/memories", json={"content": "The build runs with make."})
        await client.get("/memories/search", params={"q": "build"}, headers={"User-Agent": "perdure-cli/1.0 (x)"})
    assert [(client, calls) for _, client, calls, _ in services.experience.served] == [("perdure-cli", 1)]
    async with gateway(services) as client:
        found = (await client.get("/usage")).json()
    assert found["calls"] == 1
    assert found["tokens_saved"] == 1000 - found["tokens_served"]
    assert found["by_client_and_day"][0]["client"] == "perdure-cli"
