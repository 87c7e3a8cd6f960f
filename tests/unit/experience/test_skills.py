from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.run import RunStatus, RunTrigger
from perdure.domain.experience.skill import Daily, Edits, EveryMinutes, Routine, SkillId
from perdure.domain.experience.wording import procedure_of
from perdure.errors import Conflict, InvalidArgument, NotFound, Reason
from perdure.usecases.experience_skills import Skills
from support.experience_world import PAY, ExperienceWorld, click, typed

E1 = EpisodeId("e1")
FIVE = Routine(schedule=EveryMinutes(5))


@pytest.mark.requirement("I5-SKILL-1")
def test_a_preview_keeps_nothing(world: ExperienceWorld) -> None:
    world.record()
    shown = world.skills.preview(world.me, E1, Edits(name="X"))
    assert shown.name == "X"
    assert world.skills.list(world.me, limit=5).skills == ()
    with pytest.raises(NotFound):
        world.skills.preview(world.me, EpisodeId("e9"), Edits())


@pytest.mark.requirement("I5-SKILL-2")
def test_compiling_again_makes_the_next_version(world: ExperienceWorld) -> None:
    first = world.compile()
    world.clock.advance(minutes=1)
    second = world.skills.compile(world.me, E1, Edits(removed=("s2",)))
    assert (second.id, second.version) == (first.id, 2)
    assert [one.version for one in world.skills.versions(world.me, first.id)] == [2, 1]
    assert world.skills.get(world.me, first.id, 1).steps == first.steps
    assert len(world.skills.list(world.me, limit=5).skills) == 1
    assert "- parameter amount_2: Amount, “3.00”" in world.skills.diff(world.me, first.id, 1, 2)
    assert world.skills.diff(world.me, first.id, 0, 0) == world.skills.diff(world.me, first.id, 1, 2)


def test_a_skill_survives_its_episode(world: ExperienceWorld) -> None:
    skill = world.compile()
    world.episodes.forget(world.me, E1)
    assert world.skills.get(world.me, skill.id).steps == skill.steps


def test_a_forgotten_skill_is_gone_and_its_runs_stay(world: ExperienceWorld) -> None:
    skill = world.compile([click("Next")])
    run = world.start(skill)
    assert world.skills.forget(world.me, skill.id)
    assert not world.skills.forget(world.me, skill.id)
    for call in (
        lambda: world.skills.get(world.me, skill.id),
        lambda: world.skills.versions(world.me, skill.id),
        lambda: world.skills.schedule(world.me, skill.id, None),
        lambda: world.skills.get(world.me, SkillId("k9"), 3),
    ):
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.reason is Reason.SKILL_NOT_FOUND
    assert world.runs.get(world.me, run.id).skill_name == "Pay a bill"


def test_a_compiled_skill_stands_in_for_its_episode_as_a_procedure(world: ExperienceWorld) -> None:
    world.record()
    with world.store.experience_view(world.me.scope) as reader:
        assert [one.kind for one in reader.procedures()] == ["episode"]
    skill = world.skills.compile(world.me, E1, Edits())
    with world.store.experience_view(world.me.scope) as reader:
        assert [one.text for one in reader.procedures()] == [procedure_of(skill).text]


# ------------------------------------------------------------------ routines


def test_a_routine_keeps_no_secret_and_its_last_run(world: ExperienceWorld) -> None:
    skill = world.compile()
    routine = Routine(schedule=EveryMinutes(5), values={"amount": "3", "password": "tiger"})
    assert world.schedule(skill, routine).routine is not None
    world.start(skill, RunTrigger.ROUTINE)
    again = world.schedule(skill, routine).routine
    assert again is not None
    assert (again.values, again.last_run_at) == ({"amount": "3"}, world.clock.now())
    assert world.skills.schedule(world.me, skill.id, None).routine is None
    assert world.skills.get(world.me, skill.id).routine is None
    with pytest.raises(InvalidArgument):
        world.schedule(skill, Routine(schedule=EveryMinutes(5), values={"nope": "3"}))


def test_recompiling_keeps_the_routine_without_values_that_are_gone(world: ExperienceWorld) -> None:
    skill = world.compile()
    world.schedule(skill, Routine(schedule=EveryMinutes(5), values={"amount": "3", "amount_2": "4"}))
    again = world.skills.compile(world.me, E1, Edits(removed=("s2",)))
    assert again.routine is not None
    kept = world.skills.get(world.me, skill.id).routine
    assert kept is not None
    assert kept.values == {"amount": "3"}


def test_due_lists_the_least_recently_run_first_and_leaves_out_the_disabled(world: ExperienceWorld) -> None:
    one, two, three, off = (world.compile(PAY, id_=f"e{number}") for number in range(4))
    for skill in (one, two, three):
        world.schedule(skill, FIVE)
    world.schedule(off, Routine(schedule=EveryMinutes(5), enabled=False))
    for skill in (two, one):
        run = world.start(skill, RunTrigger.ROUTINE)
        world.runs.finish(world.me, run.id, RunStatus.STOPPED)
        world.clock.advance(minutes=1)
    world.clock.advance(minutes=5)
    assert [skill.id for skill in world.skills.due(world.me, holder="h")] == [three.id, two.id, one.id]


def test_looking_claims_nothing(world: ExperienceWorld) -> None:
    skill = world.compile()
    world.schedule(skill, FIVE)
    (seen,) = world.skills.due(world.me, holder="", claim=False)
    assert seen.routine is not None
    assert (seen.routine.lease_holder, seen.routine.due_at) == (None, world.clock.now())
    assert len(world.skills.due(world.me, holder="h")) == 1


@pytest.mark.requirement("I5-ROUTINE-2")
def test_of_two_hosts_one_gets_it(world: ExperienceWorld) -> None:
    skills = [world.compile(id_=f"e{number}") for number in range(4)]
    for skill in skills:
        world.schedule(skill, FIVE)
    stores = [world.another_store() for _ in range(4)]
    hosts = [Skills(store, world.clock, world.ids) for store in stores]
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(host.due, world.me, holder=f"h{at}") for at, host in enumerate(hosts)]
        claims = [skill.id for call in calls for skill in call.result()]
    for store in stores:
        store.close()
    assert sorted(claims) == sorted(skill.id for skill in skills)


@pytest.mark.requirement("I5-ROUTINE-2")
def test_a_claim_expires_is_prolonged_and_released(world: ExperienceWorld) -> None:
    skill = world.compile()
    world.schedule(skill, FIVE)
    assert len(world.skills.due(world.me, holder="a", lease_s=60)) == 1
    with pytest.raises(Conflict) as caught:
        world.skills.heartbeat(world.me, skill.id, "b")
    assert caught.value.reason is Reason.LEASE_TAKEN
    world.clock.advance(seconds=59)
    world.skills.heartbeat(world.me, skill.id, "a", 60)
    world.clock.advance(seconds=59)
    assert world.skills.due(world.me, holder="b") == ()
    world.clock.advance(seconds=1)
    assert len(world.skills.due(world.me, holder="b")) == 1
    with pytest.raises(Conflict):
        world.skills.release(world.me, skill.id, "a")
    world.skills.release(world.me, skill.id, "b")
    assert len(world.skills.due(world.me, holder="a")) == 1
    with pytest.raises(Conflict):
        world.skills.heartbeat(world.me, world.compile(id_="e2").id, "a")


@pytest.mark.parametrize(
    "said",
    [{"holder": " "}, {"holder": "h" * 201}, {"holder": "h", "lease_s": 5}, {"holder": "h", "offset_minutes": 900}],
)
def test_a_claim_says_who_and_for_how_long(world: ExperienceWorld, said: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        world.skills.due(world.me, **said)  # type: ignore[arg-type]


def test_what_is_due_is_marked_for_people_to_see(world: ExperienceWorld) -> None:
    skill = world.compile()
    world.schedule(skill, FIVE)
    assert world.skills.mark_due() == 1
    assert world.skills.mark_due() == 0
    routine = world.skills.get(world.me, skill.id).routine
    assert routine is not None
    assert routine.due_at == world.clock.now()
    run = world.start(skill, RunTrigger.ROUTINE)
    world.runs.finish(world.me, run.id, RunStatus.STOPPED)
    assert world.skills.mark_due() == 0
    world.schedule(skill, Routine(schedule=Daily(0, 0)))
    assert world.skills.mark_due() == 0


@pytest.mark.requirement("I5-LEARN-1")
def test_a_skill_s_record_is_told_by_version(world: ExperienceWorld) -> None:
    skill = world.compile([typed("Amount", "1"), click("Next")])
    for status in (RunStatus.SUCCEEDED, RunStatus.FAILED):
        run = world.start(skill)
        world.runs.finish(world.me, run.id, status, cost=0.5)
    world.skills.compile(world.me, E1, Edits())
    run = world.start(skill)
    world.runs.finish(world.me, run.id, RunStatus.SUCCEEDED)
    new, old = world.skills.record(world.me, skill.id)
    assert (new.version, new.runs, new.rate) == (2, 1, 1.0)
    assert (old.version, old.runs, old.rate, old.cost_per_success) == (1, 2, 0.5, 1.0)
    assert world.skills.record(world.me) == (new, old)
    with pytest.raises(NotFound):
        world.skills.record(world.me, SkillId("k9"))
