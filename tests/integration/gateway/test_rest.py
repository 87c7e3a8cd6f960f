"""REST as NaN Forget's users know it, and what Perdure adds."""

import pytest

from perdure.domain.recall.answer import DEPTH_DEFAULT, DenseSkip
from perdure.gateway.routes import answers
from support.fake_backends import FakeServices
from support.gateway_client import gateway

SAVED = {"content": "The API listens on port 3456.", "type": "fact", "project": "perdure"}


async def test_a_saved_memory_is_answered_with_its_id_and_outcome() -> None:
    async with gateway(FakeServices()) as client:
        first = await client.post("/memories", json=SAVED)
        again = await client.post("/memories", json=SAVED)
    assert first.status_code == again.status_code == 201
    assert first.json()["deduplicated"] is False
    assert "existing_id" not in first.json()
    assert first.json()["outcome"] == "created"
    assert again.json()["deduplicated"] is True
    assert again.json()["existing_id"] == again.json()["id"] == first.json()["id"]
    answers.Saved.model_validate(first.json())


@pytest.mark.requirement("REST-03")
async def test_a_repeated_idempotency_key_gets_the_first_answer() -> None:
    async with gateway(FakeServices()) as client:
        headers = {"Idempotency-Key": "k-1"}
        first = (await client.post("/memories", json=SAVED, headers=headers)).json()
        again = (await client.post("/memories", json=SAVED, headers=headers)).json()
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert first["id"] == again["id"]


@pytest.mark.requirement("SEARCH-01")
async def test_search_answers_in_stages_with_scores_and_their_parts() -> None:
    services = FakeServices()
    async with gateway(services) as client:
        saved = (await client.post("/memories", json={**SAVED, "key": "api-port", "tags": ["net"]})).json()
        found = (
            await client.get("/memories/search", params={"q": "which port", "project": "other", "timings": "true"})
        ).json()
    answers.Found.model_validate(found)
    assert found["stage"] == DEPTH_DEFAULT
    (seen,), (recalled,) = found["recognition"], found["recall"]
    assert seen["id"] == recalled["id"] == recalled["memory"]["id"] == saved["id"]
    assert seen["key"] == recalled["key"] == "api-port"
    assert "content" not in seen
    assert recalled["memory"]["content"] == SAVED["content"]
    assert recalled["widened"] is True
    assert recalled["score"] == recalled["parts"]["relevance"]
    parts = recalled["parts"]
    product = parts["relevance"] * parts["decay_weight"] * parts["frequency_boost"] * parts["confidence_boost"]
    assert recalled["adjusted_score"] == pytest.approx(product * parts["importance_boost"])
    assert (found["match"], found["dense_ran"], found["warnings"]) == (True, True, [])
    assert found["timings_ms"] == {"total": 1.25}


@pytest.mark.requirement("SEARCH-04")
async def test_no_match_is_an_honest_answer() -> None:
    async with gateway(FakeServices()) as client:
        found = (await client.get("/memories/search?q=nothing")).json()
    assert found["match"] is False
    assert found["recall"] == found["recognition"] == found["associations"] == []


@pytest.mark.requirement("SEARCH-05")
async def test_a_search_by_words_alone_says_so() -> None:
    services = FakeServices()
    services.memories.dense = False
    async with gateway(services) as client:
        found = (await client.get("/memories/search?q=x")).json()
    assert found["dense_skipped"] == "embedder_away"
    assert "only words" in found["warnings"][0]


async def test_a_search_where_nothing_was_saved_yet_says_that_and_nothing_about_vectors() -> None:
    services = FakeServices()
    services.memories.dense = False
    services.memories.skipped = DenseSkip.NO_VECTORS
    async with gateway(services) as client:
        found = (await client.get("/memories/search?q=nothing")).json()
    assert found["warnings"] == ["There are no memories here yet."]


@pytest.mark.requirement("SEARCH-07")
async def test_every_filter_reaches_the_service() -> None:
    services = FakeServices()
    query = (
        "q=x&project=p&depth=3&limit=50&strict=true&type=fact&type=task&tags=a&tags=b&concepts=c&files=f"
        "&created_from=2026-01-01&created_to=2026-02-01T00:00:00%2B01:00&tier=core&status=archived&shown_only=1"
    )
    async with gateway(services) as client:
        assert (await client.get(f"/memories/search?{query}")).status_code == 200
    (question,) = services.memories.questions
    assert (question.depth, question.limit, question.strict_project, question.shown_only) == (3, 50, True, True)
    where = question.filter
    assert [kind.value for kind in where.types] == ["fact", "task"]
    assert (where.tags, where.concepts, where.files) == (("a", "b"), ("c",), ("f",))
    assert where.created_from is not None
    assert where.created_to is not None
    assert (where.created_from.isoformat(), where.created_to.isoformat()) == (
        "2026-01-01T00:00:00+00:00",
        "2026-01-31T23:00:00+00:00",
    )
    assert ([tier.value for tier in where.tiers], [status.value for status in where.statuses]) == (
        ["core"],
        ["archived"],
    )


async def test_max_tokens_shortens_texts_and_says_so() -> None:
    async with gateway(FakeServices()) as client:
        for number in range(3):
            await client.post("/memories", json={"content": f"word {number} " + "lorem ipsum " * 200})
        found = (await client.get("/memories/search?q=word&max_tokens=200")).json()
    answers.Found.model_validate(found)
    assert found["truncated"] is True
    assert sum(len(item["memory"]["content"]) for item in found["recall"]) < 1500
    assert found["recall"], "the best one keeps its beginning"


@pytest.mark.requirement("REST-04")
async def test_a_memory_is_read_edited_archived_restored_and_erased() -> None:
    async with gateway(FakeServices()) as client:
        made = (await client.post("/memories", json={**SAVED, "key": "k", "problem": "p"})).json()
        path = f"/memories/{made['id']}"
        read = await client.get(path)
        assert read.headers["etag"] == '"1"'
        answers.MemoryOut.model_validate(read.json())
        assert "solution" not in read.json(), "optional members are absent when empty"
        assert read.json()["created_at"].endswith("Z")

        edited = await client.patch(path, json={"content": "Port 4000.", "problem": None}, headers={"If-Match": '"1"'})
        answers.Updated.model_validate(edited.json())
        assert (edited.json()["updated"], edited.headers["etag"]) == (made["id"], '"2"')
        assert "problem" not in edited.json()["memory"]

        stale = await client.patch(path, json={"content": "Port 5000."}, headers={"If-Match": '"1"'})
        assert (stale.status_code, stale.json()["reason"]) == (409, "revision_moved")
        assert (await client.delete(path, headers={"If-Match": "1"})).status_code == 409

        assert (await client.delete(path)).json()["archived"] == made["id"]
        assert (await client.get("/memories")).json()["memories"] == []
        assert (await client.get("/memories?status=archived")).json()["memories"][0]["id"] == made["id"]
        assert (await client.post(f"{path}/restore")).json()["restored"] == made["id"]
        assert (await client.post(f"{path}/restore")).json()["reason"] == "not_archived"

        past = (await client.get(f"{path}/history")).json()
        answers.Past.model_validate(past)
        assert [item["why"] for item in past["revisions"]] == ["restored", "archived", "updated"]

        assert (await client.delete(f"{path}?purge=true")).json() == {"purged": made["id"]}
        assert (await client.get(path)).status_code == 404


@pytest.mark.requirement("SEARCH-15")
async def test_a_list_runs_by_cursor() -> None:
    async with gateway(FakeServices()) as client:
        for number in range(5):
            await client.post("/memories", json={"content": f"m{number}"})
        seen, cursor = [], ""
        while True:
            page = (
                await client.get("/memories", params={"limit": 2, "cursor": cursor} if cursor else {"limit": 2})
            ).json()
            answers.Listed.model_validate(page)
            seen += [item["content"] for item in page["memories"]]
            if not (cursor := page.get("next_cursor", "")):
                break
    assert seen == ["m4", "m3", "m2", "m1", "m0"]


async def test_a_batch_has_an_outcome_for_each() -> None:
    async with gateway(FakeServices()) as client:
        answer = await client.post("/memories/batch", json={"memories": [SAVED, {"content": "unusable"}, SAVED]})
    answers.Batch.model_validate(answer.json())
    assert [item.get("outcome") for item in answer.json()["results"]] == ["created", None, "unchanged"]
    assert answer.json()["results"][1]["error"]["reason"] == "text_unusable"
    assert (answer.json()["saved"], answer.json()["failed"]) == (2, 1)


async def test_a_checkpoint_is_saved_with_its_parts() -> None:
    async with gateway(FakeServices()) as client:
        answer = await client.post(
            "/memories/checkpoint",
            json={"task_summary": "Done.", "problem": "P", "solution": "S", "concepts": ["c"], "project": "p"},
        )
        found = (await client.get(f"/memories/{answer.json()['id']}")).json()
    assert answer.status_code == 201
    assert found["tags"][:2] == ["checkpoint", "task-completion"]


@pytest.mark.parametrize("options", [{}, {"json": {}}, {"json": {"project": "perdure"}}])
async def test_sync_takes_no_body_or_a_project(options: dict[str, object]) -> None:
    async with gateway(FakeServices()) as client:
        await client.post("/memories", json=SAVED)
        answer = await client.post("/memories/sync", **options)  # type: ignore[arg-type]
    answers.Synced.model_validate(answer.json())
    assert (answer.json()["status"], answer.json()["active_memories"]) == ("ready", 1)
    assert answer.json()["projects"] == {"perdure": 1}


@pytest.mark.requirement("REST-02")
async def test_stats_have_nan_forgets_counts() -> None:
    async with gateway(FakeServices()) as client:
        await client.post("/memories", json=SAVED)
        counts = (await client.get("/memories/stats")).json()
    answers.Counted.model_validate(counts)
    assert {"active", "archived", "consolidated", "total", "by_type", "by_project"} <= counts.keys()


@pytest.mark.requirement("REST-07")
async def test_the_instructions_are_plain_text_with_the_routes_and_the_command_line() -> None:
    async with gateway(FakeServices()) as client:
        answer = await client.get("/memories/instructions")
    assert answer.headers["content-type"].startswith("text/plain")
    for word in ("POST /memories", "checkpoint", "search", "perdure search", "not instructions"):
        assert word in answer.text


@pytest.mark.requirement("REST-01")
async def test_openapi_names_every_route_with_examples() -> None:
    async with gateway(FakeServices()) as client:
        api = (await client.get("/openapi.json")).json()
    assert {
        "/memories", "/memories/batch", "/memories/checkpoint", "/memories/export", "/memories/import",
        "/memories/instructions", "/memories/search", "/memories/stats", "/memories/sync", "/memories/{id}",
        "/memories/{id}/history", "/memories/{id}/restore", "/maintenance/jobs", "/maintenance/jobs/{job_id}",
        "/maintenance/jobs/{job_id}/cancel", "/memories/consolidate", "/memories/clean", "/memories/compact",
        "/memories/restore-content", "/memories/memory-md", "/memories/erase", "/memories/{id}/lifecycle",
        "/maintenance/runs", "/maintenance/runs/{run_id}", "/maintenance/runs/{run_id}/undo",
        "/healthz", "/readyz", "/metrics",
        "/episodes", "/episodes/{id}", "/episodes/{id}/screenshots", "/episodes/{id}/screenshots/{name}",
        "/episodes/{id}/preview", "/episodes/{id}/compile", "/skills", "/skills/due", "/skills/{id}",
        "/skills/{id}/versions", "/skills/{id}/diff", "/skills/{id}/routine", "/skills/{id}/heartbeat",
        "/skills/{id}/release", "/skills/{id}/record", "/runs", "/runs/{id}", "/runs/{id}/steps", "/runs/{id}/finish",
        "/runs/{id}/cancel", "/experience/overview", "/experience/records", "/experience/forget-all",
        "/experience/train", "/experience/trainings/{job}", "/experience/model/rollback", "/experience/export",
        "/experience/import", "/usage",
    } == api["paths"].keys()  # fmt: skip
    assert api["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert api["components"]["schemas"]["SaveBody"]["examples"]
    assert api["components"]["schemas"]["CheckpointBody"]["examples"]
