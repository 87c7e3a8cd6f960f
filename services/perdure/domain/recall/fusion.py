"""One relevance from two arms, and who has too little of it.

Knows cosines and BM25, nothing of age, use or belief. Source of the combination (CCQ) and of its weights: Perdure's
measurements on nine sets, docs/explanation/search.md; it beats reciprocal rank fusion on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from perdure.domain.memory import MemoryId

CANDIDATES = 50
"""Hits asked of each arm."""

DENSE_WEIGHT = 0.35
"""Share of the cosine in the combination; 0.3 to 0.4 are level on nine sets, words get the rest."""

ANCHOR_SPAN = 0.3
"""The cosine that may count as full: this far from the floor towards 1, or the best candidate's where that is more.

In the default space (floor about 0.3) that is about 0.5, the better half of question-and-evidence pairs. Without it the
best of a poor lot would count as full.
"""

CUT_RATIO = 0.25
"""Candidates below this share of the best relevance are left out before age and use are weighed."""

LEXICAL_FLOOR = 0.12
"""Share of the BM25 ceiling below which words alone are no match: about one common word of several."""


def relevance(
    similarities: Mapping[MemoryId, float], bm25: Mapping[MemoryId, float], ceiling: float, floor: float | None
) -> dict[MemoryId, float]:
    """Relevance in [0, 1] of every candidate that either mapping names; rises with either evidence.

    ``0.35 x cosine, scaled + 0.65 x bm25 / ceiling``. The cosine is scaled over the candidates between the lowest (the
    floor at most) and the highest (the anchor at least). Where words found nothing the scaled cosine stands alone;
    where a candidate has no vector, or the dense arm did not run, BM25 stands alone.

    Args:
        similarities: True cosine of each candidate that has a comparable vector.
        bm25: BM25 of each candidate found by words, >= 0.
        ceiling: The BM25 no text can exceed for this query; 0 without terms.
        floor: The space's floor; None where the dense arm did not run.
    """
    if floor is None or not similarities:
        return {memory: lexical_share(score, ceiling) for memory, score in bm25.items()}
    low, high = scale(similarities, floor)
    width = high - low
    words = any(score > 0.0 for score in bm25.values()) and ceiling > 0.0
    dense_weight = DENSE_WEIGHT if words else 1.0
    fused = {
        memory: dense_weight * min(1.0, max(0.0, (cosine - low) / width))
        + (1.0 - dense_weight) * lexical_share(bm25.get(memory, 0.0), ceiling)
        for memory, cosine in similarities.items()
    }
    for memory, score in bm25.items():
        if memory not in fused:
            fused[memory] = lexical_share(score, ceiling)
    return fused


def scale(similarities: Mapping[MemoryId, float], floor: float) -> tuple[float, float]:
    """The cosines that count as nothing and as full; the second is greater than the first."""
    low = min(floor, min(similarities.values()))
    high = max(floor + ANCHOR_SPAN * (1.0 - floor), max(similarities.values()))
    return low, max(high, low + 1e-6)


def lexical_share(bm25: float, ceiling: float) -> float:
    """BM25 as a share of the query's ceiling, in [0, 1]; 0 without a ceiling."""
    return min(1.0, max(0.0, bm25 / ceiling)) if ceiling > 0.0 else 0.0


def is_match(similarity: float | None, bm25: float, ceiling: float, floor: float | None) -> bool:
    """Whether a candidate answers at all: its cosine is above the floor, or its words are more than an accident.

    A candidate that cannot be compared with the query (no vector, or the dense arm did not run) needs any word of the
    query.
    """
    if similarity is None or floor is None:
        return bm25 > 0.0
    return similarity > floor or lexical_share(bm25, ceiling) >= LEXICAL_FLOOR


def near_the_best(relevances: Mapping[MemoryId, float]) -> dict[MemoryId, float]:
    """Those with at least ``CUT_RATIO`` of the best relevance, and more than none."""
    best = max(relevances.values(), default=0.0)
    bar = CUT_RATIO * best
    return {memory: value for memory, value in relevances.items() if value >= bar and value > 0.0}
