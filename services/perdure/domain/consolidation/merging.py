"""One text out of many: every distinct sentence, in the order in which it was said.

Nothing is shortened and nothing is rephrased; what two members say alike is said once, by the earlier one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC

from perdure.domain.consolidation.sentences import pieces, said, stands_alone
from perdure.domain.memory import CONTENT_BYTES_MAX, LIST_ITEMS_MAX, Memory, Provenance, Statement
from perdure.domain.summary import summarise
from perdure.domain.text import normalised


def merged(members: Sequence[Memory]) -> Statement:
    """The statement that keeps all that ``members`` say.

    The content is a block a member, oldest first, each opened by its day; the sentences that an earlier block says
    already are left out. Problems and solutions that belong together carry the same number.

    Args:
        members: At least one, of one project and type.
    """
    ordered = sorted(members, key=lambda memory: (memory.created_at, memory.id))
    first = ordered[0].statement
    problem, solution = _troubles(ordered)
    return Statement(
        content="\n".join(_blocks(ordered)),
        type=first.type,
        project=first.project,
        problem=problem,
        solution=solution,
        concepts=_union(memory.statement.concepts for memory in ordered),
        files=_union(memory.statement.files for memory in ordered),
        tags=_union(memory.statement.tags for memory in ordered),
    )


def fits(statement: Statement) -> bool:
    """True where the statement keeps within the limits of a memory."""
    texts = (statement.content, statement.problem or "", statement.solution or "")
    lists = (statement.concepts, statement.files, statement.tags)
    return all(len(text.encode()) <= CONTENT_BYTES_MAX for text in texts) and all(
        len(items) <= LIST_ITEMS_MAX for items in lists
    )


def portions(members: Sequence[Memory]) -> list[tuple[Memory, ...]]:
    """``members``, oldest first, in runs whose merged statement fits: all as one, or halved until each fits."""
    ordered = sorted(members, key=lambda memory: (memory.created_at, memory.id))
    if len(ordered) <= 1 or fits(merged(ordered)):
        return [tuple(ordered)] if ordered else []
    middle = len(ordered) // 2
    return portions(ordered[:middle]) + portions(ordered[middle:])


def title(members: Sequence[Memory]) -> str:
    """The summary of the merged memory: that of its most used member, of the most important among equals."""
    lead = max(members, key=lambda memory: (memory.access_count, memory.importance, memory.created_at, memory.id))
    return lead.summary or summarise(lead.statement.content)


def _blocks(ordered: Sequence[Memory]) -> list[str]:
    known: set[str] = set()
    blocks: list[str] = []
    for memory in ordered:
        text = _new(memory.statement.content, known)
        if not text:
            continue
        if memory.provenance is Provenance.CONSOLIDATION:
            blocks.append(text)  # its blocks carry their own days
        else:
            day = memory.created_at.astimezone(UTC).date().isoformat()
            blocks.append(f"{day}:\n{text}" if "\n" in text else f"{day}: {text}")
    return blocks


def _new(text: str, known: set[str]) -> str:
    """What ``text`` says that is not in ``known`` yet, which learns it."""
    parts = [(piece, said(piece)) for piece in pieces(text)]
    if all(key in known for _, key in parts if key):
        return ""
    kept = [piece for piece, key in parts if key not in known or not stands_alone(piece)]
    known.update(key for _, key in parts if key)
    return "".join(kept).strip()


def _troubles(ordered: Sequence[Memory]) -> tuple[str | None, str | None]:
    pairs = list(
        dict.fromkeys(
            (memory.statement.problem or "", memory.statement.solution or "")
            for memory in ordered
            if memory.statement.problem or memory.statement.solution
        )
    )
    if len(pairs) <= 1:
        problem, solution = pairs[0] if pairs else ("", "")
        return problem or None, solution or None
    problems = [f"({place}) {problem}" for place, (problem, _) in enumerate(pairs, 1) if problem]
    solutions = [f"({place}) {solution}" for place, (_, solution) in enumerate(pairs, 1) if solution]
    return "\n".join(problems) or None, "\n".join(solutions) or None


def _union(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    kept: dict[str, str] = {}
    for items in lists:
        for item in items:
            kept.setdefault(normalised(item), item)
    return tuple(kept.values())
