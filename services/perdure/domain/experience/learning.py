"""What a namespace's private model has learned, and from what. Values only."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from perdure.domain.experience.run import RunStatus
from perdure.domain.memory import MemoryId
from perdure.domain.vectors import Matrix, Vector


class ItemKind(enum.StrEnum):
    """What can be learned from."""

    SKILL = "skill"
    EPISODE = "episode"


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """A skill or an episode as text: what search finds and training learns.

    ``sha256`` of ``text``. ``learned_in``: the model version's number that learned this very text, None where none did.
    """

    kind: ItemKind
    id: str
    name: str
    text: str
    sha256: str
    updated_at: datetime
    learned_in: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedQuery:
    """A question's vector (of ``space``) and the memory that was then read in full. The question itself is not kept."""

    vector: Vector
    space: str
    memory: MemoryId
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Adapter:
    """A private model: ``q' = normalise(q + B·(A·q))``, on the query's side only.

    ``down`` is A, float32 (rank, dimension); ``up`` is B, float32 (dimension, rank). ``version`` is
    ``<space>+exp<number>``; ``number`` counts from 1.
    """

    version: str
    number: int
    space: str
    down: Matrix
    up: Matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class Adaptation:
    """One training that was kept. ``learned``: ids of what it learned. ``loss``: mean over the last pass.

    ``recall_before``, ``recall_after``: recall@5 on the part held out, in [0, 1]; ``replay_before`` and
    ``replay_after`` on the replay set; None where that part was empty.
    """

    number: int
    version: str
    at: datetime
    learned: tuple[str, ...]
    passes: int
    loss: float
    pairs: int = 0
    recall_before: float | None = None
    recall_after: float | None = None
    replay_before: float | None = None
    replay_after: float | None = None


class TrainingStatus(enum.StrEnum):
    """How a training ended. ``kept_old``: the new model was worse, so the old one stays."""

    DRY_RUN = "dry_run"
    NOTHING_NEW = "nothing_new"
    NO_WINDOW = "no_window"
    TRAINED = "trained"
    KEPT_OLD = "kept_old"
    QUEUED = "queued"
    RUNNING = "running"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A procedure that curation left out, and why: ``mostly_fails``, ``near_copy`` (of ``like``)."""

    kind: ItemKind
    id: str
    name: str
    reason: str
    like: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingReport:
    """What a training did or would do; ``job`` is the job's id, empty for a dry run."""

    status: TrainingStatus
    version: str | None
    pending: int = 0
    learned: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    adaptation: Adaptation | None = None
    previous: str | None = None
    message: str = ""
    job: str = ""
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one client was served on one day (UTC, ``YYYY-MM-DD``), in tokens.

    ``tokens_whole``: what putting the whole store into the prompt each time would have been.
    """

    client: str
    day: str
    calls: int
    tokens_served: int
    tokens_whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much experience there is; ``approved`` and ``denied`` count lines of the trails that are kept."""

    episodes: int
    skills: int
    runs: Mapping[RunStatus, int]
    approved: int
    denied: int


class EventKind(enum.StrEnum):
    """What can happen."""

    DEMONSTRATION = "demonstration"
    SKILL = "skill"
    RUN = "run"
    TRAINING = "training"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to the episode, skill, run or model ``id``."""

    at: datetime
    what: EventKind
    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Where the experience of a namespace stands; ``adaptations``: the loaded model's lineage, oldest first.

    ``days``: by local day, oldest first, empty ones included: demonstrations, skills, runs, learned. ``recent``: at
    most 40 events, newest first.
    """

    model_version: str | None
    episodes: int
    skills: int
    runs: Mapping[str, int]
    approved: int
    denied: int
    learned: int
    pending: int
    adaptations: tuple[Adaptation, ...] = ()
    days: tuple[tuple[str, Mapping[str, int]], ...] = ()
    recent: tuple[Event, ...] = ()
