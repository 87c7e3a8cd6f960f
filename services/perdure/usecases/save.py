"""Save one memory: admit, embed in time, resolve, write; safe under any number of parallel writers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from perdure.domain.layout import embedded_text
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.domain.saving import Draft, SaveResult
from perdure.errors import AlreadyExists, Conflict, Internal, Reason
from perdure.ports import Clock, Store
from perdure.usecases.admit import Admit
from perdure.usecases.embed_in_time import Embedded, EmbedInTime
from perdure.usecases.permission import require
from perdure.usecases.replay import memo
from perdure.usecases.resolve import ATTEMPTS_MAX, Resolver, Wanted

ROUNDS_MAX = 2 * ATTEMPTS_MAX
"""Rounds before giving up on a key or revision that others keep moving."""


class Save:
    """Stores a memory, resolving it against what is there."""

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

    def __call__(self, caller: Caller, draft: Draft, *, idempotency_key: str | None = None) -> SaveResult:
        """What the save did.

        Raises:
            InvalidArgument: a field is out of its range, or holds a secret and those are refused (SECRET_REFUSED).
            Conflict: the idempotency key was used for another request (IDEMPOTENCY_MISMATCH).
            NotFound: there is no such namespace.
            PermissionDenied: the caller may not write.
            Unavailable: the store is busy or full.
        """
        require(caller, TokenScope.WRITE)
        kept = memo("save", idempotency_key, draft, self._replay_lifetime)
        admitted, redacted = self._admit.draft(draft)
        if kept:
            with self._store.read(caller.scope) as reader:  # before the wait for a vector that nobody would use
                if earlier := kept.earlier(reader):
                    return _one(earlier)
        text = embedded_text(admitted.statement, now := self._clock.now())
        vectors: dict[str, Embedded | None] = {text: self._embed(text)}
        actor = Actor(name=caller.actor)
        for round_ in range(ROUNDS_MAX):
            last = round_ >= ATTEMPTS_MAX - 1
            try:
                with self._store.write(caller.scope, actor) as unit:
                    if kept and (earlier := kept.earlier(unit)):
                        return _one(earlier)
                    answer = self._resolver.draft(unit, admitted, vectors, now=now, actor=actor, last=last)
                    if not isinstance(answer, Wanted):
                        result = replace(answer, redacted=redacted)
                        if kept:
                            kept.keep(unit, [result], now)
                        return result
            except AlreadyExists:
                continue  # another writer was first; the next round sees what it wrote
            vectors[answer.text] = self._embed(answer.text)
        raise Conflict("Others keep changing this memory; try again.", reason=Reason.REVISION_MOVED)


def _one(earlier: tuple[object, ...]) -> SaveResult:
    match earlier:
        case (SaveResult() as result,):
            return result
        case _:
            raise Internal("The answer remembered for this idempotency key is not a save's.")
