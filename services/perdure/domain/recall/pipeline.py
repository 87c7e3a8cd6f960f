"""From what the arms found to an ordered list: fuse, refuse, cut, weigh, vary.

A pure composition of the modules beside it. Age, use and belief order memories of like relevance only: at each place
stands the best score among those whose relevance is near the best that is left, so nothing unrelated overtakes an exact
match however popular it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from perdure.domain.memory import MemoryId
from perdure.domain.recall.answer import Arm, ScoreParts
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer
from perdure.domain.recall.contrast import Contrast
from perdure.domain.recall.diversity import mmr
from perdure.domain.recall.fusion import bars, centred_floor, evidence, near_the_best, relevance
from perdure.domain.recall.scoring import parts
from perdure.domain.vectors import Vector

LIKE_RATIO = 0.75
"""Relevances are alike where the lesser has at least this share of the greater."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A memory in its place: why it stands there and which arms found it."""

    id: MemoryId
    parts: ScoreParts
    arm: Arm

    @property
    def score(self) -> float:
        """Relevance times the weights, >= 0."""
        return self.parts.score


def rank(
    *,
    cards: Mapping[MemoryId, Card],
    dense: Sequence[DenseHit],
    lexical: LexicalAnswer,
    similarities: Mapping[MemoryId, float],
    floor: float | None,
    now: datetime,
    limit: int | None = None,
    contrast: Contrast | None = None,
) -> tuple[Ranked, ...]:
    """Candidates worth showing, best first; empty where nothing answers (an honest "no match").

    Args:
        cards: Columns of the candidates; one without a card is left out.
        dense: Hits of the dense arm.
        lexical: Hits of the lexical arm, best first, and the query's ceiling.
        similarities: True cosines, also of those found by words only; what ``dense`` says need not be repeated.
        floor: The space's floor (``Thresholds.floor``); None where the dense arm did not run.
        now: Aware UTC.
        limit: How many at most; None for all.
        contrast: Cosines from the namespace's centre, by which they are then ordered; None orders by the plain ones.
    """
    by_dense = {hit.id for hit in dense}
    bm25 = {hit.id: hit.bm25 for hit in lexical.hits if hit.id in cards}
    lexical_rank = {hit.id: place for place, hit in enumerate(lexical.hits, start=1)}
    cosines: dict[MemoryId, float] = {}
    if floor is not None:
        cosines = {memory: cosine for memory, cosine in similarities.items() if memory in cards}
        cosines |= {hit.id: hit.similarity for hit in dense if hit.id in cards}
    found = (memory for memory in cards if memory in by_dense or memory in bm25)
    answers = _answers(found, bm25, cosines, lexical.ceiling, floor)
    ordering, bar = _ordering(cosines, contrast, floor)
    weighed = relevance(ordering, bm25, lexical.ceiling, bar)
    fused = near_the_best({memory: value for memory, value in weighed.items() if memory in answers})
    entries = [
        Ranked(
            memory,
            parts(cards[memory], value, cosines.get(memory), bm25.get(memory, 0.0), lexical_rank.get(memory, 0), now),
            _arm(memory in by_dense, memory in bm25),
        )
        for memory, value in fused.items()
    ]
    return tuple(_ordered(entries, len(entries) if limit is None else limit))


def diverse(ranked: Sequence[Ranked], vectors: Mapping[MemoryId, Vector], limit: int) -> tuple[Ranked, ...]:
    """The first ``limit`` of ``ranked`` with near-duplicates pushed back; the first stays first.

    Args:
        ranked: From ``rank``.
        vectors: Unit vectors of some or all of them.
        limit: How many are wanted, >= 0.
    """
    by_id = {entry.id: entry for entry in ranked}
    scores = {entry.id: entry.parts.relevance for entry in ranked}
    return tuple(by_id[memory] for memory in mmr([entry.id for entry in ranked], vectors, scores, limit))


def associated(card: Card, similarity: float, now: datetime) -> Ranked:
    """A memory that came by association: its relevance is its cosine with the centre of what was recalled.

    Args:
        card: Its columns.
        similarity: That cosine, in [-1, 1]; a negative one counts as 0.
        now: Aware UTC.
    """
    return Ranked(card.id, parts(card, min(1.0, max(0.0, similarity)), similarity, 0.0, 0, now), Arm.ASSOCIATION)


def _ordering(
    cosines: dict[MemoryId, float], contrast: Contrast | None, floor: float | None
) -> tuple[Mapping[MemoryId, float], float | None]:
    """The cosines that order the candidates, and their floor."""
    if contrast is None or floor is None or contrast.cosines.keys() < cosines.keys():
        return cosines, floor
    return {memory: contrast.cosines[memory] for memory in cosines}, centred_floor(floor, contrast.strength)


def _answers(
    found: Iterable[MemoryId],
    bm25: Mapping[MemoryId, float],
    cosines: Mapping[MemoryId, float],
    ceiling: float,
    floor: float | None,
) -> set[MemoryId]:
    """Those of ``found`` with enough evidence; none where even the best has too little."""
    least, best = bars(floor, ceiling)
    weighed = {memory: evidence(cosines.get(memory), bm25.get(memory, 0.0), ceiling) for memory in found}
    if not any(weight > best for weight in weighed.values()):
        return set()
    return {memory for memory, weight in weighed.items() if weight > least}


def _arm(by_dense: bool, by_words: bool) -> Arm:
    if by_dense and by_words:
        return Arm.BOTH
    return Arm.DENSE if by_dense else Arm.LEXICAL


def _ordered(entries: list[Ranked], limit: int) -> list[Ranked]:
    """At each place the best score among those of like relevance with the most relevant that is left."""
    left = sorted(((entry.parts.relevance, entry.score, entry) for entry in entries), key=_by_relevance)
    ordered: list[Ranked] = []
    while left and len(ordered) < limit:
        bar = LIKE_RATIO * left[0][0]
        best = 0
        for index in range(1, len(left)):
            if left[index][0] < bar:
                break
            if left[index][1] > left[best][1]:
                best = index
        ordered.append(left.pop(best)[2])
    return ordered


def _by_relevance(item: tuple[float, float, Ranked]) -> tuple[float, float, str]:
    return (-item[0], -item[1], item[2].id)
