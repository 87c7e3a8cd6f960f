"""Rows and JSON, and the values they stand for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from perdure.domain.memory import (
    Memory,
    MemoryId,
    MemoryType,
    Origin,
    Provenance,
    Statement,
    Status,
    Tier,
)
from perdure.domain.namespace import NamespaceName

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Row = tuple[Any, ...]

COLUMNS = (
    'm.id, m.project, m."key", m.type, m.content, m.summary, m.problem, m.solution, m.concepts, m.files, m.tags, '
    "m.provenance, m.confidence, m.tier, m.importance, m.status, m.created_at, m.updated_at, m.last_accessed_at, "
    "m.expires_at, m.access_count, m.shown_count, m.revision, m.origin_host, m.origin_agent, m.origin_session, "
    "m.origin_actor, m.stub"
)
"""What ``to_memory`` reads, in its order."""


def micros(time: datetime) -> int:
    """Microseconds since 1970 UTC of an aware time."""
    return (time - _EPOCH) // _MICROSECOND


def maybe_micros(time: datetime | None) -> int | None:
    """``micros``, or None."""
    return None if time is None else micros(time)


def moment(value: int) -> datetime:
    """The aware UTC time of ``micros``."""
    return _EPOCH + timedelta(microseconds=value)


def maybe_moment(value: int | None) -> datetime | None:
    """``moment``, or None."""
    return None if value is None else moment(value)


def to_list(items: Iterable[str]) -> str:
    """A list as JSON."""
    return json.dumps(list(items), ensure_ascii=False)


def to_list_of_numbers(rows: Iterable[int]) -> str:
    """Numbers as a JSON array."""
    return "[" + ",".join(map(str, rows)) + "]"


def _from_list(text: str) -> tuple[str, ...]:
    return () if text == "[]" else tuple(json.loads(text))


@dataclass(frozen=True, slots=True)
class Links:
    """The links of one memory, as ``Memory`` shows them."""

    supersedes: tuple[MemoryId, ...] = ()
    superseded_by: MemoryId | None = None
    consolidated_from: tuple[MemoryId, ...] = ()
    consolidated_into: MemoryId | None = None
    related: tuple[MemoryId, ...] = ()


NO_LINKS = Links()


def to_memory(row: Row, namespace: NamespaceName, space: str | None, links: Links) -> Memory:
    """The memory in a row of ``COLUMNS``."""
    return Memory(
        id=MemoryId(row[0]),
        namespace=namespace,
        statement=Statement(
            content=row[4],
            type=MemoryType(row[3]),
            project=row[1],
            key=row[2],
            problem=row[6],
            solution=row[7],
            concepts=_from_list(row[8]),
            files=_from_list(row[9]),
            tags=_from_list(row[10]),
        ),
        summary=row[5],
        provenance=Provenance(row[11]),
        confidence=row[12],
        tier=Tier(row[13]),
        importance=row[14],
        status=Status(row[15]),
        created_at=moment(row[16]),
        updated_at=moment(row[17]),
        last_accessed_at=moment(row[18]),
        expires_at=maybe_moment(row[19]),
        access_count=row[20],
        shown_count=row[21],
        revision=row[22],
        origin=Origin(host=row[23], agent=row[24], session=row[25], actor=row[26]),
        stub=row[27],
        space=space,
        supersedes=links.supersedes,
        superseded_by=links.superseded_by,
        consolidated_from=links.consolidated_from,
        consolidated_into=links.consolidated_into,
        related=links.related,
    )


def to_columns(memory: Memory, text_sha256: str) -> dict[str, Any]:
    """The columns of ``memory`` by name, all but row, namespace and seq."""
    statement = memory.statement
    return {
        "id": memory.id,
        "project": statement.project,
        "key": statement.key,
        "type": statement.type.value,
        "content": statement.content,
        "summary": memory.summary,
        "problem": statement.problem,
        "solution": statement.solution,
        "concepts": to_list(statement.concepts),
        "files": to_list(statement.files),
        "tags": to_list(statement.tags),
        "provenance": memory.provenance.value,
        "confidence": float(memory.confidence),
        "tier": memory.tier.value,
        "importance": float(memory.importance),
        "status": memory.status.value,
        "created_at": micros(memory.created_at),
        "updated_at": micros(memory.updated_at),
        "last_accessed_at": micros(memory.last_accessed_at),
        "expires_at": maybe_micros(memory.expires_at),
        "access_count": memory.access_count,
        "shown_count": memory.shown_count,
        "revision": memory.revision,
        "origin_host": memory.origin.host,
        "origin_agent": memory.origin.agent,
        "origin_session": memory.origin.session,
        "origin_actor": memory.origin.actor,
        "stub": memory.stub,
        "text_sha256": text_sha256,
    }


def labels(statement: Statement) -> tuple[tuple[str, str], ...]:
    """Kind and case-folded value of every tag, concept and file, each once."""
    found: dict[tuple[str, str], None] = {}
    for kind, values in (("tag", statement.tags), ("concept", statement.concepts), ("file", statement.files)):
        for value in values:
            found[kind, value.casefold()] = None
    return tuple(found)


def to_json(memory: Memory) -> str:
    """The whole memory as JSON, for the history."""
    columns = to_columns(memory, "")
    del columns["text_sha256"]
    columns |= {
        "space": memory.space,
        "supersedes": list(memory.supersedes),
        "superseded_by": memory.superseded_by,
        "consolidated_from": list(memory.consolidated_from),
        "consolidated_into": memory.consolidated_into,
        "related": list(memory.related),
    }
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str, namespace: NamespaceName) -> Memory:
    """The memory that ``to_json`` wrote."""
    data: Mapping[str, Any] = json.loads(text)
    names = [name.strip().removeprefix("m.").strip('"') for name in COLUMNS.split(",")]
    links = Links(
        supersedes=tuple(data["supersedes"]),
        superseded_by=data["superseded_by"],
        consolidated_from=tuple(data["consolidated_from"]),
        consolidated_into=data["consolidated_into"],
        related=tuple(data["related"]),
    )
    return to_memory(tuple(data[name] for name in names), namespace, data["space"], links)


def with_revision(memory: Memory, revision: int) -> Memory:
    """``memory`` under another revision number."""
    return replace(memory, revision=revision)
