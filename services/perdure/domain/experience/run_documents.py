"""Runs with their audit trail as JSON."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TypeVar

from perdure.domain.experience import reading
from perdure.domain.experience.episode import Json
from perdure.domain.experience.episode_documents import STEPS_MAX, step_id
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId, StepLog, StepOutcome
from perdure.domain.experience.skill import SkillId

LINES_MAX = 5 * STEPS_MAX
"""Lines of one trail."""

TOKENS_MAX = 10**12
COST_MAX = 10**9

_E = TypeVar("_E", bound=enum.StrEnum)


def run_from_json(document: Mapping[str, Json], *, path: str = "run") -> SkillRun:
    """The run in ``document``, its trail included.

    One of Builderforce's does not say which version of its skill ran; it is the first.

    Raises:
        InvalidArgument: it is malformed; ``details["field"]`` says where.
    """
    found = reading.document(document, path)
    started_at = reading.moment(found.get("startedAt"), f"{path}.startedAt")
    ended_at = reading.optional_moment(found.get("endedAt"), f"{path}.endedAt")
    heard_at = reading.optional_moment(found.get("heardAt"), f"{path}.heardAt")
    lines = reading.items(found.get("steps", []), f"{path}.steps", LINES_MAX)
    error, model, tokens, cost = (found.get(name) for name in ("error", "model", "tokens", "cost"))
    return SkillRun(
        id=SkillRunId(reading.identifier(found.get("id"), f"{path}.id")),
        skill_id=SkillId(reading.identifier(found.get("skillId"), f"{path}.skillId")),
        skill_version=reading.whole(found.get("skillVersion", 1), f"{path}.skillVersion", 1, 10**9),
        skill_name=reading.text(found.get("skillName"), f"{path}.skillName", most=reading.NAME_CHARS_MAX),
        trigger=_word(RunTrigger, found.get("trigger"), f"{path}.trigger"),
        status=_word(RunStatus, found.get("status"), f"{path}.status"),
        started_at=started_at,
        heard_at=heard_at or ended_at or started_at,
        ended_at=ended_at,
        error=None if error is None else reading.text(error, f"{path}.error", empty=True),
        steps=tuple(_line(entry, f"{path}.steps[{at}]") for at, entry in enumerate(lines)),
        holder=reading.optional_text(found.get("holder"), f"{path}.holder", most=200),
        model=None if model is None else reading.text(model, f"{path}.model", most=200, empty=True),
        tokens=None if tokens is None else reading.whole(tokens, f"{path}.tokens", 0, TOKENS_MAX),
        cost=None if cost is None else _cost(cost, f"{path}.cost"),
    )


def run_to_json(run: SkillRun) -> dict[str, Json]:
    """The document of ``run``, its trail included."""
    document: dict[str, Json] = {
        "id": run.id,
        "skillId": run.skill_id,
        "skillVersion": run.skill_version,
        "skillName": run.skill_name,
        "trigger": run.trigger.value,
        "status": run.status.value,
        "startedAt": reading.milliseconds(run.started_at),
        "heardAt": reading.milliseconds(run.heard_at),
        "endedAt": reading.optional_milliseconds(run.ended_at),
        "error": run.error,
        "steps": [_line_to_json(line) for line in run.steps],
    }
    if run.holder:
        document["holder"] = run.holder
    if run.model is not None:
        document["model"] = run.model
    if run.tokens is not None:
        document["tokens"] = run.tokens
    if run.cost is not None:
        document["cost"] = run.cost
    return document


def _line(value: Json, path: str) -> StepLog:
    found = reading.mapping(value, path)
    detail = found.get("detail")
    return StepLog(
        idx=reading.whole(found.get("idx"), f"{path}.idx", 0, 10**9),
        step_id=step_id(found.get("stepId"), f"{path}.stepId"),
        outcome=_word(StepOutcome, found.get("outcome"), f"{path}.outcome"),
        at=reading.moment(found.get("at"), f"{path}.at"),
        detail=None if detail is None else reading.text(detail, f"{path}.detail", empty=True),
        actor=reading.optional_text(found.get("actor"), f"{path}.actor", most=200),
    )


def _line_to_json(line: StepLog) -> Json:
    document: dict[str, Json] = {
        "idx": line.idx,
        "stepId": line.step_id,
        "outcome": line.outcome.value,
        "detail": line.detail,
        "at": reading.milliseconds(line.at),
    }
    return {**document, "actor": line.actor} if line.actor else document


def _word(words: type[_E], value: Json, path: str) -> _E:
    found = reading.text(value, path)
    try:
        return words(found)
    except ValueError as error:
        raise reading.invalid(path, f"'{path}' has to be one of {', '.join(words)}.") from error


def _cost(value: Json, path: str) -> float:
    found = reading.number(value, path)
    if not 0 <= found <= COST_MAX:
        raise reading.invalid(path, f"'{path}' has to be an amount of US dollars, 0 or more.")
    return float(found)
