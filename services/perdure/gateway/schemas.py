"""What REST takes, checked once at the edge: JSON bodies and query parameters, and how they become domain values.

Unknown fields, wrong types and values out of range are refused by name. The domain checks lengths and texts.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from perdure.domain.memory import GLOBAL_PROJECT, Filter, MemoryType, Origin, Provenance, Statement, Status, Tier
from perdure.domain.recall.answer import DEPTH_DEFAULT, LIMIT_DEFAULT, LIMIT_MAX, QUERY_CHARS_MAX, Question
from perdure.domain.saving import BATCH_MAX, Checkpoint, Draft, Edit
from perdure.ports import JobKind

TypeName = Literal["fact", "decision", "preference", "task", "context"]
ProvenanceName = Literal["save", "checkpoint", "debate", "human"]
TierName = Literal["regular", "core"]
StatusName = Literal["active", "archived", "superseded", "consolidated"]
JobKindName = Literal["embed_pending", "reembed", "expire_idempotency"]

MAX_TOKENS = 100_000
PAGE_MAX = 500
RECENT_MAX = 50


def moment(value: object) -> object:
    """An ISO 8601 date or time as aware UTC; one without a zone is UTC. Anything else is left for the check."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if re.search(r"\d \d\d:?\d\d$", text) and "T" in text:
        # a plus in a query string arrives as a space
        text = "+".join(text.rsplit(" ", 1))
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("should be an ISO 8601 date or time, such as 2026-11-30T12:00:00Z") from None
    if parsed.tzinfo is None:
        return parsed.replace(tzinfo=UTC)
    try:
        return parsed.astimezone(UTC)
    except OverflowError:
        raise ValueError("should be a time within the years 1 to 9999") from None


Moment = Annotated[datetime, BeforeValidator(moment)]
Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Body(BaseModel):
    """A JSON body: exact types, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class OriginBody(Body):
    """Where it was said."""

    host: str = Field("", max_length=200)
    agent: str = Field("", max_length=200)
    session: str = Field("", max_length=200)

    def origin(self) -> Origin:
        """As the domain has it; the actor comes from the token."""
        return Origin(host=self.host, agent=self.agent, session=self.session)


class SaveBody(Body):
    """One memory to store."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "content": "The API listens on port 3456.",
                    "type": "fact",
                    "project": "perdure",
                    "concepts": ["gateway", "port"],
                    "files": ["services/perdure/settings.py"],
                }
            ]
        }
    )

    content: str = Field(description="The statement, complete in itself; up to 32 KiB.")
    type: TypeName = "fact"
    project: str = Field(GLOBAL_PROJECT, description="Usually the repository's name.")
    key: str | None = Field(None, description="Stable name; saving to it again replaces the memory, with history.")
    problem: str | None = None
    solution: str | None = None
    concepts: list[str] = Field(default_factory=list)
    files: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    provenance: ProvenanceName = "save"
    confidence: Unit | None = Field(None, description="Belief that it is true; left out: from its provenance.")
    importance: Unit | None = Field(None, description="How much it matters; left out: 0.5.")
    expires_at: Moment | None = None
    origin: OriginBody | None = None

    def draft(self) -> Draft:
        """As the domain has it."""
        return Draft(
            statement=Statement(
                content=self.content,
                type=MemoryType(self.type),
                project=self.project or GLOBAL_PROJECT,
                key=self.key or None,
                problem=self.problem or None,
                solution=self.solution or None,
                concepts=tuple(self.concepts),
                files=tuple(self.files),
                tags=tuple(self.tags),
            ),
            provenance=Provenance(self.provenance),
            confidence=self.confidence,
            importance=self.importance,
            expires_at=self.expires_at,
            origin=self.origin.origin() if self.origin else Origin(),
        )


class BatchBody(Body):
    """Up to 500 memories to store; each has its own outcome."""

    memories: list[SaveBody] = Field(min_length=1, max_length=BATCH_MAX)


class CheckpointBody(Body):
    """What a finished task taught."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "task_summary": "Search no longer loses its project filter.",
                    "problem": "The filter was applied after the top five were cut.",
                    "solution": "It now acts inside each arm.",
                    "concepts": ["search", "filter"],
                    "files": ["store/sqlite/search.py"],
                    "project": "perdure",
                }
            ]
        }
    )

    task_summary: str = Field(min_length=1)
    problem: str = Field(min_length=1)
    solution: str = Field(min_length=1)
    concepts: list[str] = Field(min_length=1)
    files: list[str] = Field(default_factory=list)
    project: str = GLOBAL_PROJECT
    tags: list[str] = Field(default_factory=list)
    confidence: Unit | None = None
    importance: Unit | None = None
    origin: OriginBody | None = None

    def checkpoint(self) -> Checkpoint:
        """As the domain has it."""
        return Checkpoint(
            task_summary=self.task_summary,
            problem=self.problem,
            solution=self.solution,
            files=tuple(self.files),
            concepts=tuple(self.concepts),
            project=self.project or GLOBAL_PROJECT,
            tags=tuple(self.tags),
            origin=self.origin.origin() if self.origin else Origin(),
            confidence=self.confidence,
            importance=self.importance,
        )


CLEARABLE = frozenset({"key", "problem", "solution", "expires_at"})


class UpdateBody(Body):
    """Changes: a field that is left out stays; null empties key, problem, solution or expires_at."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"content": "The API listens on port 4000."}]})

    content: str | None = Field(None, min_length=1)
    type: TypeName | None = None
    project: str | None = None
    key: str | None = None
    problem: str | None = None
    solution: str | None = None
    concepts: list[str] | None = None
    files: list[str] | None = None
    tags: list[str] | None = None
    provenance: ProvenanceName | None = None
    confidence: Unit | None = None
    importance: Unit | None = None
    expires_at: Moment | None = None

    def edit(self, expected_revision: int | None) -> Edit:
        """As the domain has it."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return edit_of(given, expected_revision)


def edit_of(given: dict[str, Any], expected_revision: int | None = None) -> Edit:
    """The edit that sets the given fields; None or "" empties those that may be empty, else leaves them."""
    clear = frozenset(name for name in CLEARABLE & given.keys() if given[name] in (None, ""))
    kept = {name: value for name, value in given.items() if value is not None and name not in clear}
    for name in ("concepts", "files", "tags"):
        if name in kept:
            kept[name] = tuple(kept[name])
    if "type" in kept:
        kept["type"] = MemoryType(kept["type"])
    if "provenance" in kept:
        kept["provenance"] = Provenance(kept["provenance"])
    return Edit(**kept, clear=clear, expected_revision=expected_revision)


class SyncBody(Body):
    """Where the session is; both may be left out, and so may the body."""

    project: str | None = None
    recent: int = Field(10, ge=1, le=RECENT_MAX)


class JobBody(Body):
    """A job to start."""

    kind: JobKindName
    parameters: dict[str, str] = Field(default_factory=dict)

    def job_kind(self) -> JobKind:
        """As the ports have it."""
        return JobKind(self.kind)


class Query(BaseModel):
    """Query parameters: text that must read as the type it is, no unknown names."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Conditions(Query):
    """Filters that act inside the search and the list."""

    type: list[TypeName] = Field(default_factory=list, description="Any of; repeat the parameter.")
    tags: list[str] = Field(default_factory=list, description="All of; repeat the parameter.")
    concepts: list[str] = Field(default_factory=list, description="All of; repeat the parameter.")
    files: list[str] = Field(default_factory=list, description="All of; repeat the parameter.")
    key: list[str] = Field(default_factory=list, description="Any of, exactly; repeat the parameter.")
    created_from: Moment | None = Field(None, description="Inclusive, ISO 8601.")
    created_to: Moment | None = Field(None, description="Exclusive, ISO 8601.")
    tier: list[TierName] = Field(default_factory=list)
    status: list[StatusName] = Field(default=["active"])

    def conditions(self, projects: tuple[str, ...] = ()) -> Filter:
        """As the domain has it."""
        return Filter(
            projects=projects,
            types=tuple(MemoryType(name) for name in self.type),
            tags=tuple(self.tags),
            concepts=tuple(self.concepts),
            files=tuple(self.files),
            keys=tuple(self.key),
            created_from=self.created_from,
            created_to=self.created_to,
            tiers=tuple(Tier(name) for name in self.tier),
            statuses=tuple(Status(name) for name in self.status),
        )


class SearchQuery(Conditions):
    """A question."""

    q: str = Field(min_length=1, max_length=QUERY_CHARS_MAX, description="What to look for, in words.")
    project: str | None = Field(None, description="Where to start; depth 2 and 3 may widen beyond it.")
    depth: int = Field(DEPTH_DEFAULT, ge=1, le=3, description="1 summaries, 2 full memories, 3 also related ones.")
    limit: int = Field(LIMIT_DEFAULT, ge=1, le=LIMIT_MAX)
    strict: bool = Field(False, description="Stay inside the project.")
    max_tokens: int | None = Field(None, ge=50, le=MAX_TOKENS, description="Cap of the answer's texts, in tokens.")
    shown_only: bool = Field(False, description="What was found is shown, not used (hooks).")
    timings: bool = Field(False, description="Add the time of each part.")
    procedures: bool = Field(False, description="Find skills and episodes too; a caller without the scope gets none.")

    def question(self) -> Question:
        """As the domain has it."""
        return Question(
            query=self.q,
            project=self.project or None,
            depth=self.depth,
            limit=self.limit,
            filter=self.conditions(),
            strict_project=self.strict,
            shown_only=self.shown_only,
            explain=True,
            procedures=self.procedures,
        )


class ListQuery(Conditions):
    """A page of memories, newest first."""

    project: list[str] = Field(default_factory=list, description="Any of; repeat the parameter.")
    limit: int = Field(50, ge=1, le=PAGE_MAX)
    cursor: str = Field("", max_length=500, description="next_cursor of the page before.")


class ExportQuery(Conditions):
    """What to export; every status unless one is named."""

    status: list[StatusName] = Field(default_factory=list)
    project: list[str] = Field(default_factory=list)
    history: bool = Field(True, description="With each memory's earlier states.")


class ImportQuery(Query):
    """How to import."""

    dry_run: bool = Field(False, description="Say what would happen and change nothing.")


class GetQuery(Query):
    """How to read one memory."""

    peek: bool = Field(False, description="Do not count this as a use.")


class DeleteQuery(Query):
    """How to delete."""

    purge: bool = Field(False, description="Erase it everywhere, for ever, instead of archiving it.")


class JobsQuery(Query):
    """Which jobs."""

    kind: JobKindName | None = None
    limit: int = Field(50, ge=1, le=PAGE_MAX)


class ReadyQuery(Query):
    """Which dependencies must be ready."""

    need: list[str] = Field(default_factory=list, description="Only these; repeat the parameter. Left out: every one.")


class NoQuery(Query):
    """No parameters."""
