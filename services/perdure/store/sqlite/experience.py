"""The experience of one namespace: episodes, skills, runs, the private model, and what clients were served."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from perdure.domain.experience.episode import Json, Screenshot
from perdure.domain.experience.learning import Usage
from perdure.store.sqlite.driver import translated
from perdure.store.sqlite.experience_counts import CountReader
from perdure.store.sqlite.experience_episodes import EpisodeReader, EpisodeUnit
from perdure.store.sqlite.experience_items import shelf_changed
from perdure.store.sqlite.experience_model import ModelReader, ModelUnit
from perdure.store.sqlite.experience_runs import RunReader, RunUnit
from perdure.store.sqlite.experience_skills import SkillReader, SkillUnit
from perdure.store.sqlite.lifecycle import SqliteLifecycleReader, SqliteLifecycleUnit

_OF_EXPERIENCE = ("procedure", "learned", "episode", "skill", "skill_run", "experience_head")
"""Tables with a namespace; what hangs on their rows goes with them."""


class UsageReader(SqliteLifecycleReader):
    """One consistent view of what the clients of one namespace were served."""

    def imported_head(self) -> Mapping[str, Json]:
        """What an imported file said beside its lists; empty where none was imported."""
        with translated():
            found = self._db.execute("SELECT document FROM experience_head WHERE namespace = ?", (self._namespace,)).get
        return dict(json.loads(found)) if found else {}

    def content_chars(self) -> int:
        """Characters of the texts of all active memories."""
        with translated():
            found = self._db.execute(
                "SELECT total(length(content) + length(coalesce(problem, '')) + length(coalesce(solution, ''))) "
                "FROM memory WHERE namespace = ? AND status = 'active'",
                (self._namespace,),
            ).get
        return int(found)

    def usage(self, since_day: str) -> tuple[Usage, ...]:
        """What clients were served since that day, oldest day first, then by client."""
        with translated():
            rows = self._db.execute(
                "SELECT client, day, calls, tokens_served, tokens_whole FROM usage "
                "WHERE namespace = ? AND day >= ? ORDER BY day, client",
                (self._namespace, since_day),
            ).fetchall()
        return tuple(
            Usage(client=client, day=day, calls=calls, tokens_served=served, tokens_whole=whole)
            for client, day, calls, served, whole in rows
        )


class SqliteExperienceReader(EpisodeReader, SkillReader, RunReader, ModelReader, UsageReader, CountReader):
    """One consistent view of the experience of one namespace; its memories can be read in the same view."""


class SqliteExperienceUnit(EpisodeUnit, SkillUnit, RunUnit, ModelUnit, UsageReader, CountReader, SqliteLifecycleUnit):
    """One transaction on the experience of one namespace."""

    def forget_experience(self) -> tuple[Screenshot, ...]:
        """Erases episodes, skills and runs; memories and model stay. The pictures that were theirs."""
        pictures = self._screenshots("1")
        with translated():
            for table in _OF_EXPERIENCE:
                self._db.execute(f"DELETE FROM {table} WHERE namespace = ?", (self._namespace,))
            shelf_changed(self._db, self._namespace)
        return pictures

    def keep_imported_head(self, document: Mapping[str, Json]) -> None:
        """Stores or replaces what an imported file said beside its lists."""
        with translated():
            self._db.execute(
                "INSERT INTO experience_head (namespace, document) VALUES (?, ?) "
                "ON CONFLICT (namespace) DO UPDATE SET document = excluded.document",
                (self._namespace, json.dumps(dict(document))),
            )

    def record_usage(self, usage: Sequence[Usage]) -> None:
        """Adds to what clients were served."""
        with translated():
            self._db.executemany(
                "INSERT INTO usage (namespace, day, client, calls, tokens_served, tokens_whole) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (namespace, day, client) DO UPDATE SET "
                "calls = calls + excluded.calls, tokens_served = tokens_served + excluded.tokens_served, "
                "tokens_whole = tokens_whole + excluded.tokens_whole",
                [
                    (self._namespace, one.day, one.client, one.calls, one.tokens_served, one.tokens_whole)
                    for one in usage
                ],
            )
