"""Arguments of the toolsets experience, keyed and cost: the predecessor's names, so that its prompts go on working."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from perdure.domain.memory import GLOBAL_PROJECT
from perdure.gateway.tools.arguments import Arguments

RECALL_MAX = 5
"""Builderforce Memory's cap on what a recall shows."""

EpisodeName = Annotated[str, Field(min_length=1, max_length=64, alias="episodeId", description="Id of an episode.")]
SkillName = Annotated[str, Field(min_length=1, max_length=64, alias="skillId", description="Id of a skill.")]
RunName = Annotated[str, Field(min_length=1, max_length=64, alias="runId", description="Id of a run.")]
AnyId = Annotated[str, Field(min_length=1, max_length=64)]
Cursor = Annotated[str, Field(max_length=500, description="From the page before.")]


class OverviewArguments(Arguments):
    """Of experience_overview."""

    days: int = Field(30, ge=1, le=365)


class ConfirmArguments(Arguments):
    """Of experience_forget_all."""

    confirm: Literal[True] = Field(description="Must be true.")


class EpisodeArguments(Arguments):
    """Of episode_save."""

    episode: dict[str, Any] = Field(
        description=(
            "{id?, name, program, args?, steps: [{id, atMs?, action}]}; an action is {kind: click, target}, "
            "{kind: setValue, target, value, secret?}, {kind: keys, keys, target?} or {kind: tool, name, arguments}; "
            "a target is {name, automationId?, controlType?, windowTitle?}"
        )
    )


class PageArguments(Arguments):
    """Of episode_list and skill_list."""

    limit: int = Field(50, ge=1, le=200)
    cursor: Cursor = ""


class IdArguments(Arguments):
    """Of tools that take one id."""

    id: AnyId


class SkillArguments(Arguments):
    """Of skill_get."""

    id: AnyId
    version: int | None = Field(None, ge=1, description="An older one.")


class CompileArguments(Arguments):
    """Of skill_preview and skill_compile."""

    episode: EpisodeName
    edits: dict[str, Any] | None = Field(
        None,
        description="{name?, removed: [id], fixed: [stepId], approvals: {stepId: bool}, paramNames: {stepId: name}}",
    )


class ScheduleArguments(Arguments):
    """Of skill_schedule."""

    id: AnyId
    routine: dict[str, Any] | None = Field(
        description=(
            "null takes it away; else {schedule, values: {name: text}, enabled}; a schedule is {every: minutes, "
            "minutes}, {every: day, hour, minute, zone?} or {every: cron, expression, zone?}"
        )
    )


class DueArguments(Arguments):
    """Of skills_due."""

    offset_minutes: int | None = Field(None, ge=-840, le=840, alias="tzOffsetMinutes")
    holder: str | None = Field(None, min_length=1, max_length=200, description="Name of this host, if it has one.")
    claim: bool = Field(True, description="false only looks.")


class StartArguments(Arguments):
    """Of run_start."""

    skill: SkillName
    trigger: Literal["manual", "routine"]
    holder: str | None = Field(None, min_length=1, max_length=200, description="As in skills_due.")
    model: str | None = Field(None, max_length=200)


class StepArguments(Arguments):
    """Of run_step."""

    run: RunName
    idx: int = Field(ge=0, description="The step's place in the skill, from 0.")
    step: str = Field(min_length=1, max_length=200, alias="stepId")
    outcome: Literal["ok", "fallback", "failed", "approved", "denied", "waiting"]
    detail: str | None = Field(None, max_length=4000)


class FinishArguments(Arguments):
    """Of run_finish."""

    run: RunName
    status: Literal["succeeded", "failed", "stopped", "denied"]
    error: str | None = Field(None, max_length=4000)
    tokens: int | None = Field(None, ge=0)
    cost: float | None = Field(None, ge=0, allow_inf_nan=False, description="US dollars.")
    model: str | None = Field(None, max_length=200)


class RunsArguments(Arguments):
    """Of run_list."""

    limit: int = Field(50, ge=1, le=500)
    cursor: Cursor = ""


class TrainArguments(Arguments):
    """Of experience_train."""

    dry_run: bool = Field(False, alias="dryRun", description="Say what would be learned, and learn nothing.")
    curate: bool = Field(False, description="Leave out what mostly fails, and near-copies.")


class RecallArguments(Arguments):
    """Of memory_recall."""

    query: str = Field(min_length=1, max_length=4000)
    top: int = Field(RECALL_MAX, ge=1, le=RECALL_MAX, alias="topK")


class TagArguments(Arguments):
    """Of memory_recall_by_tag."""

    tag: str = Field(min_length=1)
    limit: int = Field(RECALL_MAX, ge=1, le=RECALL_MAX)


class RememberArguments(Arguments):
    """Of memory_remember."""

    key: str = Field(min_length=1, description="Stable and telling; the same fact keeps its key.")
    content: str = Field(min_length=1)
    tags: list[str] | None = None
    importance: float | None = Field(None, ge=0, le=1, allow_inf_nan=False)
    ttl_ms: int | None = Field(None, gt=0, le=10**13, alias="ttlMs", description="Milliseconds until it ends.")
    project: str = Field(GLOBAL_PROJECT, description="The repository's name; left out: true everywhere.")


class KeyArguments(Arguments):
    """Of memory_forget."""

    key: str = Field(min_length=1)
    project: str | None = Field(None, description="Where the same key stands in more than one project.")


class UsageArguments(Arguments):
    """Of token_usage."""

    days: int = Field(30, ge=1, le=365)
