"""What the gateway needs from the experience service; see ``backends``.

Documents that a client sent go on as they came: the service checks them, and says which step is wrong.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from perdure.domain.experience.episode import Episode, EpisodeId, Screenshot
from perdure.domain.experience.learned import SkillRecord
from perdure.domain.experience.learning import Overview, TrainingReport, Usage
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId, StepOutcome
from perdure.domain.experience.skill import Skill, SkillId
from perdure.domain.experience.transfer import ExperienceImport, Part
from perdure.domain.namespace import Caller
from perdure.ports import EpisodePage, RunPage, SkillPage


class Experience(Protocol):
    """Experience of the caller's namespace."""

    async def save_episode(self, caller: Caller, document: Mapping[str, Any], /) -> Episode:
        """The episode as it was stored, without its secrets."""

    async def episodes(self, caller: Caller, *, limit: int = 0, cursor: str = "") -> EpisodePage:
        """A page, newest first; limit 0 is 50."""

    async def episode(self, caller: Caller, id: EpisodeId, /) -> Episode:
        """The episode."""

    async def forget_episode(self, caller: Caller, id: EpisodeId, /) -> bool:
        """Whether there was such an episode; it is gone."""

    async def put_screenshot(self, caller: Caller, id: EpisodeId, name: str, data: bytes, /) -> Screenshot:
        """The picture that is kept."""

    async def screenshots(self, caller: Caller, id: EpisodeId, /) -> tuple[Screenshot, ...]:
        """The episode's pictures."""

    async def screenshot(self, caller: Caller, id: EpisodeId, name: str, /) -> tuple[Screenshot, bytes]:
        """The picture and its bytes."""

    async def preview_skill(self, caller: Caller, id: EpisodeId, edits: Mapping[str, Any] | None = None, /) -> Skill:
        """The skill that compiling would make."""

    async def compile_skill(self, caller: Caller, id: EpisodeId, edits: Mapping[str, Any] | None = None, /) -> Skill:
        """The skill, or its next version."""

    async def skills(self, caller: Caller, *, limit: int = 0, cursor: str = "") -> SkillPage:
        """A page, newest first; limit 0 is 50."""

    async def skill(self, caller: Caller, id: SkillId, version: int | None = None, /) -> Skill:
        """The skill, as it is or as that version was."""

    async def skill_versions(self, caller: Caller, id: SkillId, /) -> tuple[Skill, ...]:
        """Every version, newest first."""

    async def diff_skill(self, caller: Caller, id: SkillId, old: int, new: int, /) -> tuple[str, ...]:
        """What changed, a line each."""

    async def forget_skill(self, caller: Caller, id: SkillId, /) -> bool:
        """Whether there was such a skill; it is gone."""

    async def schedule_skill(self, caller: Caller, id: SkillId, routine: Mapping[str, Any] | None, /) -> Skill:
        """The skill with the routine, or without one."""

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

    async def heartbeat_skill(self, caller: Caller, id: SkillId, holder: str, /, *, lease_s: int = 0) -> Skill:
        """The skill, its lease made longer."""

    async def release_skill(self, caller: Caller, id: SkillId, holder: str, /) -> Skill:
        """The skill, its lease given back."""

    async def skill_records(self, caller: Caller, skill: SkillId | None = None, /) -> tuple[SkillRecord, ...]:
        """What runs taught, by skill and version."""

    async def start_run(
        self, caller: Caller, skill: SkillId, trigger: RunTrigger, /, *, holder: str = "", model: str | None = None
    ) -> SkillRun:
        """The run, begun."""

    async def log_step(
        self,
        caller: Caller,
        run: SkillRunId,
        idx: int,
        step_id: str,
        outcome: StepOutcome,
        /,
        *,
        detail: str | None = None,
    ) -> SkillRun:
        """The run with one more line in its trail."""

    async def finish_run(
        self,
        caller: Caller,
        run: SkillRunId,
        status: RunStatus,
        /,
        *,
        error: str | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        model: str | None = None,
    ) -> SkillRun:
        """The run, ended."""

    async def cancel_run(self, caller: Caller, run: SkillRunId, /) -> SkillRun:
        """The run, stopped."""

    async def runs(self, caller: Caller, *, skill: SkillId | None = None, limit: int = 0, cursor: str = "") -> RunPage:
        """A page, newest first; limit 0 is 50."""

    async def run(self, caller: Caller, run: SkillRunId, /) -> SkillRun:
        """The run with its trail."""

    async def overview(self, caller: Caller, *, days: int = 0, offset_minutes: int = 0) -> Overview:
        """Where the namespace's experience stands; days 0 is 30."""

    async def forget_all(self, caller: Caller, *, confirm: bool) -> None:
        """Erases episodes, skills and runs."""

    async def train(
        self, caller: Caller, *, dry_run: bool = False, curate: bool = False, wait_s: float = 0.0
    ) -> TrainingReport:
        """The training, over or not after ``wait_s`` (25 at most)."""

    async def training(self, caller: Caller, job: str, /) -> TrainingReport:
        """How far the training is, or what came of it."""

    async def rollback_model(self, caller: Caller) -> int:
        """The number of the model in use now; 0 is none."""

    def export(self, caller: Caller) -> AsyncIterator[Part]:
        """The head, then every document."""

    async def import_(self, caller: Caller, parts: AsyncIterator[Part], *, dry_run: bool) -> ExperienceImport:
        """Takes documents in; again is harmless."""

    async def record_usage(self, caller: Caller, client: str, /, *, calls: int, tokens_served: int) -> None:
        """Adds to what the client was served today."""

    async def usage(self, caller: Caller, *, days: int = 0) -> tuple[Usage, ...]:
        """What clients were served, oldest day first; days 0 is 30."""
