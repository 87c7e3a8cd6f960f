"""What memory served, in tokens, against what putting the whole store into each prompt would have been.

Measured by Perdure itself: the gateway counts its answers, and what the store would have been is known here.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta

from perdure.domain.experience.learning import Usage
from perdure.domain.namespace import Actor, Caller, NamespaceName, TokenScope
from perdure.errors import InvalidArgument, Reason
from perdure.ports import Clock, ExperienceStore
from perdure.usecases.permission import require

CHARS_PER_TOKEN = 4
"""The usual rule of thumb; the answers themselves are estimated more finely (``domain.recall.budget``)."""

SIZE_KEPT = timedelta(minutes=10)
"""How long the size of a store is taken to be what it was: summing it reads every active memory."""

CLIENT_CHARS_MAX = 100


class RecordUsage:
    """Adds to what a client was served today."""

    def __init__(self, store: ExperienceStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._sizes: dict[NamespaceName, tuple[datetime, int]] = {}

    def __call__(self, caller: Caller, client: str, *, calls: int, tokens_served: int) -> None:
        """Write it down.

        Raises:
            InvalidArgument: a count is negative, or the client has no name or more than 100 characters.
            NotFound: there is no such namespace.
        """
        # whatever the caller may do: this counts what it was served, and serves nothing
        if calls < 0 or tokens_served < 0:
            raise InvalidArgument("A count is never negative.", reason=Reason.OUT_OF_RANGE)
        if not client or len(client) > CLIENT_CHARS_MAX:
            raise InvalidArgument(
                f"A client's name has 1 to {CLIENT_CHARS_MAX} characters.",
                reason=Reason.FIELD_INVALID,
                details={"field": "client"},
            )
        now = self._clock.now()
        usage = Usage(
            client=client,
            day=now.date().isoformat(),
            calls=calls,
            tokens_served=tokens_served,
            tokens_whole=calls * self._whole(caller, now),
        )
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            unit.record_usage([usage])

    def _whole(self, caller: Caller, now: datetime) -> int:
        """Tokens of every active memory of the namespace."""
        with self._lock:
            known = self._sizes.get(caller.namespace)
        if known is not None and now - known[0] < SIZE_KEPT:
            return known[1]
        with self._store.experience_view(caller.scope) as reader:
            tokens = reader.content_chars() // CHARS_PER_TOKEN
        with self._lock:
            self._sizes[caller.namespace] = (now, tokens)
        return tokens


class ReadUsage:
    """Says what clients were served."""

    def __init__(self, store: ExperienceStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def __call__(self, caller: Caller, *, days: int) -> tuple[Usage, ...]:
        """By client and day, the oldest day first.

        Raises:
            PermissionDenied: the caller may not read.
            NotFound: there is no such namespace.
        """
        require(caller, TokenScope.READ)
        since = (self._clock.now() - timedelta(days=days - 1)).date().isoformat()
        with self._store.experience_view(caller.scope) as reader:
            return reader.usage(since)
