"""Rows of experience, and the values they stand for.

Documents are the canonical JSON of ``domain.experience.documents``, in milliseconds; the times of a row stand beside
it in microseconds and win.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from perdure.domain.experience.documents import (
    episode_from_json,
    episode_to_json,
    schedule_from_json,
    schedule_to_json,
    skill_from_json,
    skill_to_json,
)
from perdure.domain.experience.episode import Episode, EpisodeId, Json
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId, StepLog, StepOutcome
from perdure.domain.experience.skill import Routine, Skill, SkillId
from perdure.errors import InvalidArgument, Reason
from perdure.store.sqlite.rows import Row, maybe_micros, maybe_moment, micros, moment

EPISODE_COLUMNS = "e.id, e.started_at, e.ended_at, e.document"
ROUTINE_COLUMNS = 'r.schedule, r."values", r.enabled, r.since, r.last_run_at, r.due_at, r.lease_holder, r.lease_until'
SKILL_COLUMNS = "s.id, s.created_at, v.compiled_at, v.document"
RUN_COLUMNS = (
    'u."row", u.id, u.skill, u.skill_version, u.skill_name, u."trigger", u.status, u.started_at, u.heard_at, '
    "u.ended_at, u.error, u.holder, u.model, u.tokens, u.cost"
)

_CURSOR = re.compile(r"(-?\d{1,18})\.([A-Za-z0-9_-]{1,64})\Z")


def cursor_of(at_us: int, id_: str) -> str:
    """Where a page ended: time and id of its last row."""
    return f"{at_us}.{id_}"


def position_of(cursor: str) -> tuple[int, str]:
    """What ``cursor_of`` was told.

    Raises:
        InvalidArgument: it did not make that cursor (CURSOR_INVALID).
    """
    match = _CURSOR.match(cursor)
    if match is None:
        raise InvalidArgument(
            "The cursor is not one that an earlier page gave; start from the beginning.", reason=Reason.CURSOR_INVALID
        )
    return int(match[1]), match[2]


def dumped(document: Mapping[str, Json]) -> str:
    """A document as it is stored."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def episode_values(episode: Episode) -> tuple[Any, ...]:
    """id, started_at, ended_at, document."""
    return (
        episode.id,
        micros(episode.started_at),
        maybe_micros(episode.ended_at),
        dumped(episode_to_json(episode)),
    )


def to_episode(row: Row) -> Episode:
    """The episode in a row of ``EPISODE_COLUMNS``."""
    started_at = moment(row[1])
    episode = episode_from_json(json.loads(row[3]), now=started_at)
    return replace(episode, id=EpisodeId(row[0]), started_at=started_at, ended_at=maybe_moment(row[2]))


def skill_document(skill: Skill) -> str:
    """The skill without its routine, which has a row of its own."""
    return dumped(skill_to_json(replace(skill, routine=None)))


def to_skill(row: Row, routine: Row | None) -> Skill:
    """The skill in a row of ``SKILL_COLUMNS``, with the routine in a row of ``ROUTINE_COLUMNS``."""
    created_at = moment(row[1])
    return replace(
        skill_from_json(json.loads(row[3]), now=created_at),
        id=SkillId(row[0]),
        created_at=created_at,
        compiled_at=maybe_moment(row[2]),
        routine=None if routine is None or routine[0] is None else to_routine(routine),
    )


def routine_values(routine: Routine) -> tuple[Any, ...]:
    """The columns of ``ROUTINE_COLUMNS``, in their order."""
    return (
        dumped(schedule_to_json(routine.schedule)),
        json.dumps(dict(routine.values), ensure_ascii=False),
        int(routine.enabled),
        maybe_micros(routine.since),
        maybe_micros(routine.last_run_at),
        maybe_micros(routine.due_at),
        routine.lease_holder,
        maybe_micros(routine.lease_until),
    )


def to_routine(row: Row) -> Routine:
    """The routine in a row of ``ROUTINE_COLUMNS``."""
    return Routine(
        schedule=schedule_from_json(json.loads(row[0])),
        values=json.loads(row[1]),
        enabled=bool(row[2]),
        since=maybe_moment(row[3]),
        last_run_at=maybe_moment(row[4]),
        due_at=maybe_moment(row[5]),
        lease_holder=row[6],
        lease_until=maybe_moment(row[7]),
    )


def run_state(run: SkillRun) -> dict[str, Any]:
    """The columns of a run that change while it runs."""
    return {
        "status": run.status.value,
        "heard_at": micros(run.heard_at),
        "ended_at": maybe_micros(run.ended_at),
        "error": run.error,
        "holder": run.holder,
        "model": run.model,
        "tokens": run.tokens,
        "cost": None if run.cost is None else float(run.cost),
    }


def run_values(run: SkillRun) -> dict[str, Any]:
    """Every column of a run but row and namespace."""
    return {
        "id": run.id,
        "skill": run.skill_id,
        "skill_version": run.skill_version,
        "skill_name": run.skill_name,
        "trigger": run.trigger.value,
        "started_at": micros(run.started_at),
        **run_state(run),
    }


def to_run(row: Row, steps: tuple[StepLog, ...]) -> SkillRun:
    """The run in a row of ``RUN_COLUMNS``."""
    return SkillRun(
        id=SkillRunId(row[1]),
        skill_id=SkillId(row[2]),
        skill_version=row[3],
        skill_name=row[4],
        trigger=RunTrigger(row[5]),
        status=RunStatus(row[6]),
        started_at=moment(row[7]),
        heard_at=moment(row[8]),
        ended_at=maybe_moment(row[9]),
        error=row[10],
        steps=steps,
        holder=row[11],
        model=row[12],
        tokens=row[13],
        cost=row[14],
    )


def step_values(step: StepLog) -> tuple[Any, ...]:
    """idx, step, outcome, at, detail, actor."""
    return step.idx, step.step_id, step.outcome.value, micros(step.at), step.detail, step.actor


def to_step(row: Row) -> StepLog:
    """The line in a row of the columns of ``step_values``."""
    return StepLog(
        idx=row[0],
        step_id=row[1],
        outcome=StepOutcome(row[2]),
        at=moment(row[3]),
        detail=row[4],
        actor=row[5],
    )
