"""Skills, their versions, and their routines."""

from __future__ import annotations

from typing import Any

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.learning import ItemKind, Procedure
from perdure.domain.experience.skill import Routine, Skill, SkillId
from perdure.errors import Conflict, NotFound, Reason
from perdure.ports import SkillPage
from perdure.store.sqlite.driver import translated
from perdure.store.sqlite.experience_items import forget_procedure, put_procedure
from perdure.store.sqlite.experience_rows import (
    ROUTINE_COLUMNS,
    SKILL_COLUMNS,
    cursor_of,
    position_of,
    routine_values,
    skill_document,
    to_skill,
)
from perdure.store.sqlite.lifecycle import SqliteLifecycleReader, SqliteLifecycleUnit
from perdure.store.sqlite.rows import Row, maybe_micros, micros

_WIDTH = SKILL_COLUMNS.count(",") + 1
_SELECT = (
    f"SELECT {SKILL_COLUMNS}, {ROUTINE_COLUMNS} FROM skill s "
    'JOIN skill_version v ON v.skill = s."row" AND v.version = s.version '
    'LEFT JOIN routine r ON r.skill = s."row" WHERE s.namespace = ? '
)
# From the routines on (CROSS JOIN keeps the order of tables), which are few where skills are many; NULL is the least.
_ROUTINES = (
    f'SELECT {SKILL_COLUMNS}, {ROUTINE_COLUMNS} FROM routine r CROSS JOIN skill s ON s."row" = r.skill '
    'JOIN skill_version v ON v.skill = s."row" AND v.version = s.version '
    "WHERE r.namespace = ? AND r.enabled = 1 ORDER BY r.last_run_at, s.id"
)
_VERSIONS = (
    f'SELECT {SKILL_COLUMNS} FROM skill s JOIN skill_version v ON v.skill = s."row" WHERE s.namespace = ? AND s.id = ? '
)


class SkillReader(SqliteLifecycleReader):
    """One consistent view of the skills of one namespace."""

    def skill(self, skill: SkillId, version: int | None = None) -> Skill | None:
        """The skill as it is, or as that version was (then without its routine); None where there is none."""
        if version is None:
            found = self._skills("AND s.id = ?", skill)
            return found[0] if found else None
        with translated():
            rows = self._db.execute(_VERSIONS + "AND v.version = ?", (self._namespace, skill, version)).fetchall()
        return to_skill(rows[0], None) if rows else None

    def skill_of(self, episode: EpisodeId) -> Skill | None:
        """The skill that was compiled from that episode; the newest, where an import brought several."""
        found = self._skills("AND s.source = ? ORDER BY s.created_at DESC, s.id DESC LIMIT 1", episode)
        return found[0] if found else None

    def skills(self, *, after: str, limit: int) -> SkillPage:
        """The next skills by created_at, id descending.

        Raises:
            InvalidArgument: ``after`` is no page's ``next`` (CURSOR_INVALID).
        """
        values: tuple[Any, ...] = position_of(after) if after else ()
        with translated():
            rows = self._db.execute(
                _SELECT
                + ("AND (s.created_at, s.id) < (?, ?) " if after else "")
                + "ORDER BY s.created_at DESC, s.id DESC LIMIT ?",
                (self._namespace, *values, limit + 1),
            ).fetchall()
        page = rows[:limit]
        following = cursor_of(page[-1][1], page[-1][0]) if len(rows) > limit and page else ""
        return SkillPage(tuple(map(_skill, page)), following)

    def versions(self, skill: SkillId) -> tuple[Skill, ...]:
        """Every version, newest first, without routine."""
        with translated():
            rows = self._db.execute(_VERSIONS + "ORDER BY v.version DESC", (self._namespace, skill)).fetchall()
        return tuple(to_skill(row, None) for row in rows)

    def routines(self) -> tuple[Skill, ...]:
        """Skills that have an enabled routine, the least recently run first (never run before all)."""
        with translated():
            rows = self._db.execute(_ROUTINES, (self._namespace,)).fetchall()
        return tuple(map(_skill, rows))

    def _skills(self, tail: str, *values: Any) -> tuple[Skill, ...]:
        with translated():
            rows = self._db.execute(_SELECT + tail, (self._namespace, *values)).fetchall()
        return tuple(map(_skill, rows))


class SkillUnit(SkillReader, SqliteLifecycleUnit):
    """One transaction on the skills of one namespace."""

    def put_skill(self, skill: Skill, procedure: Procedure) -> None:
        """Stores a new skill (of any version, with its routine) or the next version of one (whose routine stays).

        Raises:
            Conflict: its version is not one more than the stored one (REVISION_MOVED).
        """
        with translated():
            rows = self._db.execute(
                'SELECT "row", version FROM skill WHERE namespace = ? AND id = ?', (self._namespace, skill.id)
            ).fetchall()
            if rows and skill.version != rows[0][1] + 1:
                raise Conflict(
                    "The skill was compiled again by another meanwhile; read it again, then retry.",
                    reason=Reason.REVISION_MOVED,
                    details={"expected": skill.version - 1, "found": rows[0][1]},
                )
            if rows:
                number = rows[0][0]
                # created_at is the skill's, not the version's: the first one's stays.
                self._db.execute(
                    'UPDATE skill SET version = ?, source = ? WHERE "row" = ?',
                    (skill.version, skill.source_episode, number),
                )
            else:
                number = self._db.execute(
                    "INSERT INTO skill (namespace, id, version, created_at, source) VALUES (?, ?, ?, ?, ?) "
                    'RETURNING "row"',
                    (self._namespace, skill.id, skill.version, micros(skill.created_at), skill.source_episode),
                ).get
                if skill.routine is not None:
                    self._put_routine(number, skill.routine)
            self._db.execute(
                "INSERT INTO skill_version (skill, version, compiled_at, document) VALUES (?, ?, ?, ?)",
                (number, skill.version, maybe_micros(skill.compiled_at), skill_document(skill)),
            )
            put_procedure(self._db, self._namespace, procedure)

    def forget_skill(self, skill: SkillId) -> bool:
        """Erases every version and the routine; runs stay. False where there was none."""
        with translated():
            self._db.execute("DELETE FROM skill WHERE namespace = ? AND id = ?", (self._namespace, skill))
            if not self._db.changes():
                return False
            forget_procedure(self._db, self._namespace, ItemKind.SKILL, skill)
        return True

    def set_routine(self, skill: SkillId, routine: Routine | None) -> None:
        """Sets or takes away the routine.

        Raises:
            NotFound: there is no such skill (SKILL_NOT_FOUND).
        """
        with translated():
            number = self._db.execute(
                'SELECT "row" FROM skill WHERE namespace = ? AND id = ?', (self._namespace, skill)
            ).get
            if number is None:
                raise NotFound("There is no such skill.", reason=Reason.SKILL_NOT_FOUND)
            if routine is None:
                self._db.execute("DELETE FROM routine WHERE skill = ?", (number,))
            else:
                self._put_routine(number, routine)

    def _put_routine(self, number: int, routine: Routine) -> None:
        self._db.execute(
            'INSERT OR REPLACE INTO routine (skill, namespace, schedule, "values", enabled, since, last_run_at, '
            "due_at, lease_holder, lease_until) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, self._namespace, *routine_values(routine)),
        )


def _skill(row: Row) -> Skill:
    return to_skill(row[:_WIDTH], row[_WIDTH:])
