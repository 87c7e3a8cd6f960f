"""Which procedures answer a question, ranked with the memories that do.

Pure. A procedure is a candidate like a memory: the nearest of its chunks is its cosine, BM25 over all procedures its
words, and the same fusion and the same floor decide. It never fades, and has the belief and importance of a plain save.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from perdure.domain.experience.learning import ItemKind, Procedure
from perdure.domain.memory import MemoryId, MemoryType, Statement
from perdure.domain.recall import pipeline
from perdure.domain.recall.answer import ProcedureHit
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalHit, LexicalQuery
from perdure.domain.recall.contrast import Centre, Contrast
from perdure.domain.recall.lexical import document_text
from perdure.domain.vectors import Matrix, Vector, unit

K1, B = 1.2, 0.75
"""BM25's, as in the store's full text."""

_TOKEN = re.compile(r"[^\W_]+")
_ENDINGS = ("ings", "ing", "ed", "es", "s", "e")
_STEM_CHARS_MIN = 4


class Shelf:
    """All procedures of a namespace, ready to be asked: words counted, vectors in one matrix."""

    def __init__(
        self, procedures: Sequence[Procedure], vectors: Mapping[tuple[ItemKind, str], Sequence[Vector]]
    ) -> None:
        """``vectors``: unit vectors of each procedure's chunks, of one space; of some procedures or of all."""
        self._procedures = {_id_of(one): one for one in procedures}
        self._counts = {name: Counter(_stems(one.text)) for name, one in self._procedures.items()}
        self._texts = {name: f" {' '.join(_stems(one.text))} " for name, one in self._procedures.items()}
        self._frequency = Counter(word for counts in self._counts.values() for word in counts)
        sizes = [counts.total() for counts in self._counts.values()]
        self._mean_size = sum(sizes) / len(sizes) if sizes else 1.0
        rows = [(name, row) for name, one in self._procedures.items() for row in vectors.get((one.kind, one.id), ())]
        self._owners = [name for name, _ in rows]
        self._rows: Matrix = np.stack([row for _, row in rows]) if rows else np.zeros((0, 0), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._procedures)

    def words(self, query: LexicalQuery) -> LexicalAnswer:
        """Procedures that hold a word of the query, best first, and the query's ceiling."""
        scores: dict[MemoryId, float] = {}
        ceiling = 0.0
        for term in query.terms:
            stems = [_stem(word) for word in _TOKEN.findall(term.text.casefold())]
            if not stems:
                continue
            holding = self._holding(stems, prefix=term.prefix)
            count = len(self._procedures)
            idf = max(1e-6, math.log((count - len(holding) + 0.5) / (len(holding) + 0.5)))
            ceiling += idf * (K1 + 1)
            for name, times in holding.items():
                size = self._counts[name].total() / self._mean_size
                gain = idf * times * (K1 + 1) / (times + K1 * (1 - B + B * size))
                scores[name] = scores.get(name, 0.0) + gain
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        return LexicalAnswer(tuple(LexicalHit(name, score) for name, score in best), ceiling)

    def near(self, question: Vector) -> dict[MemoryId, float]:
        """Cosine of each procedure's nearest chunk."""
        return self._nearest(self._rows, question)

    def near_from(self, question: Vector, centre: Centre) -> dict[MemoryId, float]:
        """The same, seen from the centre of the namespace's memories."""
        if not len(self._rows):
            return {}
        shift = centre.mean * np.float32(centre.strength)
        return self._nearest(unit(self._rows - shift), unit(question - shift))

    def procedure(self, name: MemoryId) -> Procedure | None:
        """The procedure that stands in a ranking under that name; None for a memory's."""
        return self._procedures.get(name)

    def cards(self, now: datetime) -> dict[MemoryId, Card]:
        """What scoring needs of each."""
        return {
            name: Card(
                id=name,
                project="",
                type=MemoryType.CONTEXT,
                confidence=0.5,
                importance=0.5,
                access_count=0,
                last_accessed_at=now,
            )
            for name in self._procedures
        }

    def _nearest(self, rows: Matrix, question: Vector) -> dict[MemoryId, float]:
        if not len(rows) or rows.shape[1] != question.shape[0]:
            return {}
        best: dict[MemoryId, float] = {}
        for name, cosine in zip(self._owners, (rows @ question).tolist(), strict=True):
            if cosine > best.get(name, -2.0):
                best[name] = cosine
        return best

    def _holding(self, stems: Sequence[str], *, prefix: bool) -> dict[MemoryId, int]:
        """How often each procedure holds the words one after the other."""
        if len(stems) == 1 and not prefix:
            word = stems[0]
            return {name: counts[word] for name, counts in self._counts.items() if word in counts}
        sought = f" {' '.join(stems)}{'' if prefix else ' '}"
        return {name: times for name, text in self._texts.items() if (times := text.count(sought))}


def ranked_together(
    shelf: Shelf,
    *,
    terms: LexicalQuery,
    question: Vector | None,
    floor: float | None,
    centre: Centre | None,
    now: datetime,
    limit: int,
    memories: Mapping[MemoryId, Card],
    dense: Sequence[DenseHit],
    lexical: LexicalAnswer,
    similarities: Mapping[MemoryId, float],
    contrast: Contrast | None,
) -> tuple[ProcedureHit, ...]:
    """The procedures among the ``limit`` best of memories and procedures together, best first.

    Args:
        shelf: The namespace's procedures.
        terms: The query's words.
        question: Its vector as search compares it; None where the dense arm did not run.
        floor: The space's floor; None where the dense arm did not run.
        centre: Of the namespace's memories, None where there is none.
        now: Aware UTC.
        limit: How many of both together.
        memories: Cards of the memories found.
        dense: The dense arm's hits.
        lexical: The lexical arm's.
        similarities: True cosines of the memories found.
        contrast: Their cosines from the centre.
    """
    cosines = {} if question is None else shelf.near(question)
    words = shelf.words(terms)
    ceiling = lexical.ceiling or words.ceiling
    # of few texts no word is rare: shares of each ceiling compare, plain figures do not
    share = ceiling / words.ceiling if words.ceiling else 0.0
    hits = sorted(
        (*lexical.hits, *(LexicalHit(hit.id, hit.bm25 * share) for hit in words.hits)),
        key=lambda hit: (-hit.bm25, hit.id),
    )
    seen = contrast
    if question is not None and centre is not None:
        around = dict(contrast.cosines) if contrast is not None else {}
        seen = Contrast({**around, **shelf.near_from(question, centre)}, centre.strength)
    near = sorted(cosines.items(), key=lambda item: (-item[1], item[0]))
    ranked = pipeline.rank(
        cards={**memories, **shelf.cards(now)},
        dense=(*dense, *(DenseHit(name, cosine) for name, cosine in near)),
        lexical=LexicalAnswer(tuple(hits), ceiling),
        similarities={**similarities, **cosines},
        floor=floor,
        now=now,
        limit=limit,
        contrast=seen,
    )
    return tuple(
        ProcedureHit(
            kind=found.kind,
            id=found.id,
            name=found.name,
            text=found.text,
            score=entry.score,
            place=place,
            similarity=cosines.get(entry.id),
        )
        for place, entry in enumerate(ranked, start=1)
        if (found := shelf.procedure(entry.id)) is not None
    )


def _id_of(procedure: Procedure) -> MemoryId:
    # no memory's id has a colon
    return MemoryId(f"{procedure.kind.value}:{procedure.id}")


def _stems(text: str) -> list[str]:
    """Words as both sides compare them: folded, the parts of identifiers and CJK bigrams too, common endings off."""
    seen = document_text(Statement(content=text))
    return [_stem(word) for word in _TOKEN.findall(f"{seen.words} {seen.parts}".casefold())]


def _stem(word: str) -> str:
    if not word.isascii():
        return word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM_CHARS_MIN - 1:
            return word[: -len(ending)]
    return word
