"""The states of a run, and what may happen in each.

running ⇄ waiting_for_approval → succeeded | failed | stopped | denied. Steps come in any order, as a host may repeat or
leave out one, but each has to be the skill's at that place. A step that cannot be taken back is refused unless this run
has an approval for it that was not used yet; a denial ends the run. What ended takes no more lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId, StepLog, StepOutcome
from perdure.domain.experience.skill import Skill, SkillStep
from perdure.errors import FailedPrecondition, InvalidArgument, Reason

STALE_AFTER = timedelta(minutes=30)
"""Of a run that was not heard of for so long nothing more is expected."""

STALE = "stale"
"""The error of a run that was given up."""

CANCELLED = "cancelled"

DETAIL_CHARS_MAX = 4000
DETAILS_CHARS_MAX = 400_000
"""Of all details of a run together; later lines say how they ended and no more."""

LINES_MAX = 8000
"""Lines of one trail."""

_DONE = frozenset({StepOutcome.OK, StepOutcome.FALLBACK})


def begin(
    skill: Skill,
    trigger: RunTrigger,
    *,
    id: SkillRunId,
    now: datetime,
    holder: str = "",
    model: str | None = None,
) -> SkillRun:
    """A new run of ``skill`` as it is."""
    return SkillRun(
        id=id,
        skill_id=skill.id,
        skill_version=skill.version,
        skill_name=skill.name,
        trigger=trigger,
        status=RunStatus.RUNNING,
        started_at=now,
        heard_at=now,
        holder=holder,
        model=model,
    )


def step(run: SkillRun, skill: Skill, line: StepLog) -> tuple[SkillRun, StepLog]:
    """The run after ``line``, and the line as it goes into the trail.

    Args:
        run: With its trail.
        skill: Of the run's version.
        line: What the host says.

    Raises:
        FailedPrecondition: the run has ended (RUN_ENDED); the step cannot be taken back and nobody approved it
            (APPROVAL_MISSING).
        InvalidArgument: the skill has no such step there (STEP_UNKNOWN), or the trail is full (OUT_OF_RANGE).
    """
    check_going(run)
    found = _step_at(skill, line)
    if len(run.steps) >= LINES_MAX:
        raise InvalidArgument(
            f"A run has at most {LINES_MAX} lines.", reason=Reason.OUT_OF_RANGE, details={"limit": LINES_MAX}
        )
    if line.outcome in _DONE and found.requires_approval and not is_approved(run.steps, line.step_id):
        raise FailedPrecondition(
            "This step cannot be taken back and nobody approved it in this run; log 'approved' once a person said yes.",
            reason=Reason.APPROVAL_MISSING,
            details={"idx": line.idx, "step_id": line.step_id},
        )
    line = replace(line, detail=_detail(run, line.detail))
    status = RunStatus.WAITING_FOR_APPROVAL if line.outcome is StepOutcome.WAITING else RunStatus.RUNNING
    ended = line.outcome is StepOutcome.DENIED
    changed = replace(
        run,
        status=RunStatus.DENIED if ended else status,
        heard_at=line.at,
        ended_at=line.at if ended else None,
        steps=(*run.steps, line),
    )
    return changed, line


def is_approved(trail: Sequence[StepLog], step_id: str) -> bool:
    """Whether the step has an approval that was not used yet: one is for one execution."""
    approved = False
    for line in trail:
        if line.step_id != step_id:
            continue
        if line.outcome is StepOutcome.APPROVED:
            approved = True
        elif line.outcome in _DONE or line.outcome in (StepOutcome.DENIED, StepOutcome.WAITING):
            approved = False
    return approved


def finish(
    run: SkillRun,
    skill: Skill | None,
    status: RunStatus,
    *,
    now: datetime,
    error: str | None = None,
    tokens: int | None = None,
    cost: float | None = None,
    model: str | None = None,
) -> SkillRun:
    """The run at its end; one that ended with that very status stays as it is.

    Args:
        run: With its trail.
        skill: Of the run's version; None where it is gone, and nothing of it can be checked.
        status: An end.
        now: When.
        error: What went wrong.
        tokens: Spent, >= 0.
        cost: In US dollars, >= 0.
        model: Which ran it.

    Raises:
        FailedPrecondition: the run ended otherwise (RUN_ENDED); it is said to have succeeded, and a step that asks
            first is not in its trail as done (APPROVAL_MISSING).
        InvalidArgument: ``status`` is no end, or a figure is negative.
    """
    if not status.ended:
        raise InvalidArgument(
            "A run ends as succeeded, failed, stopped or denied.",
            reason=Reason.FIELD_INVALID,
            details={"field": "status"},
        )
    for field, figure in (("tokens", tokens), ("cost", cost)):
        if figure is not None and not 0 <= figure < float("inf"):
            raise InvalidArgument(
                f"'{field}' has to be 0 or more.", reason=Reason.OUT_OF_RANGE, details={"field": field}
            )
    if run.status is status:
        return run
    check_going(run)
    if status is RunStatus.SUCCEEDED and (gate := _open_gate(run, skill)) is not None:
        raise FailedPrecondition(
            "A step that asks first was not logged as done, so the run did not succeed; do it, or end as stopped.",
            reason=Reason.APPROVAL_MISSING,
            details={"step_id": gate},
        )
    return replace(
        run,
        status=status,
        heard_at=now,
        ended_at=now,
        error=None if error is None else error[:DETAIL_CHARS_MAX],
        tokens=run.tokens if tokens is None else tokens,
        cost=run.cost if cost is None else cost,
        model=run.model if model is None else model,
    )


def cancelled(run: SkillRun, now: datetime) -> SkillRun:
    """The run, stopped; one that was stopped stays as it is.

    Raises:
        FailedPrecondition: it ended otherwise (RUN_ENDED).
    """
    return finish(run, None, RunStatus.STOPPED, now=now, error=CANCELLED)


def stale(run: SkillRun, now: datetime) -> SkillRun | None:
    """The run given up, where nothing was heard of it for half an hour; None where there is still hope."""
    if run.status.ended or now - run.heard_at < STALE_AFTER:
        return None
    return replace(run, status=RunStatus.FAILED, ended_at=now, error=STALE)


def check_going(run: SkillRun) -> None:
    """Pass where the run has not ended.

    Raises:
        FailedPrecondition: it has (RUN_ENDED).
    """
    if run.status.ended:
        raise FailedPrecondition(
            f"The run ended: {run.status}. Its trail takes no more lines.",
            reason=Reason.RUN_ENDED,
            details={"status": run.status.value},
        )


def _step_at(skill: Skill, line: StepLog) -> SkillStep:
    if 0 <= line.idx < len(skill.steps) and skill.steps[line.idx].id == line.step_id:
        return skill.steps[line.idx]
    raise InvalidArgument(
        "The skill has no such step at that place; idx counts from 0 in the version that this run started with.",
        reason=Reason.STEP_UNKNOWN,
        details={"idx": line.idx, "version": skill.version},
    )


def _open_gate(run: SkillRun, skill: Skill | None) -> str | None:
    """A step that asks first and was not done, as far as the trail knows."""
    if skill is None:
        return None
    done = {line.step_id for line in run.steps if line.outcome in _DONE}
    return next((found.id for found in skill.steps if found.requires_approval and found.id not in done), None)


def _detail(run: SkillRun, detail: str | None) -> str | None:
    if detail is None:
        return None
    left = DETAILS_CHARS_MAX - sum(len(line.detail or "") for line in run.steps)
    return detail[: min(DETAIL_CHARS_MAX, max(0, left))] or None
