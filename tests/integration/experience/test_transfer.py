"""Experience in and out over a real store: what Builderforce Memory wrote comes out as it was, without secrets."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from perdure.domain.experience.skill import SkillId
from perdure.domain.experience.transfer import ExperienceImport, Part, PartKind
from perdure.domain.namespace import TokenScope
from perdure.errors import FailedPrecondition, InvalidArgument, PermissionDenied, Reason
from perdure.usecases.experience_transfer import PROBLEMS_MAX, ExperienceTransfer
from support.builderforce_experience import AT, element, snapshot
from support.experience_world import ExperienceWorld, caller

LISTS = {"episodes": PartKind.EPISODE, "skills": PartKind.SKILL, "runs": PartKind.RUN}

CANARY = "Tr0ub4dor-canary-77c1"
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ExperienceWorld]:
    made = ExperienceWorld(tmp_path)
    yield made
    made.close()


def _parts(whole: Mapping[str, Any]) -> Iterator[Part]:
    yield Part(PartKind.HEAD, {name: value for name, value in whole.items() if name not in LISTS})
    for name, kind in LISTS.items():
        for document in whole.get(name, []):
            yield Part(kind, document)


def _take_in(world: ExperienceWorld, whole: Mapping[str, Any], *, dry_run: bool = False) -> ExperienceImport:
    return ExperienceTransfer(world.store, world.clock).import_(world.me, _parts(whole), dry_run=dry_run)


def _given_out(world: ExperienceWorld) -> dict[str, Any]:
    whole: dict[str, Any] = {name: [] for name in LISTS}
    names = {kind: name for name, kind in LISTS.items()}
    for part in ExperienceTransfer(world.store, world.clock).export(world.me):
        if part.kind is PartKind.HEAD:
            whole.update(part.document)
        else:
            whole[names[part.kind]].append(dict(part.document))
    return whole


def _by_id(documents: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    assert len({one["id"] for one in documents}) == len(documents)
    return {one["id"]: one for one in documents}


def _with_what_perdure_adds(whole: dict[str, Any]) -> dict[str, Any]:
    """All that an export adds: versions, when a run was last heard of, and which kinds of secrets an episode had."""
    whole = copy.deepcopy(whole)
    whole["episodes"][0]["redacted"] = ["secret"]  # as its recorder flagged
    for skill in whole["skills"]:
        skill["version"] = 1
    for run in whole["runs"]:
        run["skillVersion"] = 1
        run["heardAt"] = run["endedAt"] or run["startedAt"]
    return whole


@pytest.mark.requirement("I5-MOVE-1")
def test_what_builderforce_wrote_comes_out_as_it_went_in(world: ExperienceWorld) -> None:
    report = _take_in(world, snapshot())
    assert (dict(report.created), dict(report.unchanged), report.problems) == (
        {"episode": 2, "skill": 2, "run": 3},
        {},
        (),
    )
    out, expected = _given_out(world), _with_what_perdure_adds(snapshot())
    assert set(out) == set(expected)
    for name in LISTS:
        assert _by_id(out[name]) == _by_id(expected[name])
    for name in ("schema", "learned", "adaptations"):
        assert out[name] == expected[name]


def test_what_came_out_goes_into_another_perdure_and_comes_out_the_same(world: ExperienceWorld, tmp_path: Path) -> None:
    _take_in(world, snapshot())
    first = _given_out(world)
    (tmp_path / "other").mkdir()
    other = ExperienceWorld(tmp_path / "other")
    try:
        assert not _take_in(other, json.loads(json.dumps(first))).problems
        assert _given_out(other) == first
    finally:
        other.close()


@pytest.mark.requirement("I5-MOVE-1")
def test_the_same_file_again_changes_nothing(world: ExperienceWorld) -> None:
    _take_in(world, snapshot())
    before = _given_out(world)
    again = _take_in(world, snapshot())
    assert (dict(again.created), dict(again.unchanged)) == ({}, {"episode": 2, "skill": 2, "run": 3})
    assert _given_out(world) == before


def test_what_is_there_already_stays_as_it_is(world: ExperienceWorld) -> None:
    _take_in(world, snapshot())
    changed = snapshot()
    changed["episodes"][0]["name"] = "Something else"
    changed["skills"][0]["name"] = "Something else"
    _take_in(world, changed)
    assert "Something else" not in json.dumps(_given_out(world))


def test_older_files_have_no_adaptations_and_come_in(world: ExperienceWorld) -> None:
    older = snapshot()
    del older["adaptations"]
    assert not _take_in(world, older).problems
    out = _given_out(world)
    assert (out["adaptations"], out["learned"]) == ([], older["learned"])


def test_a_file_with_nothing_but_its_schema_comes_in(world: ExperienceWorld) -> None:
    report = _take_in(world, {"schema": "evermind.experience/1"})
    assert (dict(report.created), report.problems) == ({}, ())


@pytest.mark.requirement("I5-MOVE-2")
@pytest.mark.parametrize("schema", ["evermind.experience/2", "evermind.memory/1", "", None, 1, ["evermind"]])
def test_another_schema_is_refused_and_nothing_is_stored(world: ExperienceWorld, schema: object) -> None:
    with pytest.raises(FailedPrecondition) as caught:
        _take_in(world, snapshot(schema=schema))
    assert caught.value.reason is Reason.SCHEMA_UNKNOWN
    assert _given_out(world) == {
        "schema": "evermind.experience/1",
        "learned": {},
        "adaptations": [],
        "episodes": [],
        "skills": [],
        "runs": [],
    }


def test_documents_without_a_head_are_refused(world: ExperienceWorld) -> None:
    parts = iter([Part(PartKind.EPISODE, snapshot()["episodes"][0])])
    with pytest.raises(InvalidArgument):
        ExperienceTransfer(world.store, world.clock).import_(world.me, parts, dry_run=False)
    assert not _given_out(world)["episodes"]


@pytest.mark.requirement("I5-MOVE-3")
def test_what_is_malformed_is_named_by_its_place_and_the_rest_comes_in(world: ExperienceWorld) -> None:
    whole = snapshot()
    good = whole["episodes"][0]
    whole["episodes"] = [
        {**good, "id": "../escape"},
        {**good, "id": "e1", "steps": [*good["steps"][:1], {"id": "q", "action": {"kind": "hover"}}]},
        {key: value for key, value in good.items() if key != "id"},
        {},
        good,
    ]
    whole["skills"][0]["steps"][0]["action"]["value"] = {"from": "param", "name": "unknown"}
    whole["skills"][1]["routine"]["schedule"] = {"every": "minutes", "minutes": 0}
    whole["runs"][1]["status"] = "exploded"
    del whole["runs"][2]["steps"][0]["at"]
    report = _take_in(world, whole)
    assert dict(report.created) == {"episode": 1, "run": 1}
    places = (
        "episodes[0].id",
        "episodes[1].steps[1].action.kind",
        "episodes[2].id",
        "episodes[3]",
        "skills[0].steps[0].action",
        "skills[1]",
        "runs[1].status",
        "runs[2].steps[0].at",
    )
    assert len(report.problems) == len(places)
    for place, problem in zip(places, report.problems, strict=True):
        assert place in problem


def test_problems_beyond_a_hundred_are_counted(world: ExperienceWorld) -> None:
    report = _take_in(world, snapshot(episodes=[{}] * (PROBLEMS_MAX + 7)))
    assert len(report.problems) == PROBLEMS_MAX + 1
    assert report.problems[-1] == "and 7 more"


def test_a_dry_run_says_what_would_come_in_and_stores_nothing(world: ExperienceWorld) -> None:
    empty = _given_out(world)
    report = _take_in(world, snapshot(), dry_run=True)
    assert dict(report.created) == {"episode": 2, "skill": 2, "run": 3}
    assert _given_out(world) == empty
    _take_in(world, snapshot())
    assert not _take_in(world, snapshot(), dry_run=True).created


def test_only_who_may_use_experience_moves_it(world: ExperienceWorld) -> None:
    reader = caller(TokenScope.READ, TokenScope.WRITE)
    transfer = ExperienceTransfer(world.store, world.clock)
    with pytest.raises(PermissionDenied):
        transfer.export(reader)
    with pytest.raises(PermissionDenied):
        transfer.import_(reader, _parts(snapshot()), dry_run=False)


# ------------------------------------------------------------------ secrets


def _skill(**changed: Any) -> dict[str, Any]:
    return {**copy.deepcopy(snapshot()["skills"][0]), "id": "k1", **changed}


def _set(name: str, value: Any, id_: str = "s1", **fields: Any) -> dict[str, Any]:
    action = {"kind": "setValue", "target": element(name, **fields), "value": value}
    return {"id": id_, "action": action, "requiresApproval": False}


def _imported_skill(world: ExperienceWorld, skill: dict[str, Any]) -> dict[str, Any]:
    report = _take_in(world, snapshot(episodes=[], skills=[skill], runs=[]))
    assert not report.problems
    (out,) = _given_out(world)["skills"]
    return dict(out)


def _nowhere(world: ExperienceWorld, *secrets: str) -> None:
    world.store.close()
    for path in world.path.parent.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            for secret in secrets:
                assert secret.encode() not in data, path.name


@pytest.mark.requirement("I5-MOVE-4")
def test_secrets_of_an_imported_episode_are_blanked(world: ExperienceWorld) -> None:
    whole = snapshot()
    steps = whole["episodes"][0]["steps"]
    steps[1]["action"].update(value=CANARY, secret=False, target={"name": "Kennwort"})
    steps.append({"id": "s6", "atMs": 1, "action": {"kind": "setValue", "target": {"name": "Note"}, "value": TOKEN}})
    whole["episodes"][0]["args"] = ["--password", CANARY]
    report = _take_in(world, whole)
    assert not report.problems
    episode = _by_id(_given_out(world)["episodes"])["a1b2c3d4e5f60718"]
    assert episode["steps"][1]["action"] == {
        "kind": "setValue",
        "target": {"name": "Kennwort"},
        "value": "",
        "secret": True,
    }
    assert "password" in episode["redacted"]
    _nowhere(world, CANARY, TOKEN)


@pytest.mark.requirement("I5-MOVE-4")
@pytest.mark.parametrize(
    "step",
    [
        _set("Password", {"from": "literal", "text": CANARY}),
        _set("Code", {"from": "literal", "text": CANARY}, controlType="PasswordBox"),
        {
            "id": "s1",
            "action": {"kind": "keys", "keys": CANARY, "target": {"name": "Password"}},
            "requiresApproval": False,
        },
        {
            "id": "s1",
            "action": {"kind": "tool", "name": "login", "arguments": {"password": {"from": "literal", "text": CANARY}}},
            "requiresApproval": False,
        },
    ],
    ids=["by label", "by control", "keys", "tool"],
)
def test_a_secret_that_an_imported_skill_always_types_becomes_a_secret_parameter(
    world: ExperienceWorld, step: dict[str, Any]
) -> None:
    out = _imported_skill(world, _skill(steps=[step], params=[], routine=None))
    (param,) = out["params"]
    assert (param["default"], param["secret"]) == (None, True)
    assert json.dumps({"from": "param", "name": param["name"]}) in json.dumps(out["steps"])
    assert world.skills.get(world.me, SkillId("k1")).steps
    _nowhere(world, CANARY)


@pytest.mark.requirement("I5-MOVE-4")
def test_a_secret_default_is_dropped_and_so_is_what_a_routine_says_for_it(world: ExperienceWorld) -> None:
    skill = _skill(
        params=[
            {"name": "pw", "label": "Password", "default": CANARY, "secret": False},
            {"name": "field", "label": "Field", "default": CANARY, "secret": False},
            {"name": "token", "label": "Anything", "default": TOKEN, "secret": False},
            {"name": "unused", "label": "Unused", "default": TOKEN, "secret": False},
            {"name": "amount", "label": "Amount", "default": "7", "secret": False},
        ],
        steps=[
            _set("Password", {"from": "param", "name": "pw"}, "s1"),
            _set("Again", {"from": "param", "name": "field"}, "s2", controlType="PasswordBox"),
            _set("Anything", {"from": "param", "name": "token"}, "s3"),
            _set("Amount", {"from": "param", "name": "amount"}, "s4"),
        ],
        routine={
            "schedule": {"every": "minutes", "minutes": 5},
            "values": {"pw": CANARY, "field": CANARY, "token": TOKEN, "amount": "8"},
            "enabled": True,
        },
    )
    out = _imported_skill(world, skill)
    assert {one["name"]: (one["default"], one["secret"]) for one in out["params"]} == {
        "pw": (None, True),
        "field": (None, True),
        "token": (None, True),
        "unused": (None, True),
        "amount": ("7", False),
    }
    assert out["routine"]["values"] == {"amount": "8"}
    _nowhere(world, CANARY, TOKEN)


def test_a_secret_inside_a_text_of_an_imported_skill_is_cut_out_of_it(world: ExperienceWorld) -> None:
    text = f"deploy with {TOKEN} please"
    skill = _skill(
        steps=[_set("Note", {"from": "literal", "text": text})], params=[], routine=None, remark=f"see {TOKEN}"
    )
    out = _imported_skill(world, skill)
    value = out["steps"][0]["action"]["value"]
    assert value["from"] == "literal"
    assert value["text"].startswith("deploy with [redacted:") and value["text"].endswith("please")
    assert out["params"] == []
    assert "[redacted:" in out["remark"]
    _nowhere(world, TOKEN)


@pytest.mark.requirement("I5-MOVE-4")
def test_secrets_in_the_trail_of_a_run_are_cut_out(world: ExperienceWorld) -> None:
    whole = snapshot()
    whole["runs"][0]["steps"][1]["detail"] = f"sent Authorization: Bearer {TOKEN}"
    whole["runs"][1]["error"] = f"401 for {TOKEN}"
    assert not _take_in(world, whole).problems
    runs = _by_id(_given_out(world)["runs"])
    assert "[redacted:" in runs["run0000000000001"]["steps"][1]["detail"]
    assert "[redacted:" in runs["run0000000000002"]["error"]
    _nowhere(world, TOKEN)


def test_what_nobody_knows_of_a_file_is_kept_without_secrets(world: ExperienceWorld) -> None:
    _take_in(world, snapshot(exportedBy={"tool": "backup", "password": CANARY}, note=f"made with {TOKEN}"))
    out = _given_out(world)
    assert out["exportedBy"]["tool"] == "backup" and out["note"].startswith("made with [redacted:")
    _nowhere(world, CANARY, TOKEN)


def test_an_imported_routine_goes_on_from_its_last_run(world: ExperienceWorld) -> None:
    whole = snapshot()
    (skill,) = [one for one in whole["skills"] if one["id"] == "0011223344556677"]
    skill["routine"]["schedule"] = {"every": "minutes", "minutes": 10}
    skill["routine"]["lastRunAt"] = int(world.clock.now().timestamp() * 1000) - 5 * 60_000
    _take_in(world, whole)
    assert not world.skills.due(world.me, holder="h", offset_minutes=0)
    world.clock.advance(minutes=6)
    assert [one.id for one in world.skills.due(world.me, holder="h", offset_minutes=0)] == ["0011223344556677"]


def test_the_newest_five_hundred_runs_of_a_file_stay(world: ExperienceWorld) -> None:
    run = snapshot()["runs"][1]
    runs = [{**run, "id": f"r{number}", "startedAt": AT + number, "endedAt": AT + number} for number in range(503)]
    _take_in(world, snapshot(runs=runs))
    kept = {one["id"] for one in _given_out(world)["runs"]}
    assert kept == {f"r{number}" for number in range(3, 503)}
