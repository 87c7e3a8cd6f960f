"""Run skills: begin, log each step, end. The host executes; this keeps the audit trail and holds the gates."""

from __future__ import annotations

from datetime import datetime

from perdure.domain.experience import running
from perdure.domain.experience.blanking_skills import blanked_note
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId, StepLog, StepOutcome
from perdure.domain.experience.scheduling import HOLDER_CHARS_MAX, LEASE, Taken, prolonged, released, started
from perdure.domain.experience.skill import Skill, SkillId
from perdure.domain.namespace import Actor, Caller, NamespaceName, Scope, TokenScope
from perdure.errors import InvalidArgument, NotFound, Reason
from perdure.ports import Clock, ExperienceReader, ExperienceStore, ExperienceUnit, Ids, RunPage
from perdure.usecases.experience_episodes import page_limit
from perdure.usecases.experience_skills import taken
from perdure.usecases.permission import require

_MODEL_CHARS_MAX = 200
_WATCH = Actor(name="watch", kind="job")


class Runs:
    """The runs of the caller's namespace. Every method raises PermissionDenied where it may not use experience."""

    def __init__(self, store: ExperienceStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    def start(
        self, caller: Caller, skill: SkillId, trigger: RunTrigger, *, holder: str = "", model: str | None = None
    ) -> SkillRun:
        """A new run of the skill as it is now.

        By its routine it needs the claim: ``holder`` has it, or nobody and the routine is due. It counts as run then,
        and stays claimed until the run ends or ten minutes pass without a sign of it.

        Raises:
            NotFound: there is no such skill.
            Conflict: the routine is another's, not due, or not there (LEASE_TAKEN).
            InvalidArgument: a name is too long.
        """
        require(caller, TokenScope.EXPERIENCE)
        _check_length("holder", holder, HOLDER_CHARS_MAX)
        _check_length("model", model or "", _MODEL_CHARS_MAX)
        now = self._clock.now()
        id_ = SkillRunId(self._ids.job())
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            found = unit.skill(skill)
            if found is None:
                raise NotFound("There is no such skill.", reason=Reason.SKILL_NOT_FOUND)
            if trigger is RunTrigger.ROUTINE:
                if found.routine is None:
                    raise taken("This skill has no routine; start it with the trigger 'manual'.")
                # a host without a name holds it in the name of its run
                holder = holder or f"run {id_}"
                routine = started(found.routine, now, holder)
                if isinstance(routine, Taken):
                    raise taken(routine.why)
                unit.set_routine(skill, routine)
            run = running.begin(found, trigger, id=id_, now=now, holder=holder, model=model)
            unit.put_run(run)
        return run

    def step(
        self,
        caller: Caller,
        run: SkillRunId,
        idx: int,
        step_id: str,
        outcome: StepOutcome,
        detail: str | None = None,
    ) -> SkillRun:
        """The run with a line more. It is a sign of life, of a routine's claim too.

        Raises:
            NotFound: there is no such run, or its skill's version is gone.
            FailedPrecondition: the run has ended (RUN_ENDED), or nobody approved the step (APPROVAL_MISSING).
            InvalidArgument: the skill has no such step there (STEP_UNKNOWN).
        """
        require(caller, TokenScope.EXPERIENCE)
        now = self._clock.now()
        said = blanked_note(detail)
        line = StepLog(idx=idx, step_id=step_id, outcome=outcome, at=now, detail=said, actor=caller.actor)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            found = _found(unit, run)
            running.check_going(found)
            skill = unit.skill(found.skill_id, found.skill_version)
            if skill is None:
                raise NotFound("The skill was forgotten while it ran; end the run.", reason=Reason.SKILL_NOT_FOUND)
            changed, kept = running.step(found, skill, line)
            unit.append_step(run, kept)
            unit.change_run(changed)
            if changed.status.ended:
                _let_go(unit, changed, now)
            else:
                _keep_claim(unit, changed, now)
        return changed

    def finish(
        self,
        caller: Caller,
        run: SkillRunId,
        status: RunStatus,
        *,
        error: str | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        model: str | None = None,
    ) -> SkillRun:
        """The run at its end; a routine's claim is let go. To end it again with the same status changes nothing.

        Raises:
            NotFound: there is no such run.
            FailedPrecondition: it ended otherwise (RUN_ENDED), or it succeeded without a step that asks first
                (APPROVAL_MISSING).
            InvalidArgument: the status is no end, or a figure is out of its range.
        """
        require(caller, TokenScope.EXPERIENCE)
        _check_length("model", model or "", _MODEL_CHARS_MAX)
        now = self._clock.now()
        error = blanked_note(error)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            found = _found(unit, run)
            skill = unit.skill(found.skill_id, found.skill_version)
            changed = running.finish(found, skill, status, now=now, error=error, tokens=tokens, cost=cost, model=model)
            self._end(unit, found, changed, now)
        return changed

    def cancel(self, caller: Caller, run: SkillRunId) -> SkillRun:
        """The run, stopped. Its host sees it at its next step.

        Raises:
            NotFound: there is no such run.
            FailedPrecondition: it ended otherwise (RUN_ENDED).
        """
        require(caller, TokenScope.EXPERIENCE)
        now = self._clock.now()
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            found = _found(unit, run)
            changed = running.cancelled(found, now)
            self._end(unit, found, changed, now)
        return changed

    def list(self, caller: Caller, *, skill: SkillId | None = None, limit: int, cursor: str = "") -> RunPage:
        """The next runs, newest first; of one skill or of all.

        Raises:
            InvalidArgument: the limit or cursor is not one.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            return reader.skill_runs(skill, after=cursor, limit=page_limit(limit))

    def get(self, caller: Caller, run: SkillRunId) -> SkillRun:
        """The run with its trail.

        Raises:
            NotFound: there is none of that id.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            return _found(reader, run)

    def mark_stale(self) -> int:
        """Gives up runs, of every namespace, that were not heard of for half an hour; how many."""
        now = self._clock.now()
        return sum(self._mark_stale(namespace, now) for namespace in self._namespaces())

    def _mark_stale(self, namespace: NamespaceName, now: datetime) -> int:
        scope = Scope(namespace)
        before = now - running.STALE_AFTER
        try:
            with self._store.experience_view(scope) as reader:
                if not reader.stale_runs(before):
                    return 0
            with self._store.experience(scope, _WATCH) as unit:
                given_up = 0
                for run in unit.stale_runs(before):
                    changed = running.stale(run, now)
                    if changed is not None:
                        self._end(unit, run, changed, now)
                        given_up += 1
        except NotFound:
            return 0  # the namespace went meanwhile
        return given_up

    def _namespaces(self) -> tuple[NamespaceName, ...]:
        with self._store.access() as unit:
            return tuple(one.name for one in unit.namespaces())

    def _end(self, unit: ExperienceUnit, before: SkillRun, after: SkillRun, now: datetime) -> None:
        if after != before:
            unit.change_run(after)
            _let_go(unit, after, now)


def _keep_claim(unit: ExperienceUnit, run: SkillRun, now: datetime) -> None:
    """Prolongs the claim of a routine's run that goes on, once half of it is over."""
    skill = _routine_of(unit, run)
    if skill is None or skill.routine is None:
        return
    until = skill.routine.lease_until
    if until is not None and until - now > LEASE / 2:
        return
    routine = prolonged(skill.routine, now, run.holder, LEASE)
    if not isinstance(routine, Taken):
        unit.set_routine(skill.id, routine)


def _let_go(unit: ExperienceUnit, run: SkillRun, now: datetime) -> None:
    """Ends the claim of a routine's run that ended."""
    skill = _routine_of(unit, run)
    if skill is None or skill.routine is None:
        return
    routine = released(skill.routine, now, run.holder)
    if not isinstance(routine, Taken):
        unit.set_routine(skill.id, routine)


def _routine_of(unit: ExperienceUnit, run: SkillRun) -> Skill | None:
    """The skill of a run that its routine set off."""
    return unit.skill(run.skill_id) if run.trigger is RunTrigger.ROUTINE else None


def _found(reader: ExperienceReader, run: SkillRunId) -> SkillRun:
    found = reader.skill_run(run)
    if found is None:
        raise NotFound("There is no such run.", reason=Reason.RUN_NOT_FOUND)
    return found


def _check_length(field: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidArgument(
            f"'{field}' has at most {most} characters.", reason=Reason.OUT_OF_RANGE, details={"field": field}
        )
