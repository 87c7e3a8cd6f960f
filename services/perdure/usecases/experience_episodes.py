"""Keep demonstrations and their pictures."""

from __future__ import annotations

import re
from dataclasses import replace

from perdure.domain.experience.blanking import blanked
from perdure.domain.experience.episode import Episode, EpisodeId, Screenshot
from perdure.domain.experience.episode_documents import check_new
from perdure.domain.experience.wording import procedure_of
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.errors import InvalidArgument, NotFound, Reason
from perdure.ports import Clock, EpisodePage, ExperienceStore, Ids, ScreenshotFiles
from perdure.usecases.permission import require

SCREENSHOT_BYTES_MAX = 8 * 1024 * 1024
SCREENSHOTS_MAX = 2000
"""Pictures of one episode."""

PAGE_MAX = 500

_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}\Z")
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


class Episodes:
    """The demonstrations of the caller's namespace."""

    def __init__(self, store: ExperienceStore, files: ScreenshotFiles, clock: Clock, ids: Ids) -> None:
        self._store = store
        self._files = files
        self._clock = clock
        self._ids = ids

    def save(self, caller: Caller, episode: Episode) -> Episode:
        """The episode as it is kept: without secrets, with an id. One of the same id is replaced, its pictures stay.

        Raises:
            PermissionDenied: the caller may not use experience.
            InvalidArgument: it is beyond a limit, or an id or a picture's name in it holds a secret.
            NotFound: there is no such namespace.
        """
        require(caller, TokenScope.EXPERIENCE)
        check_new(episode)
        if not episode.id:
            episode = replace(episode, id=EpisodeId(self._ids.job()))
        kept = blanked(episode)
        procedure = procedure_of(kept)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            unit.put_episode(kept, procedure)
        return kept

    def list(self, caller: Caller, *, limit: int, cursor: str = "") -> EpisodePage:
        """The next episodes, newest first.

        Raises:
            PermissionDenied: the caller may not use experience.
            InvalidArgument: the limit or cursor is not one.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            return reader.episodes(after=cursor, limit=page_limit(limit))

    def get(self, caller: Caller, episode: EpisodeId) -> Episode:
        """The episode.

        Raises:
            PermissionDenied: the caller may not use experience.
            NotFound: there is none of that id.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            found = reader.episode(episode)
        if found is None:
            raise _no_episode()
        return found

    def forget(self, caller: Caller, episode: EpisodeId) -> bool:
        """Erases the episode with its pictures; skills compiled from it stay. False where there was none.

        Raises:
            PermissionDenied: the caller may not use experience.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            pictures = unit.forget_episode(episode)
            # a file goes inside the transaction, so that nobody names it meanwhile
            for sha256 in {picture.sha256 for picture in pictures or ()}:
                if not unit.screenshot_used(sha256):
                    self._files.forget(caller.scope, sha256)
        if pictures is None:
            return False
        self._store.scrub()
        return True

    def put_screenshot(self, caller: Caller, episode: EpisodeId, name: str, data: bytes) -> Screenshot:
        """Keeps a picture of the episode; one of the same name is replaced.

        Args:
            caller: Who.
            episode: Of which.
            name: Of a file: 1 to 128 letters, digits and ``. _ -``, no dot first.
            data: PNG, JPEG or WebP, at most 8 MiB.

        Raises:
            PermissionDenied: the caller may not use experience.
            InvalidArgument: the name or the picture is not acceptable.
            NotFound: there is no such episode.
        """
        require(caller, TokenScope.EXPERIENCE)
        _check_name(name)
        media_type = media_type_of(data)
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            if unit.episode(episode) is None:
                raise _no_episode()
            before = {picture.name: picture for picture in unit.screenshots(episode)}
            if name not in before and len(before) >= SCREENSHOTS_MAX:
                raise InvalidArgument(
                    f"An episode has at most {SCREENSHOTS_MAX} pictures.",
                    reason=Reason.OUT_OF_RANGE,
                    details={"limit": SCREENSHOTS_MAX},
                )
            sha256 = self._files.put(caller.scope, data)
            kept = Screenshot(name=name, sha256=sha256, media_type=media_type, bytes=len(data))
            unit.put_screenshot(episode, kept)
            replaced = before.get(name)
            if replaced is not None and not unit.screenshot_used(replaced.sha256):
                self._files.forget(caller.scope, replaced.sha256)
        return kept

    def screenshots(self, caller: Caller, episode: EpisodeId) -> tuple[Screenshot, ...]:
        """The episode's pictures, by name.

        Raises:
            PermissionDenied: the caller may not use experience.
            NotFound: there is no such episode.
        """
        require(caller, TokenScope.EXPERIENCE)
        with self._store.experience_view(caller.scope) as reader:
            if reader.episode(episode) is None:
                raise _no_episode()
            return reader.screenshots(episode)

    def get_screenshot(self, caller: Caller, episode: EpisodeId, name: str) -> tuple[Screenshot, bytes]:
        """A picture of the episode, with its bytes.

        Raises:
            PermissionDenied: the caller may not use experience.
            NotFound: there is no such episode, or none of that name.
        """
        for picture in self.screenshots(caller, episode):
            if picture.name == name:
                data = self._files.get(caller.scope, picture.sha256)
                if data is not None:
                    return picture, data
        raise NotFound("The episode has no picture of that name.", reason=Reason.SCREENSHOT_NOT_FOUND)


def media_type_of(data: bytes) -> str:
    """What kind of picture ``data`` is, by its first bytes.

    Raises:
        InvalidArgument: none that is kept, or too large.
    """
    if len(data) > SCREENSHOT_BYTES_MAX:
        raise InvalidArgument(
            f"A picture has at most {SCREENSHOT_BYTES_MAX} bytes.",
            reason=Reason.TOO_LARGE,
            details={"bytes": len(data), "limit_bytes": SCREENSHOT_BYTES_MAX},
        )
    for magic, media_type in _MAGIC:
        if data.startswith(magic):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise InvalidArgument("This is no picture that Perdure keeps; PNG, JPEG and WebP are.", reason=Reason.FIELD_INVALID)


def page_limit(limit: int) -> int:
    """``limit`` as the length of a page.

    Raises:
        InvalidArgument: it is not from 1 to 500.
    """
    if not 1 <= limit <= PAGE_MAX:
        raise InvalidArgument(
            f"'limit' has to be from 1 to {PAGE_MAX}.", reason=Reason.OUT_OF_RANGE, details={"field": "limit"}
        )
    return limit


def _check_name(name: str) -> None:
    if not _NAME.match(name):
        raise InvalidArgument(
            "A picture's name has 1 to 128 of the characters A-Z a-z 0-9 . _ -, and no dot first.",
            reason=Reason.FIELD_INVALID,
            details={"field": "name"},
        )


def _no_episode() -> NotFound:
    return NotFound("There is no such episode.", reason=Reason.EPISODE_NOT_FOUND)
