from __future__ import annotations

from collections.abc import Callable

import pytest

from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRunId, StepOutcome
from perdure.domain.experience.skill import EveryMinutes, Routine, SkillId
from perdure.errors import Conflict, FailedPrecondition, NotFound, Reason
from perdure.usecases.start_job import StartJob
from perdure.usecases.tick import Tick
from support.experience_world import ExperienceWorld, click, typed

STEPS = (typed("Amount", "3"), click("Pay now"))
FIVE = Routine(schedule=EveryMinutes(5))


@pytest.mark.requirement("I5-RUN-1")
def test_from_demonstration_to_a_routine_s_run(world: ExperienceWorld) -> None:
    skill = world.compile(STEPS)
    world.schedule(skill, FIVE)
    (due,) = world.skills.due(world.me, holder="host-1")
    run = world.start(due, RunTrigger.ROUTINE, holder="host-1", model="m1")
    assert world.skills.due(world.me, holder="host-2") == ()
    world.runs.step(world.me, run.id, 0, "s1", StepOutcome.OK, None)
    with pytest.raises(FailedPrecondition) as caught:
        world.runs.step(world.me, run.id, 1, "s2", StepOutcome.OK)
    assert caught.value.reason is Reason.APPROVAL_MISSING
    world.runs.step(world.me, run.id, 1, "s2", StepOutcome.APPROVED, "by Ada")
    world.runs.step(world.me, run.id, 1, "s2", StepOutcome.OK)
    ended = world.runs.finish(world.me, run.id, RunStatus.SUCCEEDED, tokens=9, cost=0.1)
    kept = world.runs.get(world.me, run.id)
    assert kept == ended
    assert [(line.idx, line.outcome, line.detail, line.actor) for line in kept.steps] == [
        (0, StepOutcome.OK, None, "tok1"),
        (1, StepOutcome.APPROVED, "by Ada", "tok1"),
        (1, StepOutcome.OK, None, "tok1"),
    ]
    assert (kept.model, kept.tokens, kept.cost, kept.holder) == ("m1", 9, 0.1, "host-1")
    routine = world.skills.get(world.me, skill.id).routine
    assert routine is not None
    assert (routine.lease_holder, routine.last_run_at) == (None, world.clock.now())


def test_a_refused_step_leaves_no_line(world: ExperienceWorld) -> None:
    run = world.start(world.compile(STEPS))
    with pytest.raises(FailedPrecondition):
        world.runs.step(world.me, run.id, 1, "s2", StepOutcome.OK)
    assert world.runs.get(world.me, run.id).steps == ()


@pytest.mark.requirement("I5-DONE-2")
def test_what_a_host_says_is_kept_without_secrets(world: ExperienceWorld) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0eF3hI6"
    run = world.start(world.compile(STEPS))
    logged = world.runs.step(world.me, run.id, 0, "s1", StepOutcome.FAILED, f"refused {token}")
    ended = world.runs.finish(world.me, run.id, RunStatus.FAILED, error=f"x --password=tiger9 {token}")
    assert token not in f"{logged.steps[0].detail}{ended.error}"
    assert "tiger9" not in str(ended.error)


def test_a_run_goes_by_the_version_it_began_with(world: ExperienceWorld) -> None:
    skill = world.compile(STEPS)
    run = world.start(skill)
    world.compile([click("Other")])
    assert world.runs.step(world.me, run.id, 0, "s1", StepOutcome.OK).skill_version == 1
    assert world.start(skill).skill_version == 2


@pytest.mark.requirement("I5-ROUTINE-2")
def test_a_routine_is_started_once(world: ExperienceWorld) -> None:
    skill = world.compile(STEPS)
    with pytest.raises(Conflict):
        world.start(skill, RunTrigger.ROUTINE)
    world.schedule(skill, FIVE)
    world.start(skill, RunTrigger.ROUTINE)
    for holder in ("", "other"):
        with pytest.raises(Conflict) as caught:
            world.start(skill, RunTrigger.ROUTINE, holder=holder)
        assert caught.value.reason is Reason.LEASE_TAKEN
    assert world.start(skill).trigger is RunTrigger.MANUAL


@pytest.mark.requirement("I5-ROUTINE-2")
def test_steps_keep_the_claim_alive_and_silence_loses_it(world: ExperienceWorld) -> None:
    skill = world.compile(STEPS)
    world.schedule(skill, FIVE)
    run = world.start(skill, RunTrigger.ROUTINE, holder="a")
    for _ in range(4):
        world.clock.advance(minutes=8)
        world.runs.step(world.me, run.id, 0, "s1", StepOutcome.OK)
        assert world.skills.due(world.me, holder="b") == ()
    world.clock.advance(minutes=10)
    assert len(world.skills.due(world.me, holder="b")) == 1


def test_a_denial_ends_the_run_and_its_claim(world: ExperienceWorld) -> None:
    skill = world.compile(STEPS)
    world.schedule(skill, FIVE)
    run = world.start(skill, RunTrigger.ROUTINE, holder="a")
    assert world.runs.step(world.me, run.id, 1, "s2", StepOutcome.DENIED).status is RunStatus.DENIED
    with pytest.raises(FailedPrecondition) as caught:
        world.runs.step(world.me, run.id, 0, "s1", StepOutcome.OK)
    assert caught.value.reason is Reason.RUN_ENDED
    world.clock.advance(minutes=5)
    assert len(world.skills.due(world.me, holder="b")) == 1


@pytest.mark.requirement("I5-RUN-2")
def test_a_run_is_cancelled(world: ExperienceWorld) -> None:
    run = world.start(world.compile(STEPS))
    cancelled = world.runs.cancel(world.me, run.id)
    assert (cancelled.status, cancelled.error) == (RunStatus.STOPPED, "cancelled")
    assert world.runs.cancel(world.me, run.id) == cancelled
    with pytest.raises(FailedPrecondition):
        world.runs.finish(world.me, run.id, RunStatus.SUCCEEDED)


@pytest.mark.requirement("I5-RUN-2")
def test_silent_runs_are_given_up_by_the_tick(world: ExperienceWorld) -> None:
    skill = world.compile(STEPS)
    silent, alive = world.start(skill), world.start(skill)
    given_up: list[int] = []

    def watch() -> int:
        given_up.append(world.runs.mark_stale())
        return given_up[-1]

    tick = Tick(world.store, StartJob(world.store, world.clock, world.ids), world.clock, [watch])
    world.clock.advance(minutes=29)
    world.runs.step(world.me, alive.id, 0, "s1", StepOutcome.OK)
    tick()
    tick()
    assert given_up == [0]  # once a minute
    world.clock.advance(minutes=1, seconds=1)
    tick()
    assert world.runs.get(world.me, silent.id).error == "stale"
    assert world.runs.get(world.me, alive.id).status is RunStatus.RUNNING
    assert given_up == [0, 1]
    assert world.runs.mark_stale() == 0


def test_runs_are_listed_by_skill_and_page(world: ExperienceWorld) -> None:
    one, two = world.compile(STEPS), world.compile(STEPS, id_="e2")
    runs = []
    for skill in (one, two, one):
        runs.append(world.start(skill))
        world.clock.advance(seconds=1)
    page = world.runs.list(world.me, limit=2)
    assert [run.id for run in page.runs] == [runs[2].id, runs[1].id]
    assert [run.id for run in world.runs.list(world.me, limit=2, cursor=page.next).runs] == [runs[0].id]
    assert [run.id for run in world.runs.list(world.me, skill=two.id, limit=5).runs] == [runs[1].id]


def test_what_is_not_there_is_not_found(world: ExperienceWorld) -> None:
    gone = SkillRunId("r9")
    calls: tuple[Callable[[], object], ...] = (
        lambda: world.runs.get(world.me, gone),
        lambda: world.runs.step(world.me, gone, 0, "s1", StepOutcome.OK),
        lambda: world.runs.finish(world.me, gone, RunStatus.FAILED),
        lambda: world.runs.cancel(world.me, gone),
    )
    for call in calls:
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.reason is Reason.RUN_NOT_FOUND
    with pytest.raises(NotFound) as caught:
        world.runs.start(world.me, SkillId("k9"), RunTrigger.MANUAL)
    assert caught.value.reason is Reason.SKILL_NOT_FOUND


def test_a_run_outlives_its_skill_and_can_be_ended(world: ExperienceWorld) -> None:
    skill = world.compile(STEPS)
    run = world.start(skill)
    world.skills.forget(world.me, skill.id)
    with pytest.raises(NotFound):
        world.runs.step(world.me, run.id, 0, "s1", StepOutcome.OK)
    assert world.runs.finish(world.me, run.id, RunStatus.FAILED, error="gone").status is RunStatus.FAILED
