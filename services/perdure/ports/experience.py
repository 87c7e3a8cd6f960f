"""The experience of one namespace: episodes, skills, runs, and the private model learned from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from perdure.domain.experience.episode import Episode, EpisodeId, Json, Screenshot
from perdure.domain.experience.learning import Adaptation, Adapter, Counts, Event, ItemKind, Procedure, Usage, UsedQuery
from perdure.domain.experience.run import RunStatus, SkillRun, SkillRunId, StepLog
from perdure.domain.experience.skill import Routine, Skill, SkillId
from perdure.domain.namespace import Actor, Scope
from perdure.domain.vectors import Vector
from perdure.ports.lifecycle import LifecycleReader, LifecycleUnit
from perdure.ports.store import LifecycleStore


@dataclass(frozen=True, slots=True)
class EpisodePage:
    """Episodes, newest first; ``next`` is handed back for the following page, "" on the last."""

    episodes: tuple[Episode, ...]
    next: str


@dataclass(frozen=True, slots=True)
class SkillPage:
    """Skills, newest first; ``next`` is handed back for the following page, "" on the last."""

    skills: tuple[Skill, ...]
    next: str


@dataclass(frozen=True, slots=True)
class RunPage:
    """Runs, newest first; ``next`` is handed back for the following page, "" on the last."""

    runs: tuple[SkillRun, ...]
    next: str


@dataclass(frozen=True, slots=True)
class ProcedureVector:
    """The vector of one chunk of a procedure's text (``sha256`` of the whole text it was made of)."""

    kind: ItemKind
    id: str
    chunk: int
    sha256: str
    vector: Vector


class ExperienceReader(LifecycleReader, Protocol):
    """One consistent view of the experience of one namespace; its memories can be read in the same view."""

    def episode(self, episode: EpisodeId) -> Episode | None:
        """The episode, or None."""

    def episodes(self, *, after: str, limit: int) -> EpisodePage:
        """The next episodes by started_at descending, then id."""

    def screenshots(self, episode: EpisodeId) -> tuple[Screenshot, ...]:
        """The episode's pictures, by name."""

    def screenshot_used(self, sha256: str) -> bool:
        """True while any episode of the namespace has a picture of that content."""

    def skill(self, skill: SkillId, version: int | None = None) -> Skill | None:
        """The skill as it is, or as that version was (then without its routine); None where there is none."""

    def skill_of(self, episode: EpisodeId) -> Skill | None:
        """The skill that was compiled from that episode."""

    def skills(self, *, after: str, limit: int) -> SkillPage:
        """The next skills by created_at descending, then id."""

    def versions(self, skill: SkillId) -> tuple[Skill, ...]:
        """Every version, newest first."""

    def routines(self) -> tuple[Skill, ...]:
        """Skills that have an enabled routine, the least recently run first (never run before all)."""

    def skill_run(self, run: SkillRunId) -> SkillRun | None:
        """The run with its whole trail, or None."""

    def skill_runs(self, skill: SkillId | None, *, after: str, limit: int) -> RunPage:
        """The next runs by started_at descending, then id; of one skill or of all."""

    def stale_runs(self, heard_before: datetime) -> tuple[SkillRun, ...]:
        """Runs not ended of which nothing was heard since."""

    def tally(self, skill: SkillId | None) -> tuple[tuple[SkillId, int, RunStatus, int, float], ...]:
        """Count and summed cost of ended runs, by skill, version and status."""

    def failed_steps(self, skill: SkillId) -> tuple[tuple[int, str, int], ...]:
        """Version, step id and how many runs failed at it, most first."""

    def procedures(self, space: str | None = None) -> tuple[Procedure, ...]:
        """Every skill, and every episode without one, as text, with what learned it.

        ``learned_in`` tells of the model of ``space``; without one, of the space that searches use.
        """

    def procedure_vectors(self, space: str) -> tuple[ProcedureVector, ...]:
        """Stored vectors of that space, of texts as they are now."""

    def used_queries(self, space: str, limit: int) -> tuple[UsedQuery, ...]:
        """Questions of that space whose memory is still there, newest first."""

    def superseded_of(self, space: str, limit: int) -> tuple[tuple[str, str], ...]:
        """Ids of memories that supersede another of which a vector is kept, and of that other, newest first."""

    def adapter(self, space: str) -> Adapter | None:
        """The private model in use for that space, or None."""

    def adapter_number(self, space: str) -> int:
        """Its number; 0 where there is none. Cheap: asked before each search."""

    def adapter_stamp(self, space: str) -> str:
        """Tells one model in use from every other, also from one of the same number that was rolled back; "": none.

        Cheap: asked before each search.
        """

    def shelf_stamp(self, space: str) -> str:
        """Changes whenever ``procedures`` or ``procedure_vectors`` of that space do. Cheap."""

    def adaptations(self, space: str | None = None) -> tuple[Adaptation, ...]:
        """Trainings that led to the model of ``space`` (None: that searches use), oldest first; at most 200."""

    def counts(self) -> Counts:
        """Episodes, skills, runs by status, and approvals given and denied in the trails that are kept."""

    def events(self, since: datetime, limit: int) -> tuple[Event, ...]:
        """The newest ``limit`` demonstrations, compilations and runs since then, newest first."""

    def imported_head(self) -> Mapping[str, Json]:
        """What an imported file said beside its lists; empty where none was imported."""

    def content_chars(self) -> int:
        """Characters of the texts of all active memories."""

    def usage(self, since_day: str) -> tuple[Usage, ...]:
        """What clients were served since that day, oldest day first."""


class ExperienceUnit(ExperienceReader, LifecycleUnit, Protocol):
    """One transaction on the experience of one namespace."""

    def put_episode(self, episode: Episode, procedure: Procedure) -> None:
        """Stores or replaces it, and its text."""

    def forget_episode(self, episode: EpisodeId) -> tuple[Screenshot, ...] | None:
        """Erases it and its pictures' rows; the pictures that were its, None where there was no such episode."""

    def put_screenshot(self, episode: EpisodeId, screenshot: Screenshot) -> None:
        """Adds or replaces a picture of that name.

        Raises:
            NotFound: there is no such episode.
        """

    def put_skill(self, skill: Skill, procedure: Procedure) -> None:
        """Stores a new skill, of any version and with its routine, or the next version of one, whose routine stays.

        Raises:
            Conflict: of a skill that is there, its version is not one more than the stored one (REVISION_MOVED).
        """

    def forget_skill(self, skill: SkillId) -> bool:
        """Erases every version; runs stay. False where there was none."""

    def set_routine(self, skill: SkillId, routine: Routine | None) -> None:
        """Sets or takes away the routine.

        Raises:
            NotFound: there is no such skill.
        """

    def put_run(self, run: SkillRun) -> None:
        """Stores a new run (its trail empty) and lets go of ended ones beyond the newest 500 of the namespace."""

    def change_run(self, run: SkillRun) -> None:
        """Writes status, times (but its start), error, holder, model, tokens and cost of a run; never its trail.

        Raises:
            NotFound: there is no such run.
        """

    def append_step(self, run: SkillRunId, step: StepLog) -> None:
        """Adds a line to the trail. Lines are never changed.

        Raises:
            NotFound: there is no such run.
        """

    def import_run(self, run: SkillRun) -> bool:
        """Stores a run with its trail as it was; False where its id is known."""

    def set_procedure_vectors(self, space: str, vectors: Sequence[ProcedureVector]) -> None:
        """Stores vectors of chunks, in place of all older ones of the same procedures in that space.

        Those of a procedure that is gone, or whose text is another by now, are left out.
        """

    def note_queries(self, queries: Sequence[UsedQuery], *, keep: int) -> None:
        """Adds used questions; of each namespace the newest ``keep`` stay."""

    def learn(self, adapter: Adapter, adaptation: Adaptation, learned: Sequence[tuple[ItemKind, str, str]]) -> None:
        """Makes the model the one in use and writes down what it learned (kind, id, text's sha256).

        Raises:
            Conflict: its number is not one more than that in use (REVISION_MOVED).
        """

    def rollback_model(self, space: str) -> int | None:
        """Goes back to the version before; what later ones learned is pending again, and the discarded one gone.

        Returns:
            The number in use now (0: none); None where there was nothing to go back from, or where the version before
            is too old to be kept (ten are).
        """

    def keep_imported_head(self, document: Mapping[str, Json]) -> None:
        """Stores or replaces what an imported file said beside its lists."""

    def forget_experience(self) -> tuple[Screenshot, ...]:
        """Erases episodes, skills and runs; memories and model stay. The pictures that were theirs."""

    def record_usage(self, usage: Sequence[Usage]) -> None:
        """Adds to what clients were served."""


class ExperienceStore(LifecycleStore, Protocol):
    """A store that keeps experience too."""

    def experience_view(self, scope: Scope) -> AbstractContextManager[ExperienceReader]:
        """A consistent view of one namespace; errors as ``read``."""

    def experience(self, scope: Scope, actor: Actor) -> AbstractContextManager[ExperienceUnit]:
        """A transaction on one namespace; errors as ``write``."""


class ScreenshotFiles(Protocol):
    """Keeps pictures by their content, outside the store.

    ``put`` before the row that names the picture is written and ``forget`` after the last such row went, both inside a
    transaction of the store: it lets one writer at a time do either, so no file is deleted that another just named.
    """

    def put(self, scope: Scope, data: bytes) -> str:
        """Writes the picture durably; its sha256, hex."""

    def get(self, scope: Scope, sha256: str) -> bytes | None:
        """The picture, or None."""

    def forget(self, scope: Scope, sha256: str) -> None:
        """Deletes it, if it is there."""
