"""Episodes and the names of their pictures."""

from __future__ import annotations

from typing import Any

from perdure.domain.experience.episode import Episode, EpisodeId, Screenshot
from perdure.domain.experience.learning import ItemKind, Procedure
from perdure.errors import NotFound, Reason
from perdure.ports import EpisodePage
from perdure.store.sqlite.driver import translated
from perdure.store.sqlite.experience_items import forget_procedure, put_procedure
from perdure.store.sqlite.experience_rows import EPISODE_COLUMNS, cursor_of, episode_values, position_of, to_episode
from perdure.store.sqlite.lifecycle import SqliteLifecycleReader, SqliteLifecycleUnit
from perdure.store.sqlite.rows import Row


class EpisodeReader(SqliteLifecycleReader):
    """One consistent view of the episodes of one namespace."""

    def episode(self, episode: EpisodeId) -> Episode | None:
        """The episode, or None."""
        with translated():
            rows = self._db.execute(
                f"SELECT {EPISODE_COLUMNS} FROM episode e WHERE e.namespace = ? AND e.id = ?",
                (self._namespace, episode),
            ).fetchall()
        return to_episode(rows[0]) if rows else None

    def episodes(self, *, after: str, limit: int) -> EpisodePage:
        """The next episodes by started_at, id descending.

        Raises:
            InvalidArgument: ``after`` is no page's ``next`` (CURSOR_INVALID).
        """
        where, values = "e.namespace = ?", list[Any]((self._namespace,))
        if after:
            where += " AND (e.started_at, e.id) < (?, ?)"
            values += position_of(after)
        with translated():
            rows = self._db.execute(
                f"SELECT {EPISODE_COLUMNS} FROM episode e WHERE {where} ORDER BY e.started_at DESC, e.id DESC LIMIT ?",
                (*values, limit + 1),
            ).fetchall()
        page = rows[:limit]
        following = cursor_of(page[-1][1], page[-1][0]) if len(rows) > limit and page else ""
        return EpisodePage(tuple(map(to_episode, page)), following)

    def screenshots(self, episode: EpisodeId) -> tuple[Screenshot, ...]:
        """The episode's pictures, by name."""
        return self._screenshots("e.id = ?", episode)

    def screenshot_used(self, sha256: str) -> bool:
        """True while any episode of the namespace has a picture of that content."""
        with translated():
            found = self._db.execute(
                "SELECT 1 FROM screenshot WHERE namespace = ? AND sha256 = ? LIMIT 1", (self._namespace, sha256)
            ).get
        return found is not None

    def _screenshots(self, where: str, *values: Any) -> tuple[Screenshot, ...]:
        with translated():
            rows = self._db.execute(
                "SELECT c.name, c.sha256, c.media_type, c.bytes FROM screenshot c "
                'JOIN episode e ON e."row" = c.episode '
                f"WHERE e.namespace = ? AND {where} ORDER BY e.id, c.name",
                (self._namespace, *values),
            ).fetchall()
        return tuple(map(_screenshot, rows))


class EpisodeUnit(EpisodeReader, SqliteLifecycleUnit):
    """One transaction on the episodes of one namespace."""

    def put_episode(self, episode: Episode, procedure: Procedure) -> None:
        """Stores or replaces it, and its text; its pictures stay."""
        with translated():
            self._db.execute(
                "INSERT INTO episode (namespace, id, started_at, ended_at, document) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (namespace, id) DO UPDATE SET started_at = excluded.started_at, "
                "ended_at = excluded.ended_at, document = excluded.document",
                (self._namespace, *episode_values(episode)),
            )
            put_procedure(self._db, self._namespace, procedure)

    def forget_episode(self, episode: EpisodeId) -> tuple[Screenshot, ...] | None:
        """Erases it and its pictures' rows; the pictures that were its, None where there was no such episode."""
        pictures = self.screenshots(episode)
        with translated():
            self._db.execute("DELETE FROM episode WHERE namespace = ? AND id = ?", (self._namespace, episode))
            if not self._db.changes():
                return None
            forget_procedure(self._db, self._namespace, ItemKind.EPISODE, episode)
        return pictures

    def put_screenshot(self, episode: EpisodeId, screenshot: Screenshot) -> None:
        """Adds or replaces a picture of that name.

        Raises:
            NotFound: there is no such episode (EPISODE_NOT_FOUND).
        """
        with translated():
            number = self._db.execute(
                'SELECT "row" FROM episode WHERE namespace = ? AND id = ?', (self._namespace, episode)
            ).get
            if number is None:
                raise NotFound("There is no such episode.", reason=Reason.EPISODE_NOT_FOUND)
            self._db.execute(
                "INSERT OR REPLACE INTO screenshot (episode, name, namespace, sha256, media_type, bytes) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (
                    number,
                    screenshot.name,
                    self._namespace,
                    screenshot.sha256,
                    screenshot.media_type,
                    screenshot.bytes,
                ),
            )


def _screenshot(row: Row) -> Screenshot:
    return Screenshot(name=row[0], sha256=row[1], media_type=row[2], bytes=row[3])
