"""Comparing the tables of experience with each other, and taking away what belongs to nothing.

What points to a missing row is found by SQLite's own check of foreign keys; this looks at what no key can say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from perdure.domain.experience.episode import Episode
from perdure.domain.experience.skill import Skill
from perdure.domain.experience.wording import procedure_of
from perdure.errors import PerdureError
from perdure.store.sqlite.driver import Connection
from perdure.store.sqlite.experience_items import put_procedure
from perdure.store.sqlite.experience_rows import (
    EPISODE_COLUMNS,
    ROUTINE_COLUMNS,
    SKILL_COLUMNS,
    to_episode,
    to_routine,
    to_skill,
)
from perdure.store.sqlite.rows import Row

PART = "experience"
_UNREADABLE = (PerdureError, ValueError, TypeError, KeyError, AttributeError)
"""What reading a document may raise that is not one; JSON's own errors are ValueErrors."""

TABLES = frozenset(
    {
        "episode",
        "screenshot",
        "skill",
        "skill_version",
        "routine",
        "skill_run",
        "skill_run_step",
        "procedure",
        "procedure_vector",
        "used_query",
        "adapter",
        "adaptation",
        "learned",
        "shelf",
        "usage",
        "experience_head",
    }
)
"""Whose findings are findings of experience."""

_OF_NOTHING = (
    "(kind = 'skill' AND NOT EXISTS (SELECT 1 FROM skill s WHERE s.namespace = {0}.namespace AND s.id = {0}.id)) OR "
    "(kind = 'episode' AND NOT EXISTS (SELECT 1 FROM episode e WHERE e.namespace = {0}.namespace AND e.id = {0}.id))"
)
_NO_TEXT = "NOT EXISTS (SELECT 1 FROM procedure p WHERE p.namespace = i.namespace AND p.kind = '{0}' AND p.id = i.id)"
_IN_USE = "(SELECT max(number) FROM adapter a WHERE a.namespace = {0}.namespace AND a.space = {0}.space)"
_NEWEST = '(SELECT max(version) FROM skill_version v WHERE v.skill = s."row")'

_COUNTS = (
    (
        "a picture's namespace is not its episode's",
        'SELECT count(*) FROM screenshot c JOIN episode e ON e."row" = c.episode WHERE c.namespace <> e.namespace',
    ),
    (
        "a routine's namespace is not its skill's",
        'SELECT count(*) FROM routine r JOIN skill s ON s."row" = r.skill WHERE r.namespace <> s.namespace',
    ),
    (
        "a used question's namespace is not its memory's",
        'SELECT count(*) FROM used_query q JOIN memory m ON m."row" = q.memory WHERE q.namespace <> m.namespace',
    ),
    ("a skill's newest version is not there", f"SELECT count(*) FROM skill s WHERE s.version IS NOT {_NEWEST}"),
    (
        "an episode or a skill has no text",
        f"SELECT (SELECT count(*) FROM episode i WHERE {_NO_TEXT.format('episode')}) + "
        f"(SELECT count(*) FROM skill i WHERE {_NO_TEXT.format('skill')})",
    ),
    ("a text belongs to no episode or skill", f"SELECT count(*) FROM procedure p WHERE {_OF_NOTHING.format('p')}"),
    (
        "what was learned belongs to no episode or skill",
        f"SELECT count(*) FROM learned l WHERE {_OF_NOTHING.format('l')}",
    ),
    (
        "learned by a model that is not there",
        f"SELECT count(*) FROM learned l WHERE l.number > coalesce({_IN_USE.format('l')}, 0)",
    ),
    (
        "a training led to a model that is not there",
        f"SELECT count(*) FROM adaptation t WHERE t.number > coalesce({_IN_USE.format('t')}, 0)",
    ),
)


def count(db: Connection, found: Counter[tuple[str, str]]) -> None:
    """Adds what is wrong to ``found``; changes nothing."""
    for problem, sql in _COUNTS:
        found[PART, problem] += db.execute(sql).get
    for problem, table in (("a procedure's vector", "procedure_vector"), ("a used question's vector", "used_query")):
        found[PART, f"{problem} is not of length 1 or 0"] += len(_bad_vectors(db, table))
    found[PART, "an episode cannot be read"] += _unreadable(db, f"SELECT {EPISODE_COLUMNS} FROM episode e", to_episode)
    found[PART, "a version of a skill cannot be read"] += _unreadable(
        db,
        f'SELECT {SKILL_COLUMNS} FROM skill_version v JOIN skill s ON s."row" = v.skill',
        lambda row: to_skill(row, None),
    )
    found[PART, "a routine cannot be read"] += _unreadable(db, f"SELECT {ROUTINE_COLUMNS} FROM routine r", to_routine)
    for down, up in db.execute("SELECT down, up FROM adapter"):
        if not all(np.isfinite(np.frombuffer(side, dtype="<f4")).all() for side in (down, up)):
            found[PART, "a model's weights are not numbers"] += 1


def repair(db: Connection) -> None:
    """Takes away rows that belong to nothing, and vectors that are none, and makes missing texts anew.

    Documents are never touched.
    """
    for table, key, parent in (
        ("screenshot", "episode", "episode"),
        ("skill_version", "skill", "skill"),
        ("routine", "skill", "skill"),
        ("skill_run_step", "run", "skill_run"),
        ("used_query", "memory", "memory"),
    ):
        db.execute(f'DELETE FROM {table} WHERE NOT EXISTS (SELECT 1 FROM {parent} o WHERE o."row" = {table}.{key})')
    db.execute(
        'UPDATE screenshot SET namespace = (SELECT e.namespace FROM episode e WHERE e."row" = screenshot.episode)'
    )
    db.execute('UPDATE routine SET namespace = (SELECT s.namespace FROM skill s WHERE s."row" = routine.skill)')
    db.execute(
        'DELETE FROM used_query WHERE namespace <> (SELECT m.namespace FROM memory m WHERE m."row" = used_query.memory)'
    )
    db.execute(f"DELETE FROM skill AS s WHERE {_NEWEST} IS NULL")
    db.execute(f"UPDATE skill AS s SET version = {_NEWEST} WHERE version <> {_NEWEST}")
    for table in ("procedure", "learned"):
        db.execute(f"DELETE FROM {table} WHERE {_OF_NOTHING.format(table)}")
    for table in ("learned", "adaptation"):
        db.execute(f"DELETE FROM {table} WHERE number > coalesce({_IN_USE.format(table)}, 0)")
    db.execute(
        "DELETE FROM procedure_vector WHERE NOT EXISTS (SELECT 1 FROM procedure p "
        "WHERE p.namespace = procedure_vector.namespace AND p.kind = procedure_vector.kind "
        "AND p.id = procedure_vector.id)"
    )
    for table in ("procedure_vector", "used_query"):
        db.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(number,) for number in _bad_vectors(db, table)])
    _make_texts(db)
    db.execute("UPDATE shelf SET stamp = lower(hex(randomblob(8)))")


def _make_texts(db: Connection) -> None:
    """Of each episode and skill that has none and can be read."""
    readers: tuple[tuple[str, Callable[[Row], Episode | Skill]], ...] = (
        (
            f"SELECT i.namespace, {EPISODE_COLUMNS} FROM episode e JOIN episode i ON i.id = e.id "
            f"AND i.namespace = e.namespace WHERE {_NO_TEXT.format('episode')}",
            to_episode,
        ),
        (
            f'SELECT s.namespace, {SKILL_COLUMNS} FROM skill s JOIN skill_version v ON v.skill = s."row" '
            "AND v.version = s.version JOIN skill i ON i.id = s.id AND i.namespace = s.namespace "
            f"WHERE {_NO_TEXT.format('skill')}",
            lambda row: to_skill(row, None),
        ),
    )
    for sql, read in readers:
        for namespace, *row in db.execute(sql).fetchall():
            with suppress(*_UNREADABLE):
                put_procedure(db, namespace, procedure_of(read(tuple(row))))


def _bad_vectors(db: Connection, table: str) -> list[int]:
    bad: list[int] = []
    for number, e in db.execute(f"SELECT rowid, e FROM {table}"):
        length = float(np.linalg.norm(np.frombuffer(e, dtype="<f4"))) if e and len(e) % 4 == 0 else np.nan
        if not (length == 0.0 or abs(length - 1.0) < 1e-3):  # as of memories
            bad.append(number)
    return bad


def _unreadable(db: Connection, sql: str, read: Callable[[Row], object]) -> int:
    bad = 0
    for row in db.execute(sql):
        try:
            read(row)
        except _UNREADABLE:
            bad += 1
    return bad
