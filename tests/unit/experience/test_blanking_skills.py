"""Skills from elsewhere without their secrets; those that are Perdure's own stay as they are."""

from __future__ import annotations

from typing import Any

import pytest

from perdure.domain.experience import documents
from perdure.domain.experience.blanking import blanked
from perdure.domain.experience.blanking_skills import blanked_run, blanked_skill
from perdure.domain.experience.compiling import compile_skill
from perdure.domain.experience.skill import Edits, SkillId
from support.clocks import BEGIN
from support.experience_world import PAY, click, episode, keys, tool

ACTIONS = (
    *PAY,
    keys("Ctrl+S"),
    keys("hunter2", "Password"),
    tool("login", "welcome", user="ann", password="tiger-78", port=22),
)
SECRET = "tiger-99-canary"


def _skill(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": "k1",
        "name": "Sign in",
        "program": "bank",
        "version": 1,
        "args": [],
        "params": [],
        "steps": [
            {"id": f"s{number}", "action": step, "requiresApproval": False} for number, step in enumerate(steps, 1)
        ],
        "sourceEpisode": None,
        "createdAt": 1_772_000_000_000,
        **fields,
    }


def _blanked(document: dict[str, Any]) -> dict[str, Any]:
    once = blanked_skill(documents.skill_from_json(document))
    assert blanked_skill(once) == once
    return dict(documents.skill_to_json(once))


def _set(name: str, text: str) -> dict[str, Any]:
    return {"kind": "setValue", "target": {"name": name}, "value": {"from": "literal", "text": text}}


@pytest.mark.requirement("I5-MOVE-4")
@pytest.mark.parametrize("edits", [Edits(), Edits(fixed=("s1", "s2", "s6"), approvals={"s4": False})])
def test_a_skill_that_was_compiled_here_stays_as_it_is(edits: Edits) -> None:
    skill = compile_skill(blanked(episode(ACTIONS)), edits, id=SkillId("k1"), now=BEGIN)
    assert blanked_skill(skill) == skill


def test_a_skill_without_secrets_stays_as_it_is() -> None:
    document = _skill(_set("Amount", "12"), click("Send"), keys("Enter", "Amount"), remark="by Ann")
    assert _blanked(document) == document


def test_keys_of_a_secret_typed_one_by_one_become_one_parameter() -> None:
    document = _skill(click("Password"), *(keys(char, "Password") for char in "q7x"), keys("Enter"), click("Sign in"))
    out = _blanked(document)
    assert [(one["name"], one["secret"], one["default"]) for one in out["params"]] == [("password", True, None)]
    assert [step["id"] for step in out["steps"]] == ["s1", "s2", "s5", "s6"]
    assert out["steps"][1]["action"]["keys"] == {"from": "param", "name": "password"}


def test_a_new_parameter_takes_no_name_that_is_taken() -> None:
    param = {"name": "password", "label": "Password", "default": None, "secret": True}
    again = {"kind": "setValue", "target": {"name": "Password"}, "value": {"from": "param", "name": "password"}}
    out = _blanked(_skill(again, _set("Password", SECRET), params=[param]))
    assert [one["name"] for one in out["params"]] == ["password", "password_2"]
    assert out["steps"][1]["action"]["value"] == {"from": "param", "name": "password_2"}
    assert SECRET not in str(out)


def test_what_was_a_secret_in_one_step_is_one_in_every_other_place() -> None:
    routine = {"schedule": {"every": "minutes", "minutes": 5}, "values": {"note": SECRET}, "enabled": True}
    param = {"name": "note", "label": "Note", "default": "x", "secret": False}
    note = {"kind": "setValue", "target": {"name": "Note"}, "value": {"from": "param", "name": "note"}}
    document = _skill(
        _set("Password", SECRET),
        _set("Remark", SECRET),
        note,
        {"kind": "click", "target": {"name": "Go", "hint": f"use {SECRET}"}},
        params=[param],
        routine=routine,
        args=[f"--login={SECRET}"],
        about=SECRET,
    )
    out = _blanked(document)
    assert SECRET not in str(out)
    assert out["routine"]["values"] == {}


def test_values_that_are_no_text_and_what_nobody_knows_of_an_action_stay() -> None:
    call = {
        "kind": "tool",
        "name": "ledger_add",
        "arguments": {"sum": {"from": "literal", "value": 12.5}, "tags": {"from": "literal", "value": ["a", None]}},
        "retry": 3,
    }
    number = {"kind": "setValue", "target": {"name": "Count"}, "value": {"from": "literal", "value": 4}, "delayMs": 20}
    document = _skill(call, number)
    assert _blanked(document) == document


def test_a_trail_without_secrets_stays_as_it_is() -> None:
    run = documents.run_from_json(
        {
            "id": "r1",
            "skillId": "k1",
            "skillName": "Sign in",
            "trigger": "manual",
            "status": "failed",
            "startedAt": 1,
            "endedAt": 2,
            "error": "The password field did not open.",
            "steps": [{"idx": 0, "stepId": "s1", "outcome": "failed", "detail": "no window", "at": 1}],
        }
    )
    assert blanked_run(run) == run
