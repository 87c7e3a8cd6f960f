"""Edit a memory; the state before goes into its history, and what it says now is what finds it."""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.editing import apply, embedded_text_changed
from perdure.domain.layout import embedded_text
from perdure.domain.memory import Memory, MemoryId
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.domain.saving import Edit
from perdure.domain.summary import summarise
from perdure.ports import Clock, Store
from perdure.usecases.admit import Admit
from perdure.usecases.embed_in_time import Embedded, EmbedInTime
from perdure.usecases.find import found
from perdure.usecases.permission import require

ROUNDS_MAX = 3
"""Rounds of read, embed, write; the last one edits the memory as it then is, and leaves its vector to the queue."""


class Update:
    """Edits memories, embedding anew what changed."""

    def __init__(self, store: Store, admit: Admit, embed: EmbedInTime, clock: Clock) -> None:
        self._store = store
        self._admit = admit
        self._embed = embed
        self._clock = clock

    def __call__(self, caller: Caller, memory: MemoryId, edit: Edit) -> tuple[Memory, bool, tuple[str, ...]]:
        """The memory after the edit, whether its vector is of its present text, kinds of secrets that were blanked.

        An edit that changes nothing writes nothing.

        Raises:
            NotFound: this namespace has none of that id (MEMORY_NOT_FOUND).
            InvalidArgument: a field is out of its range, or holds a secret and those are refused.
            Conflict: ``expected_revision`` is not the present one (REVISION_MOVED).
            AlreadyExists: another active memory of the project has that key (KEY_TAKEN).
            PermissionDenied: the caller may not write.
        """
        require(caller, TokenScope.WRITE)
        for _ in range(ROUNDS_MAX):
            with self._store.read(caller.scope) as reader:
                before = found(reader, memory, expected_revision=edit.expected_revision)
            after, redacted = self._edited(before, edit)
            if replace(after, updated_at=before.updated_at) == before:
                return before, before.space is not None, redacted
            moved = embedded_text_changed(before, after)
            embedded = self._embed(embedded_text(after.statement, after.created_at)) if moved else None
            written = self._write(caller, before, after, moved, embedded, edit.expected_revision)
            if written is not None:
                return *written, redacted
        return self._edit_in_place(caller, memory, edit)

    def _edit_in_place(self, caller: Caller, memory: MemoryId, edit: Edit) -> tuple[Memory, bool, tuple[str, ...]]:
        """The edit in one transaction: nobody can come between, so many editors at once all get their turn."""
        with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
            before = found(unit, memory, expected_revision=edit.expected_revision)
            after, redacted = self._edited(before, edit)
            if replace(after, updated_at=before.updated_at) == before:
                return before, before.space is not None, redacted
            written = unit.change(before, after, why="updated")
            if not embedded_text_changed(before, after):
                return written, written.space is not None, redacted
            unit.drop_vectors(written.id)
            return replace(written, space=None), False, redacted

    def _edited(self, before: Memory, edit: Edit) -> tuple[Memory, tuple[str, ...]]:
        after = apply(before, edit, self._clock.now())
        if after.statement == before.statement:
            return after, ()
        statement, redacted = self._admit.secrets(after.statement)
        if redacted:
            after = replace(after, statement=statement, summary=summarise(statement.content))
        return after, redacted

    def _write(
        self,
        caller: Caller,
        before: Memory,
        after: Memory,
        moved: bool,
        embedded: Embedded | None,
        expected_revision: int | None,
    ) -> tuple[Memory, bool] | None:
        """The memory as written and whether it has its vector; None where it moved on and a new round is due."""
        with self._store.write(caller.scope, Actor(name=caller.actor)) as unit:
            if found(unit, before.id, expected_revision=expected_revision).revision != before.revision:
                return None
            written = unit.change(before, after, why="updated")
            if not moved:
                return written, written.space is not None
            if embedded is None:
                unit.drop_vectors(written.id)
                return replace(written, space=None), False
            space = embedded.space.fingerprint
            unit.set_vector(written.id, embedded.vector, space)
            active = unit.active_space() == space
            return replace(written, space=space if active else None), active
