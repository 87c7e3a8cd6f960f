"""Bring full texts home to memories of which only a stub is left, and take stubs away again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from perdure.domain.compaction.plan import Restored, content_lost, match
from perdure.domain.memory import Filter, Memory, MemoryId
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.domain.summary import summarise
from perdure.errors import AlreadyExists, Conflict, InvalidArgument, Reason
from perdure.ports import Clock, LifecycleReader, LifecycleStore, Position
from perdure.usecases.admit import Admit
from perdure.usecases.compact import named
from perdure.usecases.permission import require

BATCH_MAX = 200
PAGE = 500


class RestoreContent:
    """Restores texts by key, id or first line."""

    def __init__(self, store: LifecycleStore, admit: Admit, clock: Clock) -> None:
        self._store = store
        self._admit = admit
        self._clock = clock

    def __call__(
        self, caller: Caller, texts: Sequence[tuple[str, str]], unstub: Sequence[str] = ()
    ) -> tuple[tuple[MemoryId, ...], tuple[str, ...]]:
        """Memories that have their text (or are without a stub) again, and the names that match none.

        A text that comes home keeps its stub beside it, so that what the context saves stays saved. It is embedded by
        the queue; words find it at once.

        Args:
            caller: Whose namespace.
            texts: Name (key or id, may be empty) and full text, up to 200.
            unstub: Keys or ids of memories whose stub is to go, up to 200.

        Raises:
            InvalidArgument: nothing was given, too much, or a text that no memory may hold.
            PermissionDenied: the caller may not write.
        """
        require(caller, TokenScope.WRITE)
        if not 1 <= len(texts) + len(unstub) <= BATCH_MAX:
            raise InvalidArgument(
                f"Give 1 to {BATCH_MAX} texts or names.", reason=Reason.OUT_OF_RANGE, details={"field": "texts"}
            )
        with self._store.survey(caller.scope) as reader:
            stubs = _lost(reader)
            bare = {name: memory for name in unstub if (memory := named(reader, name)) is not None}
        restored, unmatched = match(texts, stubs)
        done = [item.memory.id for item in restored if self._bring_home(caller, item)]
        left = [name for name in unstub if name not in bare or bare[name].stub is None]
        done += [memory.id for memory in bare.values() if memory.stub is not None and self._unstub(caller, memory)]
        return tuple(done), (*unmatched, *left)

    def _bring_home(self, caller: Caller, item: Restored) -> bool:
        before = item.memory
        statement, _ = self._admit.statement(replace(before.statement, content=item.content))
        after = replace(
            before,
            statement=statement,
            summary=summarise(statement.content),
            stub=before.statement.content.strip(),
            updated_at=self._clock.now(),
        )
        try:
            with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
                unit.change(before, after, why="restored")
                unit.drop_vectors(before.id)
        except (Conflict, AlreadyExists):
            return False
        return True

    def _unstub(self, caller: Caller, memory: Memory) -> bool:
        after = replace(memory, stub=None, updated_at=self._clock.now())
        try:
            with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
                unit.change(memory, after, why="restored")
        except Conflict:
            return False
        return True


def _lost(reader: LifecycleReader) -> list[Memory]:
    """Active memories whose text is a stub."""
    stubs: list[Memory] = []
    after: Position | None = None
    while True:
        page = reader.page(Filter(), after=after, limit=PAGE)
        stubs += [memory for memory in page.memories if content_lost(memory)]
        after = page.next
        if after is None:
            return stubs
