from __future__ import annotations

from datetime import timedelta

import pytest

from perdure.domain.experience import running
from perdure.domain.experience.compiling import compile_skill
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId, StepLog, StepOutcome
from perdure.domain.experience.skill import Edits, Skill, SkillId
from perdure.errors import FailedPrecondition, InvalidArgument, Reason
from support.clocks import BEGIN
from support.experience_world import click, episode, typed

pytestmark = pytest.mark.requirement("I5-RUN-1")

GATED = "s2"


def a_skill() -> Skill:
    actions = [typed("Amount", "3"), click("Pay now"), click("Close")]
    return compile_skill(episode(actions), Edits(), id=SkillId("k1"), now=BEGIN)


def a_run(skill: Skill) -> SkillRun:
    return running.begin(skill, RunTrigger.MANUAL, id=SkillRunId("r1"), now=BEGIN)


def log(run: SkillRun, skill: Skill, idx: int, outcome: StepOutcome, detail: str | None = None) -> SkillRun:
    step_id = f"s{idx + 1}"
    line = StepLog(idx=idx, step_id=step_id, outcome=outcome, at=BEGIN + timedelta(seconds=1), detail=detail)
    return running.step(run, skill, line)[0]


def test_steps_append_and_are_signs_of_life() -> None:
    skill = a_skill()
    run = log(a_run(skill), skill, 0, StepOutcome.OK)
    run = log(run, skill, 2, StepOutcome.FALLBACK, "by position")
    assert [line.outcome for line in run.steps] == [StepOutcome.OK, StepOutcome.FALLBACK]
    assert (run.status, run.heard_at) == (RunStatus.RUNNING, BEGIN + timedelta(seconds=1))


@pytest.mark.parametrize("outcome", [StepOutcome.OK, StepOutcome.FALLBACK])
def test_a_gated_step_is_refused_without_an_approval(outcome: StepOutcome) -> None:
    skill = a_skill()
    with pytest.raises(FailedPrecondition) as caught:
        log(a_run(skill), skill, 1, outcome)
    assert caught.value.reason is Reason.APPROVAL_MISSING
    assert caught.value.details == {"idx": 1, "step_id": GATED}


def test_an_approval_is_for_one_execution() -> None:
    skill = a_skill()
    run = log(a_run(skill), skill, 1, StepOutcome.APPROVED)
    run = log(run, skill, 1, StepOutcome.OK)
    with pytest.raises(FailedPrecondition):
        log(run, skill, 1, StepOutcome.OK)
    run = log(run, skill, 1, StepOutcome.APPROVED)
    assert log(run, skill, 1, StepOutcome.OK).steps[-1].outcome is StepOutcome.OK


def test_an_approval_of_another_step_does_not_count() -> None:
    skill = a_skill()
    with pytest.raises(FailedPrecondition):
        log(log(a_run(skill), skill, 0, StepOutcome.APPROVED), skill, 1, StepOutcome.OK)


def test_a_failed_attempt_leaves_the_approval() -> None:
    skill = a_skill()
    run = log(log(a_run(skill), skill, 1, StepOutcome.APPROVED), skill, 1, StepOutcome.FAILED)
    assert log(run, skill, 1, StepOutcome.OK).steps[-1].outcome is StepOutcome.OK


def test_a_run_waits_and_goes_on() -> None:
    skill = a_skill()
    run = log(a_run(skill), skill, 1, StepOutcome.WAITING)
    assert run.status is RunStatus.WAITING_FOR_APPROVAL
    with pytest.raises(FailedPrecondition):
        log(run, skill, 1, StepOutcome.OK)
    assert log(run, skill, 1, StepOutcome.APPROVED).status is RunStatus.RUNNING


def test_a_denial_ends_the_run() -> None:
    skill = a_skill()
    run = log(a_run(skill), skill, 1, StepOutcome.DENIED, "not today")
    assert (run.status, run.ended_at) == (RunStatus.DENIED, BEGIN + timedelta(seconds=1))
    with pytest.raises(FailedPrecondition) as caught:
        log(run, skill, 0, StepOutcome.OK)
    assert caught.value.reason is Reason.RUN_ENDED


@pytest.mark.parametrize(("idx", "step_id"), [(3, "s4"), (0, "s2"), (-1, "s3"), (1, "x")])
def test_a_step_that_is_not_the_skill_s_is_refused(idx: int, step_id: str) -> None:
    skill = a_skill()
    with pytest.raises(InvalidArgument) as caught:
        running.step(a_run(skill), skill, StepLog(idx=idx, step_id=step_id, outcome=StepOutcome.OK, at=BEGIN))
    assert caught.value.reason is Reason.STEP_UNKNOWN


def test_a_run_succeeds_only_with_its_gated_steps_done() -> None:
    skill = a_skill()
    run = a_run(skill)
    with pytest.raises(FailedPrecondition) as caught:
        running.finish(run, skill, RunStatus.SUCCEEDED, now=BEGIN)
    assert caught.value.reason is Reason.APPROVAL_MISSING
    assert running.finish(run, skill, RunStatus.STOPPED, now=BEGIN).status is RunStatus.STOPPED
    run = log(log(run, skill, 1, StepOutcome.APPROVED), skill, 1, StepOutcome.OK)
    ended = running.finish(run, skill, RunStatus.SUCCEEDED, now=BEGIN, tokens=5, cost=0.25, model="m")
    assert (ended.status, ended.ended_at, ended.tokens, ended.cost, ended.model) == (
        RunStatus.SUCCEEDED,
        BEGIN,
        5,
        0.25,
        "m",
    )


def test_to_end_again_is_refused_unless_it_is_the_same_end() -> None:
    skill = a_skill()
    run = running.finish(a_run(skill), skill, RunStatus.FAILED, now=BEGIN, error="x")
    assert running.finish(run, skill, RunStatus.FAILED, now=BEGIN + timedelta(hours=1), error="y") == run
    with pytest.raises(FailedPrecondition):
        running.finish(run, skill, RunStatus.STOPPED, now=BEGIN)
    with pytest.raises(InvalidArgument):
        running.finish(a_run(skill), skill, RunStatus.RUNNING, now=BEGIN)
    with pytest.raises(InvalidArgument):
        running.finish(a_run(skill), skill, RunStatus.STOPPED, now=BEGIN, cost=-1)


@pytest.mark.requirement("I5-RUN-2")
def test_a_silent_run_is_given_up() -> None:
    run = a_run(a_skill())
    assert running.stale(run, BEGIN + timedelta(minutes=29)) is None
    given_up = running.stale(run, BEGIN + timedelta(minutes=30))
    assert given_up is not None
    assert (given_up.status, given_up.error) == (RunStatus.FAILED, "stale")
    assert running.stale(given_up, BEGIN + timedelta(hours=9)) is None


def test_details_are_cut_and_their_sum_is_bounded() -> None:
    skill = a_skill()
    run = a_run(skill)
    for _ in range(running.DETAILS_CHARS_MAX // running.DETAIL_CHARS_MAX + 5):
        run = log(run, skill, 0, StepOutcome.OK, "x" * 9999)
    assert len(run.steps[0].detail or "") == running.DETAIL_CHARS_MAX
    assert run.steps[-1].detail is None
    assert sum(len(line.detail or "") for line in run.steps) == running.DETAILS_CHARS_MAX
