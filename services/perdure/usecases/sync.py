"""Brief a session that starts: what is there, what was used last, how the embedder is."""

from __future__ import annotations

from perdure.domain.memory import Filter, Memory
from perdure.domain.namespace import Caller, TokenScope
from perdure.domain.recall.answer import Briefing
from perdure.domain.text import one_line
from perdure.errors import InvalidArgument, PerdureError, Reason
from perdure.ports import Clock, Embedder, Store
from perdure.usecases.permission import require
from perdure.usecases.use_log import UseLog

RECENT_MAX = 50
PROBE = "ready"
"""A question that is always the same, so that asking whether the embedder answers costs it one look into its cache."""
PROBE_S = 0.5


class Sync:
    """Makes briefings. What it shows moves shown_count only."""

    def __init__(self, store: Store, embedder: Embedder, uses: UseLog, clock: Clock) -> None:
        self._store = store
        self._embedder = embedder
        self._uses = uses
        self._clock = clock

    def __call__(self, caller: Caller, *, project: str | None = None, recent: int = 10) -> Briefing:
        """The briefing; with ``project`` its recent memories are that project's alone.

        Raises:
            InvalidArgument: ``recent`` is not in 1 to 50 (OUT_OF_RANGE).
            PermissionDenied: the caller may not read.
        """
        require(caller, TokenScope.READ)
        if not 1 <= recent <= RECENT_MAX:
            raise InvalidArgument(
                f"A briefing shows 1 to {RECENT_MAX} recent memories.",
                reason=Reason.OUT_OF_RANGE,
                details={"field": "recent", "recent": recent},
            )
        now = self._clock.now()
        project = one_line(project) if project else None
        with self._store.read(caller.scope) as reader:
            stats = reader.stats()
            # expired ones are dropped below, so a few more are asked for
            latest = reader.recent(project, recent * 2)
            space = reader.active_space()
            waiting = reader.unembedded(Filter(projects=(project,) if project else ()))
        alive: tuple[Memory, ...] = tuple(m for m in latest if m.expires_at is None or m.expires_at > now)[:recent]
        self._uses.shown(caller.namespace, [memory.id for memory in alive], now)
        return Briefing(
            active=stats.active,
            projects=stats.by_project,
            recent=alive,
            embedder=self._embedder_state(space),
            unembedded=waiting,
        )

    def _embedder_state(self, active: str | None) -> str:
        try:
            space = self._embedder.query(PROBE, timeout_s=PROBE_S).space.fingerprint
        except PerdureError as error:
            return "loading" if error.reason is Reason.EMBEDDER_LOADING else "failing"
        return "ready" if active in (None, space) else "space_changed"
