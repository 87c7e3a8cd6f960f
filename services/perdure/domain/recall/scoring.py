"""The score of a memory and its parts: relevance times what is left of the memory and how it is used and believed."""

from __future__ import annotations

from datetime import datetime

from perdure.domain.decay import confidence_boost, decay_weight, frequency_boost, importance_boost
from perdure.domain.recall.answer import ScoreParts
from perdure.domain.recall.candidate import Card

_SECONDS_PER_DAY = 86_400.0


def idle_days(last_accessed_at: datetime, now: datetime) -> float:
    """Days without use, >= 0; a clock that went back counts as none."""
    return max(0.0, (now - last_accessed_at).total_seconds() / _SECONDS_PER_DAY)


def parts(card: Card, relevance: float, similarity: float | None, bm25: float, rank: int, now: datetime) -> ScoreParts:
    """Why a memory scores as it does.

    Args:
        card: Its columns.
        relevance: Fused evidence in [0, 1].
        similarity: Cosine with the query, or None where there is no comparable vector.
        bm25: >= 0; 0 where words did not find it.
        rank: Its place in the lexical arm from 1; 0 where words did not find it.
        now: Aware UTC.
    """
    return ScoreParts(
        similarity=similarity,
        bm25=bm25,
        lexical_rank=rank,
        relevance=relevance,
        decay_weight=decay_weight(idle_days(card.last_accessed_at, now), card.confidence),
        frequency_boost=frequency_boost(card.access_count),
        confidence_boost=confidence_boost(card.confidence),
        importance_boost=importance_boost(card.importance),
    )
