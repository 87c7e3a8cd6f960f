"""One execution of a skill and its audit trail. Values only; the rules of its states are in ``running``."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime
from typing import NewType

from perdure.domain.experience.skill import SkillId

SkillRunId = NewType("SkillRunId", str)


class RunTrigger(enum.StrEnum):
    """What set a run off."""

    MANUAL = "manual"
    ROUTINE = "routine"


class RunStatus(enum.StrEnum):
    """Where a run is; the last four are ends."""

    RUNNING = "running"
    WAITING_FOR_APPROVAL = "waiting_for_approval"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    DENIED = "denied"

    @property
    def ended(self) -> bool:
        """True where nothing more will happen."""
        return self not in (RunStatus.RUNNING, RunStatus.WAITING_FOR_APPROVAL)


class StepOutcome(enum.StrEnum):
    """What a line of the trail says. ``waiting``: the step asks for an approval and the run waits."""

    OK = "ok"
    FALLBACK = "fallback"
    FAILED = "failed"
    APPROVED = "approved"
    DENIED = "denied"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLog:
    """One line of the trail. ``idx``: the step's place in the skill, from 0. ``actor``: who said so."""

    idx: int
    step_id: str
    outcome: StepOutcome
    at: datetime
    detail: str | None = None
    actor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillRun:
    """One execution. ``heard_at``: the last sign of life. ``cost`` in US dollars."""

    id: SkillRunId
    skill_id: SkillId
    skill_version: int
    skill_name: str
    trigger: RunTrigger
    status: RunStatus
    started_at: datetime
    heard_at: datetime
    ended_at: datetime | None = None
    error: str | None = None
    steps: tuple[StepLog, ...] = ()
    holder: str = ""
    model: str | None = None
    tokens: int | None = None
    cost: float | None = None
