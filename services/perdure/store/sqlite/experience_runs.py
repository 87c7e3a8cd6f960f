"""Runs of skills, and their trails."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from perdure.domain.experience.run import RunStatus, SkillRun, SkillRunId, StepLog
from perdure.domain.experience.skill import SkillId
from perdure.errors import AlreadyExists, NotFound, Reason
from perdure.ports import RunPage
from perdure.store.sqlite.driver import translated
from perdure.store.sqlite.experience_rows import (
    RUN_COLUMNS,
    cursor_of,
    position_of,
    run_state,
    run_values,
    step_values,
    to_run,
    to_step,
)
from perdure.store.sqlite.lifecycle import SqliteLifecycleReader, SqliteLifecycleUnit
from perdure.store.sqlite.rows import Row, micros, to_list_of_numbers

KEPT_RUNS = 500
"""Of each namespace, the newest by their start. Source: issue 5."""

_OPEN = "status IN ('running', 'waiting_for_approval')"
_STARTED = 7
"""Where ``RUN_COLUMNS`` has started_at."""


class RunReader(SqliteLifecycleReader):
    """One consistent view of the runs of one namespace."""

    def skill_run(self, run: SkillRunId) -> SkillRun | None:
        """The run with its whole trail, or None."""
        found = self._skill_runs("AND u.id = ?", run)
        return found[0] if found else None

    def skill_runs(self, skill: SkillId | None, *, after: str, limit: int) -> RunPage:
        """The next runs by started_at, id descending, with their trails; of one skill or of all.

        Raises:
            InvalidArgument: ``after`` is no page's ``next`` (CURSOR_INVALID).
        """
        where, values = "", list[Any]()
        if skill is not None:
            where += "AND u.skill = ? "
            values.append(skill)
        if after:
            where += "AND (u.started_at, u.id) < (?, ?) "
            values += position_of(after)
        rows = self._run_rows(where + "ORDER BY u.started_at DESC, u.id DESC LIMIT ?", *values, limit + 1)
        page = rows[:limit]
        following = cursor_of(page[-1][_STARTED], page[-1][1]) if len(rows) > limit and page else ""
        return RunPage(self._with_trails(page), following)

    def stale_runs(self, heard_before: datetime) -> tuple[SkillRun, ...]:
        """Runs not ended of which nothing was heard since, longest silent first."""
        return self._skill_runs(f"AND u.{_OPEN} AND u.heard_at < ? ORDER BY u.heard_at, u.id", micros(heard_before))

    def tally(self, skill: SkillId | None) -> tuple[tuple[SkillId, int, RunStatus, int, float], ...]:
        """Count and summed cost of ended runs, by skill, version and status."""
        with translated():
            rows = self._db.execute(
                "SELECT skill, skill_version, status, count(*), total(cost) FROM skill_run "
                f"WHERE namespace = ?1 AND (?2 IS NULL OR skill = ?2) AND NOT {_OPEN} "
                "GROUP BY skill, skill_version, status ORDER BY skill, skill_version, status",
                (self._namespace, skill),
            ).fetchall()
        return tuple(
            (SkillId(name), version, RunStatus(status), count, cost) for name, version, status, count, cost in rows
        )

    def failed_steps(self, skill: SkillId) -> tuple[tuple[int, str, int], ...]:
        """Version, step id and how many runs failed at it, most first."""
        with translated():
            rows = self._db.execute(
                "SELECT u.skill_version, t.step, count(DISTINCT t.run) AS runs FROM skill_run u "
                "JOIN skill_run_step t ON t.run = u.\"row\" AND t.outcome = 'failed' "
                "WHERE u.namespace = ? AND u.skill = ? GROUP BY u.skill_version, t.step "
                "ORDER BY runs DESC, u.skill_version DESC, t.step",
                (self._namespace, skill),
            ).fetchall()
        return tuple((version, step, runs) for version, step, runs in rows)

    def _skill_runs(self, tail: str, *values: Any) -> tuple[SkillRun, ...]:
        return self._with_trails(self._run_rows(tail, *values))

    def _run_rows(self, tail: str, *values: Any) -> list[Row]:
        with translated():
            return self._db.execute(
                f"SELECT {RUN_COLUMNS} FROM skill_run u WHERE u.namespace = ? {tail}", (self._namespace, *values)
            ).fetchall()

    def _with_trails(self, rows: Sequence[Row]) -> tuple[SkillRun, ...]:
        trails: dict[int, list[StepLog]] = defaultdict(list)
        with translated():
            lines = self._db.execute(
                "SELECT idx, step, outcome, at, detail, actor, run FROM skill_run_step "
                'WHERE run IN (SELECT value FROM json_each(?)) ORDER BY "row"',
                (to_list_of_numbers(row[0] for row in rows),),
            )
            for line in lines:
                trails[line[6]].append(to_step(line))
        return tuple(to_run(row, tuple(trails[row[0]])) for row in rows)


class RunUnit(RunReader, SqliteLifecycleUnit):
    """One transaction on the runs of one namespace."""

    def put_run(self, run: SkillRun) -> None:
        """Stores a new run (its trail empty) and lets go of ended ones beyond the newest 500 of the namespace.

        Raises:
            AlreadyExists: there is a run of that id (KEY_TAKEN).
        """
        with translated():
            if self._run_row(run.id) is not None:
                raise AlreadyExists("There is a run of that id.", reason=Reason.KEY_TAKEN)
            self._add_run(run)
            self._let_go_of_old_runs()

    def change_run(self, run: SkillRun) -> None:
        """Writes status, times, error, holder, model, tokens and cost of a run; never its trail.

        Raises:
            NotFound: there is no such run (RUN_NOT_FOUND).
        """
        state = run_state(run)
        marks = ", ".join(f"{name} = ?" for name in state)
        with translated():
            self._db.execute(
                f"UPDATE skill_run SET {marks} WHERE namespace = ? AND id = ?",
                (*state.values(), self._namespace, run.id),
            )
            if not self._db.changes():
                raise NotFound("There is no such run.", reason=Reason.RUN_NOT_FOUND)

    def append_step(self, run: SkillRunId, step: StepLog) -> None:
        """Adds a line to the trail. Lines are never changed.

        Raises:
            NotFound: there is no such run (RUN_NOT_FOUND).
        """
        with translated():
            number = self._run_row(run)
            if number is None:
                raise NotFound("There is no such run.", reason=Reason.RUN_NOT_FOUND)
            self._add_step(number, step)

    def import_run(self, run: SkillRun) -> bool:
        """Stores a run with its trail as it was; False where its id is known.

        It may be older than the newest 500, and then does not stay.
        """
        with translated():
            if self._run_row(run.id) is not None:
                return False
            number = self._add_run(run)
            for step in run.steps:
                self._add_step(number, step)
            self._let_go_of_old_runs()
        return True

    def _run_row(self, run: SkillRunId) -> int | None:
        number: int | None = self._db.execute(
            'SELECT "row" FROM skill_run WHERE namespace = ? AND id = ?', (self._namespace, run)
        ).get
        return number

    def _add_run(self, run: SkillRun) -> int:
        columns = {"namespace": self._namespace, **run_values(run)}
        names = ", ".join(f'"{name}"' for name in columns)
        return int(
            self._db.execute(
                f'INSERT INTO skill_run ({names}) VALUES ({", ".join("?" * len(columns))}) RETURNING "row"',
                tuple(columns.values()),
            ).get
        )

    def _add_step(self, number: int, step: StepLog) -> None:
        self._db.execute(
            "INSERT INTO skill_run_step (run, idx, step, outcome, at, detail, actor) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, *step_values(step)),
        )

    def _let_go_of_old_runs(self) -> None:
        self._db.execute(
            'DELETE FROM skill_run WHERE "row" IN (SELECT "row" FROM skill_run WHERE namespace = ? '
            f"ORDER BY started_at DESC, id DESC LIMIT -1 OFFSET {KEPT_RUNS}) AND NOT {_OPEN}",
            (self._namespace,),
        )
