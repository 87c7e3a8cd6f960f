"""Experience as JSON: documents as they are stored, and short forms for lists."""

from __future__ import annotations

from perdure.domain.experience import documents
from perdure.domain.experience.episode import Episode, Screenshot
from perdure.domain.experience.learned import SkillRecord
from perdure.domain.experience.learning import Adaptation, Overview, TrainingReport, Usage
from perdure.domain.experience.run import SkillRun
from perdure.domain.experience.skill import Skill
from perdure.domain.experience.transfer import ExperienceImport
from perdure.gateway.present import Json, time_text

_EPISODE_LINE = ("id", "name", "program", "startedAt")
_SKILL_LINE = ("id", "name", "program", "version", "sourceEpisode", "createdAt", "routine")


def episode(value: Episode) -> Json:
    """The whole episode."""
    return dict(documents.episode_to_json(value))


def episode_line(value: Episode) -> Json:
    """An episode in a list."""
    document = episode(value)
    kept: Json = {name: document[name] for name in _EPISODE_LINE if name in document}
    return {**kept, "steps": len(value.steps)}


def skill(value: Skill) -> Json:
    """The whole skill."""
    return dict(documents.skill_to_json(value))


def skill_line(value: Skill) -> Json:
    """A skill in a list."""
    document = skill(value)
    kept: Json = {name: document[name] for name in _SKILL_LINE if name in document}
    gated = sum(step.requires_approval for step in value.steps)
    return {**kept, "params": [one.name for one in value.params], "steps": len(value.steps), "gated": gated}


def run(value: SkillRun) -> Json:
    """The whole run with its trail."""
    return dict(documents.run_to_json(value))


def run_line(value: SkillRun) -> Json:
    """A run in a list."""
    return {**run(value), "steps": len(value.steps)}


def screenshot(value: Screenshot) -> Json:
    """A picture, without its bytes."""
    return {"name": value.name, "sha256": value.sha256, "media_type": value.media_type, "bytes": value.bytes}


def record(value: SkillRecord) -> Json:
    """What runs taught about a version of a skill."""
    return {
        "skill_id": value.skill_id,
        "version": value.version,
        "name": value.name,
        "runs": value.runs,
        "succeeded": value.succeeded,
        "success_rate": value.rate,
        "interval_95": [value.low, value.high],
        "fails_at": [{"step_id": step, "runs": runs} for step, runs in value.failing],
        "retire": value.retire,
        "why": value.why,
        "cost_per_success": value.cost_per_success,
    }


def adaptation(value: Adaptation) -> Json:
    """A training that was kept."""
    return {
        "number": value.number,
        "version": value.version,
        "at": time_text(value.at),
        "learned": list(value.learned),
        "passes": value.passes,
        "loss": value.loss,
        "pairs": value.pairs,
        "recall_before": value.recall_before,
        "recall_after": value.recall_after,
        "replay_before": value.replay_before,
        "replay_after": value.replay_after,
    }


def training(value: TrainingReport) -> Json:
    """What a training did, does, or would do."""
    out: Json = {
        "status": value.status.value,
        "version": value.version,
        "pending": value.pending,
        "learned": list(value.learned),
        "left_out": [
            {"kind": one.kind.value, "id": one.id, "name": one.name, "reason": one.reason, "like": one.like}
            for one in value.left_out
        ],
        "previous": value.previous,
        "message": value.message,
    }
    if value.job:
        out |= {"job": value.job, "done": value.done, "total": value.total}
    if value.adaptation is not None:
        out["adaptation"] = adaptation(value.adaptation)
    return out


def overview(value: Overview) -> Json:
    """Where a namespace's experience stands."""
    return {
        "model_version": value.model_version,
        "episodes": value.episodes,
        "skills": value.skills,
        "runs": dict(value.runs),
        "approvals": {"approved": value.approved, "denied": value.denied},
        "learned": value.learned,
        "pending": value.pending,
        "adaptations": [adaptation(one) for one in value.adaptations],
        "days": [{"day": day, **counts} for day, counts in value.days],
        "recent": [
            {"at": time_text(one.at), "what": one.what.value, "id": one.id, "name": one.name} for one in value.recent
        ],
    }


def imported(value: ExperienceImport, *, dry_run: bool) -> Json:
    """What an import did."""
    return {
        "created": dict(value.created),
        "unchanged": dict(value.unchanged),
        "problems": list(value.problems),
        "dry_run": dry_run,
    }


def usage(values: tuple[Usage, ...]) -> Json:
    """What clients were served, by client and day, and together."""
    served = sum(one.tokens_served for one in values)
    whole = sum(one.tokens_whole for one in values)
    return {
        "calls": sum(one.calls for one in values),
        "tokens_served": served,
        "tokens_saved": max(0, whole - served),
        "by_client_and_day": [
            {
                "client": one.client,
                "day": one.day,
                "calls": one.calls,
                "tokens_served": one.tokens_served,
                "tokens_saved": max(0, one.tokens_whole - one.tokens_served),
            }
            for one in values
        ],
    }
