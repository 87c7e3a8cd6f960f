"""Which memories become one, and what that one is: a value that a use case writes in one transaction a group.

Knows neither store nor model. The vector of the new memory is the mean of its members', as that of a long text is the
mean of its windows'.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from perdure.domain.consolidation import grouping, merging
from perdure.domain.memory import Memory, MemoryId, Origin, Provenance, Statement, Status, Tier
from perdure.domain.namespace import NamespaceName
from perdure.domain.provenance import CORE_CONFIDENCE
from perdure.domain.retention import Life, may_consolidate
from perdure.domain.vectors import Matrix, Thresholds, Vector, unit

MEMBERS_MIN = 3
MEMBERS_MAX = 24
"""Members of one new memory at most: beyond it one vector stands for too much. See docs/explanation/lifecycle.md."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Members that become one memory with this statement, summary and vector; oldest member first."""

    members: tuple[Memory, ...]
    statement: Statement
    summary: str
    vector: Vector
    similarity: float
    """Lowest similarity of a member to the mean."""
    worded: bool = False
    """A language model worded the statement; all that the members say stands in them alone."""


def parts(
    lives: Sequence[Life],
    vectors: Matrix,
    thresholds: Thresholds,
    now: datetime,
    *,
    members_min: int = MEMBERS_MIN,
    members_max: int = MEMBERS_MAX,
) -> Iterator[tuple[int, ...]]:
    """Row numbers of aged memories that belong together, oldest first; their texts need not be read yet.

    Args:
        lives: Active memories of one project and type, oldest first; those that may not be consolidated are passed
            over.
        vectors: float32, (n, d), unit rows in the order of ``lives``, all of one space.
        thresholds: Those of the space.
        now: Decides who has aged.
        members_min: Fewest members, >= 2.
        members_max: Most members, >= ``members_min``.
    """
    aged = [row for row, life in enumerate(lives) if may_consolidate(life, now) and np.any(vectors[row])]
    if len(aged) < members_min:
        return
    kept = vectors[aged]
    for cluster in grouping.clusters(kept, thresholds.cluster):
        if len(cluster) >= members_min:
            for part in grouping.neighbourhoods(kept, cluster, members_max):
                if len(part) >= members_min:
                    yield tuple(aged[row] for row in part)


def groups(
    members: Sequence[Memory], vectors: Mapping[MemoryId, Vector], *, members_min: int = MEMBERS_MIN
) -> tuple[Group, ...]:
    """What the members of one part become: one memory, or several where one cannot hold all they say.

    Members of a run too short to be worth a memory of its own stay as they are.

    Args:
        members: Of one part.
        vectors: Theirs.
        members_min: Fewest members of a group.
    """
    return tuple(_group(run, vectors) for run in merging.portions(members) if len(run) >= members_min)


def born(group: Group, *, id: MemoryId, namespace: NamespaceName, now: datetime, actor: str) -> Memory:
    """The new memory: believed as its strongest member, used as often as all of them, fresh from ``now`` on.

    Its confidence stays below that of a core memory: nobody confirmed it.
    """
    members = group.members
    confidence = min(max(memory.confidence for memory in members), np.nextafter(CORE_CONFIDENCE, 0.0))
    return Memory(
        id=id,
        namespace=namespace,
        statement=group.statement,
        summary=group.summary,
        provenance=Provenance.CONSOLIDATION,
        confidence=float(confidence),
        tier=Tier.REGULAR,
        importance=max(memory.importance for memory in members),
        status=Status.ACTIVE,
        created_at=now,
        updated_at=now,
        last_accessed_at=now,
        access_count=sum(memory.access_count for memory in members),
        shown_count=sum(memory.shown_count for memory in members),
        origin=Origin(actor=actor),
    )


def _group(members: tuple[Memory, ...], rows: Mapping[MemoryId, Vector]) -> Group:
    matrix = np.stack([rows[memory.id] for memory in members])
    mean = unit(matrix.mean(axis=0))
    return Group(
        members=members,
        statement=merging.merged(members),
        summary=merging.title(members),
        vector=mean,
        similarity=float((matrix @ mean).min()),
    )
