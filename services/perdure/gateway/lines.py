"""A line of an export read back: JSON to a memory with its earlier states.

Lenient where others' exports differ (NaN Forget's lines have no revisions, no namespace, other bookkeeping): content is
all a line needs. Strict about types of what it does read. The namespace is always the caller's, whatever the line says.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from perdure.domain.memory import (
    GLOBAL_PROJECT,
    Memory,
    MemoryId,
    MemoryType,
    Origin,
    Provenance,
    Revision,
    Statement,
    Status,
    Tier,
)
from perdure.domain.namespace import NamespaceName
from perdure.errors import Reason
from perdure.gateway.backends import Stored
from perdure.gateway.schemas import Moment, OriginBody, StatusName, TierName, TypeName, Unit

COUNT_MAX = 2**53 - 1
"""Largest count or revision on a line; the import's own limit."""

_NAMES = uuid.UUID("6b1d4c0e-8f57-5d0e-9a36-2f2f7d3a9c11")


class BadLine(Exception):
    """A line that is no memory; the message names the field, never what it holds."""

    reason = Reason.FIELD_INVALID


class _Line(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Origin(OriginBody):
    model_config = ConfigDict(extra="ignore")

    actor: str = Field("", max_length=200)


class _Memory(_Line):
    id: uuid.UUID | None = None
    project: str = GLOBAL_PROJECT
    type: TypeName = "fact"
    content: str = Field(min_length=1)
    summary: str = ""
    key: str | None = None
    problem: str | None = None
    solution: str | None = None
    concepts: list[str] = Field(default_factory=list)
    files: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    provenance: Provenance = Provenance.IMPORT
    confidence: Unit = 0.5
    tier: TierName = "regular"
    importance: Unit = 0.5
    status: StatusName = "active"
    created_at: Moment | None = None
    updated_at: Moment | None = None
    last_accessed_at: Moment | None = None
    expires_at: Moment | None = None
    access_count: int = Field(0, ge=0, le=COUNT_MAX)
    shown_count: int = Field(0, ge=0, le=COUNT_MAX)
    revision: int = Field(1, ge=1, le=COUNT_MAX)
    origin: _Origin | None = None
    stub: str | None = None
    supersedes: list[uuid.UUID] = Field(default_factory=list)
    superseded_by: uuid.UUID | None = None
    consolidated_from: list[uuid.UUID] = Field(default_factory=list)
    consolidated_into: uuid.UUID | None = None
    related: list[uuid.UUID] = Field(default_factory=list)

    def memory(self, namespace: NamespaceName) -> Memory:
        """As the domain has it; a line without an id gets one made from its text, the same each time."""
        now = datetime.now(UTC)
        created = self.created_at or now
        own = self.id or uuid.uuid5(_NAMES, "\0".join((namespace, self.project, self.type, self.content)))
        origin = self.origin
        return Memory(
            id=_id(own),
            namespace=namespace,
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
            summary=self.summary,
            provenance=self.provenance,
            confidence=self.confidence,
            tier=Tier(self.tier),
            importance=self.importance,
            status=Status(self.status),
            created_at=created,
            updated_at=self.updated_at or created,
            last_accessed_at=self.last_accessed_at or created,
            expires_at=self.expires_at,
            access_count=self.access_count,
            shown_count=self.shown_count,
            revision=self.revision,
            origin=(
                Origin(host=origin.host, agent=origin.agent, session=origin.session, actor=origin.actor)
                if origin
                else Origin()
            ),
            stub=self.stub or None,
            supersedes=tuple(_id(item) for item in self.supersedes),
            superseded_by=_id(self.superseded_by) if self.superseded_by else None,
            consolidated_from=tuple(_id(item) for item in self.consolidated_from),
            consolidated_into=_id(self.consolidated_into) if self.consolidated_into else None,
            related=tuple(_id(item) for item in self.related),
        )


class _Revision(_Line):
    revision: int = Field(ge=1, le=COUNT_MAX)
    at: Moment
    actor: str = Field("", max_length=200)
    why: str = Field("", max_length=200)
    before: _Memory


class _Stored(_Memory):
    revisions: list[_Revision] = Field(default_factory=list)


def _id(value: uuid.UUID) -> MemoryId:
    return MemoryId(str(value))


def stored_of(raw: bytes, namespace: NamespaceName) -> Stored:
    """The memory and its earlier states on a line.

    Args:
        raw: One line of JSON.
        namespace: The caller's.

    Raises:
        BadLine: it is no JSON object, or a field has the wrong type or range.
    """
    try:
        value: Any = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise BadLine("The line is not valid JSON.") from None
    if not isinstance(value, dict):
        raise BadLine("The line is not a JSON object.")
    # NaN Forget writes null for what is empty
    given = {name: item for name, item in value.items() if item is not None}
    try:
        line = _Stored.model_validate(given)
    except ValidationError as fault:
        first = fault.errors(include_input=False, include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])[:200]
        raise BadLine(f"'{field}': {first['msg'].removeprefix('Value error, ')}.") from None
    memory = line.memory(namespace)
    revisions = tuple(
        Revision(
            memory=memory.id,
            revision=item.revision,
            at=item.at,
            actor=item.actor,
            why=item.why,
            before=item.before.model_copy(update={"id": uuid.UUID(memory.id)}).memory(namespace),
        )
        for item in line.revisions
    )
    return memory, revisions
