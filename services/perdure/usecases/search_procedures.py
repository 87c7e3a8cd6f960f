"""Find skills and episodes beside memories: by meaning once they have vectors, by words at once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime

from perdure.domain.experience.finding import Shelf, ranked_together
from perdure.domain.experience.learning import ItemKind
from perdure.domain.memory import MemoryId
from perdure.domain.namespace import NamespaceName, Scope
from perdure.domain.recall.answer import ProcedureHit
from perdure.domain.recall.candidate import Card, DenseHit, LexicalAnswer, LexicalQuery
from perdure.domain.recall.contrast import Contrast
from perdure.domain.vectors import Vector
from perdure.ports import ExperienceReader, ExperienceStore
from perdure.usecases.private_models import PrivateModels
from perdure.usecases.question_log import QuestionLog

SHELVES_KEPT = 32
"""Namespaces whose procedures are kept ready; 500 procedures are 2 MB."""


class Shelves:
    """Procedures of namespaces, ready to be asked; made anew when one changed."""

    def __init__(self, kept: int = SHELVES_KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._shelves: OrderedDict[tuple[NamespaceName, str], tuple[str, Shelf]] = OrderedDict()

    def shelf(self, reader: ExperienceReader, space: str | None) -> Shelf:
        """The shelf of the reader's namespace, with the vectors of that space."""
        place = (reader.scope.namespace, space or "")
        stamp = reader.shelf_stamp(space or "")
        with self._lock:
            kept = self._shelves.get(place)
            if kept is not None and kept[0] == stamp:
                self._shelves.move_to_end(place)
                return kept[1]
        vectors: dict[tuple[ItemKind, str], list[Vector]] = {}
        for one in reader.procedure_vectors(space) if space else ():
            vectors.setdefault((one.kind, one.id), []).append(one.vector)
        shelf = Shelf(reader.procedures(), vectors)
        with self._lock:
            self._shelves[place] = (stamp, shelf)
            self._shelves.move_to_end(place)
            while len(self._shelves) > self._kept:
                self._shelves.popitem(last=False)
        return shelf


class Together:
    """Ranks a namespace's procedures with the memories a search found."""

    def __init__(self, shelves: Shelves | None = None) -> None:
        self._shelves = shelves or Shelves()

    def __call__(
        self,
        reader: ExperienceReader,
        *,
        space: str | None,
        terms: LexicalQuery,
        question: Vector | None,
        floor: float | None,
        now: datetime,
        limit: int,
        memories: Mapping[MemoryId, Card],
        dense: Sequence[DenseHit],
        lexical: LexicalAnswer,
        similarities: Mapping[MemoryId, float],
        contrast: Contrast | None,
    ) -> tuple[ProcedureHit, ...]:
        """The procedures among the ``limit`` best, best first; see ``domain.experience.finding.ranked_together``."""
        shelf = self._shelves.shelf(reader, space)
        if not len(shelf):
            return ()
        return ranked_together(
            shelf,
            terms=terms,
            question=question,
            floor=floor,
            centre=reader.centre(space) if space and question is not None else None,
            now=now,
            limit=limit,
            memories=memories,
            dense=dense,
            lexical=lexical,
            similarities=similarities,
            contrast=contrast,
        )


@dataclass(frozen=True, slots=True)
class Learning:
    """What search knows of experience.

    Attributes:
        view: Opens a view of a namespace with its experience; ``ExperienceStore.experience_view``.
        models: The private models in use; None corrects no question.
        questions: Remembers questions until what they found is read; None remembers none.
        together: Ranks procedures with memories; None finds memories only.
    """

    view: Callable[[Scope], AbstractContextManager[ExperienceReader]]
    models: PrivateModels | None = None
    questions: QuestionLog | None = None
    together: Together | None = None

    @classmethod
    def of(cls, store: ExperienceStore, *, models: bool, questions: QuestionLog | None = None) -> Learning:
        """All of it, over a store; ``models`` False leaves every question as it is."""
        return cls(store.experience_view, PrivateModels() if models else None, questions, Together())
