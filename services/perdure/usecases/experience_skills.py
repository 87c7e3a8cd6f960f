"""Compile skills, keep their versions, schedule them, and hand out those that are due."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from perdure.domain.experience.compiling import compile_skill, diff, without_secrets
from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.learned import SkillRecord, records
from perdure.domain.experience.scheduling import (
    HOLDER_CHARS_MAX,
    LEASE_S_MAX,
    LEASE_S_MIN,
    OFFSET_MINUTES_MAX,
    Taken,
    claimed,
    due_at,
    marked,
    prolonged,
    released,
    set_anew,
)
from perdure.domain.experience.skill import Edits, Routine, Skill, SkillId
from perdure.domain.experience.wording import procedure_of
from perdure.domain.namespace import Actor, Caller, Scope, TokenScope
from perdure.errors import Conflict, InvalidArgument, NotFound, Reason
from perdure.ports import Clock, ExperienceReader, ExperienceStore, Ids, SkillPage
from perdure.usecases.experience_episodes import page_limit
from perdure.usecases.permission import require

_LEASE_S = 600
_WATCH = Actor(name="watch", kind="job")


class Skills:
    """The skills of the caller's namespace. Every method raises PermissionDenied where it may not use experience."""

    def __init__(self, store: ExperienceStore, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._clock = clock
        self._ids = ids

    # ------------------------------------------------------------ compiling

    def preview(self, caller: Caller, episode: EpisodeId, edits: Edits) -> Skill:
        """What ``compile`` would keep; nothing is kept. A first version's id is made up anew each time.

        Raises:
            NotFound: there is no such episode.
            InvalidArgument: an edit names a step that it lacks.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            return self._compiled(reader, episode, edits)

    def compile(self, caller: Caller, episode: EpisodeId, edits: Edits) -> Skill:
        """The skill of the episode: a new one, or the next version of that compiled from it before.

        Raises:
            NotFound: there is no such episode.
            InvalidArgument: an edit names a step that it lacks.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            skill = self._compiled(unit, episode, edits)
            unit.put_skill(skill, procedure_of(skill))
            if skill.version > 1 and skill.routine is not None:
                # its values may name parameters that are gone
                unit.set_routine(skill.id, skill.routine)
        return skill

    def _compiled(self, reader: ExperienceReader, episode: EpisodeId, edits: Edits) -> Skill:
        found = reader.episode(episode)
        if found is None:
            raise NotFound("There is no such episode.", reason=Reason.EPISODE_NOT_FOUND)
        return compile_skill(
            found, edits, id=SkillId(self._ids.job()), now=self._clock.now(), previous=reader.skill_of(episode)
        )

    # ------------------------------------------------------------ reading

    def list(self, caller: Caller, *, limit: int, cursor: str = "") -> SkillPage:
        """The next skills, newest first.

        Raises:
            InvalidArgument: the limit or cursor is not one.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            return reader.skills(after=cursor, limit=page_limit(limit))

    def get(self, caller: Caller, skill: SkillId, version: int | None = None) -> Skill:
        """The skill as it is, or as that version was.

        Raises:
            NotFound: there is none, or no such version.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            return _found(reader.skill(skill, version))

    def versions(self, caller: Caller, skill: SkillId) -> tuple[Skill, ...]:
        """Every version, newest first.

        Raises:
            NotFound: there is no such skill.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            found = reader.versions(skill)
        if not found:
            raise _no_skill()
        return found

    def diff(self, caller: Caller, skill: SkillId, old: int, new: int) -> tuple[str, ...]:
        """What changed between two versions, a line each.

        Args:
            caller: Who.
            skill: Which.
            old: The version before; 0 is the one before ``new``.
            new: The version after; 0 is the newest.

        Raises:
            NotFound: there is no such skill, or one of the versions is not there.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            after = _found(reader.skill(skill, new or None))
            if not old and after.version == 1:
                return ()
            before = _found(reader.skill(skill, old or after.version - 1))
        return diff(before, after)

    def forget(self, caller: Caller, skill: SkillId) -> bool:
        """Erases the skill with every version; its runs stay. False where there was none."""
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            forgotten = unit.forget_skill(skill)
        if forgotten:
            self._store.scrub()
        return forgotten

    def record(self, caller: Caller, skill: SkillId | None = None) -> tuple[SkillRecord, ...]:
        """What runs taught, by skill and version; of one skill or of all.

        Raises:
            NotFound: there is no such skill, and nothing is known of its runs.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            tally = reader.tally(skill)
            ran = {line[0] for line in tally}
            skills = {one: reader.skill(one) for one in (ran if skill is None else {skill})}
            failed = {one: reader.failed_steps(one) for one in ran}
        if skill is not None and not ran and skills[skill] is None:
            raise _no_skill()
        return records(tally, {one: found.name for one, found in skills.items() if found is not None}, failed)

    # ------------------------------------------------------------ routines

    def schedule(self, caller: Caller, skill: SkillId, routine: Routine | None) -> Skill:
        """The skill with its routine set, or taken away. Values of secret parameters are dropped.

        Raises:
            NotFound: there is no such skill.
            InvalidArgument: the routine has a value for a parameter that the skill lacks.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            found = _found(unit.skill(skill))
            if routine is not None:
                routine = set_anew(without_secrets(routine, found.params), found.routine, self._clock.now())
            unit.set_routine(skill, routine)
        return replace(found, routine=routine)

    def due(
        self,
        caller: Caller,
        *,
        holder: str,
        offset_minutes: int | None = None,
        claim: bool = True,
        lease_s: int = _LEASE_S,
    ) -> tuple[Skill, ...]:
        """Skills whose routine is due and that nobody holds, the least recently run first.

        Args:
            caller: Who.
            holder: The host's name, unique among hosts; needed to claim.
            offset_minutes: Of the host from UTC, for routines that name no time zone; None is UTC.
            claim: Whether they are ``holder``'s from now on; else it only looks, and sees claimed ones too.
            lease_s: How long a claim holds without a sign of life, 30 to 86400.

        Raises:
            InvalidArgument: the holder's name is empty or too long, or a number is out of its range.
        """
        require(caller, TokenScope.EXPERIENCE)
        if offset_minutes is not None and not -OFFSET_MINUTES_MAX <= offset_minutes <= OFFSET_MINUTES_MAX:
            raise InvalidArgument(
                f"'tzOffsetMinutes' has to be from -{OFFSET_MINUTES_MAX} to {OFFSET_MINUTES_MAX}.",
                reason=Reason.OUT_OF_RANGE,
                details={"field": "tzOffsetMinutes"},
            )
        now = self._clock.now()
        if not claim:
            with self._store.experience_view(caller.scope) as reader:
                looked = [(skill, _due(skill, now, offset_minutes)) for skill in reader.routines()]
            return tuple(_with_due(skill, due) for skill, due in looked if due is not None)
        _check_holder(holder)
        lease = _lease(lease_s)
        claims: list[Skill] = []
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            for skill in unit.routines():
                due = _due(skill, now, offset_minutes)
                if due is None or skill.routine is None:
                    continue
                routine = claimed(skill.routine, now, due, holder, lease)
                if routine is not None:
                    unit.set_routine(skill.id, routine)
                    claims.append(replace(skill, routine=routine))
        return tuple(claims)

    def heartbeat(self, caller: Caller, skill: SkillId, holder: str, lease_s: int = _LEASE_S) -> Skill:
        """The skill with the claim of ``holder`` begun anew.

        Raises:
            NotFound: there is no such skill.
            Conflict: somebody else holds it, or nobody does (LEASE_TAKEN).
        """
        lease = _lease(lease_s)
        return self._lease_changed(caller, skill, lambda routine, now: prolonged(routine, now, holder, lease))

    def release(self, caller: Caller, skill: SkillId, holder: str) -> Skill:
        """The skill without a claim.

        Raises:
            NotFound: there is no such skill.
            Conflict: somebody else holds it (LEASE_TAKEN).
        """
        return self._lease_changed(caller, skill, lambda routine, now: released(routine, now, holder))

    def mark_due(self) -> int:
        """Writes down since when routines are due, in every namespace, for people to see; how many changed.

        One whose time depends on who asks is left alone, as is one that is claimed.
        """
        now = self._clock.now()
        with self._store.access() as access:
            names = [one.name for one in access.namespaces()]
        return sum(self._mark_due(Scope(name), now) for name in names)

    def _mark_due(self, scope: Scope, now: datetime) -> int:
        try:
            with self._store.experience_view(scope) as reader:
                if not any(marked(skill.routine, now) for skill in reader.routines() if skill.routine):
                    return 0
            changed = 0
            with self._store.experience(scope, _WATCH) as unit:
                for skill in unit.routines():
                    routine = marked(skill.routine, now) if skill.routine else None
                    if routine is not None:
                        unit.set_routine(skill.id, routine)
                        changed += 1
        except NotFound:
            return 0  # the namespace went meanwhile
        return changed

    def _lease_changed(
        self, caller: Caller, skill: SkillId, change: Callable[[Routine, datetime], Routine | Taken]
    ) -> Skill:
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            found = _found(unit.skill(skill))
            if found.routine is None:
                raise taken("This skill has no routine.")
            routine = change(found.routine, self._clock.now())
            if isinstance(routine, Taken):
                raise taken(routine.why)
            unit.set_routine(skill, routine)
        return replace(found, routine=routine)


def taken(why: str) -> Conflict:
    """The error where somebody else may run a routine."""
    return Conflict(why, reason=Reason.LEASE_TAKEN)


def _due(skill: Skill, now: datetime, offset_minutes: int | None) -> datetime | None:
    return None if skill.routine is None else due_at(skill.routine, now, offset_minutes=offset_minutes)


def _with_due(skill: Skill, due: datetime) -> Skill:
    return skill if skill.routine is None else replace(skill, routine=replace(skill.routine, due_at=due))


def _lease(lease_s: int) -> timedelta:
    if not LEASE_S_MIN <= lease_s <= LEASE_S_MAX:
        raise InvalidArgument(
            f"'lease_s' has to be from {LEASE_S_MIN} to {LEASE_S_MAX}.",
            reason=Reason.OUT_OF_RANGE,
            details={"field": "lease_s"},
        )
    return timedelta(seconds=lease_s)


def _check_holder(holder: str) -> None:
    if not holder.strip() or len(holder) > HOLDER_CHARS_MAX:
        raise InvalidArgument(
            f"'holder' names the host that claims, in 1 to {HOLDER_CHARS_MAX} characters.",
            reason=Reason.FIELD_MISSING if not holder.strip() else Reason.OUT_OF_RANGE,
            details={"field": "holder"},
        )


def _found(skill: Skill | None) -> Skill:
    if skill is None:
        raise _no_skill()
    return skill


def _no_skill() -> NotFound:
    return NotFound("There is no such skill, or no such version of it.", reason=Reason.SKILL_NOT_FOUND)
