from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from perdure.domain.experience.blanking import blanked
from perdure.domain.experience.compiling import compile_skill, diff, slug, without_secrets
from perdure.domain.experience.skill import (
    DoKeys,
    DoSetValue,
    DoToolCall,
    Edits,
    EveryMinutes,
    FromParam,
    Literal,
    Routine,
    Skill,
    SkillId,
)
from perdure.errors import InvalidArgument, Reason
from support.clocks import BEGIN
from support.experience_world import PAY, click, episode, keys, tool, typed

pytestmark = pytest.mark.requirement("I5-SKILL-1")


def compiled(*actions: dict[str, Any], edits: Edits | None = None, previous: Skill | None = None) -> Skill:
    return compile_skill(
        blanked(episode(actions or PAY)),
        edits or Edits(),
        id=SkillId("k1"),
        now=BEGIN,
        previous=previous,
    )


def test_what_was_typed_becomes_parameters_with_defaults() -> None:
    skill = compiled()
    assert [(p.name, p.label, p.default, p.secret) for p in skill.params] == [
        ("amount", "Amount", "12.50", False),
        ("amount_2", "Amount", "3.00", False),
        ("password", "Password", None, True),
    ]
    assert [step.requires_approval for step in skill.steps] == [False, False, False, True]
    assert skill.source_episode == "e1"


def test_the_same_episode_and_edits_make_the_same_skill() -> None:
    assert compiled(edits=Edits(fixed=("s1",))) == compiled(edits=Edits(fixed=("s1",)))


def test_a_review_renames_removes_fixes_and_gates() -> None:
    edits = Edits(
        name="Pay rent",
        removed=("s2",),
        fixed=("s1", "s3"),
        approvals={"s1": True, "s4": False},
        param_names={"s3": "My Bank PIN!"},
    )
    skill = compiled(edits=edits)
    assert skill.name == "Pay rent"
    assert [step.id for step in skill.steps] == ["s1", "s3", "s4"]
    assert [step.requires_approval for step in skill.steps] == [True, False, False]
    action = skill.steps[0].action
    assert isinstance(action, DoSetValue)
    assert action.value == Literal("12.50")
    assert [(p.name, p.secret) for p in skill.params] == [("my_bank_pin", True)]


def test_a_secret_is_never_fixed_and_has_no_default() -> None:
    skill = compiled(typed("Password", "tiger"), edits=Edits(fixed=("s1",)))
    assert [(p.secret, p.default) for p in skill.params] == [(True, None)]


def test_keys_stay_and_secret_keys_become_a_parameter() -> None:
    skill = compiled(click("PIN"), keys("4711"), keys("Enter"))
    first, second = skill.steps[1].action, skill.steps[2].action
    assert isinstance(first, DoKeys)
    assert isinstance(second, DoKeys)
    assert (first.keys, second.keys) == (FromParam("value"), Literal("Enter"))
    assert skill.params[0].secret


def test_texts_of_a_tool_call_become_parameters_and_the_rest_stays() -> None:
    call = tool("transfer", to="bob", sum=5, tags=["a"], token="tiger", note=None)
    skill = compiled(call, edits=Edits(fixed=("s1.to",)))
    action = skill.steps[0].action
    assert isinstance(action, DoToolCall)
    assert action.arguments == {
        "to": Literal("bob"),
        "sum": Literal(5),
        "tags": Literal(["a"]),
        "token": FromParam("token"),
        "note": Literal(None),
    }
    assert skill.params[0].secret
    assert skill.steps[0].requires_approval


def test_an_argument_with_a_secret_inside_is_asked_for_whole() -> None:
    skill = compiled(tool("sh", command="x --password tiger"))
    assert [(p.name, p.secret, p.default) for p in skill.params] == [("command", True, None)]


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("Amount", "amount"),
        ("Amount (EUR)", "amount_eur"),
        ("金额", "金额"),
        ("Straße", "straße"),
        ("--", ""),
        ("a" * 50, "a" * 40),
        ("a" * 39 + " b", "a" * 39),
    ],
)
def test_a_parameter_s_name_keeps_letters_of_every_script(label: str, name: str) -> None:
    assert slug(label) == name


def test_an_element_without_a_name_gives_its_identifier_or_nothing() -> None:
    assert compiled(typed("", "x", automationId="txtSum")).params[0].name == "txtsum"
    assert compiled(typed("", "x")).params[0].name == "value"


@pytest.mark.parametrize("edits", [Edits(removed=("s9",)), Edits(approvals={"x": True}), Edits(fixed=("s1.to",))])
def test_an_edit_of_a_step_that_is_not_there_is_refused(edits: Edits) -> None:
    with pytest.raises(InvalidArgument) as caught:
        compiled(edits=edits)
    assert caught.value.reason is Reason.STEP_UNKNOWN


def test_a_skill_without_steps_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        compiled(edits=Edits(removed=("s1", "s2", "s3", "s4")))


@pytest.mark.requirement("I5-SKILL-2")
def test_the_next_version_keeps_id_and_routine_and_says_what_changed() -> None:
    first = replace(
        compiled(), routine=Routine(schedule=EveryMinutes(5), values={"amount": "3", "amount_2": "4"}, since=BEGIN)
    )
    second = compiled(edits=Edits(name="Pay rent", removed=("s2",), approvals={"s1": True}), previous=first)
    assert (second.id, second.version, second.created_at) == (first.id, 2, first.created_at)
    assert second.routine is not None
    assert second.routine.values == {"amount": "3"}
    lines = diff(first, second)
    assert "~ name: Pay a bill → Pay rent" in lines
    assert "- step s2: set “Amount” to <amount_2>" in lines
    assert any(line.startswith("~ step s1") and "asks first" in line for line in lines)
    assert diff(first, first) == ()


def test_a_routine_keeps_no_secret_and_names_only_parameters() -> None:
    skill = compiled()
    routine = Routine(schedule=EveryMinutes(5), values={"amount": "3", "password": "tiger"})
    assert without_secrets(routine, skill.params).values == {"amount": "3"}
    with pytest.raises(InvalidArgument):
        without_secrets(replace(routine, values={"sum": "3"}), skill.params)


def test_a_routine_keeps_no_value_that_shows_itself_to_be_a_secret() -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0eF3hI6"
    routine = Routine(schedule=EveryMinutes(5), values={"amount": token, "amount_2": "4"})
    assert without_secrets(routine, compiled().params).values == {"amount_2": "4"}
