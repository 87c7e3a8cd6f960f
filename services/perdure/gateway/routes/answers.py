"""The shapes of REST's answers, for OpenAPI. The routes send prepared JSON; a contract test compares the two."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Out(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """What went wrong (application/problem+json); further members are facts about it."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    reason: str
    request_id: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "description": "The request cannot be served as it is."},
    "5XX": {"model": Problem, "description": "A part is away or failed; see Retry-After."},
}


class Saved(Out):
    """What a save did; ``deduplicated``: no new memory came of it."""

    id: str
    deduplicated: bool
    existing_id: str | None = None
    outcome: str = Field(examples=["created"], description="created, unchanged, merged, replaced or superseded")
    project: str
    summary: str
    revision: int
    embedded: bool = Field(description="False: its vector is still to come; words find it meanwhile.")
    superseded: list[str]
    related: list[str]
    redacted: list[str] = Field(description="Kinds of secrets that were blanked.")
    truncated: bool = Field(description="The text was longer than the model reads in one piece.")
    replayed: bool = Field(description="This is the answer of an earlier request with the same Idempotency-Key.")
    nearest_similarity: float | None = None


class BatchError(Out):
    """Why one item was not stored."""

    code: str
    reason: str
    detail: str


class BatchItem(BaseModel):
    """Outcome of one item: the members of a save, or ``error``."""

    index: int
    error: BatchError | None = None


class Batch(Out):
    """One outcome each, in order."""

    results: list[BatchItem]
    saved: int
    failed: int


class MemoryOut(Out):
    """A memory; optional members are absent when empty."""

    id: str
    namespace: str
    project: str
    type: str
    content: str
    summary: str
    provenance: str
    confidence: float
    tier: str
    importance: float
    status: str
    tags: list[str]
    concepts: list[str]
    files: list[str]
    access_count: int
    shown_count: int
    revision: int
    created_at: str
    updated_at: str
    last_accessed_at: str
    key: str | None = None
    problem: str | None = None
    solution: str | None = None
    expires_at: str | None = None
    origin: dict[str, str] | None = None
    stub: str | None = None
    content_lost: bool | None = Field(None, description="Only a stub is left of its text; re-verify what it says.")
    space: str | None = None
    supersedes: list[str] | None = None
    superseded_by: str | None = None
    consolidated_from: list[str] | None = None
    consolidated_into: str | None = None
    related: list[str] | None = None


class Parts(Out):
    """adjusted_score = relevance × decay_weight × frequency_boost × confidence_boost × importance_boost."""

    relevance: float
    similarity: float | None = None
    bm25: float
    lexical_rank: int
    decay_weight: float
    frequency_boost: float
    confidence_boost: float
    importance_boost: float


class Scored(Out):
    """How well it fits: ``score`` is its relevance to the query, ``adjusted_score`` what the order follows."""

    id: str
    key: str | None = None
    project: str
    score: float
    adjusted_score: float
    arm: str = Field(description="Which source found it: dense, lexical, both or association.")
    widened: bool = Field(description="It is of another project than the one asked for.")
    parts: Parts


class Recognised(Scored):
    """A memory by its summary."""

    summary: str
    type: str
    tags: list[str]
    concepts: list[str]
    tier: str
    confidence: float


class Recalled(Scored):
    """A memory in full."""

    memory: MemoryOut


class FoundProcedure(Out):
    """A skill or an episode found beside memories."""

    kind: str = Field(description="skill or episode.")
    id: str
    name: str
    text: str
    score: float
    place: int = Field(description="Among memories and procedures together, from 1.")
    similarity: float | None = None


class Found(Out):
    """What was found, and how."""

    stage: int
    recognition: list[Recognised]
    recall: list[Recalled]
    associations: list[Recalled]
    match: bool = Field(description="False: nothing fits the query.")
    dense_ran: bool
    lexical_ran: bool
    dense_skipped: str
    warnings: list[str]
    model: str | None = Field(None, description="Version of the private model the question was asked through.")
    procedures: list[FoundProcedure] | None = None
    timings_ms: dict[str, float] | None = None
    truncated: bool | None = Field(None, description="Texts were cut to max_tokens; read a memory whole by its id.")


class Recent(Out):
    """A memory in one line."""

    id: str
    key: str | None = None
    summary: str
    type: str
    project: str
    tier: str
    created_at: str
    last_accessed_at: str


class Synced(Out):
    """Where the namespace stands."""

    status: str
    active_memories: int
    projects: dict[str, int]
    message: str
    embedder: str
    unembedded: int
    recent: list[Recent]


class Counted(Out):
    """Counts; ``store_bytes`` only for the operator."""

    active: int
    archived: int
    superseded: int
    consolidated: int
    total: int
    by_type: dict[str, int]
    by_project: dict[str, int]
    unembedded: int
    space: str
    store_bytes: int | None = None


class Listed(Out):
    """A page; no next_cursor on the last."""

    memories: list[MemoryOut]
    next_cursor: str | None = None


class Updated(Out):
    """The memory after the edit."""

    updated: str
    revision: int
    embedded: bool
    redacted: list[str]
    memory: MemoryOut


class Removed(Out):
    """``archived`` or, for ever, ``purged``: the id."""

    archived: str | None = None
    purged: str | None = None
    revision: int | None = None


class Restored(Out):
    """The id of the memory that is back."""

    restored: str
    revision: int


class RevisionOut(Out):
    """An earlier state."""

    revision: int
    at: str
    actor: str
    why: str
    before: MemoryOut


class Past(Out):
    """A memory and what it was."""

    id: str
    memory: MemoryOut
    revisions: list[RevisionOut]


class ImportIssue(Out):
    """Why one line was not taken in."""

    line: int
    reason: str
    message: str


class Imported(Out):
    """What the import did; ``problems`` are the first 100."""

    read: int
    created: int
    unchanged: int
    merged: int
    failed: int
    problems: list[ImportIssue]
    dry_run: bool


class JobOut(Out):
    """A job and how far it is; ``total`` 0 while unknown."""

    id: str
    kind: str
    state: str
    created_at: str
    parameters: dict[str, str]
    done: int
    total: int
    message: str
    attempts: int
    cancel_requested: bool
    started_at: str | None = None
    finished_at: str | None = None
    error: str | None = None
    already_running: bool | None = Field(None, description="On a start: the job was there before.")


class JobsOut(Out):
    """Jobs, newest first."""

    jobs: list[JobOut]


class Health(Out):
    """The gateway itself is up."""

    status: str
    version: str


class DependencyState(Out):
    """``ready``, or a word for what is wrong."""

    status: str


class Readiness(Out):
    """Each dependency by name; ``status`` is ready or degraded."""

    status: str
    dependencies: dict[str, DependencyState]
