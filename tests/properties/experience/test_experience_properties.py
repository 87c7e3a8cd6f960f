"""What holds of every demonstration, routine and run, not only of those that somebody thought of."""

from __future__ import annotations

import json
import string
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from perdure.domain.experience import running
from perdure.domain.experience.blanking import blanked
from perdure.domain.experience.compiling import compile_skill, diff, slug
from perdure.domain.experience.cron import parse_cron
from perdure.domain.experience.documents import (
    episode_from_json,
    episode_to_json,
    run_from_json,
    run_to_json,
    skill_from_json,
    skill_to_json,
)
from perdure.domain.experience.episode import Keys
from perdure.domain.experience.irreversible import is_irreversible, step_needs_approval, steps_need_approval
from perdure.domain.experience.learned import interval
from perdure.domain.experience.run import RunTrigger, SkillRunId, StepLog, StepOutcome
from perdure.domain.experience.scheduling import due_at, next_due, started
from perdure.domain.experience.skill import Cron, Daily, Edits, EveryMinutes, Routine, Schedule, SkillId
from perdure.domain.experience.wording import procedure_of
from perdure.errors import PerdureError
from support.clocks import BEGIN
from support.experience_world import document

TEXTS = st.text(max_size=40)
NAMES = st.one_of(
    st.sampled_from(["Amount", "Pay now", "Delete", "密码", "Password", "Sort order", "btnSend", ""]), TEXTS
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def elements(draw: st.DrawFn) -> dict[str, Any]:
    element: dict[str, Any] = {"name": draw(NAMES)}
    for field in ("automationId", "controlType", "windowTitle"):
        if draw(st.booleans()):
            element[field] = draw(NAMES)
    if draw(st.booleans()):
        element["relX"] = draw(st.integers(0, 4000))
    return element


@st.composite
def actions(draw: st.DrawFn) -> dict[str, Any]:
    match draw(st.sampled_from(["click", "setValue", "keys", "tool"])):
        case "click":
            return {"kind": "click", "target": draw(elements())}
        case "setValue":
            return {
                "kind": "setValue",
                "target": draw(elements()),
                "value": draw(TEXTS),
                "secret": draw(st.booleans()),
            }
        case "keys":
            keys = draw(st.one_of(st.sampled_from(["Enter", "Delete", "Ctrl+S", "a"]), st.text(min_size=1, max_size=9)))
            assume(keys.strip() or keys)
            action: dict[str, Any] = {"kind": "keys", "keys": keys}
            return {**action, "target": draw(elements())} if draw(st.booleans()) else action
        case _:
            return {
                "kind": "tool",
                "name": draw(st.sampled_from(["read_file", "send_email", "sh"])),
                "arguments": draw(st.dictionaries(NAMES, JSON, max_size=3)),
            }


EPISODES = st.lists(actions(), min_size=1, max_size=8).map(document)


@given(EPISODES)
def test_a_document_is_read_and_written_alike(doc: dict[str, Any]) -> None:
    written = episode_to_json(episode_from_json(doc, now=BEGIN))
    assert episode_to_json(episode_from_json(json.loads(json.dumps(written)), now=BEGIN)) == written


@given(EPISODES)
def test_blanking_is_done_once_and_for_all(doc: dict[str, Any]) -> None:
    once = blanked(episode_from_json(doc, now=BEGIN))
    assert blanked(once) == once


# no name of a field begins like this
SECRETS = st.text(string.ascii_letters + string.digits + "!$%.-", min_size=8, max_size=20).map(lambda text: f"7!{text}")


@given(SECRETS, EPISODES, st.sampled_from(["Password", "PIN", "Passwort", "密码", "パスワード", "api_key"]))
def test_a_secret_is_nowhere_in_what_is_stored(secret: str, doc: dict[str, Any], label: str) -> None:
    assume(secret not in json.dumps(doc, ensure_ascii=False))
    doc["steps"] += [
        {"id": "x1", "action": {"kind": "setValue", "target": {"name": label}, "value": secret}},
        {"id": "x2", "action": {"kind": "click", "target": {"name": f"see {secret} here"}}},
        {
            "id": "x3",
            "action": {"kind": "tool", "name": "sh", "arguments": {"deep": [{"a": secret}]}, "result": secret},
        },
        *(
            {"id": f"k{at}", "action": {"kind": "keys", "keys": char, "target": {"name": "Note"}}}
            for at, char in enumerate(secret)
        ),
    ]
    doc["args"] = [secret]
    doc["more"] = {"remark": secret}
    kept = blanked(episode_from_json(doc, now=BEGIN))
    whole = episode_to_json(kept)
    assert secret not in json.dumps(whole, ensure_ascii=False)
    typed = [step.action.keys for step in kept.steps if isinstance(step.action, Keys) and step.id.startswith("k")]
    assert secret not in "".join(typed)
    skill = compile_skill(kept, Edits(), id=SkillId("k1"), now=BEGIN)
    assert secret not in json.dumps(skill_to_json(skill), ensure_ascii=False)
    assert secret not in procedure_of(kept).text + procedure_of(skill).text


@given(EPISODES)
def test_compiling_is_deterministic_and_gates_what_the_rule_gates(doc: dict[str, Any]) -> None:
    episode = blanked(episode_from_json(doc, now=BEGIN))
    skill = compile_skill(episode, Edits(), id=SkillId("k1"), now=BEGIN)
    assert compile_skill(episode, Edits(), id=SkillId("k1"), now=BEGIN) == skill
    assert [step.requires_approval for step in skill.steps] == list(steps_need_approval(episode.steps))
    assert all(
        step.requires_approval
        for step, shown in zip(skill.steps, episode.steps, strict=True)
        if step_needs_approval(shown.action)
    )
    names = [param.name for param in skill.params]
    assert len(set(names)) == len(names)
    assert all(param.default is None for param in skill.params if param.secret)
    assert skill_to_json(skill_from_json(skill_to_json(skill))) == skill_to_json(skill)
    assert diff(skill, skill) == ()


@given(st.text(max_size=80))
def test_a_slug_names_itself(label: str) -> None:
    name = slug(label)
    assert len(name) <= 40
    assert slug(name) == name


@given(st.text(max_size=60))
def test_case_of_a_label_does_not_matter_and_no_label_breaks_the_rule(label: str) -> None:
    is_irreversible(label)
    plain = "".join(char for char in label if char in string.ascii_lowercase + " ")
    assert is_irreversible(plain) == is_irreversible(plain.upper())


# ------------------------------------------------------------------ runs


@given(st.lists(st.tuples(st.integers(-1, 3), st.sampled_from(StepOutcome)), max_size=25))
@pytest.mark.requirement("I5-RUN-1")
def test_no_order_of_lines_gets_past_a_gate(lines: list[tuple[int, StepOutcome]]) -> None:
    doc = document([{"kind": "click", "target": {"name": name}} for name in ("Open", "Delete", "Next")])
    skill = compile_skill(episode_from_json(doc, now=BEGIN), Edits(), id=SkillId("k1"), now=BEGIN)
    run = running.begin(skill, RunTrigger.MANUAL, id=SkillRunId("r1"), now=BEGIN)
    for number, (idx, outcome) in enumerate(lines):
        at = BEGIN + timedelta(seconds=number)
        before = run
        try:
            run, _ = running.step(run, skill, StepLog(idx=idx, step_id=f"s{idx + 1}", outcome=outcome, at=at))
        except PerdureError:
            assert run == before
        assert run.steps[: len(before.steps)] == before.steps
    done = [
        line for line in run.steps if line.step_id == "s2" and line.outcome in (StepOutcome.OK, StepOutcome.FALLBACK)
    ]
    approved = [line for line in run.steps if line.step_id == "s2" and line.outcome is StepOutcome.APPROVED]
    assert len(done) <= len(approved)
    assert run.status.ended == any(line.outcome is StepOutcome.DENIED for line in run.steps)
    assert (run.ended_at is not None) == run.status.ended
    assert run_from_json(run_to_json(run)) == run


@given(st.integers(0, 400), st.integers(0, 400))
def test_an_interval_holds_its_rate(succeeded: int, failed: int) -> None:
    runs = succeeded + failed
    low, high = interval(succeeded, runs)
    assert 0 <= low <= (succeeded / runs if runs else 0.5) <= high <= 1


def test_more_runs_of_one_rate_narrow_the_interval() -> None:
    widths = [high - low for low, high in (interval(n, 2 * n) for n in (1, 5, 50, 500))]
    assert widths == sorted(widths, reverse=True)


# ------------------------------------------------------------------ schedules

ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "Africa/Cairo"]
)
FIELD = st.one_of(st.just("*"), st.integers(0, 23).map(str), st.sampled_from(["*/2", "1-5", "3,9"]))
CRONS = st.builds(
    lambda minute, hour, weekday, zone: Cron(f"{minute} {hour} * * {weekday}", zone),
    st.one_of(st.integers(0, 59).map(str), st.just("*/20")),
    FIELD,
    st.sampled_from(["*", "1-5", "0"]),
    ZONES,
)
SCHEDULES: st.SearchStrategy[Schedule] = st.one_of(
    st.integers(1, 10080).map(EveryMinutes),
    st.builds(Daily, st.integers(0, 23), st.integers(0, 59), ZONES),
    CRONS,
)
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001 - made aware here
SINCE = datetime(2025, 12, 1, tzinfo=UTC)


@given(SCHEDULES, MOMENTS)
@pytest.mark.requirement("I5-ROUTINE-1")
def test_what_was_run_is_not_due_again_at_once(schedule: Schedule, now: datetime) -> None:
    routine = Routine(schedule=schedule, since=SINCE)
    due = due_at(routine, now)
    assert due is None or SINCE <= due <= now
    ran = Routine(schedule=schedule, since=SINCE, last_run_at=now)
    assert due_at(ran, now) is None
    following = next_due(ran, now)
    assert following is not None
    assert following > now
    assert due_at(ran, following) == following
    assert due_at(ran, following - timedelta(seconds=1)) is None


@given(SCHEDULES, MOMENTS, st.lists(st.integers(1, 6000), min_size=1, max_size=12))
@pytest.mark.requirement("I5-ROUTINE-2")
def test_hosts_that_ask_whenever_they_like_run_each_time_once(
    schedule: Schedule, now: datetime, pauses_s: list[int]
) -> None:
    routine = Routine(schedule=schedule, since=SINCE, last_run_at=now)
    times: list[datetime] = []
    for at, pause_s in enumerate(pauses_s):
        now += timedelta(seconds=pause_s)
        due = due_at(routine, now)
        if due is None:
            continue
        times.append(due)
        begun = started(routine, now, f"host {at}")
        if isinstance(begun, Routine):
            assert not isinstance(started(begun, now, "other"), Routine)
            routine = begun
        else:
            times.pop()  # another's claim still holds
    assert len(set(times)) == len(times)


@given(st.text("0123456789*/,-abcdefghijklmnopqrstuvwxyz @", max_size=30))
def test_no_text_breaks_the_reader_of_cron(text: str) -> None:
    parse_cron(text)


def test_a_zone_s_daily_time_comes_once_each_local_day_of_two_years() -> None:
    routine = Routine(schedule=Daily(2, 30, "Europe/Berlin"), since=SINCE)
    now, seen = datetime(2026, 1, 1, tzinfo=UTC), []
    for _ in range(730):
        following = next_due(Routine(schedule=routine.schedule, since=SINCE, last_run_at=now), now)
        assert following is not None
        seen.append(following)
        now = following
    assert seen[-1] - seen[0] == timedelta(days=729)
    assert len({at.date() for at in seen}) == 730
