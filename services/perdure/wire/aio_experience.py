"""Experience for the gateway's event loop; see ``aio`` for what all of these clients share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from perdure.domain.experience.episode import Episode, EpisodeId, Screenshot
from perdure.domain.experience.learned import SkillRecord
from perdure.domain.experience.learning import Overview, TrainingReport, Usage
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId, StepOutcome
from perdure.domain.experience.skill import Skill, SkillId
from perdure.domain.experience.transfer import ExperienceImport, Part, PartKind
from perdure.domain.namespace import Caller
from perdure.errors import PerdureError
from perdure.ports import EpisodePage, RunPage, SkillPage
from perdure.rpc.experience.v1 import experience_pb2 as pb
from perdure.rpc.experience.v1 import experience_pb2_grpc
from perdure.wire.aio import LONG_CALL_S, Client
from perdure.wire.calling import CALL_S, Feed, understood
from perdure.wire.convert import experience, fields


class AsyncExperienceClient(Client):
    """Experience of the caller's namespace; every method raises the service's errors as they are.

    Episodes, edits and routines go out as the client's own documents: the service is who checks them.
    """

    def __init__(self, target: str, *, internal_token: str = "", timeout_s: float = CALL_S) -> None:
        super().__init__(target, internal_token=internal_token, timeout_s=timeout_s)
        self._stub = experience_pb2_grpc.ExperienceServiceStub(self._link.channel)

    # ------------------------------------------------------------ episodes

    async def save_episode(self, caller: Caller, document: Mapping[str, Any]) -> Episode:
        """The episode as it was stored."""
        request = pb.SaveEpisodeRequest(document=experience.document_of(document))
        response: pb.SaveEpisodeResponse = await self._link.call(self._stub.SaveEpisode, request, caller, None)
        return understood(lambda: experience.episode_from_document(response.document))

    async def episodes(self, caller: Caller, *, limit: int = 0, cursor: str = "") -> EpisodePage:
        """A page, newest first."""
        request = pb.ListEpisodesRequest(limit=experience.page_limit(limit), cursor=fields.text(cursor))
        response: pb.ListEpisodesResponse = await self._link.call(self._stub.ListEpisodes, request, caller, None)
        return understood(
            lambda: EpisodePage(
                tuple(experience.episode_from_document(one) for one in response.documents), response.next_cursor
            )
        )

    async def episode(self, caller: Caller, id: EpisodeId) -> Episode:
        """The episode."""
        request = pb.GetEpisodeRequest(id=fields.text(id))
        response: pb.GetEpisodeResponse = await self._link.call(self._stub.GetEpisode, request, caller, None)
        return understood(lambda: experience.episode_from_document(response.document))

    async def forget_episode(self, caller: Caller, id: EpisodeId) -> bool:
        """Whether there was such an episode; it is gone."""
        request = pb.ForgetEpisodeRequest(id=fields.text(id))
        response: pb.ForgetEpisodeResponse = await self._link.call(self._stub.ForgetEpisode, request, caller, None)
        return response.forgotten

    async def put_screenshot(self, caller: Caller, id: EpisodeId, name: str, data: bytes) -> Screenshot:
        """The picture that is kept."""
        request = pb.PutScreenshotRequest(episode_id=fields.text(id), name=fields.text(name), data=data)
        response: pb.PutScreenshotResponse = await self._link.call(self._stub.PutScreenshot, request, caller, None)
        return experience.screenshot_from_proto(response.screenshot)

    async def screenshots(self, caller: Caller, id: EpisodeId) -> tuple[Screenshot, ...]:
        """The episode's pictures."""
        request = pb.ListScreenshotsRequest(episode_id=fields.text(id))
        response: pb.ListScreenshotsResponse = await self._link.call(self._stub.ListScreenshots, request, caller, None)
        return tuple(experience.screenshot_from_proto(one) for one in response.screenshots)

    async def screenshot(self, caller: Caller, id: EpisodeId, name: str) -> tuple[Screenshot, bytes]:
        """The picture and its bytes."""
        request = pb.GetScreenshotRequest(episode_id=fields.text(id), name=fields.text(name))
        response: pb.GetScreenshotResponse = await self._link.call(self._stub.GetScreenshot, request, caller, None)
        return experience.screenshot_from_proto(response.screenshot), response.data

    # ------------------------------------------------------------ skills

    async def preview_skill(self, caller: Caller, id: EpisodeId, edits: Mapping[str, Any] | None = None) -> Skill:
        """The skill that compiling would make."""
        request = pb.PreviewSkillRequest(episode_id=fields.text(id), edits=experience.document_of(edits))
        response: pb.PreviewSkillResponse = await self._link.call(self._stub.PreviewSkill, request, caller, None)
        return understood(lambda: experience.skill_from_document(response.document))

    async def compile_skill(self, caller: Caller, id: EpisodeId, edits: Mapping[str, Any] | None = None) -> Skill:
        """The skill, or its next version."""
        request = pb.CompileSkillRequest(episode_id=fields.text(id), edits=experience.document_of(edits))
        response: pb.CompileSkillResponse = await self._link.call(self._stub.CompileSkill, request, caller, None)
        return understood(lambda: experience.skill_from_document(response.document))

    async def skills(self, caller: Caller, *, limit: int = 0, cursor: str = "") -> SkillPage:
        """A page, newest first."""
        request = pb.ListSkillsRequest(limit=experience.page_limit(limit), cursor=fields.text(cursor))
        response: pb.ListSkillsResponse = await self._link.call(self._stub.ListSkills, request, caller, None)
        return understood(lambda: SkillPage(_skills(response.documents), response.next_cursor))

    async def skill(self, caller: Caller, id: SkillId, version: int | None = None) -> Skill:
        """The skill, as it is or as that version was."""
        request = pb.GetSkillRequest(id=fields.text(id), version=fields.whole(version or 0, "version", 0, 2**31))
        response: pb.GetSkillResponse = await self._link.call(self._stub.GetSkill, request, caller, None)
        return understood(lambda: experience.skill_from_document(response.document))

    async def skill_versions(self, caller: Caller, id: SkillId) -> tuple[Skill, ...]:
        """Every version, newest first."""
        request = pb.ListSkillVersionsRequest(id=fields.text(id))
        response: pb.ListSkillVersionsResponse = await self._link.call(
            self._stub.ListSkillVersions, request, caller, None
        )
        return understood(lambda: _skills(response.documents))

    async def diff_skill(self, caller: Caller, id: SkillId, old: int, new: int) -> tuple[str, ...]:
        """What changed, a line each."""
        request = pb.DiffSkillRequest(
            id=fields.text(id),
            old_version=fields.whole(old, "old_version", 1, 2**31),
            new_version=fields.whole(new, "new_version", 1, 2**31),
        )
        response: pb.DiffSkillResponse = await self._link.call(self._stub.DiffSkill, request, caller, None)
        return tuple(response.lines)

    async def forget_skill(self, caller: Caller, id: SkillId) -> bool:
        """Whether there was such a skill; it is gone."""
        request = pb.ForgetSkillRequest(id=fields.text(id))
        response: pb.ForgetSkillResponse = await self._link.call(self._stub.ForgetSkill, request, caller, None)
        return response.forgotten

    async def schedule_skill(self, caller: Caller, id: SkillId, routine: Mapping[str, Any] | None) -> Skill:
        """The skill with the routine, or without one."""
        request = pb.ScheduleSkillRequest(id=fields.text(id), routine=experience.document_of(routine))
        response: pb.ScheduleSkillResponse = await self._link.call(self._stub.ScheduleSkill, request, caller, None)
        return understood(lambda: experience.skill_from_document(response.document))

    async def due_skills(
        self,
        caller: Caller,
        *,
        holder: str,
        offset_minutes: int | None = None,
        claim: bool = True,
        lease_s: int = 0,
    ) -> tuple[Skill, ...]:
        """Skills whose time has come; with ``claim`` they are the holder's until the lease ends."""
        request = pb.DueSkillsRequest(
            holder=fields.text(holder),
            offset_minutes=offset_minutes,
            claim=claim,
            lease_s=experience.lease_s(lease_s),
        )
        response: pb.DueSkillsResponse = await self._link.call(self._stub.DueSkills, request, caller, None)
        return understood(lambda: _skills(response.documents))

    async def heartbeat_skill(self, caller: Caller, id: SkillId, holder: str, *, lease_s: int = 0) -> Skill:
        """The skill, its lease made longer."""
        request = pb.HeartbeatSkillRequest(
            id=fields.text(id), holder=fields.text(holder), lease_s=experience.lease_s(lease_s)
        )
        response: pb.HeartbeatSkillResponse = await self._link.call(self._stub.HeartbeatSkill, request, caller, None)
        return understood(lambda: experience.skill_from_document(response.document))

    async def release_skill(self, caller: Caller, id: SkillId, holder: str) -> Skill:
        """The skill, its lease given back."""
        request = pb.ReleaseSkillRequest(id=fields.text(id), holder=fields.text(holder))
        response: pb.ReleaseSkillResponse = await self._link.call(self._stub.ReleaseSkill, request, caller, None)
        return understood(lambda: experience.skill_from_document(response.document))

    async def skill_records(self, caller: Caller, skill: SkillId | None = None) -> tuple[SkillRecord, ...]:
        """What runs taught, by skill and version."""
        request = pb.SkillRecordsRequest(skill_id=fields.text(skill or ""))
        response: pb.SkillRecordsResponse = await self._link.call(self._stub.SkillRecords, request, caller, None)
        return tuple(experience.record_from_proto(one) for one in response.records)

    # ------------------------------------------------------------ runs

    async def start_run(
        self, caller: Caller, skill: SkillId, trigger: RunTrigger, *, holder: str = "", model: str | None = None
    ) -> SkillRun:
        """The run, begun."""
        request = pb.StartRunRequest(
            skill_id=fields.text(skill),
            trigger=trigger.value,
            holder=fields.text(holder),
            model=fields.optional_text(model),
        )
        response: pb.StartRunResponse = await self._link.call(self._stub.StartRun, request, caller, None)
        return understood(lambda: experience.run_from_document(response.document))

    async def log_step(
        self,
        caller: Caller,
        run: SkillRunId,
        idx: int,
        step_id: str,
        outcome: StepOutcome,
        *,
        detail: str | None = None,
    ) -> SkillRun:
        """The run with one more line in its trail."""
        request = pb.LogStepRequest(
            run_id=fields.text(run),
            idx=fields.whole(idx, "idx", 0, 2**31),
            step_id=fields.text(step_id),
            outcome=outcome.value,
            detail=fields.optional_text(detail),
        )
        response: pb.LogStepResponse = await self._link.call(self._stub.LogStep, request, caller, None)
        return understood(lambda: experience.run_from_document(response.document))

    async def finish_run(
        self,
        caller: Caller,
        run: SkillRunId,
        status: RunStatus,
        *,
        error: str | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        model: str | None = None,
    ) -> SkillRun:
        """The run, ended."""
        request = pb.FinishRunRequest(
            run_id=fields.text(run),
            status=status.value,
            error=fields.optional_text(error),
            tokens=tokens,
            cost=cost,
            model=fields.optional_text(model),
        )
        response: pb.FinishRunResponse = await self._link.call(self._stub.FinishRun, request, caller, None)
        return understood(lambda: experience.run_from_document(response.document))

    async def cancel_run(self, caller: Caller, run: SkillRunId) -> SkillRun:
        """The run, stopped."""
        request = pb.CancelRunRequest(run_id=fields.text(run))
        response: pb.CancelRunResponse = await self._link.call(self._stub.CancelRun, request, caller, None)
        return understood(lambda: experience.run_from_document(response.document))

    async def runs(self, caller: Caller, *, skill: SkillId | None = None, limit: int = 0, cursor: str = "") -> RunPage:
        """A page, newest first."""
        request = pb.ListRunsRequest(
            skill_id=fields.text(skill or ""),
            limit=experience.page_limit(limit, experience.RUNS_MAX),
            cursor=fields.text(cursor),
        )
        response: pb.ListRunsResponse = await self._link.call(self._stub.ListRuns, request, caller, None)
        return understood(
            lambda: RunPage(
                tuple(experience.run_from_document(one) for one in response.documents), response.next_cursor
            )
        )

    async def run(self, caller: Caller, run: SkillRunId) -> SkillRun:
        """The run with its trail."""
        request = pb.GetRunRequest(id=fields.text(run))
        response: pb.GetRunResponse = await self._link.call(self._stub.GetRun, request, caller, None)
        return understood(lambda: experience.run_from_document(response.document))

    # ------------------------------------------------------------ the whole, and the model

    async def overview(self, caller: Caller, *, days: int = 0, offset_minutes: int = 0) -> Overview:
        """Where the namespace's experience stands."""
        request = pb.OverviewRequest(
            days=experience.days(days), offset_minutes=fields.whole(offset_minutes, "offset_minutes", -840, 840)
        )
        response: pb.OverviewResponse = await self._link.call(self._stub.Overview, request, caller, None)
        return understood(lambda: experience.overview_from_proto(response))

    async def forget_all(self, caller: Caller, *, confirm: bool) -> None:
        """Erases episodes, skills and runs."""
        await self._link.call(self._stub.ForgetAll, pb.ForgetAllRequest(confirm=confirm), caller, LONG_CALL_S)

    async def train(
        self, caller: Caller, *, dry_run: bool = False, curate: bool = False, wait_s: float = 0.0
    ) -> TrainingReport:
        """The training, over or not after ``wait_s`` (25 at most)."""
        wait_ms = fields.whole(round(wait_s * 1000), "wait_ms", 0, experience.WAIT_MS_MAX)
        request = pb.TrainRequest(dry_run=dry_run, curate=curate, wait_ms=wait_ms)
        response: pb.TrainResponse = await self._link.call(self._stub.Train, request, caller, CALL_S + wait_s)
        return understood(lambda: experience.training_from_proto(response.training))

    async def training(self, caller: Caller, job: str) -> TrainingReport:
        """How far the training is, or what came of it."""
        request = pb.GetTrainingRequest(id=fields.text(job))
        response: pb.GetTrainingResponse = await self._link.call(self._stub.GetTraining, request, caller, None)
        return understood(lambda: experience.training_from_proto(response.training))

    async def rollback_model(self, caller: Caller) -> int:
        """The number of the model in use now; 0 is none."""
        response: pb.RollbackModelResponse = await self._link.call(
            self._stub.RollbackModel, pb.RollbackModelRequest(), caller, None
        )
        return response.number

    # ------------------------------------------------------------ in and out

    async def export(self, caller: Caller) -> AsyncIterator[Part]:
        """The head, then every document."""
        messages = self._link.stream(self._stub.ExportExperience, pb.ExportExperienceRequest(), caller, None)
        async for message in messages:
            yield Part(fields.word(PartKind, message.kind, "kind"), experience.parsed(message.document, "document"))

    async def import_(self, caller: Caller, parts: AsyncIterator[Part], *, dry_run: bool) -> ExperienceImport:
        """Takes documents in; again is harmless."""
        feed = Feed()

        def request_of(part: Part) -> pb.ImportExperienceRequest:
            return pb.ImportExperienceRequest(
                kind=part.kind.value, document=experience.document_of(part.document), dry_run=dry_run
            )

        try:
            response: pb.ImportExperienceResponse = await self._link.call(
                self._stub.ImportExperience, feed.requests_aio(parts, request_of), caller, LONG_CALL_S
            )
        # gRPC cancels its own call, as a CancelledError, when the parts raise
        except (PerdureError, asyncio.CancelledError):
            if feed.raised is not None:
                raise feed.raised from None
            raise
        return ExperienceImport(
            created=dict(response.created), unchanged=dict(response.unchanged), problems=tuple(response.problems)
        )

    # ------------------------------------------------------------ what it costs

    async def record_usage(self, caller: Caller, client: str, *, calls: int, tokens_served: int) -> None:
        """Adds to what the client was served today."""
        request = pb.RecordUsageRequest(client=fields.text(client), calls=calls, tokens_served=tokens_served)
        await self._link.call(self._stub.RecordUsage, request, caller, None)

    async def usage(self, caller: Caller, *, days: int = 0) -> tuple[Usage, ...]:
        """What clients were served, oldest day first."""
        request = pb.ReadUsageRequest(days=experience.days(days))
        response: pb.ReadUsageResponse = await self._link.call(self._stub.ReadUsage, request, caller, None)
        return tuple(experience.usage_from_proto(one) for one in response.usage)


def _skills(found: Any) -> tuple[Skill, ...]:
    return tuple(experience.skill_from_document(one) for one in found)
