"""Arguments of the tools: checked by pydantic, advertised as lean JSON schemas, refused in words a model can act on.

Models send "5" for 5; that is accepted. An argument nobody knows is refused by name, never dropped.
"""

from __future__ import annotations

import functools
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from perdure.domain.memory import GLOBAL_PROJECT, Filter, MemoryType, Origin, Provenance, Statement, Status, Tier
from perdure.domain.recall.answer import DEPTH_DEFAULT, LIMIT_DEFAULT, LIMIT_MAX, QUERY_CHARS_MAX, Question
from perdure.domain.saving import Checkpoint, Draft, Edit
from perdure.gateway.schemas import Moment, ProvenanceName, StatusName, TypeName, Unit, edit_of

TOKENS_MIN = 300
TOKENS_MAX = 20_000

Id = Annotated[str, Field(description="Id of a memory.")]
Texts = list[str] | None
Tokens = Annotated[int | None, Field(ge=TOKENS_MIN, le=TOKENS_MAX, description="Cap of the answer, in tokens.")]


class BadArguments(Exception):
    """The arguments do not fit; the message says which and how, in words for a model."""


class Arguments(BaseModel):
    """Arguments of one tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class SyncArguments(Arguments):
    """Of memory_sync."""

    project: str | None = Field(
        None, description="The repository's name; left out: yours, if it is known, else every project."
    )
    limit: int = Field(10, ge=1, le=50)
    max_tokens: Tokens = None


class SaveArguments(Arguments):
    """Of memory_save."""

    content: str = Field(min_length=1, description="One statement, complete in itself.")
    type: TypeName = "fact"
    project: str | None = Field(
        None, description="The repository's name; left out: yours, if it is known. _global: true everywhere."
    )
    tags: Texts = None
    problem: str | None = None
    solution: str | None = None
    files: Texts = None
    concepts: Texts = Field(None, description="Its subjects, a few words each.")
    provenance: ProvenanceName = Field("save", description="human: the user said so; debate: it was argued out.")
    confidence: Unit | None = None
    importance: Unit | None = None
    key: str | None = Field(None, description="Stable name; saving to it again replaces the memory.")
    expires_at: Moment | None = Field(None, description="When it stops being true, ISO 8601.")

    def draft(self, origin: Origin) -> Draft:
        """As the domain has it."""
        return Draft(
            statement=Statement(
                content=self.content,
                type=MemoryType(self.type),
                project=self.project or GLOBAL_PROJECT,
                key=self.key or None,
                problem=self.problem or None,
                solution=self.solution or None,
                concepts=tuple(self.concepts or ()),
                files=tuple(self.files or ()),
                tags=tuple(self.tags or ()),
            ),
            provenance=Provenance(self.provenance),
            confidence=self.confidence,
            importance=self.importance,
            expires_at=self.expires_at,
            origin=origin,
        )


class SearchArguments(Arguments):
    """Of memory_search."""

    query: str = Field(min_length=1, max_length=QUERY_CHARS_MAX, description="Plain words, identifiers, error texts.")
    project: str | None = Field(None, description="Where to start; others are searched too.")
    depth: int = Field(DEPTH_DEFAULT, ge=1, le=3, description="1 summaries, 2 memories, 3 also related ones.")
    limit: int = Field(LIMIT_DEFAULT, ge=1, le=LIMIT_MAX)
    type: TypeName | None = None
    tags: Texts = Field(None, description="All of these.")
    concepts: Texts = None
    files: Texts = None
    created_from: Moment | None = Field(None, description="ISO 8601, inclusive.")
    created_to: Moment | None = Field(None, description="Exclusive.")
    tier: Literal["regular", "core"] | None = None
    status: StatusName = "active"
    strict: bool = Field(False, description="Only this project.")
    max_tokens: Tokens = None
    _procedures: bool = PrivateAttr(False)

    def beside_procedures(self) -> None:
        """Find skills and episodes too: the client was shown the tools that read them."""
        self._procedures = True

    def question(self) -> Question:
        """As the domain has it."""
        return Question(
            query=self.query,
            project=self.project or None,
            depth=self.depth,
            limit=self.limit,
            filter=Filter(
                types=(MemoryType(self.type),) if self.type else (),
                tags=tuple(self.tags or ()),
                concepts=tuple(self.concepts or ()),
                files=tuple(self.files or ()),
                created_from=self.created_from,
                created_to=self.created_to,
                tiers=(Tier(self.tier),) if self.tier else (),
                statuses=(Status(self.status),),
            ),
            strict_project=self.strict,
            procedures=self._procedures,
        )


class GetArguments(Arguments):
    """Of memory_get."""

    id: Id
    max_tokens: Tokens = None


class UpdateArguments(Arguments):
    """Of memory_update."""

    id: Id
    content: str | None = Field(None, min_length=1)
    type: TypeName | None = None
    tags: Texts = Field(None, description="Replaces the tags.")
    project: str | None = None
    key: str | None = Field(None, description='"" takes it away.')
    problem: str | None = None
    solution: str | None = None
    concepts: Texts = None
    files: Texts = None
    confidence: Unit | None = None
    importance: Unit | None = None
    expires_at: Moment | Literal[""] | None = None
    revision: int | None = Field(None, ge=1, description="Change only if it is still this revision.")

    def edit(self) -> Edit:
        """As the domain has it; an argument that is null stays as it is, "" empties what may be empty."""
        names = self.model_fields_set - {"id", "revision"}
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        if not given:
            raise BadArguments("memory_update needs at least one field to change, such as content.")
        return edit_of(given, self.revision)


class IdArguments(Arguments):
    """Of tools that take a memory."""

    id: Id


class CheckpointArguments(Arguments):
    """Of memory_checkpoint."""

    task_summary: str = Field(min_length=1, description="What was done.")
    problem: str = Field(min_length=1)
    solution: str = Field(min_length=1)
    files: list[str] = Field(default_factory=list)
    concepts: list[str] = Field(min_length=1)
    project: str | None = Field(None, description="The repository's name; left out: yours, if it is known.")
    tags: Texts = None

    def checkpoint(self, origin: Origin) -> Checkpoint:
        """As the domain has it."""
        return Checkpoint(
            task_summary=self.task_summary,
            problem=self.problem,
            solution=self.solution,
            files=tuple(self.files),
            concepts=tuple(self.concepts),
            project=self.project or GLOBAL_PROJECT,
            tags=tuple(self.tags or ()),
            origin=origin,
        )


class ListArguments(Arguments):
    """Of memory_list."""

    project: str | None = None
    type: TypeName | None = None
    tags: Texts = None
    status: StatusName = "active"
    limit: int = Field(20, ge=1, le=100)
    cursor: str = Field("", max_length=500, description="From the page before.")
    max_tokens: Tokens = None

    def conditions(self) -> Filter:
        """As the domain has it."""
        return Filter(
            projects=(self.project,) if self.project else (),
            types=(MemoryType(self.type),) if self.type else (),
            tags=tuple(self.tags or ()),
            statuses=(Status(self.status),),
        )


class ConsolidateArguments(Arguments):
    """Of memory_consolidate."""

    project: str | None = Field(None, description="Only this project; left out: every one.")
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")


class CleanArguments(Arguments):
    """Of memory_clean."""

    project: str | None = Field(None, description="Only this project; left out: every one.")
    dry_run: bool = Field(False, description="Say what would be done, and do nothing.")


class CompactArguments(Arguments):
    """Of memory_compact; the predecessor's names, and ``ids`` beside its ``keys``."""

    keys: list[str] = Field(min_length=1, max_length=200, description="Keys or ids of memories.")
    stub: str | None = Field(None, max_length=2000, description="Your own line instead; for one memory only.")
    dry_run: bool = False


class RestoreArguments(Arguments):
    """Of memory_restore: an id (a memory comes back) or JSON (texts come home)."""

    id: str | None = Field(None, description="Bring this archived or superseded memory back.")
    json_: str | list[dict[str, Any]] | None = Field(
        None, alias="json", description='Texts: [{"key" or "id", "content"}] as JSON.'
    )

    def texts(self) -> list[tuple[str, str]]:
        """Names and texts of the JSON; the predecessor's dumps say "text" for content."""
        try:
            items = self.json_ if isinstance(self.json_, list) else json.loads(self.json_ or "")
        except ValueError:
            raise BadArguments("memory_restore: 'json' is not valid JSON.") from None
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise BadArguments('memory_restore: \'json\' is a list such as [{"key": "...", "content": "..."}].')
        found = [
            (str(item.get("key") or item.get("id") or ""), item.get("content") or item.get("text")) for item in items
        ]
        if not found or not all(isinstance(text, str) and text for _, text in found):
            raise BadArguments("memory_restore: every item of 'json' needs its full text as content.")
        return [(name, str(text)) for name, text in found]


class NoArguments(Arguments):
    """Of tools that take none."""


@functools.cache
def schema(model: type[Arguments]) -> dict[str, Any]:
    """The JSON schema that a client is shown: no titles, no null where leaving out means the same.

    Made once for each model; do not change it.
    """
    raw = model.model_json_schema()
    properties = {name: _lean(field) for name, field in raw.get("properties", {}).items()}
    out: dict[str, Any] = {"type": "object", "properties": properties}
    if required := raw.get("required"):
        out["required"] = required
    out["additionalProperties"] = False
    return out


def _lean(field: dict[str, Any]) -> dict[str, Any]:
    out = {name: value for name, value in field.items() if name not in ("title", "anyOf", "minLength", "maxLength")}
    for choice in field.get("anyOf", ()):
        # the first alternative is the type itself; null and "" only say how to leave it out
        if choice.get("type") != "null":
            out = {**_lean(choice), **out}
            break
    if out.get("default", 0) is None or out.get("default") == "":
        del out["default"]
    return out


def parsed(tool: str, model: type[Arguments], given: dict[str, Any]) -> Any:
    """The arguments, checked.

    Raises:
        BadArguments: one is unknown, missing, of a wrong type or out of range.
    """
    try:
        return model.model_validate(given)
    except ValidationError as fault:
        problems = [_said(dict(item)) for item in fault.errors(include_input=False, include_url=False)[:5]]
        known = ", ".join(field.alias or name for name, field in model.model_fields.items()) or "none"
        raise BadArguments(f"{tool}: {' '.join(problems)} Its arguments: {known}.") from None


def _said(error: dict[str, Any]) -> str:
    name = ".".join(str(part) for part in error["loc"])[:100] or "arguments"
    match error["type"]:
        case "extra_forbidden":
            return f"There is no argument '{name}'."
        case "missing":
            return f"'{name}' is missing."
        case _:
            return f"'{name}': {str(error['msg']).removeprefix('Value error, ').removeprefix('Input ')}."
