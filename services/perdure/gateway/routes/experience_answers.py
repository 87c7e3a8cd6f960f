"""The shapes of the experience's answers, for OpenAPI. Documents are of the schema evermind.experience/1."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from perdure.gateway.routes.answers import Out


class Document(BaseModel):
    """An episode, skill or run; docs/reference/experience.md has its fields."""

    model_config = ConfigDict(extra="allow")

    id: str
    name: str | None = None


class Episodes(Out):
    """Demonstrations, short."""

    episodes: list[Document]
    next_cursor: str


class Skills(Out):
    """Skills, short."""

    skills: list[Document]
    next_cursor: str


class Due(Out):
    """Skills that are the caller's to run until their lease ends."""

    skills: list[Document]


class Versions(Out):
    """Every version of a skill."""

    versions: list[Document]


class Diff(Out):
    """What changed."""

    old: int
    new: int
    lines: list[str]


class Runs(Out):
    """Runs, without their trails."""

    runs: list[Document]
    next_cursor: str


class Forgotten(Out):
    """Whether there was something to forget."""

    forgotten: bool


class Picture(Out):
    """A picture of an episode."""

    name: str
    sha256: str
    media_type: str
    bytes: int


class Pictures(Out):
    """The pictures of an episode."""

    screenshots: list[Picture]


class FailsAt(Out):
    """A step and how many runs failed at it."""

    step_id: str
    runs: int


class Record(Out):
    """What runs taught about one version of a skill."""

    skill_id: str
    version: int
    name: str
    runs: int
    succeeded: int
    success_rate: float
    interval_95: list[float]
    fails_at: list[FailsAt]
    retire: bool
    why: str
    cost_per_success: float | None = None


class Records(Out):
    """What runs taught."""

    records: list[Record]


class Adapted(Out):
    """A training that was kept."""

    number: int
    version: str
    at: str
    learned: list[str]
    passes: int
    loss: float
    pairs: int
    recall_before: float | None = None
    recall_after: float | None = None
    replay_before: float | None = None
    replay_after: float | None = None


class LeftOutItem(Out):
    """A procedure that was left out: mostly_fails, near_copy."""

    kind: str
    id: str
    name: str
    reason: str
    like: str | None = None


class Training(Out):
    """What a training did, does, or would do."""

    status: str
    version: str | None
    pending: int
    learned: list[str]
    left_out: list[LeftOutItem]
    previous: str | None
    message: str
    job: str | None = None
    done: int | None = None
    total: int | None = None
    adaptation: Adapted | None = None


class RolledBack(Out):
    """The number of the model in use now; 0 is none."""

    number: int


class Overview(Out):
    """Where a namespace's experience stands."""

    model_version: str | None
    episodes: int
    skills: int
    runs: dict[str, int]
    approvals: dict[str, int]
    learned: int
    pending: int
    adaptations: list[Adapted]
    days: list[dict[str, Any]]
    recent: list[dict[str, str]]


class ImportedExperience(Out):
    """What came in, by kind."""

    created: dict[str, int]
    unchanged: dict[str, int]
    problems: list[str]
    dry_run: bool


class UsageLine(Out):
    """One client on one day."""

    client: str
    day: str
    calls: int
    tokens_served: int
    tokens_saved: int


class UsageOut(Out):
    """Tokens served, and saved against putting the whole store into each prompt."""

    calls: int
    tokens_served: int
    tokens_saved: int
    by_client_and_day: list[UsageLine]
