"""The lifecycle over REST: NaN Forget's answers, runs, and refusals."""

from __future__ import annotations

import pytest

from perdure.domain.runs import Task
from perdure.gateway.routes import lifecycle_answers as answers
from support.fake_backends import FakeServices
from support.gateway_client import gateway


async def test_consolidate_answers_as_nan_forget_does_and_names_its_run() -> None:
    services = FakeServices()
    async with gateway(services) as client:
        answer = await client.post("/memories/consolidate", json={"project": "shop", "dry_run": True})
    assert answer.status_code == 200
    body = answer.json()
    assert (body["memories_consolidated"], body["new_memories_created"], body["duration_ms"]) == (3, 0, 7)
    assert answer.headers["location"] == f"/maintenance/runs/{body['run']['id']}"
    assert services.lifecycle.asked == [("start", (Task.CONSOLIDATE, "shop", True, 25.0))]
    answers.Consolidated.model_validate(body)


async def test_clean_needs_no_body() -> None:
    async with gateway(FakeServices()) as client:
        answer = await client.post("/memories/clean")
    assert answer.status_code == 200
    assert answer.json()["archived_decayed"] == 2
    answers.Cleaned.model_validate(answer.json())


async def test_a_run_that_goes_on_is_202_with_the_way_to_it() -> None:
    services = FakeServices()
    services.lifecycle.slow = True
    async with gateway(services) as client:
        answer = await client.post("/memories/clean", json={"wait": False})
        run = await client.get(answer.headers["location"])
    assert answer.status_code == 202
    assert services.lifecycle.asked[0] == ("start", (Task.CLEAN, None, False, 0.0))
    assert run.json()["state"] == "running"
    answers.RunOut.model_validate(run.json())


async def test_runs_are_listed_shown_and_undone() -> None:
    async with gateway(FakeServices()) as client:
        run = (await client.post("/memories/clean")).json()["run"]["id"]
        listed = (await client.get("/maintenance/runs?limit=5")).json()
        undone = await client.post(f"/maintenance/runs/{run}/undo")
        unknown = await client.get("/maintenance/runs/nobody")
    assert [item["id"] for item in listed["runs"]] == [run]
    assert undone.json()["restored"] == 2
    assert undone.json()["run"]["undone_by"]
    assert unknown.status_code == 404
    answers.RunsOut.model_validate(listed)
    answers.Undone.model_validate(undone.json())


async def test_compact_restore_content_erase_and_the_block() -> None:
    services = FakeServices()
    async with gateway(services) as client:
        compacted = await client.post("/memories/compact", json={"memories": ["a", "b"]})
        restored = await client.post(
            "/memories/restore-content", json={"items": [{"key": "a", "content": "A."}, {"id": "mem:b", "text": "B."}]}
        )
        erased = await client.post("/memories/erase", json={"project": "p", "confirm": "p"})
        block = await client.get("/memories/memory-md?project=shop")
    assert [item["reason"] for item in compacted.json()["skipped"]] == ["not_found"] * 2
    assert restored.json() == {"restored": [], "unmatched": ["a", "mem:b"]}
    assert erased.json() == {"erased": 4}
    assert block.headers["content-type"].startswith("text/markdown")
    assert "## Memory: shop" in block.text
    answers.CompactedOut.model_validate(compacted.json())


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/memories/consolidate", {"projet": "typo"}),
        ("/memories/compact", {"memories": []}),
        ("/memories/restore-content", {"items": [{"key": "a"}]}),
        ("/memories/erase", {"project": "p"}),
    ],
)
async def test_what_does_not_fit_is_refused_by_name(path: str, body: dict[str, object]) -> None:
    async with gateway(FakeServices()) as client:
        answer = await client.post(path, json=body)
    assert answer.status_code == 422
    assert answer.json()["field"]


async def test_a_reader_may_look_and_not_tidy() -> None:
    services = FakeServices()
    token = services.access.add("reader-secret", "team", "read")
    headers = {"Authorization": f"Bearer {token}"}
    async with gateway(services) as client:
        assert (await client.get("/maintenance/runs", headers=headers)).status_code == 200
        for path in ("/memories/consolidate", "/memories/clean", "/maintenance/runs/x/undo"):
            assert (await client.post(path, headers=headers)).status_code == 403
