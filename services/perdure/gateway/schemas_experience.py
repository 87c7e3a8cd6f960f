"""Bodies and queries of the experience's routes. Documents inside them are checked by the service."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from perdure.gateway.schemas import Body, Query

WAIT_S = 25.0
RUNS_MAX = 500
HOLDER_CHARS_MAX = 200


class PageQuery(Query):
    """A page, newest first."""

    limit: int = Field(50, ge=1, le=200)
    cursor: str = Field("", max_length=500, description="next_cursor of the page before.")


class EditsBody(Body):
    """What a person changes while compiling."""

    edits: dict[str, Any] | None = Field(
        None, description="{name, removed: [step], fixed: [step], approvals: {step: bool}, paramNames: {step: name}}"
    )


class SkillQuery(Query):
    """Which version."""

    version: int | None = Field(None, ge=1, description="Left out: as it is now.")


class DiffQuery(Query):
    """Which versions; left out: the last change."""

    old: int | None = Field(None, ge=1)
    new: int | None = Field(None, ge=1)


class RoutineBody(Body):
    """When a skill is to run, and with what."""

    schedule: dict[str, Any] = Field(
        description='{"every": "minutes", "minutes"} or {"every": "day", "hour", "minute", "zone"} or '
        '{"every": "cron", "expression", "zone"}'
    )
    values: dict[str, str] = Field(default_factory=dict, description="Parameters; a secret's value is not kept.")
    enabled: bool = True


class DueBody(Body):
    """Who asks what is due."""

    holder: str = Field(min_length=1, max_length=HOLDER_CHARS_MAX, description="Name of this host; unique.")
    tz_offset_minutes: int | None = Field(None, ge=-840, le=840, description="For routines that name no zone.")
    claim: bool = Field(True, description="False only looks.")
    lease_s: int = Field(600, ge=30, le=86_400)


class LeaseBody(Body):
    """Whose lease."""

    holder: str = Field(min_length=1, max_length=HOLDER_CHARS_MAX)
    lease_s: int = Field(600, ge=30, le=86_400)


class HolderBody(Body):
    """Whose lease."""

    holder: str = Field(min_length=1, max_length=HOLDER_CHARS_MAX)


class StartBody(Body):
    """A run to begin."""

    skill_id: str = Field(min_length=1, max_length=64)
    trigger: Literal["manual", "routine"] = "manual"
    holder: str = Field("", max_length=HOLDER_CHARS_MAX, description="Who was handed the routine.")
    model: str | None = Field(None, max_length=200)


class StepBody(Body):
    """A line for the trail."""

    idx: int = Field(ge=0, description="The step's place in the skill, from 0.")
    step_id: str = Field(min_length=1, max_length=200)
    outcome: Literal["ok", "fallback", "failed", "approved", "denied", "waiting"]
    detail: str | None = Field(None, max_length=4000)


class FinishBody(Body):
    """How a run ended."""

    status: Literal["succeeded", "failed", "stopped", "denied"]
    error: str | None = Field(None, max_length=4000)
    tokens: int | None = Field(None, ge=0)
    cost: float | None = Field(None, ge=0, allow_inf_nan=False, description="US dollars.")
    model: str | None = Field(None, max_length=200)


class SkillRunsQuery(Query):
    """Which runs."""

    skill_id: str = Field("", max_length=64, description="Left out: of every skill.")
    limit: int = Field(50, ge=1, le=RUNS_MAX)
    cursor: str = Field("", max_length=500)


class OverviewQuery(Query):
    """How far back, and what a day is."""

    days: int = Field(30, ge=1, le=365)
    tz_offset_minutes: int = Field(0, ge=-840, le=840)


class DaysQuery(Query):
    """How far back."""

    days: int = Field(30, ge=1, le=365)


class ForgetAllBody(Body):
    """Yes, all of it."""

    confirm: Literal[True]


class TrainBody(Body):
    """How to train."""

    dry_run: bool = Field(False, description="Say what would be learned, and learn nothing.")
    curate: bool = Field(False, description="Leave out what mostly fails, and near-copies.")
    wait: bool = Field(True, description="Wait up to 25 s for the end; false answers 202 at once.")


class ImportQuery(Query):
    """How to import."""

    dry_run: bool = Field(False, description="Count, and store nothing.")
