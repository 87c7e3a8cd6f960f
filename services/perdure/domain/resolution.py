"""What a save turns out to be: new, said before, said differently, or a newer truth.

Decides on values; a use case finds the memories and writes the outcome in one transaction. Whether two statements say
the same is ``guard``'s judgement. A missing or zero vector is never a twin, and across projects nothing is merged.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from perdure.domain.guard import Verdict, compare
from perdure.domain.memory import CONTENT_BYTES_MAX, LIST_ITEMS_MAX, Memory, MemoryId, Statement, Status
from perdure.domain.saving import Draft
from perdure.domain.statement import deduplicated
from perdure.domain.text import normalised, respells_code
from perdure.domain.vectors import Thresholds

__all__ = [
    "Create",
    "Merge",
    "Replace",
    "Resolution",
    "Supersede",
    "Unchanged",
    "Verdict",
    "compare",
    "decide",
    "text_sha256",
    "unite",
]


@dataclass(frozen=True, slots=True)
class Create:
    """A new memory; ``related`` are near twins of which it is not certain that they say the same."""

    related: tuple[MemoryId, ...] = ()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """``memory`` says it already."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Merge:
    """``memory`` says the same; ``statement`` is both united."""

    memory: Memory
    statement: Statement


@dataclass(frozen=True, slots=True)
class Replace:
    """``memory`` holds the key; the draft takes its place, the old text goes into its history."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Supersede:
    """The draft is a newer truth than ``memory``, which leaves the search and stays linked."""

    memory: Memory


Resolution = Create | Unchanged | Merge | Replace | Supersede


def text_sha256(statement: Statement) -> str:
    """Hex SHA-256 of the normalised content, problem and solution, and of the key: equal where texts count as the same.

    The key takes part because the same words under two keys are two memories ("UTC" for two clocks).
    """
    fields = (statement.content, statement.problem or "", statement.solution or "", statement.key or "")
    return hashlib.sha256("\x1f".join(map(normalised, fields)).encode("utf-8", "surrogatepass")).hexdigest()


def decide(
    draft: Draft | Statement,
    *,
    same_text: Memory | None,
    same_key: Memory | None,
    twins: Sequence[tuple[Memory, float]],
    thresholds: Thresholds | None,
) -> Resolution:
    """What saving ``draft`` means for what is stored.

    In this order: the same text (with another key it is another memory), the same key, a near twin that says the same,
    a near twin that says otherwise, something new.

    Args:
        draft: What is to be saved, checked.
        same_text: The active memory of its project and type with the same normalised text.
        same_key: The active memory of its project with the same key.
        twins: Neighbours with their cosine; those of another project, type or key, not active, or not above the
            space's ``twin`` are ignored.
        thresholds: Those of the space; None where there is no vector to compare.
    """
    statement = draft.statement if isinstance(draft, Draft) else draft
    if same_text is not None and _keys_agree(same_text.statement, statement):
        taken = same_key is not None and same_key.id != same_text.id
        if not taken:
            united = unite(same_text, statement)
            return Unchanged(same_text) if united == same_text.statement else Merge(same_text, united)
    if same_key is not None:
        return Replace(same_key)
    if thresholds is None:
        return Create()
    return _decide_twins(statement, _near(statement, twins, thresholds.twin))


def unite(old: Memory, draft: Draft | Statement) -> Statement:
    """Both statements as one: the fuller text of each field, all list items, the newer first; nothing is dropped.

    Lists that together exceed their limit keep all that fit, the newer first. Of two texts that count as the same the
    older stays, unless the newer corrects the case of a word of code. Type and project are the older's, the key
    whichever there is, the newer's first.
    """
    before = old.statement
    after = draft.statement if isinstance(draft, Draft) else draft
    return replace(
        before,
        content=_fuller(before.content, after.content) or before.content,
        key=after.key or before.key,
        problem=_fuller(before.problem, after.problem),
        solution=_fuller(before.solution, after.solution),
        concepts=_united(before.concepts, after.concepts),
        files=_united(before.files, after.files),
        tags=_united(before.tags, after.tags),
    )


def _decide_twins(statement: Statement, near: Sequence[Memory]) -> Resolution:
    verdicts = [(memory, compare(memory.statement, statement)) for memory in near]
    for memory, verdict in verdicts:
        if verdict is Verdict.SAME:
            united = unite(memory, statement)
            return Unchanged(memory) if united == memory.statement else Merge(memory, united)
    for memory, verdict in verdicts:
        # A key is an address somebody relies on; only a save to that key may take the memory away from it.
        if verdict is Verdict.CHANGED and memory.statement.key in (None, statement.key):
            return Supersede(memory)
    return Create(tuple(memory.id for memory, _ in verdicts))


def _near(statement: Statement, twins: Sequence[tuple[Memory, float]], threshold: float) -> list[Memory]:
    close = [
        (similarity, memory)
        for memory, similarity in twins
        if math.isfinite(similarity)
        and similarity > threshold
        and memory.status is Status.ACTIVE
        and memory.statement.project == statement.project
        and memory.statement.type is statement.type
        and _keys_agree(memory.statement, statement)
    ]
    close.sort(key=lambda item: (-item[0], item[1].id))
    return [memory for _, memory in close]


def _keys_agree(old: Statement, new: Statement) -> bool:
    return old.key is None or new.key is None or old.key == new.key


def _fuller(old: str | None, new: str | None) -> str | None:
    if not old or not new:
        return old or new
    if normalised(old) == normalised(new):
        return new if respells_code(old, new) else old
    fuller = new if len(normalised(new)) >= len(normalised(old)) else old
    return fuller if len(fuller.encode()) <= CONTENT_BYTES_MAX else old


def _united(old: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    before, after = tuple(old), tuple(new)
    known = {normalised(item) for item in before}
    if all(normalised(item) in known for item in after):
        return before
    return deduplicated((*after, *before))[:LIST_ITEMS_MAX]
