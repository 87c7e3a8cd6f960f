"""Put stubs in the place of long memories; their texts stay where they are.

Plan, probe, write: the memory's row is the archive, durable before any stub is written and never touched by it, so what
search and get answer stays the full text. A memory is compacted only if asking for what identifies it, through the
namespace's own search, brings it back first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from perdure.domain.compaction.plan import STUB_CHARS_MAX, Skip, Write, plan
from perdure.domain.compaction.probe import passes, probe_of
from perdure.domain.compaction.stub import POINTER_CHARS, POINTER_CHARS_MIN
from perdure.domain.lifecycle import Compacted, CompactedMemory, SkippedMemory
from perdure.domain.memory import Filter, Memory, MemoryId, Status
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.domain.recall.answer import Answer, Question
from perdure.domain.recall.lexical import query_terms
from perdure.errors import Conflict, InvalidArgument, Reason
from perdure.ports import Clock, LifecycleReader, LifecycleStore
from perdure.usecases.permission import require

BATCH_MAX = 200

Ask = Callable[[Caller, Question], Answer]
"""The namespace's own search, whose deliveries count as no use."""


class Compact:
    """Compacts memories by key or id."""

    def __init__(self, store: LifecycleStore, ask: Ask, clock: Clock) -> None:
        self._store = store
        self._ask = ask
        self._clock = clock

    def __call__(
        self, caller: Caller, names: Sequence[str], *, stub: str | None = None, chars: int = 0, dry_run: bool = False
    ) -> Compacted:
        """Compact what can be.

        Args:
            caller: Whose namespace.
            names: Keys or ids, 1 to 200.
            stub: The caller's own line; with one name only, 2,000 characters at most.
            chars: Most characters of a stub's first line, 20 at least; 0 is 140.
            dry_run: Probes, and writes nothing.

        Raises:
            InvalidArgument: no names, too many, or a stub for several.
            PermissionDenied: the caller may not write.
        """
        require(caller, TokenScope.WRITE)
        _check(names, stub)
        with self._store.survey(caller.scope) as reader:
            found = {name: memory for name in names if (memory := named(reader, name)) is not None}
        planned = plan(names, found, stub=stub, chars=max(chars, POINTER_CHARS_MIN) if chars else POINTER_CHARS)
        asked = {memory.id: name for name, memory in found.items()}
        writes: list[Write] = []
        skipped = list(planned.skipped)
        for write in planned.writes:
            if not self._comes_back(caller, write.memory):
                skipped.append((asked[write.memory.id], Skip.PROBE_FAILED))
            elif dry_run or self._write(caller, write):
                writes.append(write)
            else:
                skipped.append((asked[write.memory.id], Skip.NOT_FOUND))
        return Compacted(
            compacted=tuple(
                CompactedMemory(
                    id=write.memory.id, key=write.memory.statement.key, stub=write.stub, bytes_saved=write.bytes_saved
                )
                for write in writes
            ),
            skipped=tuple(SkippedMemory(name=name, reason=str(why)) for name, why in skipped),
        )

    def _comes_back(self, caller: Caller, memory: Memory) -> bool:
        with self._store.survey(caller.scope) as reader:
            probe = probe_of(
                memory.statement.content,
                memory.statement.key,
                lambda token: reader.lexical(query_terms(token), Filter(), limit=1).ceiling,
            )
        if probe is None:
            return False
        answer = self._ask(caller, Question(query=probe.question, depth=1, limit=1, shown_only=True))
        first = answer.recognition[0].memory if answer.recognition else None
        return first is not None and first.id == memory.id and passes(probe, first.statement.content)

    def _write(self, caller: Caller, write: Write) -> bool:
        after = replace(write.memory, stub=write.stub, updated_at=self._clock.now())
        try:
            with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
                unit.change(write.memory, after, why="compacted")
        except Conflict:
            return False  # it moved on since it was planned; asked again, it is planned anew
        return True


def named(reader: LifecycleReader, name: str) -> Memory | None:
    """The active memory of that id or key."""
    memory = reader.get(MemoryId(name.removeprefix("mem:")))
    if memory is not None and memory.status is Status.ACTIVE:
        return memory
    return reader.by_key_anywhere(name)


def _check(names: Sequence[str], stub: str | None) -> None:
    if not 1 <= len(names) <= BATCH_MAX:
        raise InvalidArgument(
            f"Name 1 to {BATCH_MAX} memories.", reason=Reason.OUT_OF_RANGE, details={"field": "memories"}
        )
    if stub is not None and len(set(names)) > 1:
        raise InvalidArgument(
            "A stub of your own is for one memory; leave it out for several.",
            reason=Reason.FIELD_INVALID,
            details={"field": "stub"},
        )
    if stub is not None and len(stub) > STUB_CHARS_MAX:
        raise InvalidArgument(
            f"A stub has {STUB_CHARS_MAX} characters at most.", reason=Reason.TOO_LARGE, details={"field": "stub"}
        )
