from __future__ import annotations

from typing import Any

import pytest

from integration.cli.conftest import Command
from support.rest_gateway import Answered, Asked, RestGateway, problem


def job(state: str, done: int = 0) -> dict[str, Any]:
    return {"id": "j1", "kind": "reembed", "state": state, "done": done, "total": 2, "message": f"{done} embedded"}


@pytest.mark.requirement("EMB-13")
def test_reembed_starts_the_job_and_follows_it_to_its_end(perdure: Command, gateway: RestGateway) -> None:
    states = iter([job("running", 1), job("succeeded", 2)])
    gateway.routes["POST /maintenance/jobs"] = Answered(job("queued"), 202)
    gateway.routes["GET /maintenance/jobs/j1"] = lambda _asked: next(states)
    ran = perdure("reembed")
    assert ran.status == 0
    assert "2 embedded" in ran.out
    assert gateway.asked[0].body == {"kind": "reembed"}


def test_reembed_lives_through_a_restart_of_the_gateway(perdure: Command, gateway: RestGateway) -> None:
    answers = iter([problem(503, "Retrieval is away.", "unavailable"), job("succeeded", 2)])
    gateway.routes["POST /maintenance/jobs"] = Answered(job("running"), 202)

    def current(_asked: Asked) -> Any:
        return next(answers)

    gateway.routes["GET /maintenance/jobs/j1"] = current
    assert perdure("reembed").status == 0


def test_a_failed_job_is_an_error_with_its_reason(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["POST /maintenance/jobs"] = Answered({**job("failed"), "error": "The model is away."}, 202)
    ran = perdure("reembed")
    assert ran.status == 1
    assert "The model is away." in ran.out


@pytest.mark.requirement("JOB-01")
def test_jobs_are_listed_shown_and_cancelled(perdure: Command, gateway: RestGateway) -> None:
    gateway.routes["GET /maintenance/jobs"] = {"jobs": [job("running", 1)]}
    gateway.routes["GET /maintenance/jobs/j1"] = job("running", 1)
    gateway.routes["POST /maintenance/jobs/j1/cancel"] = job("running", 1)
    assert "1/2" in perdure("jobs", "list", "--kind", "reembed").out
    assert ("kind", "reembed") in gateway.last.query
    assert "running" in perdure("jobs", "get", "j1").out
    assert perdure("jobs", "cancel", "j1").status == 0
    assert perdure("jobs", "get", "j2").status == 3
