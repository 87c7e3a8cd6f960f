"""How a memory is born and how an edit changes it.

Decides on values alone; who may edit, and which revision is current, is the business of the use case and the store.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from perdure.domain.layout import embedded_text
from perdure.domain.memory import Memory, MemoryId, Status
from perdure.domain.namespace import Actor, NamespaceName
from perdure.domain.provenance import default_confidence, tier_for
from perdure.domain.saving import Draft, Edit
from perdure.domain.statement import checked, moment, share
from perdure.domain.summary import summarise
from perdure.errors import InvalidArgument, Reason

DEFAULT_IMPORTANCE = 0.5
CLEARABLE = frozenset({"key", "problem", "solution", "expires_at"})


def born(draft: Draft, *, id: MemoryId, namespace: NamespaceName, now: datetime, actor: Actor | str) -> Memory:
    """A new active memory, revision 1, made from a checked draft.

    Args:
        draft: From ``statement.checked_draft``.
        id: Its id.
        namespace: The tenant it belongs to.
        now: Aware UTC.
        actor: Who saves it; kept in the origin unless the draft names an actor.
    """
    confidence = default_confidence(draft.provenance) if draft.confidence is None else draft.confidence
    name = actor if isinstance(actor, str) else actor.name
    return Memory(
        id=id,
        namespace=namespace,
        statement=draft.statement,
        summary=summarise(draft.statement.content),
        provenance=draft.provenance,
        confidence=confidence,
        tier=tier_for(draft.provenance, confidence),
        importance=DEFAULT_IMPORTANCE if draft.importance is None else draft.importance,
        status=Status.ACTIVE,
        created_at=now,
        updated_at=now,
        last_accessed_at=now,
        expires_at=draft.expires_at,
        origin=draft.origin if draft.origin.actor else replace(draft.origin, actor=name),
    )


def apply(memory: Memory, edit: Edit, now: datetime) -> Memory:
    """``memory`` as ``edit`` leaves it: checked, with a new summary and tier, ``updated_at`` = ``now``.

    A new provenance without a confidence takes that provenance's default confidence. An edit that changes nothing
    answers ``memory`` itself. ``revision`` is left alone (the store raises it), and so is ``expected_revision``.

    Raises:
        InvalidArgument: a value breaks its limit; ``clear`` names a field that cannot be emptied (FIELD_UNKNOWN) or one
            that is also set (FIELD_INVALID).
    """
    _check_clear(edit)
    old = memory.statement
    statement = checked(
        replace(
            old,
            content=old.content if edit.content is None else edit.content,
            type=old.type if edit.type is None else edit.type,
            project=old.project if edit.project is None else edit.project,
            key=_edited(old.key, edit.key, "key" in edit.clear),
            problem=_edited(old.problem, edit.problem, "problem" in edit.clear),
            solution=_edited(old.solution, edit.solution, "solution" in edit.clear),
            concepts=old.concepts if edit.concepts is None else edit.concepts,
            files=old.files if edit.files is None else edit.files,
            tags=old.tags if edit.tags is None else edit.tags,
        )
    )
    provenance = memory.provenance if edit.provenance is None else edit.provenance
    confidence = share(edit.confidence, "confidence")
    if confidence is None:
        confidence = memory.confidence if provenance is memory.provenance else default_confidence(provenance)
    importance = share(edit.importance, "importance")
    expires_at = memory.expires_at if edit.expires_at is None else moment(edit.expires_at, "expires_at")
    after = replace(
        memory,
        statement=statement,
        summary=summarise(statement.content) if statement.content != old.content else memory.summary,
        provenance=provenance,
        confidence=confidence,
        tier=tier_for(provenance, confidence),
        importance=memory.importance if importance is None else importance,
        expires_at=None if "expires_at" in edit.clear else expires_at,
    )
    return memory if after == memory else replace(after, updated_at=now)


def embedded_text_changed(before: Memory, after: Memory) -> bool:
    """Whether the vector of ``before`` no longer fits ``after``."""
    return embedded_text(before.statement, before.created_at) != embedded_text(after.statement, after.created_at)


def _edited(old: str | None, new: str | None, clear: bool) -> str | None:
    if clear:
        return None
    return old if new is None else new


def _check_clear(edit: Edit) -> None:
    for field in sorted(edit.clear):
        if field not in CLEARABLE:
            raise InvalidArgument(
                f"{field} cannot be emptied; {', '.join(sorted(CLEARABLE))} can.",
                reason=Reason.FIELD_UNKNOWN,
                details={"field": field},
            )
        if getattr(edit, field) is not None:
            raise InvalidArgument(
                f"{field} is set and emptied in one edit.", reason=Reason.FIELD_INVALID, details={"field": field}
            )
