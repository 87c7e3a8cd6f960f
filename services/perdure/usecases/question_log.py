"""Questions whose answers were then read: what a private model learns from.

A question is remembered as its vector, never as text, for half an hour, with the memories it found. When the same actor
reads one of those in full, the pair is a used question; it waits here until it is flushed, and is lost by nobody who
matters.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from perdure.domain.experience.learning import UsedQuery
from perdure.domain.memory import MemoryId
from perdure.domain.namespace import Caller, NamespaceName
from perdure.domain.vectors import Vector

REMEMBERED = timedelta(minutes=30)
QUESTIONS_MAX = 8
"""Of one actor; the oldest goes first."""
ACTORS_MAX = 1000
"""8,000 questions are 12 MB of vectors."""
WAITING_MAX = 10_000
"""Used questions that may wait for a busy store; what is beyond is let go."""


@dataclass(slots=True)
class _Question:
    vector: Vector
    space: str
    found: set[MemoryId]
    at: datetime


class QuestionLog:
    """Recent questions by actor, and those whose answers were read since the last flush. Safe for threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: OrderedDict[tuple[NamespaceName, str], deque[_Question]] = OrderedDict()
        self._used: list[tuple[NamespaceName, UsedQuery]] = []

    def asked(self, caller: Caller, vector: Vector, space: str, found: Collection[MemoryId], at: datetime) -> None:
        """Remembers a question and what it found; one that found nothing is forgotten at once."""
        if not found:
            return
        place = (caller.namespace, caller.actor)
        with self._lock:
            questions = self._recent.setdefault(place, deque(maxlen=QUESTIONS_MAX))
            questions.append(_Question(vector, space, set(found), at))
            self._recent.move_to_end(place)
            while len(self._recent) > ACTORS_MAX:
                self._recent.popitem(last=False)

    def read(self, caller: Caller, memory: MemoryId, at: datetime) -> None:
        """Notes that the memory was read in full; the newest question that found it was its, once."""
        with self._lock:
            for question in reversed(self._recent.get((caller.namespace, caller.actor), ())):
                if at - question.at > REMEMBERED:
                    return
                if memory in question.found:
                    question.found.discard(memory)
                    if len(self._used) < WAITING_MAX:
                        used = UsedQuery(vector=question.vector, space=question.space, memory=memory, at=at)
                        self._used.append((caller.namespace, used))
                    return

    def take(self) -> dict[NamespaceName, list[UsedQuery]]:
        """Used questions since the last call, by namespace."""
        with self._lock:
            used, self._used = self._used, []
        by_namespace: dict[NamespaceName, list[UsedQuery]] = {}
        for namespace, one in used:
            by_namespace.setdefault(namespace, []).append(one)
        return by_namespace

    def put_back(self, namespace: NamespaceName, used: Collection[UsedQuery]) -> None:
        """Keeps what could not be written for the next time."""
        with self._lock:
            self._used.extend((namespace, one) for one in used)
