"""Make one memory out of many aged ones that are about one thing.

The domain says which and what (``domain.consolidation``); this reads what it asks for and writes each group in a
transaction of its own: the new memory, the originals out of search, the links, the notes for an undo. A worker that
dies leaves whole groups behind it and nothing else. No model is called: the vectors are those that are stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from perdure.domain.consolidation import plan
from perdure.domain.memory import Memory, MemoryId, MemoryType, Status
from perdure.domain.namespace import Actor, Scope
from perdure.domain.retention import Life, life_of, may_consolidate
from perdure.domain.runs import Act
from perdure.domain.statement import checked
from perdure.domain.summary import summarise as summarise_text
from perdure.domain.vectors import Matrix, Thresholds, Vector
from perdure.errors import AlreadyExists, InvalidArgument, Unavailable
from perdure.ports import Clock, Departure, Ids, LifecycleStore, Summariser
from perdure.usecases.run_job import Report
from perdure.usecases.yielding import Yielding

PAGE = 2000
CANDIDATES_MAX = 20_000
"""Aged memories of one project and type looked at in one run, the oldest: 30 MiB of vectors."""

PLAN_LINES_MAX = 50
DAY = timedelta(days=1)


class Consolidate:
    """Consolidates the aged memories of one namespace."""

    def __init__(
        self,
        store: LifecycleStore,
        clock: Clock,
        ids: Ids,
        *,
        members_min: int = plan.MEMBERS_MIN,
        similarity: float | None = None,
        summarise: Summariser | None = None,
        summaries_per_day: int = 0,
    ) -> None:
        """``similarity`` None takes the threshold of the space; ``summarise`` None keeps the deterministic text."""
        self._store = store
        self._clock = clock
        self._ids = ids
        self._members_min = members_min
        self._similarity = similarity
        self._wording = None if summarise is None else _Wording(store, clock, summarise, summaries_per_day)

    def __call__(
        self,
        scope: Scope,
        actor: Actor,
        run_id: str,
        space: str,
        thresholds: Thresholds,
        report: Report,
        *,
        project: str | None = None,
        dry_run: bool = False,
    ) -> tuple[Counter[str], tuple[str, ...]]:
        """What was done (or, in a dry run, would be), by name, and the first lines of what a dry run would do.

        Args:
            scope: The namespace.
            actor: Goes into history.
            run_id: A run that has begun.
            space: Fingerprint of the space searches use.
            thresholds: Those of that space.
            report: Told of progress; stops the run.
            project: Only this one; None is every one.
            dry_run: Writes nothing.
        """
        if self._similarity is not None:
            thresholds = replace(thresholds, cluster=self._similarity)
        counts: Counter[str] = Counter(clusters_found=0, memories_consolidated=0, new_memories_created=0)
        lines: list[str] = []
        yielding = Yielding(self._store.writes_of_others)
        if self._wording is not None:
            self._wording.begin()
        with self._store.survey(scope) as reader:
            groups = reader.groups(project)
        for done, (name, type_, count) in enumerate(groups):
            report(done, len(groups), f"consolidating {name}")
            if count < self._members_min:
                continue
            for group in self._groups(scope, name, type_, space, thresholds):
                if dry_run:
                    counts.update(_counted(group))
                    if len(lines) < PLAN_LINES_MAX:
                        lines.append(f"consolidate {len(group.members)} of {name}/{type_.value}: {group.summary}")
                    continue
                worded = group if self._wording is None else self._wording(group)
                with yielding:
                    written = self._write(scope, actor, run_id, worded, space)
                counts.update(written)
                report(done, len(groups), f"consolidating {name}")
        return counts, tuple(lines)

    def _groups(
        self, scope: Scope, project: str, type_: MemoryType, space: str, thresholds: Thresholds
    ) -> Iterator[plan.Group]:
        now = self._clock.now()
        lives, vectors = self._aged(scope, project, type_, space)
        for part in plan.parts(lives, vectors, thresholds, now, members_min=self._members_min):
            ids = [lives[row].id for row in part]
            with self._store.survey(scope) as reader:
                found = reader.get_many(ids)
            members = [found[id_] for id_ in ids if id_ in found and _still_aged(found[id_], self._clock)]
            rows: dict[MemoryId, Vector] = {lives[row].id: vectors[row] for row in part}
            yield from plan.groups(members, rows, members_min=self._members_min)

    def _aged(self, scope: Scope, project: str, type_: MemoryType, space: str) -> tuple[list[Life], Matrix]:
        """The oldest candidates that have a vector, and their vectors."""
        now = self._clock.now()
        lives: list[Life] = []
        rows: list[Vector] = []
        after: int | None = 0
        while after is not None and len(lives) < CANDIDATES_MAX:
            with self._store.survey(scope) as reader:
                page = reader.lives(project, type_, after=after, limit=PAGE)
                aged = [life for life in page.lives if may_consolidate(life, now)]
                vectors = reader.vectors([life.id for life in aged], space)
            kept = [life for life in aged if life.id in vectors]
            lives += kept
            rows += [vectors[life.id] for life in kept]
            after = page.next
        matrix = np.stack(rows) if rows else np.empty((0, 1), dtype=np.float32)
        return lives, matrix

    def _write(self, scope: Scope, actor: Actor, run_id: str, group: plan.Group, space: str) -> dict[str, int]:
        """One transaction; a group of which somebody edited or used a member meanwhile is left for another run."""
        now = self._clock.now()
        memory = plan.born(group, id=self._ids.memory(), namespace=scope.namespace, now=now, actor=actor.name)
        counts = _counted(group) | ({"summaries": 1} if group.worded else {})
        try:
            with self._store.maintain(scope, actor) as unit:
                unit.add(memory, vector=group.vector, space=space)
                unit.made(run_id, memory.id)
                departures = _departures(group.members, memory.id)
                if len(unit.depart(run_id, departures, now)) != len(departures):
                    raise _MovedOn
                unit.count_run(run_id, counts)
        except (_MovedOn, AlreadyExists):
            return {"skipped": len(group.members)}
        return counts


class _Wording:
    """Lets a language model word a group: within the day's budget, and not again in a run in which it failed once."""

    def __init__(self, store: LifecycleStore, clock: Clock, summarise: Summariser, per_day: int) -> None:
        self._store = store
        self._clock = clock
        self._summarise = summarise
        self._per_day = per_day
        self._failed = False

    def begin(self) -> None:
        """A new run."""
        self._failed = False

    def __call__(self, group: plan.Group) -> plan.Group:
        """The group in the model's words; as it was where there are none to be had. The originals keep theirs."""
        if self._failed:
            return group
        with self._store.work() as unit:
            if unit.summaries_since(self._clock.now() - DAY) >= self._per_day:
                return group
        try:
            statement = checked(replace(group.statement, content=self._summarise(group.statement.content)))
        except (Unavailable, InvalidArgument):
            self._failed = True
            return group
        return replace(group, statement=statement, summary=summarise_text(statement.content), worded=True)


class _MovedOn(Exception):
    """A member changed since it was read; nothing of the group is written."""


def _departures(members: Sequence[Memory], into: MemoryId) -> list[Departure]:
    return [
        Departure(memory=memory, status=Status.CONSOLIDATED, act=Act.CONSOLIDATED, winner=into) for memory in members
    ]


def _counted(group: plan.Group) -> dict[str, int]:
    return {"clusters_found": 1, "memories_consolidated": len(group.members), "new_memories_created": 1}


def _still_aged(memory: Memory, clock: Clock) -> bool:
    return memory.status is Status.ACTIVE and may_consolidate(life_of(memory), clock.now())
