"""Memories, revisions, origins and filters."""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.memory import (
    Filter,
    Memory,
    MemoryType,
    Origin,
    Provenance,
    Revision,
    Statement,
    Status,
    Tier,
)
from perdure.domain.namespace import namespace_name
from perdure.errors import Reason
from perdure.rpc.model.v1 import model_pb2 as pb
from perdure.wire.convert import fields

TYPES = fields.Names(MemoryType, pb.MemoryType.items(), "MEMORY_TYPE")
PROVENANCES = fields.Names(Provenance, pb.Provenance.items(), "PROVENANCE")
TIERS = fields.Names(Tier, pb.Tier.items(), "TIER")
STATUSES = fields.Names(Status, pb.Status.items(), "STATUS")


def origin_to_proto(origin: Origin) -> pb.Origin:
    """The message of ``origin``."""
    return pb.Origin(
        host=fields.text(origin.host),
        agent=fields.text(origin.agent),
        session=fields.text(origin.session),
        actor=fields.text(origin.actor),
    )


def origin_from_proto(message: pb.Origin) -> Origin:
    """The origin in ``message``; an absent one is empty."""
    return Origin(host=message.host, agent=message.agent, session=message.session, actor=message.actor)


def memory_to_proto(memory: Memory) -> pb.Memory:
    """The message of ``memory``.

    Raises:
        InvalidArgument: a time has no time zone.
    """
    said = memory.statement
    return pb.Memory(
        id=memory.id,
        namespace=memory.namespace,
        project=fields.text(said.project),
        key=fields.optional_text(said.key),
        type=TYPES.number(said.type),  # type: ignore[arg-type]  # stubs want the enum's own type
        content=fields.text(said.content),
        summary=fields.text(memory.summary),
        problem=fields.optional_text(said.problem),
        solution=fields.optional_text(said.solution),
        concepts=fields.texts(said.concepts),
        files=fields.texts(said.files),
        tags=fields.texts(said.tags),
        provenance=PROVENANCES.number(memory.provenance),  # type: ignore[arg-type]  # as above
        confidence=memory.confidence,
        tier=TIERS.number(memory.tier),  # type: ignore[arg-type]  # as above
        importance=memory.importance,
        status=STATUSES.number(memory.status),  # type: ignore[arg-type]  # as above
        access_count=memory.access_count,
        shown_count=memory.shown_count,
        created_at=fields.timestamp(memory.created_at, "created_at"),
        updated_at=fields.timestamp(memory.updated_at, "updated_at"),
        last_accessed_at=fields.timestamp(memory.last_accessed_at, "last_accessed_at"),
        expires_at=fields.optional_timestamp(memory.expires_at, "expires_at"),
        revision=memory.revision,
        origin=origin_to_proto(memory.origin),
        stub=fields.optional_text(memory.stub),
        space=memory.space,
        supersedes=memory.supersedes,
        superseded_by=memory.superseded_by,
        consolidated_from=memory.consolidated_from,
        consolidated_into=memory.consolidated_into,
        related=memory.related,
    )


def memory_from_proto(message: pb.Memory) -> Memory:
    """The memory in ``message``.

    Raises:
        InvalidArgument: an id, namespace, enum, time or number is missing or malformed.
    """
    for name in ("created_at", "updated_at", "last_accessed_at"):
        fields.present(message, name)
    if not message.project:
        raise fields.invalid("project", "The field project is missing.", Reason.FIELD_MISSING)
    has = message.HasField
    return Memory(
        id=fields.memory_id(message.id),
        namespace=namespace_name(message.namespace),
        statement=Statement(
            content=message.content,
            type=TYPES.member(message.type, "type"),
            project=message.project,
            key=message.key if has("key") else None,
            problem=message.problem if has("problem") else None,
            solution=message.solution if has("solution") else None,
            concepts=tuple(message.concepts),
            files=tuple(message.files),
            tags=tuple(message.tags),
        ),
        summary=message.summary,
        provenance=PROVENANCES.member(message.provenance, "provenance"),
        confidence=fields.number(message.confidence, "confidence", 0.0, 1.0),
        tier=TIERS.member(message.tier, "tier"),
        importance=fields.number(message.importance, "importance", 0.0, 1.0),
        status=STATUSES.member(message.status, "status"),
        created_at=fields.moment(message.created_at, "created_at"),
        updated_at=fields.moment(message.updated_at, "updated_at"),
        last_accessed_at=fields.moment(message.last_accessed_at, "last_accessed_at"),
        expires_at=fields.moment(message.expires_at, "expires_at") if has("expires_at") else None,
        access_count=fields.whole(message.access_count, "access_count", 0),
        shown_count=fields.whole(message.shown_count, "shown_count", 0),
        revision=fields.whole(message.revision, "revision", 1),
        origin=origin_from_proto(message.origin),
        stub=message.stub if has("stub") else None,
        space=message.space if has("space") else None,
        supersedes=fields.memory_ids(message.supersedes, "supersedes"),
        superseded_by=fields.memory_id(message.superseded_by, "superseded_by") if has("superseded_by") else None,
        consolidated_from=fields.memory_ids(message.consolidated_from, "consolidated_from"),
        consolidated_into=(
            fields.memory_id(message.consolidated_into, "consolidated_into") if has("consolidated_into") else None
        ),
        related=fields.memory_ids(message.related, "related"),
    )


def memories_from_proto(messages: Sequence[pb.Memory]) -> tuple[Memory, ...]:
    """The memories in ``messages``, in their order."""
    return tuple(memory_from_proto(message) for message in messages)


def revision_to_proto(revision: Revision) -> pb.Revision:
    """The message of ``revision``; whose it is says the memory before the edit."""
    return pb.Revision(
        revision=revision.revision,
        at=fields.timestamp(revision.at, "at"),
        actor=fields.text(revision.actor),
        why=revision.why,
        before=memory_to_proto(revision.before),
    )


def revision_from_proto(message: pb.Revision) -> Revision:
    """The revision in ``message``.

    Raises:
        InvalidArgument: the time or the memory before the edit is missing or malformed.
    """
    fields.present(message, "at")
    fields.present(message, "before")
    before = memory_from_proto(message.before)
    return Revision(
        memory=before.id,
        revision=fields.whole(message.revision, "revision", 1),
        at=fields.moment(message.at, "at"),
        actor=message.actor,
        why=message.why,
        before=before,
    )


def filter_to_proto(filter_: Filter) -> pb.Filter:
    """The message of ``filter_``; no status at all is sent as every status, because an empty list means active."""
    return pb.Filter(
        projects=fields.texts(filter_.projects),
        not_projects=fields.texts(filter_.not_projects),
        keys=fields.texts(filter_.keys),
        types=[TYPES.number(type_) for type_ in filter_.types],  # type: ignore[misc]  # stubs want the enum's own type
        tags=fields.texts(filter_.tags),
        concepts=fields.texts(filter_.concepts),
        files=fields.texts(filter_.files),
        created_from=fields.optional_timestamp(filter_.created_from, "created_from"),
        created_to=fields.optional_timestamp(filter_.created_to, "created_to"),
        tiers=[TIERS.number(tier) for tier in filter_.tiers],  # type: ignore[misc]  # as above
        statuses=[STATUSES.number(status) for status in filter_.statuses or tuple(Status)],  # type: ignore[misc]  # as above
        as_of=fields.optional_timestamp(filter_.as_of, "as_of"),
    )


def filter_from_proto(message: pb.Filter, *, every_status: bool = False) -> Filter:
    """The filter in ``message``.

    Args:
        message: An absent message is an empty filter.
        every_status: What an empty list of statuses means: True every one, False active only.

    Raises:
        InvalidArgument: an enum or a time is malformed.
    """
    default = tuple(Status) if every_status else (Status.ACTIVE,)
    return Filter(
        projects=tuple(message.projects),
        not_projects=tuple(message.not_projects),
        keys=tuple(message.keys),
        types=tuple(TYPES.member(number, "types") for number in message.types),
        tags=tuple(message.tags),
        concepts=tuple(message.concepts),
        files=tuple(message.files),
        created_from=fields.moment(message.created_from, "created_from") if message.HasField("created_from") else None,
        created_to=fields.moment(message.created_to, "created_to") if message.HasField("created_to") else None,
        tiers=tuple(TIERS.member(number, "tiers") for number in message.tiers),
        statuses=tuple(STATUSES.member(number, "statuses") for number in message.statuses) or default,
        as_of=fields.moment(message.as_of, "as_of") if message.HasField("as_of") else None,
    )
