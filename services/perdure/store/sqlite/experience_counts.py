"""How much experience a namespace has, and what happened when: counts and events, never a whole document."""

from __future__ import annotations

from datetime import datetime

from perdure.domain.experience.learning import Counts, Event, EventKind
from perdure.domain.experience.run import RunStatus, StepOutcome
from perdure.store.sqlite.driver import translated
from perdure.store.sqlite.lifecycle import SqliteLifecycleReader
from perdure.store.sqlite.rows import micros, moment

_EVENTS = """
SELECT started_at AS at, 'demonstration' AS what, id, json_extract(document, '$.name') AS name FROM episode
  WHERE namespace = ?1 AND started_at >= ?2
UNION ALL
SELECT v.compiled_at, 'skill', s.id, json_extract(v.document, '$.name') FROM skill_version v
  JOIN skill s ON s."row" = v.skill WHERE s.namespace = ?1 AND v.compiled_at >= ?2
UNION ALL
SELECT started_at, 'run', id, skill_name FROM skill_run WHERE namespace = ?1 AND started_at >= ?2
ORDER BY at DESC, id DESC LIMIT ?3
"""


class CountReader(SqliteLifecycleReader):
    """One consistent view of how much experience there is."""

    def counts(self) -> Counts:
        """Episodes, skills, runs by status, and approvals given and denied in the trails that are kept."""
        with translated():
            one = self._namespace
            episodes = self._db.execute("SELECT count(*) FROM episode WHERE namespace = ?", (one,)).get
            skills = self._db.execute("SELECT count(*) FROM skill WHERE namespace = ?", (one,)).get
            runs = self._db.execute(
                "SELECT status, count(*) FROM skill_run WHERE namespace = ? GROUP BY status", (one,)
            ).fetchall()
            said = self._db.execute(
                'SELECT s.outcome, count(*) FROM skill_run_step s JOIN skill_run r ON r."row" = s.run '
                "WHERE r.namespace = ? AND s.outcome IN ('approved', 'denied') GROUP BY s.outcome",
                (one,),
            ).fetchall()
        by_outcome = {StepOutcome(outcome): count for outcome, count in said}
        return Counts(
            episodes=episodes,
            skills=skills,
            runs={RunStatus(status): count for status, count in runs},
            approved=by_outcome.get(StepOutcome.APPROVED, 0),
            denied=by_outcome.get(StepOutcome.DENIED, 0),
        )

    def events(self, since: datetime, limit: int) -> tuple[Event, ...]:
        """The newest ``limit`` demonstrations, compilations and runs since then, newest first."""
        with translated():
            rows = self._db.execute(_EVENTS, (self._namespace, micros(since), limit)).fetchall()
        return tuple(
            Event(at=moment(at), what=EventKind(what), id=id_, name=name or "") for at, what, id_, name in rows
        )
