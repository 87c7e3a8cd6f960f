import json
from collections.abc import AsyncIterator

import pytest

from perdure.gateway.routes import answers
from support.fake_backends import FakeServices
from support.gateway_client import gateway

NDJSON = {"Content-Type": "application/x-ndjson"}


def without_space(line: str) -> dict[str, object]:
    memory = json.loads(line)
    for state in (memory, *(item["before"] for item in memory["revisions"])):
        state.pop("space", None)
    return memory


async def test_an_export_is_one_memory_a_line_and_comes_back_whole() -> None:
    there, here = FakeServices(), FakeServices()
    async with gateway(there) as source, gateway(here) as target:
        for number in range(3):
            await source.post(
                "/memories", json={"content": f"Zeile {number}\nü 日本", "tags": ["t"], "key": f"k{number}"}
            )
        ids = [item["id"] for item in (await source.get("/memories")).json()["memories"]]
        await source.patch(f"/memories/{ids[0]}", json={"content": "changed"})
        await source.delete(f"/memories/{ids[1]}")
        exported = await source.get("/memories/export")
        assert exported.headers["content-type"].startswith("application/x-ndjson")
        assert len(exported.text.splitlines()) == 3

        tried = await target.post("/memories/import?dry_run=true", content=exported.content, headers=NDJSON)
        assert (tried.json()["created"], tried.json()["dry_run"]) == (3, True)
        assert not here.memories.rows

        done = await target.post("/memories/import", content=exported.content, headers=NDJSON)
        answers.Imported.model_validate(done.json())
        again = await target.post("/memories/import", content=exported.content, headers=NDJSON)
        assert (done.json()["created"], again.json()["created"], again.json()["unchanged"]) == (3, 0, 3)
        back = (await target.get("/memories/export")).text
    # vectors are made anew where the memories arrive
    assert [without_space(line) for line in back.splitlines()] == [
        without_space(line) for line in exported.text.splitlines()
    ]


async def test_an_export_can_leave_history_and_other_statuses_out() -> None:
    async with gateway(FakeServices()) as client:
        ids = [(await client.post("/memories", json={"content": f"m{number}"})).json()["id"] for number in range(2)]
        await client.patch(f"/memories/{ids[0]}", json={"content": "changed"})
        await client.delete(f"/memories/{ids[1]}")
        lines = (await client.get("/memories/export?history=false&status=active")).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [ids[0]]
    assert json.loads(lines[0])["revisions"] == []


async def test_an_empty_export_is_empty() -> None:
    async with gateway(FakeServices()) as client:
        answer = await client.get("/memories/export")
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.requirement("REST-08")
async def test_bad_lines_are_reported_by_number_and_the_rest_is_taken_in() -> None:
    body = b'{"content":"one"}\n\nnot json\r\n{"content":"two"}\n{"content":5}\n{"content":"three"}'

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 7):
            yield body[start : start + 7]

    services = FakeServices()
    async with gateway(services) as client:
        report = (await client.post("/memories/import", content=pieces(), headers=NDJSON)).json()
    assert (report["read"], report["created"], report["failed"]) == (5, 3, 2)
    assert [problem["line"] for problem in report["problems"]] == [3, 5]
    assert sorted(row.statement.content for row in services.memories.rows.values()) == ["one", "three", "two"]


@pytest.mark.requirement("REST-08")
async def test_an_import_may_be_larger_than_a_body() -> None:
    from perdure.gateway.policy import Policy

    async def lines() -> AsyncIterator[bytes]:
        for number in range(200):
            yield json.dumps({"content": f"{number} " + "x" * 1000}).encode() + b"\n"

    async with gateway(FakeServices(), Policy(body_limit_bytes=4096)) as client:
        report = (await client.post("/memories/import", content=lines(), headers=NDJSON)).json()
    assert report["created"] == 200
