"""Experience: documents to values and back, and the few messages that are no documents.

Episodes, skills, runs, routines and edits are JSON of ``domain.experience.documents`` on the wire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, cast

from perdure.domain.experience import documents
from perdure.domain.experience.episode import Episode, Json, Screenshot
from perdure.domain.experience.learned import SkillRecord
from perdure.domain.experience.learning import (
    Adaptation,
    Event,
    EventKind,
    ItemKind,
    LeftOut,
    Overview,
    TrainingReport,
    TrainingStatus,
    Usage,
)
from perdure.domain.experience.run import SkillRun
from perdure.domain.experience.skill import Edits, Routine, Skill, SkillId
from perdure.errors import Reason
from perdure.rpc.experience.v1 import experience_pb2 as pb
from perdure.wire.convert import fields

PAGE_DEFAULT = 50
PAGE_MAX = 200
RUNS_MAX = 500
DAYS_DEFAULT = 30
DAYS_MAX = 365
LEASE_S_DEFAULT = 600
WAIT_MS_MAX = 25_000

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def parsed(document: str, field: str) -> Mapping[str, Json]:
    """The JSON object in ``document``.

    Raises:
        InvalidArgument: it is not one.
    """
    try:
        value = json.loads(document)
    except ValueError as error:
        raise fields.invalid(field, f"'{field}' is not JSON.", Reason.BODY_MALFORMED) from error
    if not isinstance(value, dict):
        raise fields.invalid(field, f"'{field}' is not a JSON object.", Reason.BODY_MALFORMED)
    return value


def written(document: Mapping[str, Json]) -> str:
    """``document`` as JSON that UTF-8 can carry."""
    return fields.text(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def episode_to_document(episode: Episode) -> str:
    """The document of ``episode``."""
    return written(documents.episode_to_json(episode))


def episode_from_document(document: str, now: datetime = _NEVER) -> Episode:
    """The episode in ``document``; ``now`` stands in for a time that it leaves open, as no stored one does.

    Raises:
        InvalidArgument: it is malformed; ``details`` name the step.
    """
    return documents.episode_from_json(parsed(document, "episode"), now=now)


def skill_to_document(skill: Skill) -> str:
    """The document of ``skill``."""
    return written(documents.skill_to_json(skill))


def skill_from_document(document: str) -> Skill:
    """The skill in ``document``.

    Raises:
        InvalidArgument: it is malformed.
    """
    return documents.skill_from_json(parsed(document, "skill"))


def run_to_document(run: SkillRun) -> str:
    """The document of ``run``, its trail included."""
    return written(documents.run_to_json(run))


def run_from_document(document: str) -> SkillRun:
    """The run in ``document``.

    Raises:
        InvalidArgument: it is malformed.
    """
    return documents.run_from_json(parsed(document, "run"))


def edits_from_document(document: str) -> Edits:
    """The edits in ``document``; an empty one changes nothing.

    Raises:
        InvalidArgument: it is malformed.
    """
    return documents.edits_from_json(parsed(document, "edits")) if document else Edits()


def routine_from_document(document: str) -> Routine | None:
    """The routine in ``document``; None where it is empty.

    Raises:
        InvalidArgument: it is malformed.
    """
    return documents.routine_from_json(parsed(document, "routine")) if document else None


def document_of(value: Mapping[str, Any] | None) -> str:
    """A client's own object as a document; "" for None."""
    return "" if value is None else written(cast("Mapping[str, Json]", value))


def screenshot_to_proto(screenshot: Screenshot) -> pb.Screenshot:
    """The message of ``screenshot``."""
    return pb.Screenshot(
        name=fields.text(screenshot.name),
        sha256=screenshot.sha256,
        media_type=screenshot.media_type,
        bytes=screenshot.bytes,
    )


def screenshot_from_proto(message: pb.Screenshot) -> Screenshot:
    """The picture in ``message``."""
    return Screenshot(name=message.name, sha256=message.sha256, media_type=message.media_type, bytes=message.bytes)


def record_to_proto(record: SkillRecord) -> pb.SkillRecord:
    """The message of ``record``."""
    return pb.SkillRecord(
        skill_id=record.skill_id,
        version=record.version,
        name=fields.text(record.name),
        runs=record.runs,
        succeeded=record.succeeded,
        rate=record.rate,
        rate_low=record.low,
        rate_high=record.high,
        failing=[pb.FailingStep(step_id=fields.text(step), runs=runs) for step, runs in record.failing],
        retire=record.retire,
        why=fields.text(record.why),
        cost_per_success=record.cost_per_success,
    )


def record_from_proto(message: pb.SkillRecord) -> SkillRecord:
    """The record in ``message``."""
    return SkillRecord(
        skill_id=SkillId(message.skill_id),
        version=message.version,
        name=message.name,
        runs=message.runs,
        succeeded=message.succeeded,
        rate=message.rate,
        low=message.rate_low,
        high=message.rate_high,
        failing=tuple((step.step_id, step.runs) for step in message.failing),
        retire=message.retire,
        why=message.why,
        cost_per_success=message.cost_per_success if message.HasField("cost_per_success") else None,
    )


def adaptation_to_proto(adaptation: Adaptation) -> pb.Adaptation:
    """The message of ``adaptation``."""
    return pb.Adaptation(
        number=adaptation.number,
        version=adaptation.version,
        at=fields.timestamp(adaptation.at, "at"),
        learned=adaptation.learned,
        passes=adaptation.passes,
        loss=adaptation.loss,
        pairs=adaptation.pairs,
        recall_before=adaptation.recall_before,
        recall_after=adaptation.recall_after,
        replay_before=adaptation.replay_before,
        replay_after=adaptation.replay_after,
    )


def adaptation_from_proto(message: pb.Adaptation) -> Adaptation:
    """The adaptation in ``message``."""
    has = message.HasField
    return Adaptation(
        number=message.number,
        version=message.version,
        at=fields.moment(message.at, "at"),
        learned=tuple(message.learned),
        passes=message.passes,
        loss=message.loss,
        pairs=message.pairs,
        recall_before=message.recall_before if has("recall_before") else None,
        recall_after=message.recall_after if has("recall_after") else None,
        replay_before=message.replay_before if has("replay_before") else None,
        replay_after=message.replay_after if has("replay_after") else None,
    )


def training_to_proto(report: TrainingReport) -> pb.Training:
    """The message of ``report``."""
    return pb.Training(
        status=report.status.value,
        version=report.version,
        pending=report.pending,
        learned=report.learned,
        left_out=[
            pb.LeftOut(
                kind=item.kind.value, id=item.id, name=fields.text(item.name), reason=item.reason, like=item.like
            )
            for item in report.left_out
        ],
        adaptation=adaptation_to_proto(report.adaptation) if report.adaptation else None,
        previous=report.previous,
        message=fields.text(report.message),
        job=report.job,
        done=report.done,
        total=report.total,
    )


def training_from_proto(message: pb.Training) -> TrainingReport:
    """The training in ``message``."""
    has = message.HasField
    return TrainingReport(
        status=fields.word(TrainingStatus, message.status, "status"),
        version=message.version if has("version") else None,
        pending=message.pending,
        learned=tuple(message.learned),
        left_out=tuple(
            LeftOut(
                kind=fields.word(ItemKind, item.kind, "kind"),
                id=item.id,
                name=item.name,
                reason=item.reason,
                like=item.like if item.HasField("like") else None,
            )
            for item in message.left_out
        ),
        adaptation=adaptation_from_proto(message.adaptation) if has("adaptation") else None,
        previous=message.previous if has("previous") else None,
        message=message.message,
        job=message.job,
        done=message.done,
        total=message.total,
    )


def overview_to_proto(overview: Overview) -> pb.OverviewResponse:
    """The message of ``overview``."""
    return pb.OverviewResponse(
        model_version=overview.model_version,
        episodes=overview.episodes,
        skills=overview.skills,
        runs=overview.runs,
        approved=overview.approved,
        denied=overview.denied,
        learned=overview.learned,
        pending=overview.pending,
        adaptations=[adaptation_to_proto(one) for one in overview.adaptations],
        days=[pb.Day(day=day, counts=counts) for day, counts in overview.days],
        recent=[
            pb.Event(at=fields.timestamp(one.at, "at"), what=one.what.value, id=one.id, name=fields.text(one.name))
            for one in overview.recent
        ],
    )


def overview_from_proto(message: pb.OverviewResponse) -> Overview:
    """The overview in ``message``."""
    return Overview(
        model_version=message.model_version if message.HasField("model_version") else None,
        episodes=message.episodes,
        skills=message.skills,
        runs=dict(message.runs),
        approved=message.approved,
        denied=message.denied,
        learned=message.learned,
        pending=message.pending,
        adaptations=tuple(adaptation_from_proto(one) for one in message.adaptations),
        days=tuple((day.day, dict(day.counts)) for day in message.days),
        recent=tuple(
            Event(
                at=fields.moment(one.at, "at"), what=fields.word(EventKind, one.what, "what"), id=one.id, name=one.name
            )
            for one in message.recent
        ),
    )


def usage_to_proto(usage: Usage) -> pb.Usage:
    """The message of ``usage``."""
    return pb.Usage(
        client=fields.text(usage.client),
        day=usage.day,
        calls=usage.calls,
        tokens_served=usage.tokens_served,
        tokens_whole=usage.tokens_whole,
    )


def usage_from_proto(message: pb.Usage) -> Usage:
    """The usage in ``message``."""
    return Usage(
        client=message.client,
        day=message.day,
        calls=message.calls,
        tokens_served=message.tokens_served,
        tokens_whole=message.tokens_whole,
    )


def page_limit(value: int, most: int = PAGE_MAX) -> int:
    """How many are asked for; 0 is 50.

    Raises:
        InvalidArgument: more than ``most``.
    """
    return fields.whole(value, "limit", 0, most) or PAGE_DEFAULT


def days(value: int) -> int:
    """How many days are asked for; 0 is 30.

    Raises:
        InvalidArgument: more than 365.
    """
    return fields.whole(value, "days", 0, DAYS_MAX) or DAYS_DEFAULT


def lease_s(value: int) -> int:
    """How long a lease is asked for, seconds; 0 is 600.

    Raises:
        InvalidArgument: not 30 to 86400.
    """
    return fields.whole(value, "lease_s", 30, 86_400) if value else LEASE_S_DEFAULT


def wait_s(value: int) -> float:
    """How long a caller waits for an end, seconds.

    Raises:
        InvalidArgument: more than 25000 ms.
    """
    return fields.whole(value, "wait_ms", 0, WAIT_MS_MAX) / 1000
