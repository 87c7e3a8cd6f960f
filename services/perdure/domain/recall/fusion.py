"""One relevance from two arms, and who has too little of it.

Knows cosines and BM25, nothing of age, use or belief. Source of the combination (CCQ) and of its weights: the
measurements on nine sets made before this code (docs/explanation/search.md), where its average beat rank fusion's.
"""

from __future__ import annotations

import math
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

WORDS_EVIDENCE = 0.5
"""How much cosine the words of a query are worth, all of them found, when it is asked whether a candidate answers.

Measured on the questions of ``tests/quality`` in English, Chinese and Japanese: 0.4 and 0.5 with the root of the share
keep recall at 5 above 0.93 and tell some of the unanswerable apart; the cosine alone loses 5 points in Japanese.
"""

WORDS_SURE = 0.25
"""Share of the BM25 ceiling from which words alone are an answer; a text that holds the whole query has 0.4 to 0.6."""

ANSWER_MARGIN = 0.05
"""How far above the floor the best candidate must be before words and vectors together count as an answer.

Same data: 0.10 tells a third of the unanswerable apart and costs 3 points of recall in Japanese, 0.05 costs none.
"""

CENTRED_FLOOR = 0.4
"""What is left of the floor when a namespace's mean is wholly taken away: 0.25 becomes 0.1, which 95 % of unrelated
pairs stay below (see ``contrast``)."""

UNCALIBRATED_SPREAD = 0.1
"""In a space without a floor, this much below the lowest candidate counts as nothing."""


def relevance(
    similarities: Mapping[MemoryId, float], bm25: Mapping[MemoryId, float], ceiling: float, floor: float | None
) -> dict[MemoryId, float]:
    """Relevance in [0, 1] of every candidate that either mapping names; rises with either evidence.

    ``0.35 x cosine, scaled + 0.65 x bm25 / ceiling``. The cosine is scaled over the candidates between the lowest (the
    floor at most) and the highest (the anchor at least). Where words found nothing the scaled cosine stands alone;
    where a candidate has no vector, or the dense arm did not run, BM25 stands alone.

    Args:
        similarities: Cosine of each candidate that has a comparable vector, plain or from the centre.
        bm25: BM25 of each candidate found by words, >= 0.
        ceiling: The BM25 no text can exceed for this query; 0 without terms.
        floor: The floor of those cosines; None where the dense arm did not run.
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


def centred_floor(floor: float, strength: float) -> float:
    """The floor for cosines from a centre of which ``strength`` (in [0, 1)) was taken away."""
    return floor if floor <= 0.0 else floor * (1.0 - (1.0 - CENTRED_FLOOR) * strength)


def scale(similarities: Mapping[MemoryId, float], floor: float) -> tuple[float, float]:
    """The cosines that count as nothing and as full; the second is greater than the first.

    A floor of -1 says that the space was never calibrated.
    """
    lowest, highest = min(similarities.values()), max(similarities.values())
    if floor <= -1.0:
        return lowest - UNCALIBRATED_SPREAD, highest
    return min(floor, lowest), max(floor + ANCHOR_SPAN * (1.0 - floor), highest)


def lexical_share(bm25: float, ceiling: float) -> float:
    """BM25 as a share of the query's ceiling, in [0, 1]; 0 without a ceiling."""
    return min(1.0, max(0.0, bm25 / ceiling)) if ceiling > 0.0 else 0.0


def evidence(similarity: float | None, bm25: float, ceiling: float) -> float:
    """What speaks for a candidate's being an answer at all, on the scale of the cosine.

    The cosine, and up to ``WORDS_EVIDENCE`` for words: the root of their share, as one rare word of several says much
    already and in a store of few texts the ceiling is far away. Infinite where words alone suffice, or where there is
    no vector to compare and any word was found.
    """
    share = lexical_share(bm25, ceiling)
    if share >= WORDS_SURE or (similarity is None and bm25 > 0.0):
        return math.inf
    return (-1.0 if similarity is None else similarity) + WORDS_EVIDENCE * math.sqrt(share)


def bars(floor: float | None, ceiling: float) -> tuple[float, float]:
    """The evidence that a candidate needs to be shown, and that the best needs for anything to be shown.

    Without a dense arm any word is enough. Without words the floor is all, as a question in another language than the
    answer lies not far above it.
    """
    if floor is None:
        return -math.inf, -math.inf
    return floor, floor + (ANSWER_MARGIN if ceiling > 0.0 else 0.0)


def near_the_best(relevances: Mapping[MemoryId, float]) -> dict[MemoryId, float]:
    """Those with at least ``CUT_RATIO`` of the best relevance, and more than none."""
    best = max(relevances.values(), default=0.0)
    bar = CUT_RATIO * best
    return {memory: value for memory, value in relevances.items() if value >= bar and value > 0.0}
