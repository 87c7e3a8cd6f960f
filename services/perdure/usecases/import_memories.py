"""Take in exported memories; doing it again is harmless.

Ids, times, counts, revisions, status and links are kept as given. A memory whose id is here already, or whose text
an active memory of its project and type says already, is not stored twice. Of two texts for one key the newer stands,
with the other in its history; a text that is in the history already was edited here since, and changes nothing. No
vector is made inline: the queue embeds what came in, and words find it at once.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice

from perdure.domain.memory import LinkKind, Memory, MemoryId, Revision, Statement, Status
from perdure.domain.namespace import Actor, Caller, NamespaceName, TokenScope
from perdure.domain.resolution import text_sha256, unite
from perdure.domain.saving import ImportProblem, ImportReport
from perdure.domain.summary import summarise
from perdure.errors import AlreadyExists, Conflict, InvalidArgument, PerdureError, Reason, Unavailable
from perdure.ports import Clock, Ids, MemoryReader, MemoryUnit, Store
from perdure.usecases.admit import Admit
from perdure.usecases.permission import require
from perdure.usecases.resolve import as_draft, merged, said_before

PROBLEMS_MAX = 100
COUNT_MAX = 2**53 - 1
"""Largest count or revision taken in: exact in every JSON reader, and never too large to be raised again."""
TRANSACTION_ITEMS = 50
BUSY_ATTEMPTS_MAX = 12
"""Tries of one transaction, each as long as a writer waits for the store; a long import meets other long work."""

Line = tuple[Memory, tuple[Revision, ...]] | PerdureError
"""One line of an import, or why it could not be read."""

_OF_THE_LINE = (InvalidArgument, AlreadyExists, Conflict)


@dataclass(frozen=True, slots=True)
class _Incoming:
    line: int
    memory: Memory
    revisions: tuple[Revision, ...]


@dataclass(slots=True)
class _Import:
    """The running totals of one import, and what is done at its end."""

    caller: Caller
    now: datetime
    read: int = 0
    created: int = 0
    unchanged: int = 0
    merged: int = 0
    failed: int = 0
    problems: list[ImportProblem] = field(default_factory=list)
    links: list[tuple[LinkKind, MemoryId, MemoryId]] = field(default_factory=list)
    seen: set[tuple[str, ...]] = field(default_factory=set)

    def fail(self, line: int, error: PerdureError) -> None:
        self.failed += 1
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(ImportProblem(line=line, reason=error.reason.value, message=error.message))

    def count(self, outcomes: Iterable[str]) -> None:
        for outcome in outcomes:
            setattr(self, outcome, getattr(self, outcome) + 1)


class ImportMemories:
    """Reads a stream of memories into the caller's namespace, whatever namespace they came from."""

    def __init__(self, store: Store, admit: Admit, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._admit = admit
        self._clock = clock
        self._ids = ids

    def __call__(self, caller: Caller, lines: Iterable[Line], *, dry_run: bool = False) -> ImportReport:
        """What was done, or with ``dry_run`` what would be; a bad line is a problem of its own and stops nothing.

        Raises:
            NotFound: there is no such namespace.
            PermissionDenied: the caller may not write.
            Unavailable: the store stays busy, or is full; what was taken in stays, and repeating is safe.
        """
        require(caller, TokenScope.WRITE)
        running = _Import(caller, self._clock.now())
        for chunk in _chunks(lines):
            incoming = [ready for item in chunk if (ready := self._incoming(running, item)) is not None]
            if not incoming:
                continue
            if dry_run:
                self._look(running, incoming)
            else:
                self._take_in(running, incoming)
        if not dry_run:
            self._link(running)
        return ImportReport(
            read=running.read,
            created=running.created,
            unchanged=running.unchanged,
            merged=running.merged,
            failed=running.failed,
            problems=tuple(running.problems),
            dry_run=dry_run,
        )

    # ------------------------------------------------------------ one line

    def _incoming(self, running: _Import, item: Line) -> _Incoming | None:
        running.read += 1
        line = running.read
        if isinstance(item, PerdureError):
            running.fail(line, item)
            return None
        memory, revisions = item
        try:
            ready = self._ready(memory, running.caller.namespace)
            own = tuple(self._own(revision, ready) for revision in revisions)
        except InvalidArgument as error:
            running.fail(line, error)
            return None
        running.links.extend(_links(ready))
        bare = replace(
            ready,
            supersedes=(),
            superseded_by=None,
            consolidated_from=(),
            consolidated_into=None,
            related=(),
            space=None,
        )
        return _Incoming(line, bare, own)

    def _ready(self, memory: Memory, namespace: NamespaceName) -> Memory:
        statement, _ = self._admit.statement(memory.statement)
        for name, value in (("confidence", memory.confidence), ("importance", memory.importance)):
            if not 0 <= value <= 1:
                raise InvalidArgument(
                    f"'{name}' is between 0 and 1.", reason=Reason.OUT_OF_RANGE, details={"field": name}
                )
        _check_counts(memory)
        kept = statement == memory.statement and memory.summary
        return replace(
            memory,
            id=_uuid(memory.id) if memory.id else self._ids.memory(),
            namespace=namespace,
            statement=statement,
            summary=self._blanked(memory.summary) if kept else summarise(statement.content),
            stub=self._blanked(memory.stub) if memory.stub else None,
        )

    def _own(self, revision: Revision, memory: Memory) -> Revision:
        """An earlier state as one of ``memory``, without the secrets it holds."""
        before = revision.before
        _check_counts(before)
        statement, _ = self._admit.secrets(before.statement)
        before = replace(
            before,
            id=memory.id,
            namespace=memory.namespace,
            statement=statement,
            summary=self._blanked(before.summary),
            stub=self._blanked(before.stub) if before.stub else None,
        )
        return replace(revision, memory=memory.id, before=before)

    def _blanked(self, text: str) -> str:
        return self._admit.secrets(Statement(content=text))[0].content

    # ------------------------------------------------------------ writing

    def _take_in(self, running: _Import, incoming: Sequence[_Incoming]) -> None:
        """One transaction; where a line spoils it, one transaction a line."""
        try:
            running.count(self._patiently(running, incoming))
        except _OF_THE_LINE:
            for item in incoming:
                try:
                    running.count(self._patiently(running, [item]))
                except _OF_THE_LINE as error:
                    running.fail(item.line, error)

    def _patiently(self, running: _Import, incoming: Sequence[_Incoming]) -> list[str]:
        for attempt in range(1, BUSY_ATTEMPTS_MAX + 1):
            try:
                return self._write(running, incoming)
            except Unavailable as error:
                if error.reason is not Reason.STORE_BUSY or attempt == BUSY_ATTEMPTS_MAX:
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _write(self, running: _Import, incoming: Sequence[_Incoming]) -> list[str]:
        actor = Actor(name=running.caller.actor)
        with self._store.write(running.caller.scope, actor) as unit:
            return [self._settle(unit, item, running.now) for item in incoming]

    def _settle(self, unit: MemoryUnit, item: _Incoming, now: datetime) -> str:
        before, after = self._decide(unit, item.memory, now)
        if before is None:
            unit.add(item.memory, vector=None, space=None)
            for revision in item.revisions:
                unit.add_revision(revision)
            return "created"
        if after is None:
            return "unchanged"
        written = unit.change(before, after, why="merged")
        if written.statement != before.statement:
            unit.drop_vectors(written.id)
        return "merged"

    def _decide(self, reader: MemoryReader, memory: Memory, now: datetime) -> tuple[Memory | None, Memory | None]:
        """What it meets here, and what that becomes; (None, None) is new, (something, None) stays as it is."""
        same = reader.get(memory.id)
        if same is not None:
            return self._newer(reader, same, memory, now)
        if memory.status is not Status.ACTIVE:
            return None, None
        twin = said_before(reader, memory.statement)
        if twin is None:
            key = memory.statement.key
            held = reader.by_key(memory.statement.project, key) if key else None
            return (None, None) if held is None else self._newer(reader, held, memory, now)
        united = unite(twin, as_draft(memory))
        return twin, None if united == twin.statement else merged(twin, as_draft(memory), united, now)

    def _newer(self, reader: MemoryReader, here: Memory, memory: Memory, now: datetime) -> tuple[Memory, Memory | None]:
        """``here``, and what it becomes where ``memory`` says something newer that it never said before."""
        if here.statement == memory.statement or memory.updated_at <= here.updated_at:
            return here, None
        if any(revision.before.statement == memory.statement for revision in reader.history(here.id)):
            return here, None
        return here, merged(here, as_draft(memory), memory.statement, now)

    # ------------------------------------------------------------ looking only

    def _look(self, running: _Import, incoming: Sequence[_Incoming]) -> None:
        """What writing would count, lines before it in this import included."""
        with self._store.read(running.caller.scope) as reader:
            for item in incoming:
                statement = item.memory.statement
                marks: set[tuple[str, ...]] = {("id", item.memory.id)}
                if item.memory.status is Status.ACTIVE:
                    marks.add(("text", statement.project, statement.type.value, text_sha256(statement)))
                    if statement.key:
                        marks.add(("key", statement.project, statement.key))
                before, after = self._decide(reader, item.memory, running.now)
                if before is None and not marks & running.seen:
                    running.created += 1
                elif after is None:
                    running.unchanged += 1
                else:
                    running.merged += 1
                running.seen |= marks

    # ------------------------------------------------------------ links

    def _link(self, running: _Import) -> None:
        """Links between memories that are both here now; the others' ends were not imported."""
        links = list(dict.fromkeys(running.links))
        for start in range(0, len(links), TRANSACTION_ITEMS * 4):
            part = links[start : start + TRANSACTION_ITEMS * 4]
            with self._store.write(running.caller.scope, Actor(name=running.caller.actor)) as unit:
                here = unit.get_many(list({end for _, *ends in part for end in ends}))
                for kind, source, target in part:
                    if source in here and target in here:
                        unit.link(kind, source, target)


def _check_counts(memory: Memory) -> None:
    counts = (memory.access_count, memory.shown_count, memory.revision)
    if min(counts) < 0 or memory.revision < 1 or max(counts) > COUNT_MAX:
        raise InvalidArgument(
            f"Counts begin at 0, revisions at 1, and none is above {COUNT_MAX}.", reason=Reason.OUT_OF_RANGE
        )


def _uuid(text: str) -> MemoryId:
    try:
        return MemoryId(str(uuid.UUID(text)))
    except ValueError:
        raise InvalidArgument(
            "A memory's id is a UUID.", reason=Reason.FIELD_INVALID, details={"field": "id"}
        ) from None


def _links(memory: Memory) -> Iterator[tuple[LinkKind, MemoryId, MemoryId]]:
    for older in memory.supersedes:
        yield LinkKind.SUPERSEDES, memory.id, older
    if memory.superseded_by is not None:
        yield LinkKind.SUPERSEDES, memory.superseded_by, memory.id
    for part in memory.consolidated_from:
        yield LinkKind.CONSOLIDATED_FROM, memory.id, part
    if memory.consolidated_into is not None:
        yield LinkKind.CONSOLIDATED_FROM, memory.consolidated_into, memory.id
    for near in memory.related:
        yield LinkKind.RELATED, memory.id, near


def _chunks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    stream = iter(lines)
    while chunk := list(islice(stream, TRANSACTION_ITEMS)):
        yield chunk
