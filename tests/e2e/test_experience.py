"""Teach it once, on every surface: a demonstration, a skill, a routine, a run with its approval; no secret anywhere."""

from __future__ import annotations

import asyncio
import base64
import html
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from support.stack import Stack, running
from support.surfaces import ERAS, over_http, said

pytestmark = pytest.mark.e2e

MODERN = "modern"

CANARY = "Tr0ub4dor-canary-9f31"
"""What somebody typed into a password field; it may stand nowhere."""

HARD_CANARY = 'zebra "Quilt" & <canary>/41'
MARKUP_CANARY = "hyena-Quilt-canary-77"

IMAGE = {"Content-Type": "image/png"}
PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000049454e44ae426082")


_TRANSFER = {"name": "Transfer"}


def _transfer(episode_id: str) -> dict[str, Any]:
    """Signing in to a bank and sending money, with the password in a field that nobody flagged."""
    return {
        "id": episode_id,
        "name": "Pay the supplier",
        "program": "bank.exe",
        "startedAt": 1_764_500_000_000,
        "steps": [
            {
                "id": "s1",
                "atMs": 10,
                "action": {
                    "kind": "setValue",
                    "target": {"name": "Password", "controlType": "Edit"},
                    "value": CANARY,
                },
            },
            {
                "id": "s2",
                "atMs": 20,
                "action": {"kind": "setValue", "target": {"name": "Amount"}, "value": "125.00"},
            },
            {
                "id": "s3",
                "atMs": 30,
                "action": {"kind": "click", "target": {"name": "Transfer"}},
                "screenshot": "s3.png",
            },
            {
                "id": "s4",
                "atMs": 40,
                "action": {"kind": "tool", "name": "login", "arguments": {"user": "ann", "password": CANARY}},
            },
        ],
    }


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running(PERDURE_EMBEDDING_PROVIDER="test", PERDURE_LOG_LEVEL="debug") as stack:
        yield stack


def _skill(stack: Stack, episode_id: str) -> dict[str, Any]:
    assert stack.call("POST", "/episodes", _transfer(episode_id)).status == 201
    compiled = stack.call("POST", f"/episodes/{episode_id}/compile", {})
    assert compiled.status == 201
    return dict(compiled.json)


@pytest.mark.requirement("I5-DONE-1")
def test_by_rest_a_demonstration_becomes_a_skill_that_one_host_runs_with_an_approval(stack: Stack) -> None:
    assert stack.call("POST", "/episodes", _transfer("pay-1")).status == 201
    preview = stack.call("POST", "/episodes/pay-1/preview", {}).json
    assert [one["name"] for one in preview["params"]] == ["password", "amount", "user", "password_2"]
    assert preview["params"][0]["secret"] is True
    assert not stack.call("GET", "/skills").json["skills"]
    skill = stack.call("POST", "/episodes/pay-1/compile", {"edits": {"name": "Pay a supplier"}}).json
    assert (skill["name"], skill["version"]) == ("Pay a supplier", 1)
    assert [step["requiresApproval"] for step in skill["steps"]] == [False, False, True, False]

    again = stack.call("POST", "/episodes/pay-1/compile", {"edits": {"paramNames": {"s2": "sum"}}}).json
    assert (again["id"], again["version"]) == (skill["id"], 2)
    assert any("sum" in line for line in stack.call("GET", f"/skills/{skill['id']}/diff").json["lines"])

    schedule = {"schedule": {"every": "minutes", "minutes": 5}, "values": {"sum": "10", "password": CANARY}}
    scheduled = stack.call("PUT", f"/skills/{skill['id']}/routine", schedule).json
    assert scheduled["routine"]["values"] == {"sum": "10"}
    assert CANARY not in json.dumps(scheduled)

    def claim(host: str) -> list[dict[str, Any]]:
        return list(stack.call("POST", "/skills/due", {"holder": host}).json["skills"])

    with ThreadPoolExecutor(8) as pool:
        taken = [len(found) for found in pool.map(claim, [f"host-{number}" for number in range(8)])]
    assert sorted(taken) == [0] * 7 + [1]
    holder = f"host-{taken.index(1)}"

    refused = stack.call("POST", "/runs", {"skill_id": skill["id"], "trigger": "routine", "holder": "somebody else"})
    assert refused.status == 409
    run = stack.call("POST", "/runs", {"skill_id": skill["id"], "trigger": "routine", "holder": holder}).json
    steps = f"/runs/{run['id']}/steps"
    for idx, step in enumerate(("s1", "s2")):
        assert stack.call("POST", steps, {"idx": idx, "step_id": step, "outcome": "ok"}).status == 200
    gated = stack.call("POST", steps, {"idx": 2, "step_id": "s3", "outcome": "ok"})
    assert (gated.status, gated.json["reason"]) == (409, "approval_missing")
    for outcome in ("approved", "ok"):
        assert stack.call("POST", steps, {"idx": 2, "step_id": "s3", "outcome": outcome}).status == 200
    nowhere = stack.call("POST", steps, {"idx": 9, "step_id": "none", "outcome": "ok"})
    assert (nowhere.status, nowhere.json["reason"]) == (400, "step_unknown")
    finished = stack.call("POST", f"/runs/{run['id']}/finish", {"status": "succeeded", "tokens": 900, "cost": 0.02})
    assert finished.json["status"] == "succeeded"
    late = stack.call("POST", steps, {"idx": 3, "step_id": "s4", "outcome": "ok"})
    assert (late.status, late.json["reason"]) == (409, "run_ended")

    trail = stack.call("GET", f"/runs/{run['id']}").json["steps"]
    assert [(line["stepId"], line["outcome"]) for line in trail] == [
        ("s1", "ok"),
        ("s2", "ok"),
        ("s3", "approved"),
        ("s3", "ok"),
    ]
    (record,) = stack.call("GET", f"/skills/{skill['id']}/record").json["records"]
    assert (record["runs"], record["succeeded"], record["version"]) == (1, 1, 2)
    assert record["interval_95"][0] < 1.0
    assert not claim(holder), "a routine that just ran is not due"


@pytest.mark.requirement("I5-DONE-1")
@pytest.mark.parametrize("era", ERAS)
def test_by_mcp_the_predecessors_tools_do_the_same(stack: Stack, era: str) -> None:
    async def go() -> None:
        async with over_http(stack, era, path="/mcp?toolsets=experience,keyed,cost") as client:
            saved = json.loads(await said(client, "episode_save", episode=_transfer(f"mcp-{era}")))
            preview = json.loads(await said(client, "skill_preview", episodeId=saved["id"]))
            assert preview["params"][0]["secret"] is True
            skill = json.loads(await said(client, "skill_compile", episodeId=saved["id"]))
            routine = {"schedule": {"every": "minutes", "minutes": 1}, "values": {}, "enabled": True}
            await said(client, "skill_schedule", id=skill["id"], routine=routine)
            due = json.loads(await said(client, "skills_due", holder="laptop"))["skills"]
            assert skill["id"] in [one["id"] for one in due]
            others = json.loads(await said(client, "skills_due", holder="desktop"))["skills"]
            assert skill["id"] not in [one["id"] for one in others]
            run = json.loads(await said(client, "run_start", skillId=skill["id"], trigger="routine", holder="laptop"))
            gated = await client.call_tool("run_step", {"runId": run["id"], "idx": 2, "stepId": "s3", "outcome": "ok"})
            assert gated.is_error
            await said(client, "run_step", runId=run["id"], idx=2, stepId="s3", outcome="approved", detail=None)
            logged = await said(client, "run_step", runId=run["id"], idx=2, stepId="s3", outcome="ok")
            assert json.loads(logged)["logged"] is True
            await said(client, "run_finish", runId=run["id"], status="succeeded")
            whole = json.loads(await said(client, "run_get", id=run["id"]))
            assert [line["outcome"] for line in whole["steps"]] == ["approved", "ok"]
            assert json.loads(await said(client, "run_list", limit=1))["runs"][0]["id"] == run["id"]
            assert json.loads(await said(client, "experience_info"))["skills"] >= 1
            assert json.loads(await said(client, "experience_train", dryRun=True))["status"] in (
                "dry_run",
                "nothing_new",
            )
            assert "Tokens served" in await said(client, "token_usage")
            assert "succeed" in await said(client, "model_efficiency")

    asyncio.run(go())


@pytest.mark.requirement("I5-SURF-1")
def test_the_toolset_is_shown_to_nobody_who_did_not_ask_for_it(stack: Stack) -> None:
    async def names(path: str) -> set[str]:
        async with over_http(stack, MODERN, path=path) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert not {name for name in asyncio.run(names("/mcp")) if not name.startswith("memory_")}
    shown = asyncio.run(names("/mcp?toolsets=experience"))
    assert len(shown) == 20
    assert {"experience_overview", "episode_save", "skills_due", "run_step", "experience_train"} <= shown


@pytest.mark.requirement("I5-SURF-2")
def test_the_keyed_tools_speak_the_predecessors_words(stack: Stack) -> None:
    async def go() -> None:
        async with over_http(stack, MODERN, path="/mcp?toolsets=keyed") as client:
            await said(client, "memory_remember", key="build", content="The build runs with ninja.", tags=["Build"])
            await said(client, "memory_remember", key="build", content="The build runs with meson.", tags=["Build"])
            found = await said(client, "memory_recall", query="build runs", topK=1)
            assert "meson" in found and "ninja" not in found and "Ranked by:" in found
            assert "meson" in await said(client, "memory_recall_by_tag", tag="Build")
            assert await said(client, "memory_recall_by_tag", tag="build") == "No matching memories."
            beyond = await client.call_tool("memory_recall", {"query": "build", "topK": 6})
            assert beyond.is_error
            assert "Forgotten" in await said(client, "memory_forget", key="build")
            assert "nothing was forgotten" in await said(client, "memory_forget", key="build")
            assert "No matching memories." in await said(client, "memory_recall", query="meson")

    asyncio.run(go())


@pytest.mark.requirement("I5-DONE-2")
def test_a_password_is_in_no_file_no_log_and_no_export(stack: Stack) -> None:
    flagged = _transfer("secret-1")
    flagged["steps"][0]["action"]["secret"] = True
    flagged["steps"].append(
        {"id": "s5", "atMs": 50, "action": {"kind": "keys", "keys": CANARY, "target": {"name": "PIN"}}}
    )
    forms = [quote(HARD_CANARY), quote_plus(HARD_CANARY), json.dumps(HARD_CANARY)[1:-1], html.escape(HARD_CANARY)]
    for value in (CANARY, HARD_CANARY):
        forms += [base64.b64encode(value.encode()).decode(), base64.urlsafe_b64encode(value.encode()).decode()]
        forms += [value.encode().hex()]
    markup = f'<password>{MARKUP_CANARY}</password><input type="password" value="{MARKUP_CANARY}">'
    flagged["steps"] += [
        {"id": "s6", "action": {"kind": "setValue", "target": {"name": "Password"}, "value": HARD_CANARY}},
        {
            "id": "s7",
            "action": {
                "kind": "tool",
                "name": f"x{CANARY}",
                "arguments": {CANARY: 1, "deep": {CANARY: [{CANARY: 2}]}, "forms": forms, "body": markup},
                "result": " ".join(forms),
            },
        },
    ]
    stored = stack.call("POST", "/episodes", flagged)
    assert stored.status == 201
    for changed in ({"id": f"x-{CANARY}"}, {"steps": [*flagged["steps"], {**flagged["steps"][2], "id": CANARY}]}):
        refused = stack.call("POST", "/episodes", {**flagged, **changed})
        assert (refused.status, refused.json["reason"]) == (422, "field_invalid")
        assert CANARY not in json.dumps(refused.json)
    assert stack.call("PUT", "/episodes/secret-1/screenshots/s3.png", PNG, headers=IMAGE).status == 201
    skill = stack.call("POST", "/episodes/secret-1/compile", {"edits": {"fixed": ["s1", "s4", "s5"]}}).json
    stack.call("GET", f"/memories/search?q={CANARY}")
    exported = stack.call("GET", "/experience/export")
    assert CANARY not in json.dumps(stored.json) + json.dumps(skill) + json.dumps(exported.json)
    stack.perdure("db", "backup", str(stack.home / "copy.db"))
    gone = [one.encode() for one in (CANARY, HARD_CANARY, MARKUP_CANARY, *forms, *(form.rstrip("=") for form in forms))]
    holding = [path.name for path in _files(stack.home) if any(map(path.read_bytes().__contains__, gone))]
    assert holding == []


@pytest.mark.requirement("I5-EP-3")
def test_a_picture_is_kept_with_its_episode_and_goes_with_it(stack: Stack) -> None:
    own = PNG + b"pictured"
    stack.call("POST", "/episodes", _transfer("pictured"))
    kept = stack.call("PUT", "/episodes/pictured/screenshots/s3.png", own, headers=IMAGE)
    assert (kept.status, kept.json["media_type"]) == (201, "image/png")
    back = stack.call("GET", "/episodes/pictured/screenshots/s3.png")
    assert (back.body, back.headers["x-content-type-options"]) == (own, "nosniff")
    no_picture = stack.call("PUT", "/episodes/pictured/screenshots/s4.png", b"<svg/>", headers=IMAGE)
    assert no_picture.status == 422
    page = stack.call("PUT", "/episodes/pictured/screenshots/s4.png", own, headers={"Content-Type": "text/html"})
    assert page.status == 415
    outside = stack.call("PUT", "/episodes/pictured/screenshots/..%2Fx.png", own, headers=IMAGE)
    assert outside.status >= 400
    pictures = [path for path in _files(stack.home) if path.read_bytes() == own]
    assert len(pictures) == 1
    assert stack.call("DELETE", "/episodes/pictured").json["forgotten"] is True
    assert not pictures[0].exists()


def _files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file() and not path.is_socket()]


@pytest.mark.requirement("I5-COST-1")
def test_the_cost_tools_say_figures_that_a_person_can_read(stack: Stack) -> None:
    skill = _skill(stack, "costly")
    run = stack.call("POST", "/runs", {"skill_id": skill["id"], "model": "some-model"}).json
    for outcome in ("approved", "ok"):
        stack.call("POST", f"/runs/{run['id']}/steps", {"idx": 2, "step_id": "s3", "outcome": outcome})
    ended = stack.call("POST", f"/runs/{run['id']}/finish", {"status": "succeeded", "tokens": 1200, "cost": 0.42})
    assert ended.status == 200
    stack.call("POST", "/memories", {"content": "Transfers above 1000 need two signatures", "project": "bank"})

    async def go() -> None:
        async with over_http(stack, MODERN, path="/mcp?toolsets=core,cost,keyed") as client:
            for _ in range(30):
                await said(client, "memory_search", query="two signatures", project="bank")
            usage = await said(client, "token_usage", days=7)
            assert re.search(r"^Token usage \(last 7 days\)\n- Tokens served: \d{1,3}(,\d{3})+\n", usage)
            assert re.search(r"^- .+: [\d,]+ served, [\d,]+ saved, \d+ answers$", usage, re.MULTILINE)
            efficiency = await said(client, "model_efficiency")
            line = next(line for line in efficiency.splitlines() if "$0.4200 per success" in line)
            assert '"Pay the supplier" v1: 100% succeed (21% to 100%)' in line and line.endswith("n=1")
            for blank in ("", " \n"):
                assert (await said(client, "memory_recall", query=blank)).startswith("ERROR: ")

    asyncio.run(go())


@pytest.mark.requirement("I5-SURF-1")
def test_who_only_reads_is_given_no_experience(stack: Stack) -> None:
    read_only = {"Perdure-Readonly": "1"}
    for method, path, body in (
        ("POST", "/episodes", _transfer("read-only")),
        ("GET", "/episodes", None),
        ("POST", "/experience/forget-all", {"confirm": True}),
        ("GET", "/experience/export", None),
    ):
        assert stack.call(method, path, body, headers=read_only).status == 403, path
    assert stack.call("GET", "/episodes/read-only").status == 404
