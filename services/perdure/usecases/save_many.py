"""Save up to 500 memories; one outcome each, and one bad item never spoils the others.

Items are embedded together as far as a bounded wait allows (the queue does the rest) and written in transactions of
50. An idempotency key covers each transaction by itself, so that a repeated call goes on where a killed one stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from perdure.domain.layout import embedded_text
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.domain.saving import BATCH_MAX, Draft, Failure
from perdure.errors import AlreadyExists, Conflict, InvalidArgument, PerdureError, Reason
from perdure.ports import Clock, MemoryUnit, Store
from perdure.usecases.admit import Admit
from perdure.usecases.embed_in_time import Embedded, EmbedInTime
from perdure.usecases.permission import require
from perdure.usecases.replay import Item, Memo, memo
from perdure.usecases.resolve import Resolver, Wanted

TRANSACTION_ITEMS = 50
BATCH_WAIT_FACTOR = 8
"""A batch waits this many times longer for its vectors than one save does; what is late then is queued."""

_OF_THE_ITEM = (InvalidArgument, AlreadyExists, Conflict)
"""Errors that are one item's own; any other is the whole call's."""


@dataclass(frozen=True, slots=True)
class _Admitted:
    draft: Draft
    redacted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one transaction stores."""

    items: Sequence[_Admitted | Failure]
    kept: Memo | None


@dataclass(frozen=True, slots=True)
class _Batch:
    caller: Caller
    vectors: dict[str, Embedded | None]
    now: datetime


class SaveMany:
    """Stores a batch, each item resolved as ``Save`` does it, also against the items before it."""

    def __init__(
        self,
        store: Store,
        admit: Admit,
        embed: EmbedInTime,
        resolver: Resolver,
        clock: Clock,
        *,
        replay_lifetime: timedelta,
    ) -> None:
        self._store = store
        self._admit = admit
        self._embed = embed
        self._resolver = resolver
        self._clock = clock
        self._replay_lifetime = replay_lifetime

    def __call__(
        self, caller: Caller, drafts: Sequence[Draft | Failure], *, idempotency_key: str | None = None
    ) -> tuple[Item, ...]:
        """Outcomes in the order of ``drafts``; a ``Failure`` where an item was not stored, or was one already.

        Raises:
            InvalidArgument: no drafts, or more than 500 (OUT_OF_RANGE).
            Conflict: the idempotency key was used for another request (IDEMPOTENCY_MISMATCH).
            NotFound: there is no such namespace.
            PermissionDenied: the caller may not write.
            Unavailable: the store is busy or full; items of earlier transactions are stored, and repeating is safe.
        """
        require(caller, TokenScope.WRITE)
        if not 1 <= len(drafts) <= BATCH_MAX:
            raise InvalidArgument(
                f"A batch holds 1 to {BATCH_MAX} memories.",
                reason=Reason.OUT_OF_RANGE,
                details={"field": "memories", "count": len(drafts)},
            )
        now = self._clock.now()
        admitted = [self._admitted(draft) for draft in drafts]
        parts = self._parts(drafts, admitted, idempotency_key)
        known = self._earlier(caller, parts)
        fresh = [item for part, answer in zip(parts, known, strict=True) if answer is None for item in part.items]
        texts = list(dict.fromkeys(embedded_text(a.draft.statement, now) for a in fresh if isinstance(a, _Admitted)))
        found = self._embed.many(texts, wait_s=self._embed.wait_s * BATCH_WAIT_FACTOR)
        batch = _Batch(caller, dict(zip(texts, found, strict=True)), now)
        outcomes: list[Item] = []
        for part, answer in zip(parts, known, strict=True):
            outcomes.extend(self._part(batch, part) if answer is None else answer)
        return tuple(outcomes)

    def _parts(
        self, drafts: Sequence[Draft | Failure], admitted: Sequence[_Admitted | Failure], key: str | None
    ) -> list[_Part]:
        """One transaction each, with the memo of its own answer."""
        parts = []
        for start in range(0, len(admitted), TRANSACTION_ITEMS):
            of_it = slice(start, start + TRANSACTION_ITEMS)
            kept = memo(f"save_many {start}", key, (len(drafts), *drafts[of_it]), self._replay_lifetime)
            parts.append(_Part(admitted[of_it], kept))
        return parts

    def _earlier(self, caller: Caller, parts: Sequence[_Part]) -> list[tuple[Item, ...] | None]:
        """The answers given before, looked for before anything waits for a vector."""
        if all(part.kept is None for part in parts):
            return [None for _ in parts]
        with self._store.read(caller.scope) as reader:
            return [part.kept.earlier(reader) if part.kept else None for part in parts]

    def _admitted(self, draft: Draft | Failure) -> _Admitted | Failure:
        if isinstance(draft, Failure):
            return draft
        try:
            return _Admitted(*self._admit.draft(draft))
        except InvalidArgument as error:
            return _failure(error)

    def _part(self, batch: _Batch, part: _Part) -> tuple[Item, ...]:
        """One transaction; where an item spoils it, one transaction an item."""
        kept = part.kept
        try:
            with self._store.write(batch.caller.scope, Actor(name=batch.caller.actor)) as unit:
                if kept and (earlier := kept.earlier(unit)) is not None:
                    return earlier
                answer = tuple(self._settled(unit, batch, item) for item in part.items)
                if kept:
                    kept.keep(unit, answer, batch.now)
                return answer
        except _OF_THE_ITEM as error:
            if error.reason is Reason.IDEMPOTENCY_MISMATCH:
                raise
        answer = tuple(self._alone(batch, item) for item in part.items)
        if kept:
            with self._store.write(batch.caller.scope, Actor(name=batch.caller.actor)) as unit:
                kept.keep(unit, answer, batch.now)
        return answer

    def _alone(self, batch: _Batch, item: _Admitted | Failure) -> Item:
        try:
            with self._store.write(batch.caller.scope, Actor(name=batch.caller.actor)) as unit:
                return self._settled(unit, batch, item)
        except _OF_THE_ITEM as error:
            return _failure(error)

    def _settled(self, unit: MemoryUnit, batch: _Batch, item: _Admitted | Failure) -> Item:
        """The item's outcome. A merge's united text is not waited for: the queue makes its vector."""
        if isinstance(item, Failure):
            return item
        actor = Actor(name=batch.caller.actor)
        answer = self._resolver.draft(unit, item.draft, batch.vectors, now=batch.now, actor=actor, last=True)
        if isinstance(answer, Wanted):  # never with last=True
            raise Conflict("A vector was wanted where none could be.", reason=Reason.UNEXPECTED)
        return replace(answer, redacted=item.redacted)


def _failure(error: PerdureError) -> Failure:
    return Failure(code=error.code.value, reason=error.reason.value, message=error.message)
