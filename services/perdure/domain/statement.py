"""Statements as they may be stored: cleaned, within limits, without repetitions.

Everything that enters a store comes through here, whatever surface it came by.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from perdure.domain.memory import (
    CONTENT_BYTES_MAX,
    GLOBAL_PROJECT,
    KEY_CHARS_MAX,
    LIST_ITEM_CHARS_MAX,
    LIST_ITEMS_MAX,
    PROJECT_CHARS_MAX,
    Filter,
    MemoryType,
    Origin,
    Provenance,
    Statement,
)
from perdure.domain.saving import Checkpoint, Draft
from perdure.domain.text import clean, normalised, one_line
from perdure.errors import InvalidArgument, Reason

ORIGIN_CHARS_MAX = 200
CHECKPOINT_TAGS = ("checkpoint", "task-completion")


def checked(statement: Statement) -> Statement:
    """``statement`` cleaned, with empty fields as None and lists without repetitions; idempotent.

    Raises:
        InvalidArgument: content is missing (FIELD_MISSING) or holds nothing but unusable characters (TEXT_UNUSABLE); a
            field is longer than its limit (TOO_LARGE). ``details["field"]`` names it.
    """
    return Statement(
        content=_content(statement.content),
        type=statement.type,
        project=_short(statement.project, "project", PROJECT_CHARS_MAX) or GLOBAL_PROJECT,
        key=_short(statement.key or "", "key", KEY_CHARS_MAX) or None,
        problem=_long(statement.problem or "", "problem") or None,
        solution=_long(statement.solution or "", "solution") or None,
        concepts=_items(statement.concepts, "concepts"),
        files=_items(statement.files, "files"),
        tags=_items(statement.tags, "tags"),
    )


def checked_draft(draft: Draft) -> Draft:
    """``draft`` with a checked statement and origin, and ``expires_at`` in UTC.

    Raises:
        InvalidArgument: as ``checked``; confidence or importance is not in [0, 1] (OUT_OF_RANGE); ``expires_at`` has no
            time zone (FIELD_INVALID); a field of the origin is too long (TOO_LARGE).
    """
    return replace(
        draft,
        statement=checked(draft.statement),
        confidence=share(draft.confidence, "confidence"),
        importance=share(draft.importance, "importance"),
        expires_at=moment(draft.expires_at, "expires_at"),
        origin=_origin(draft.origin),
    )


def checkpoint_draft(checkpoint: Checkpoint) -> Draft:
    """What a finished task taught, as a draft in NaN Forget's layout; checked.

    Raises:
        InvalidArgument: as ``checked_draft``; summary, problem or solution is missing (FIELD_MISSING).
    """
    summary = _needed(checkpoint.task_summary, "task_summary")
    problem = _needed(checkpoint.problem, "problem")
    solution = _needed(checkpoint.solution, "solution")
    files = _items(checkpoint.files, "files")
    blocks = [summary, f"Problem: {problem}", f"Solution: {solution}"]
    if files:
        blocks.append(f"Files: {', '.join(files)}")
    return checked_draft(
        Draft(
            statement=Statement(
                content="\n\n".join(blocks),
                type=MemoryType.FACT,
                project=checkpoint.project,
                problem=problem,
                solution=solution,
                concepts=checkpoint.concepts,
                files=files,
                tags=(*CHECKPOINT_TAGS, *checkpoint.tags),
            ),
            provenance=Provenance.CHECKPOINT,
            confidence=checkpoint.confidence,
            importance=checkpoint.importance,
            origin=checkpoint.origin,
        )
    )


def as_stored(filter_: Filter) -> Filter:
    """``filter_`` with its names in the form in which memories keep theirs, so that NFD finds what was saved as NFC."""
    return replace(
        filter_,
        projects=tuple(map(one_line, filter_.projects)),
        not_projects=tuple(map(one_line, filter_.not_projects)),
        keys=tuple(map(one_line, filter_.keys)),
        tags=tuple(map(one_line, filter_.tags)),
        concepts=tuple(map(one_line, filter_.concepts)),
        files=tuple(map(one_line, filter_.files)),
    )


def share(value: float | None, field: str) -> float | None:
    """``value`` as a float in [0, 1], or None.

    Raises:
        InvalidArgument: it is outside, or not a number (OUT_OF_RANGE).
    """
    if value is None:
        return None
    if not 0.0 <= value <= 1.0:
        raise InvalidArgument(
            f"{field} must be a number from 0 to 1.", reason=Reason.OUT_OF_RANGE, details={"field": field}
        )
    return float(value)


def moment(value: datetime | None, field: str) -> datetime | None:
    """``value`` in UTC, or None.

    Raises:
        InvalidArgument: it has no time zone, or lies outside the calendar in UTC (FIELD_INVALID).
    """
    if value is None:
        return None
    problem = f"{field} needs a time zone, as in 2026-03-12T09:00:00Z."
    if value.tzinfo is not None:
        try:
            return value.astimezone(UTC)
        except OverflowError:
            problem = f"{field} lies outside the calendar."
    raise InvalidArgument(problem, reason=Reason.FIELD_INVALID, details={"field": field})


def deduplicated(items: Iterable[str]) -> tuple[str, ...]:
    """``items`` in order, without those that equal an earlier one but for case and white space."""
    first: dict[str, str] = {}
    for item in items:
        first.setdefault(normalised(item), item)
    return tuple(first.values())


def _content(text: str) -> str:
    content = _long(text, "content")
    if not content:
        unusable = bool(text.strip())
        raise InvalidArgument(
            "content holds no usable character." if unusable else "content is empty; say what is to be remembered.",
            reason=Reason.TEXT_UNUSABLE if unusable else Reason.FIELD_MISSING,
            details={"field": "content"},
        )
    return content


def _needed(text: str, field: str) -> str:
    value = _long(text, field)
    if not value:
        raise InvalidArgument(
            f"{field} is empty; a checkpoint needs it.", reason=Reason.FIELD_MISSING, details={"field": field}
        )
    return value


def _long(text: str, field: str) -> str:
    cleaned = clean(text).strip()
    size = len(cleaned.encode())
    if size > CONTENT_BYTES_MAX:
        raise InvalidArgument(
            f"{field} is {size} bytes long, {CONTENT_BYTES_MAX} at most; split it into several memories.",
            reason=Reason.TOO_LARGE,
            details={"field": field, "bytes": size, "limit": CONTENT_BYTES_MAX},
        )
    return cleaned


def _short(text: str, field: str, chars_max: int) -> str:
    line = one_line(text)
    if len(line) > chars_max:
        raise InvalidArgument(
            f"{field} is {len(line)} characters long, {chars_max} at most.",
            reason=Reason.TOO_LARGE,
            details={"field": field, "chars": len(line), "limit": chars_max},
        )
    return line


def _items(items: Iterable[str], field: str) -> tuple[str, ...]:
    kept = deduplicated(line for item in items if (line := _short(item, field, LIST_ITEM_CHARS_MAX)))
    if len(kept) > LIST_ITEMS_MAX:
        raise InvalidArgument(
            f"{field} has {len(kept)} items, {LIST_ITEMS_MAX} at most.",
            reason=Reason.TOO_LARGE,
            details={"field": field, "items": len(kept), "limit": LIST_ITEMS_MAX},
        )
    return kept


def _origin(origin: Origin) -> Origin:
    return Origin(
        host=_short(origin.host, "origin.host", ORIGIN_CHARS_MAX),
        agent=_short(origin.agent, "origin.agent", ORIGIN_CHARS_MAX),
        session=_short(origin.session, "origin.session", ORIGIN_CHARS_MAX),
        actor=_short(origin.actor, "origin.actor", ORIGIN_CHARS_MAX),
    )
