"""Take out of search what has faded, what has ended, and what gets in the way of another.

Looks at every active memory of a namespace, oldest first, in bounded batches, on stored columns and vectors; calls no
model. Each batch is one transaction. What was compared once is not compared again until it changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from perdure.domain.consolidation.grouping import close_pairs
from perdure.domain.memory import Memory, MemoryId, MemoryType, Status
from perdure.domain.namespace import Actor, Scope
from perdure.domain.retention import Cause, Retirement, interference, life_of, retired, settle
from perdure.domain.runs import Act
from perdure.domain.vectors import Thresholds
from perdure.ports import Clock, Departure, LifecycleStore, VectorGroup
from perdure.usecases.run_job import Report
from perdure.usecases.yielding import Yielding

PAGE = 2000
BATCH = 50
"""Memories of one transaction: a few milliseconds in which a save may have to wait."""

PAIRS_MAX = 50_000
"""Pairs of one project and type judged in one run; where there are more, the rest is judged by the next."""

PLAN_LINES_MAX = 50

_COUNTED = {
    Cause.DECAYED: "archived_decayed",
    Cause.EXPIRED: "archived_expired",
    Cause.INTERFERES: "archived_deduped",
}
_ACT = {Cause.DECAYED: Act.DECAYED, Cause.EXPIRED: Act.EXPIRED, Cause.INTERFERES: Act.INTERFERES}


class Clean:
    """Collects the garbage of one namespace."""

    def __init__(self, store: LifecycleStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(
        self,
        scope: Scope,
        actor: Actor,
        run_id: str,
        space: str | None,
        thresholds: Thresholds | None,
        report: Report,
        *,
        project: str | None = None,
        dry_run: bool = False,
    ) -> tuple[Counter[str], tuple[str, ...], int | None]:
        """What was done (or would be) by name, lines of a dry run, and the watermark up to which all was compared.

        Args:
            scope: The namespace.
            actor: Goes into history.
            run_id: A run that has begun.
            space: Fingerprint of the space searches use; None compares nothing.
            thresholds: Those of that space; None compares nothing.
            report: Told of progress; stops the run.
            project: Only this one; None is every one.
            dry_run: Writes nothing.
        """
        work = _Work(self._store, self._clock, scope, actor, run_id, dry_run)
        with self._store.survey(scope) as reader:
            groups = reader.groups(project)
            since, reached = reader.watermarks()
        whole = project is None
        for done, (name, type_, _) in enumerate(groups):
            report(done, len(groups), f"cleaning {name}")
            for batch in self._faded(scope, name, type_):
                work.apply(batch)
                report(done, len(groups), f"cleaning {name}")
            if space is None or thresholds is None:
                whole = False
                continue
            with self._store.survey(scope) as reader:
                group = reader.vector_group(name, type_, space, since=since)
            if group is not None:
                whole &= self._part(scope, group, thresholds, work)
        return work.counts, tuple(work.lines), reached if whole and not dry_run else None

    def _faded(self, scope: Scope, project: str, type_: MemoryType) -> Iterator[list[Retirement]]:
        after: int | None = 0
        while after is not None:
            with self._store.survey(scope) as reader:
                page = reader.lives(project, type_, after=after, limit=PAGE)
            now = self._clock.now()
            found = [gone for life in page.lives if (gone := retired(life, now)) is not None]
            yield from _batches(found)
            after = page.next

    def _part(self, scope: Scope, group: VectorGroup, thresholds: Thresholds, work: _Work) -> bool:
        """Compares a group; False where pairs were left for another run."""
        judged = 0
        for left, right, alike in close_pairs(group.vectors, thresholds.interference, fresh=group.fresh):
            pairs = [
                (group.ids[one], group.ids[other], float(similarity))
                for one, other, similarity in zip(left, right, alike, strict=True)
            ]
            for start in range(0, len(pairs), PAGE):
                part = pairs[start : start + PAGE]
                judged += len(part)
                if judged > PAIRS_MAX:
                    return False
                for batch in _batches(self._judged(scope, part, work.gone)):
                    work.apply(batch)
        return True

    def _judged(
        self, scope: Scope, pairs: Sequence[tuple[MemoryId, MemoryId, float]], gone: set[MemoryId]
    ) -> list[Retirement]:
        pairs = [pair for pair in pairs if pair[0] not in gone and pair[1] not in gone]
        with self._store.survey(scope) as reader:
            found = reader.get_many(list({id_ for one, other, _ in pairs for id_ in (one, other)}))
        now = self._clock.now()
        verdicts: list[Retirement] = []
        for one, other, similarity in pairs:
            a, b = found.get(one), found.get(other)
            if a is None or b is None or not (_stays(a) and _stays(b)):
                continue
            if (verdict := interference(a, b, similarity, now)) is not None:
                verdicts.append(verdict)
        return list(settle(verdicts))


class _Work:
    """Applies batches and counts."""

    def __init__(
        self, store: LifecycleStore, clock: Clock, scope: Scope, actor: Actor, run_id: str, dry_run: bool
    ) -> None:
        self._store = store
        self._clock = clock
        self._scope = scope
        self._actor = actor
        self._run_id = run_id
        self._dry_run = dry_run
        self._yielding = Yielding(store.writes_of_others)
        self.counts: Counter[str] = Counter(dict.fromkeys(_COUNTED.values(), 0))
        self.lines: list[str] = []
        self.gone: set[MemoryId] = set()

    def apply(self, batch: Sequence[Retirement]) -> None:
        """One transaction; a memory that was edited or used meanwhile stays."""
        with self._store.survey(self._scope) as reader:
            memories = reader.get_many([item.id for item in batch])
        kept = [item for item in batch if item.id in memories]
        if self._dry_run:
            for item in kept:
                if len(self.lines) < PLAN_LINES_MAX:
                    self.lines.append(_line(item, memories[item.id]))
            self._count(kept)
            return
        now = self._clock.now()
        departures = [
            Departure(
                memory=memories[item.id],
                status=Status.SUPERSEDED if item.cause is Cause.INTERFERES else Status.ARCHIVED,
                act=_ACT[item.cause],
                winner=item.winner,
            )
            for item in kept
            if item.cause is Cause.INTERFERES or retired(life_of(memories[item.id]), now) is not None
        ]
        with self._yielding, self._store.maintain(self._scope, self._actor) as unit:
            left = unit.depart(self._run_id, departures, now)
            done = [item for item in kept if item.id in left]
            unit.count_run(self._run_id, Counter(_COUNTED[item.cause] for item in done))
        self._count(done)

    def _count(self, done: Sequence[Retirement]) -> None:
        self.counts.update(_COUNTED[item.cause] for item in done)
        self.gone.update(item.id for item in done)


def _stays(memory: Memory) -> bool:
    return memory.status is Status.ACTIVE


def _batches(found: Sequence[Retirement]) -> Iterator[list[Retirement]]:
    for start in range(0, len(found), BATCH):
        yield list(found[start : start + BATCH])


def _line(item: Retirement, memory: Memory) -> str:
    why = {
        Cause.DECAYED: f"weight {item.weight:.2f}",
        Cause.EXPIRED: "expired",
        Cause.INTERFERES: f"says what {item.winner} says",
    }[item.cause]
    return f"{'supersede' if item.cause is Cause.INTERFERES else 'archive'} {item.id} ({why}): {memory.summary}"
