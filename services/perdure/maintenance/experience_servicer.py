"""``ExperienceService`` over gRPC: convert, call, convert, return."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import grpc

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRunId, StepOutcome
from perdure.domain.experience.skill import SkillId
from perdure.domain.experience.transfer import Part, PartKind
from perdure.ports import Clock
from perdure.rpc.experience.v1 import experience_pb2 as pb
from perdure.rpc.experience.v1.experience_pb2_grpc import ExperienceServiceServicer
from perdure.usecases.experience_episodes import Episodes
from perdure.usecases.experience_overview import ExperienceOverview
from perdure.usecases.experience_runs import Runs
from perdure.usecases.experience_skills import Skills
from perdure.usecases.experience_transfer import ExperienceTransfer
from perdure.usecases.rollback_model import RollbackModel
from perdure.usecases.start_training import StartTraining
from perdure.usecases.usage import ReadUsage, RecordUsage
from perdure.wire.convert import experience as convert
from perdure.wire.convert import fields
from perdure.wire.metadata import caller_of

SERVICE = pb.DESCRIPTOR.services_by_name["ExperienceService"].full_name

_Context: TypeAlias = grpc.ServicerContext


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperienceVerbs:
    """The use cases behind the service."""

    episodes: Episodes
    skills: Skills
    runs: Runs
    overview: ExperienceOverview
    transfer: ExperienceTransfer
    train: StartTraining
    rollback: RollbackModel
    record_usage: RecordUsage
    read_usage: ReadUsage


class ExperienceServicer(ExperienceServiceServicer):
    """The experience of the namespace named in the call's metadata."""

    def __init__(self, verbs: ExperienceVerbs, clock: Clock) -> None:
        self._do = verbs
        self._clock = clock

    # ------------------------------------------------------------ episodes

    def SaveEpisode(self, request: pb.SaveEpisodeRequest, context: _Context) -> pb.SaveEpisodeResponse:  # noqa: N802, D102 - the protocol's
        episode = convert.episode_from_document(request.document, self._clock.now())
        stored = self._do.episodes.save(caller_of(context), episode)
        return pb.SaveEpisodeResponse(document=convert.episode_to_document(stored))

    def ListEpisodes(self, request: pb.ListEpisodesRequest, context: _Context) -> pb.ListEpisodesResponse:  # noqa: N802, D102 - the protocol's
        limit = convert.page_limit(request.limit)
        page = self._do.episodes.list(caller_of(context), limit=limit, cursor=request.cursor)
        documents = [convert.episode_to_document(one) for one in page.episodes]
        return pb.ListEpisodesResponse(documents=documents, next_cursor=page.next)

    def GetEpisode(self, request: pb.GetEpisodeRequest, context: _Context) -> pb.GetEpisodeResponse:  # noqa: N802, D102 - the protocol's
        episode = self._do.episodes.get(caller_of(context), EpisodeId(request.id))
        return pb.GetEpisodeResponse(document=convert.episode_to_document(episode))

    def ForgetEpisode(self, request: pb.ForgetEpisodeRequest, context: _Context) -> pb.ForgetEpisodeResponse:  # noqa: N802, D102 - the protocol's
        return pb.ForgetEpisodeResponse(forgotten=self._do.episodes.forget(caller_of(context), EpisodeId(request.id)))

    def PutScreenshot(self, request: pb.PutScreenshotRequest, context: _Context) -> pb.PutScreenshotResponse:  # noqa: N802, D102 - the protocol's
        episode = EpisodeId(request.episode_id)
        kept = self._do.episodes.put_screenshot(caller_of(context), episode, request.name, request.data)
        return pb.PutScreenshotResponse(screenshot=convert.screenshot_to_proto(kept))

    def ListScreenshots(self, request: pb.ListScreenshotsRequest, context: _Context) -> pb.ListScreenshotsResponse:  # noqa: N802, D102 - the protocol's
        found = self._do.episodes.screenshots(caller_of(context), EpisodeId(request.episode_id))
        return pb.ListScreenshotsResponse(screenshots=[convert.screenshot_to_proto(one) for one in found])

    def GetScreenshot(self, request: pb.GetScreenshotRequest, context: _Context) -> pb.GetScreenshotResponse:  # noqa: N802, D102 - the protocol's
        episode = EpisodeId(request.episode_id)
        screenshot, data = self._do.episodes.get_screenshot(caller_of(context), episode, request.name)
        return pb.GetScreenshotResponse(screenshot=convert.screenshot_to_proto(screenshot), data=data)

    # ------------------------------------------------------------ skills

    def PreviewSkill(self, request: pb.PreviewSkillRequest, context: _Context) -> pb.PreviewSkillResponse:  # noqa: N802, D102 - the protocol's
        edits = convert.edits_from_document(request.edits)
        skill = self._do.skills.preview(caller_of(context), EpisodeId(request.episode_id), edits)
        return pb.PreviewSkillResponse(document=convert.skill_to_document(skill))

    def CompileSkill(self, request: pb.CompileSkillRequest, context: _Context) -> pb.CompileSkillResponse:  # noqa: N802, D102 - the protocol's
        edits = convert.edits_from_document(request.edits)
        skill = self._do.skills.compile(caller_of(context), EpisodeId(request.episode_id), edits)
        return pb.CompileSkillResponse(document=convert.skill_to_document(skill))

    def ListSkills(self, request: pb.ListSkillsRequest, context: _Context) -> pb.ListSkillsResponse:  # noqa: N802, D102 - the protocol's
        limit = convert.page_limit(request.limit)
        page = self._do.skills.list(caller_of(context), limit=limit, cursor=request.cursor)
        documents = [convert.skill_to_document(one) for one in page.skills]
        return pb.ListSkillsResponse(documents=documents, next_cursor=page.next)

    def GetSkill(self, request: pb.GetSkillRequest, context: _Context) -> pb.GetSkillResponse:  # noqa: N802, D102 - the protocol's
        skill = self._do.skills.get(caller_of(context), SkillId(request.id), request.version or None)
        return pb.GetSkillResponse(document=convert.skill_to_document(skill))

    def ListSkillVersions(  # noqa: N802, D102 - the protocol's
        self, request: pb.ListSkillVersionsRequest, context: _Context
    ) -> pb.ListSkillVersionsResponse:
        found = self._do.skills.versions(caller_of(context), SkillId(request.id))
        return pb.ListSkillVersionsResponse(documents=[convert.skill_to_document(one) for one in found])

    def DiffSkill(self, request: pb.DiffSkillRequest, context: _Context) -> pb.DiffSkillResponse:  # noqa: N802, D102 - the protocol's
        lines = self._do.skills.diff(caller_of(context), SkillId(request.id), request.old_version, request.new_version)
        return pb.DiffSkillResponse(lines=fields.texts(lines))

    def ForgetSkill(self, request: pb.ForgetSkillRequest, context: _Context) -> pb.ForgetSkillResponse:  # noqa: N802, D102 - the protocol's
        return pb.ForgetSkillResponse(forgotten=self._do.skills.forget(caller_of(context), SkillId(request.id)))

    def ScheduleSkill(self, request: pb.ScheduleSkillRequest, context: _Context) -> pb.ScheduleSkillResponse:  # noqa: N802, D102 - the protocol's
        routine = convert.routine_from_document(request.routine)
        skill = self._do.skills.schedule(caller_of(context), SkillId(request.id), routine)
        return pb.ScheduleSkillResponse(document=convert.skill_to_document(skill))

    def DueSkills(self, request: pb.DueSkillsRequest, context: _Context) -> pb.DueSkillsResponse:  # noqa: N802, D102 - the protocol's
        found = self._do.skills.due(
            caller_of(context),
            holder=request.holder,
            offset_minutes=request.offset_minutes if request.HasField("offset_minutes") else None,
            claim=request.claim,
            lease_s=convert.lease_s(request.lease_s),
        )
        return pb.DueSkillsResponse(documents=[convert.skill_to_document(one) for one in found])

    def HeartbeatSkill(self, request: pb.HeartbeatSkillRequest, context: _Context) -> pb.HeartbeatSkillResponse:  # noqa: N802, D102 - the protocol's
        lease_s = convert.lease_s(request.lease_s)
        skill = self._do.skills.heartbeat(caller_of(context), SkillId(request.id), request.holder, lease_s)
        return pb.HeartbeatSkillResponse(document=convert.skill_to_document(skill))

    def ReleaseSkill(self, request: pb.ReleaseSkillRequest, context: _Context) -> pb.ReleaseSkillResponse:  # noqa: N802, D102 - the protocol's
        skill = self._do.skills.release(caller_of(context), SkillId(request.id), request.holder)
        return pb.ReleaseSkillResponse(document=convert.skill_to_document(skill))

    def SkillRecords(self, request: pb.SkillRecordsRequest, context: _Context) -> pb.SkillRecordsResponse:  # noqa: N802, D102 - the protocol's
        skill = SkillId(request.skill_id) if request.skill_id else None
        found = self._do.skills.record(caller_of(context), skill)
        return pb.SkillRecordsResponse(records=[convert.record_to_proto(one) for one in found])

    # ------------------------------------------------------------ runs

    def StartRun(self, request: pb.StartRunRequest, context: _Context) -> pb.StartRunResponse:  # noqa: N802, D102 - the protocol's
        run = self._do.runs.start(
            caller_of(context),
            SkillId(request.skill_id),
            fields.word(RunTrigger, request.trigger, "trigger"),
            holder=request.holder,
            model=request.model if request.HasField("model") else None,
        )
        return pb.StartRunResponse(document=convert.run_to_document(run))

    def LogStep(self, request: pb.LogStepRequest, context: _Context) -> pb.LogStepResponse:  # noqa: N802, D102 - the protocol's
        run = self._do.runs.step(
            caller_of(context),
            SkillRunId(request.run_id),
            request.idx,
            request.step_id,
            fields.word(StepOutcome, request.outcome, "outcome"),
            request.detail if request.HasField("detail") else None,
        )
        return pb.LogStepResponse(document=convert.run_to_document(run))

    def FinishRun(self, request: pb.FinishRunRequest, context: _Context) -> pb.FinishRunResponse:  # noqa: N802, D102 - the protocol's
        has = request.HasField
        run = self._do.runs.finish(
            caller_of(context),
            SkillRunId(request.run_id),
            fields.word(RunStatus, request.status, "status"),
            error=request.error if has("error") else None,
            tokens=request.tokens if has("tokens") else None,
            cost=request.cost if has("cost") else None,
            model=request.model if has("model") else None,
        )
        return pb.FinishRunResponse(document=convert.run_to_document(run))

    def CancelRun(self, request: pb.CancelRunRequest, context: _Context) -> pb.CancelRunResponse:  # noqa: N802, D102 - the protocol's
        run = self._do.runs.cancel(caller_of(context), SkillRunId(request.run_id))
        return pb.CancelRunResponse(document=convert.run_to_document(run))

    def ListRuns(self, request: pb.ListRunsRequest, context: _Context) -> pb.ListRunsResponse:  # noqa: N802, D102 - the protocol's
        limit = convert.page_limit(request.limit, convert.RUNS_MAX)
        skill = SkillId(request.skill_id) if request.skill_id else None
        page = self._do.runs.list(caller_of(context), skill=skill, limit=limit, cursor=request.cursor)
        return pb.ListRunsResponse(documents=[convert.run_to_document(one) for one in page.runs], next_cursor=page.next)

    def GetRun(self, request: pb.GetRunRequest, context: _Context) -> pb.GetRunResponse:  # noqa: N802, D102 - the protocol's
        run = self._do.runs.get(caller_of(context), SkillRunId(request.id))
        return pb.GetRunResponse(document=convert.run_to_document(run))

    # ------------------------------------------------------------ the whole, and the model

    def Overview(self, request: pb.OverviewRequest, context: _Context) -> pb.OverviewResponse:  # noqa: N802, D102 - the protocol's
        days = convert.days(request.days)
        return convert.overview_to_proto(self._do.overview.overview(caller_of(context), days, request.offset_minutes))

    def ForgetAll(self, request: pb.ForgetAllRequest, context: _Context) -> pb.ForgetAllResponse:  # noqa: N802, D102 - the protocol's
        self._do.overview.forget_all(caller_of(context), request.confirm)
        return pb.ForgetAllResponse()

    def Train(self, request: pb.TrainRequest, context: _Context) -> pb.TrainResponse:  # noqa: N802, D102 - the protocol's
        report = self._do.train(
            caller_of(context),
            dry_run=request.dry_run,
            curate=request.curate,
            wait_s=convert.wait_s(request.wait_ms),
        )
        return pb.TrainResponse(training=convert.training_to_proto(report))

    def GetTraining(self, request: pb.GetTrainingRequest, context: _Context) -> pb.GetTrainingResponse:  # noqa: N802, D102 - the protocol's
        report = self._do.train.report(caller_of(context), request.id)
        return pb.GetTrainingResponse(training=convert.training_to_proto(report))

    def RollbackModel(self, request: pb.RollbackModelRequest, context: _Context) -> pb.RollbackModelResponse:  # noqa: N802, ARG002, D102 - the protocol's
        return pb.RollbackModelResponse(number=self._do.rollback(caller_of(context)))

    # ------------------------------------------------------------ in and out

    def ExportExperience(  # noqa: N802, D102 - the protocol's
        self,
        request: pb.ExportExperienceRequest,  # noqa: ARG002 - the protocol's
        context: _Context,
    ) -> Iterator[pb.ExportExperienceResponse]:
        for part in self._do.transfer.export(caller_of(context)):
            yield pb.ExportExperienceResponse(kind=part.kind.value, document=convert.written(part.document))

    def ImportExperience(  # noqa: N802, D102 - the protocol's
        self, request_iterator: Iterator[pb.ImportExperienceRequest], context: _Context
    ) -> pb.ImportExperienceResponse:
        parts, dry_run = _parts(request_iterator)
        report = self._do.transfer.import_(caller_of(context), parts, dry_run=dry_run)
        return pb.ImportExperienceResponse(
            created=report.created, unchanged=report.unchanged, problems=fields.texts(report.problems)
        )

    # ------------------------------------------------------------ what it costs

    def RecordUsage(self, request: pb.RecordUsageRequest, context: _Context) -> pb.RecordUsageResponse:  # noqa: N802, D102 - the protocol's
        self._do.record_usage(
            caller_of(context), request.client, calls=request.calls, tokens_served=request.tokens_served
        )
        return pb.RecordUsageResponse()

    def ReadUsage(self, request: pb.ReadUsageRequest, context: _Context) -> pb.ReadUsageResponse:  # noqa: N802, D102 - the protocol's
        found = self._do.read_usage(caller_of(context), days=convert.days(request.days))
        return pb.ReadUsageResponse(usage=[convert.usage_to_proto(one) for one in found])


def _parts(requests: Iterator[pb.ImportExperienceRequest]) -> tuple[Iterator[Part], bool]:
    """The documents that come in, and whether they are only counted, as the first one says."""
    first = next(requests, None)
    if first is None:
        return iter(()), False

    def read() -> Iterator[Part]:
        yield _part(first)
        for request in requests:
            yield _part(request)

    return read(), first.dry_run


def _part(request: pb.ImportExperienceRequest) -> Part:
    return Part(fields.word(PartKind, request.kind, "kind"), convert.parsed(request.document, "document"))
