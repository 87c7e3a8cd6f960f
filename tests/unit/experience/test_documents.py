from __future__ import annotations

from typing import Any

import pytest

from perdure.domain.experience import documents, reading
from perdure.domain.experience.episode import Keys, SetValue, ToolCall
from perdure.domain.experience.episode_documents import check_new
from perdure.domain.experience.skill import Cron, Daily, EveryMinutes
from perdure.errors import InvalidArgument, Reason
from support.clocks import BEGIN
from support.experience_world import click, document, episode, keys, tool, typed
from support.stored_experience import episode as stored_episode
from support.stored_experience import line, routine, run, skill

pytestmark = pytest.mark.requirement("I5-EP-1")


def refused(doc: dict[str, Any]) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as caught:
        documents.episode_from_json(doc, now=BEGIN)
    return caught.value


@pytest.mark.requirement("I5-EP-1")
def test_an_episode_is_written_as_it_was_read() -> None:
    doc = document(
        [
            click("Pay", automationId="btnPay", className="", relX=3, relY=2.5, colour="red"),
            typed("Amount", "12.50", secret=False),
            keys("Enter", "Amount"),
            tool("ledger.add", "done", sum=12.5, tags=["a", None, {"b": True}]),
        ],
        args=["--safe"],
        endedAt=None,
        recorder={"version": 3},
    )
    doc["steps"][0]["screenshot"] = "one.png"
    doc["steps"][1]["note"] = "as sent"
    assert documents.episode_to_json(documents.episode_from_json(doc, now=BEGIN)) == doc


def test_what_the_store_keeps_comes_back_the_same() -> None:
    doc = documents.episode_to_json(stored_episode())
    assert documents.episode_to_json(documents.episode_from_json(doc, now=BEGIN)) == doc
    doc = documents.skill_to_json(skill(routine=routine()))
    assert documents.skill_to_json(documents.skill_from_json(doc)) == doc
    doc = documents.run_to_json(run(steps=(line(), line(1, "s2", detail="x"))))
    assert documents.run_to_json(documents.run_from_json(doc)) == doc


def test_times_left_open_are_now_and_the_id_is_made_later() -> None:
    doc = document([click("Pay")])
    del doc["startedAt"], doc["id"]
    found = documents.episode_from_json(doc, now=BEGIN)
    assert (found.started_at, found.ended_at, found.id) == (BEGIN, None, "")


@pytest.mark.parametrize("id_", ["../escape", "a/b", "", "a" * 65, "ü", "a\n"])
def test_an_id_that_could_leave_its_folder_is_refused(id_: str) -> None:
    assert refused(document([click("Pay")], id_)).details["field"] == "episode.id"


def steps(*actions: Any) -> dict[str, Any]:
    return {**document([]), "steps": [{"id": f"s{at}", "action": action} for at, action in enumerate(actions)]}


@pytest.mark.parametrize(
    ("action", "field"),
    [
        ({"kind": "hover", "target": {"name": "x"}}, "action.kind"),
        ({"target": {"name": "x"}}, "action.kind"),
        ({"kind": "click"}, "action.target"),
        ({"kind": "click", "target": {}}, "action.target.name"),
        ({"kind": "click", "target": {"name": 5}}, "action.target.name"),
        ({"kind": "setValue", "target": {"name": "x"}}, "action.value"),
        ({"kind": "setValue", "target": {"name": "x"}, "value": 5}, "action.value"),
        ({"kind": "keys", "keys": ""}, "action.keys"),
        ({"kind": "keys", "keys": "a", "target": {"windowTitle": "x"}}, "action.target.name"),
        ({"kind": "tool", "name": ""}, "action.name"),
        ({"kind": "tool", "name": "x", "arguments": []}, "action.arguments"),
        ("click", "action"),
    ],
)
def test_a_step_is_refused_by_its_place(action: Any, field: str) -> None:
    error = refused(steps(click("fine"), click("fine"), click("fine"), action))
    assert error.details["field"] == f"episode.steps[3].{field}"
    assert "episode.steps[3]" in error.message


def test_two_steps_of_one_id_and_a_step_without_one_are_refused() -> None:
    doc = steps(click("a"), click("b"))
    doc["steps"][1]["id"] = "s0"
    assert refused(doc).details["field"] == "episode.steps[1].id"
    del doc["steps"][1]["id"]
    assert refused(doc).reason is Reason.FIELD_MISSING


@pytest.mark.parametrize("name", ["../up.png", ".hidden", "a/b.png", "a" * 129])
def test_a_picture_outside_the_folder_is_refused(name: str) -> None:
    doc = steps(click("a"))
    doc["steps"][0]["screenshot"] = name
    assert refused(doc).details["field"] == "episode.steps[0].screenshot"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": " \n "}, "name"),
        ({"program": ""}, "program"),
        ({"steps": {}}, "steps"),
        ({"args": "x"}, "args"),
        ({"args": [{}]}, "args[0]"),
        ({"startedAt": "yesterday"}, "startedAt"),
        ({"startedAt": -1}, "startedAt"),
        ({"extra": float("nan")}, "extra"),
    ],
)
def test_an_episode_is_refused_by_its_field(fields: dict[str, Any], field: str) -> None:
    assert refused({**document([click("a")]), **fields}).details["field"] == f"episode.{field}"


def test_arguments_become_strings() -> None:
    assert episode([click("a")], args=["-n", 5, True]).args == ("-n", "5", "true")


def test_limits_hold() -> None:
    assert refused(document([click("a")] * 2001)).reason is Reason.OUT_OF_RANGE
    with pytest.raises(InvalidArgument) as caught:
        check_new(episode([typed("a", "x" * (reading.STRING_BYTES_MAX + 1))]))
    assert (caught.value.reason, caught.value.details["field"]) == (
        Reason.TOO_LARGE,
        "episode.steps[0].action.value",
    )
    with pytest.raises(InvalidArgument) as caught:
        check_new(episode([typed("a", "x" * 32_000)] * 70))
    assert caught.value.reason is Reason.TOO_LARGE
    deep: Any = "x"
    for _ in range(50):
        deep = [deep]
    assert refused({**document([click("a")]), "deep": deep}).reason is Reason.OUT_OF_RANGE


def test_half_a_surrogate_pair_is_mended() -> None:
    found = episode([typed("a", "x\ud83d")]).steps[0].action
    assert isinstance(found, SetValue)
    assert found.value == "x\ufffd"


def test_an_error_repeats_nothing_that_was_sent() -> None:
    error = refused({**document([click("a")]), "name": 5, "tiger-77": 1})
    assert "tiger" not in error.message + str(error.details)


def test_any_true_flag_marks_a_secret_and_blank_keys_need_one() -> None:
    for flag in (True, 1, "true", "yes"):
        action = episode([{**typed("x", "y"), "secret": flag}]).steps[0].action
        assert isinstance(action, SetValue)
        assert action.secret
    assert isinstance(episode([{"kind": "keys", "keys": "", "secret": True}]).steps[0].action, Keys)
    assert isinstance(episode([tool("x")]).steps[0].action, ToolCall)


# ------------------------------------------------------------------ skills, routines, edits


def test_a_skill_of_the_predecessor_is_read_and_written_again() -> None:
    doc: dict[str, Any] = {
        "id": "0123456789abcdef",
        "name": "Pay",
        "program": "bank.exe",
        "args": [],
        "params": [{"name": "amount", "label": "Amount", "default": "3", "secret": False}],
        "steps": [
            {
                "id": "s1",
                "action": {
                    "kind": "setValue",
                    "target": {"name": "Amount"},
                    "value": {"from": "param", "name": "amount"},
                },
                "requiresApproval": False,
            },
            {"id": "s2", "action": {"kind": "keys", "keys": "Enter", "speed": 2}, "requiresApproval": True},
            {
                "id": "s3",
                "action": {"kind": "setValue", "target": {"name": "x"}, "value": {"from": "literal", "text": "y"}},
                "requiresApproval": False,
            },
        ],
        "sourceEpisode": "e1",
        "createdAt": 1_772_000_000_000,
        "routine": {
            "schedule": {"every": "day", "hour": 9, "minute": 0},
            "values": {"amount": "4"},
            "enabled": True,
            "lastRunAt": None,
        },
        "unknown": {"kept": True},
    }
    assert documents.skill_to_json(documents.skill_from_json(doc)) == {**doc, "version": 1}


def test_a_skill_that_wants_an_unknown_parameter_is_refused() -> None:
    doc = documents.skill_to_json(skill())
    doc["params"] = []
    with pytest.raises(InvalidArgument):
        documents.skill_from_json(doc)


def test_a_secret_parameter_never_has_a_default() -> None:
    doc = documents.skill_to_json(skill())
    doc["params"] = [{"name": n, "label": n, "default": "tiger", "secret": True} for n in ("amount", "pin")]
    assert all(param.default is None for param in documents.skill_from_json(doc).params)


@pytest.mark.parametrize(
    ("doc", "schedule"),
    [
        ({"every": "minutes", "minutes": 5}, EveryMinutes(5)),
        ({"every": "day", "hour": 9, "minute": 30}, Daily(9, 30)),
        ({"every": "day", "hour": 9, "minute": 30, "zone": "Europe/Berlin"}, Daily(9, 30, "Europe/Berlin")),
        ({"every": "cron", "expression": "0 9 * * mon-fri", "zone": "UTC"}, Cron("0 9 * * mon-fri", "UTC")),
    ],
)
def test_schedules_are_read_and_written(doc: dict[str, Any], schedule: object) -> None:
    found = documents.schedule_from_json(doc)
    assert found == schedule
    assert documents.schedule_to_json(found) == doc


@pytest.mark.parametrize(
    "doc",
    [
        {"every": "minutes", "minutes": 0},
        {"every": "minutes", "minutes": 10_081},
        {"every": "minutes", "minutes": 1.5},
        {"every": "day", "hour": 24, "minute": 0},
        {"every": "day", "hour": 9, "minute": 0, "zone": "Mars/Base"},
        {"every": "day", "hour": 9, "minute": 0, "zone": "../etc/passwd"},
        {"every": "cron", "expression": "61 * * * *"},
        {"every": "cron", "expression": "0 0 30 2 *"},
        {"every": "cron", "expression": "* * * *"},
        {"every": "year"},
        {"every": "minutes", "minutes": 5, "hours": 3},
    ],
)
def test_a_schedule_that_is_none_is_refused(doc: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        documents.schedule_from_json(doc)


def test_edits_have_no_other_fields() -> None:
    found = documents.edits_from_json({"name": None, "removed": ["s1"], "paramNames": {"s2": "sum"}})
    assert (found.name, found.removed, dict(found.param_names)) == (None, ("s1",), {"s2": "sum"})
    with pytest.raises(InvalidArgument) as caught:
        documents.edits_from_json({"remove": ["s1"]})
    assert caught.value.reason is Reason.FIELD_UNKNOWN


def test_a_run_of_the_predecessor_is_read() -> None:
    found = documents.run_from_json(
        {
            "id": "r1",
            "skillId": "k1",
            "skillName": "Pay",
            "trigger": "manual",
            "status": "succeeded",
            "startedAt": 1_772_000_000_000,
            "endedAt": 1_772_000_060_000,
            "error": None,
            "steps": [{"idx": 0, "stepId": "s1", "outcome": "ok", "detail": None, "at": 1_772_000_030_000}],
        }
    )
    assert (found.skill_version, found.heard_at, len(found.steps)) == (1, found.ended_at, 1)
