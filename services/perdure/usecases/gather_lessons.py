"""Read from the store what a private model is trained on, and ask the embedder for the questions' vectors.

Everything is read in one view and the view is let go of before any vector is asked for.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from perdure.domain.adapter.schooling import Asked, AskedAs, Material
from perdure.domain.adapter.split import order_of
from perdure.domain.experience.curriculum import askings, questions_each
from perdure.domain.experience.learning import ItemKind, Procedure, UsedQuery
from perdure.domain.memory import MemoryId
from perdure.domain.text import one_line
from perdure.domain.vectors import Vector, to_bytes
from perdure.ports import ExperienceReader, TrainingEmbedder
from perdure.usecases.embed_procedures import EMBED_TIMEOUT_S, embedded

USED_MAX = 5000
"""Used questions of one training, the newest; as many as the store keeps of a namespace."""

SUPERSEDED_MAX = 1000

MEMORIES_MAX = 20_000
"""Memories that are in the way while a model is trained: 31 MB of vectors at 384 dimensions, twice while it is fitted.
Of more, those that were used, and of the rest a fixed choice."""

REPLAY_MAX = 192
"""Memories asked for by their first sentences; some 5 s of two cores with the embedded model."""

REPLAY_WEIGHT = 0.5

QUESTIONS_AT_ONCE = 4
"""A search that comes meanwhile shares the processor with these; the fewer, the shorter."""

REST_MAX_S = 0.1
"""As long as the questions took, and no longer, nothing is embedded: every other search then meets none."""


@dataclass(frozen=True, slots=True)
class Known:
    """What the store says.

    Attributes:
        procedures: What is taught, with a vector for each chunk.
        memories: Active memories by id, with their vectors.
        used: Used questions whose memory is among them.
        instead: For a memory that superseded others, the vector of one of those.
        replay: Memories that are asked for by a sentence of theirs.
        shift: What search takes away before it compares; None takes nothing.
    """

    procedures: tuple[tuple[Procedure, tuple[Vector, ...]], ...]
    memories: dict[MemoryId, Vector]
    used: tuple[UsedQuery, ...]
    instead: dict[MemoryId, Vector]
    replay: tuple[tuple[MemoryId, str], ...]
    shift: Vector | None

    @property
    def questions(self) -> int:
        """How many texts have to be embedded."""
        each = questions_each(len(self.procedures))
        return sum(len(askings(one, each)) for one, _ in self.procedures) + len(self.replay)


def known(reader: ExperienceReader, taught: Sequence[Procedure], space: str) -> Known:
    """Everything that is there now; procedures without a vector are left out."""
    chunks: dict[tuple[ItemKind, str, str], list[Vector]] = {}
    for vector in reader.procedure_vectors(space):
        chunks.setdefault((vector.kind, vector.id, vector.sha256), []).append(vector.vector)
    used = reader.used_queries(space, USED_MAX)
    memories = _memories(reader, space, {one.memory for one in used})
    replaced = reader.superseded_of(space, SUPERSEDED_MAX)
    older = reader.vectors([MemoryId(old) for _, old in replaced], space)
    pairs = {MemoryId(new): older[MemoryId(old)] for new, old in reversed(replaced) if MemoryId(old) in older}
    centre = reader.centre(space)
    picked = sorted(memories, key=order_of)[:REPLAY_MAX]
    texts = reader.get_many(picked)
    return Known(
        procedures=tuple(
            (one, tuple(found)) for one in taught if (found := chunks.get((one.kind, one.id, one.sha256)))
        ),
        memories=memories,
        used=tuple(one for one in used if one.memory in memories),
        instead=pairs,
        replay=tuple(
            (memory, text) for memory in picked if memory in texts if (text := one_line(texts[memory].summary))
        ),
        shift=None if centre is None else centre.mean * np.float32(centre.strength),
    )


def material(
    known: Known, space: str, dimension: int, embedder: TrainingEmbedder, told: Callable[[int], None]
) -> Material:
    """Features of all that is known; ``told`` hears how many questions have their vector.

    Raises:
        Unavailable: the embedder is away, slow, or answers in another space by now.
    """
    each = questions_each(len(known.procedures))
    numbers = {memory: len(known.procedures) + place for place, memory in enumerate(known.memories)}
    texts: list[str] = []
    asked: list[Asked] = []
    nowhere = np.zeros(0, dtype=np.float32)
    for thing, (procedure, _) in enumerate(known.procedures):
        for one in askings(procedure, each):
            texts.append(one.text)
            name = f"{procedure.kind} {procedure.id} {one.text}"
            asked.append(Asked(AskedAs.PROCEDURE, name, nowhere, thing, one.chunk, one.weight))
    for memory, text in known.replay:
        texts.append(text)
        asked.append(Asked(AskedAs.REPLAY, memory, nowhere, numbers[memory], None, REPLAY_WEIGHT))
    vectors: list[Vector] = []
    for start in range(0, len(texts), QUESTIONS_AT_ONCE):
        began = time.monotonic()
        some = texts[start : start + QUESTIONS_AT_ONCE]
        vectors += embedded(some, space, lambda some: embedder.questions(some, timeout_s=EMBED_TIMEOUT_S))
        told(len(vectors))
        time.sleep(min(time.monotonic() - began, REST_MAX_S))
    asked = [replace(one, vector=vector) for one, vector in zip(asked, vectors, strict=True)]
    extra = list(known.instead.items())
    places = {memory: place for place, (memory, _) in enumerate(extra)}
    for used in known.used:
        # the same question asked again falls into the same part
        name = hashlib.sha256(to_bytes(used.vector)).hexdigest()
        thing = numbers[used.memory]
        asked.append(Asked(AskedAs.USED, name, used.vector, thing, instead=places.get(used.memory)))
    return Material(
        things=[*(rows for _, rows in known.procedures), *((vector,) for vector in known.memories.values())],
        procedures=len(known.procedures),
        asked=asked,
        extra=[vector for _, vector in extra],
        shift=known.shift,
        dimension=dimension,
    )


def _memories(reader: ExperienceReader, space: str, used: set[MemoryId]) -> dict[MemoryId, Vector]:
    found: dict[MemoryId, Vector] = {}
    for project, type_, _ in reader.groups(None):
        group = reader.vector_group(project, type_, space, since=-1)
        if group is not None:
            found |= dict(zip(group.ids, group.vectors, strict=True))
    if len(found) <= MEMORIES_MAX:
        return found
    chosen = sorted(found, key=lambda memory: (memory not in used, order_of(memory)))[:MEMORIES_MAX]
    # copies, so that the matrices they are rows of are let go of
    return {memory: found[memory].copy() for memory in chosen}
