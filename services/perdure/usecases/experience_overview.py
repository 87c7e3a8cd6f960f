"""Where the experience of a namespace stands, and forgetting all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone

from perdure.domain.experience.learning import Adaptation, Event, EventKind, Overview
from perdure.domain.namespace import Actor, Caller, TokenScope
from perdure.errors import InvalidArgument, Reason
from perdure.ports import Clock, ExperienceStore, ScreenshotFiles
from perdure.usecases.permission import require

RECENT_MAX = 40
EVENTS_MAX = 20_000
"""Events that the days are counted from; 500 runs are kept, so more are demonstrations of one year."""

_DAY_COUNTS = {
    EventKind.DEMONSTRATION: "demonstrations",
    EventKind.SKILL: "skills",
    EventKind.RUN: "runs",
    EventKind.TRAINING: "learned",
}


class ExperienceOverview:
    """Counts, days, events; and the way to forget everything."""

    def __init__(self, store: ExperienceStore, files: ScreenshotFiles, clock: Clock) -> None:
        self._store = store
        self._files = files
        self._clock = clock

    def overview(self, caller: Caller, days: int, offset_minutes: int) -> Overview:
        """Where it stands.

        Args:
            caller: Needs the scope ``experience``.
            days: How far back, >= 1; today is the last.
            offset_minutes: Minutes east of UTC of the caller's clock, which decides what a day is.

        Raises:
            PermissionDenied: the scope is missing.
            NotFound: there is no such namespace.
        """
        require(caller, TokenScope.EXPERIENCE)
        zone = timezone(timedelta(minutes=offset_minutes))
        today = self._clock.now().astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        first = today - timedelta(days=days - 1)
        with self._store.experience_view(caller.scope) as reader:
            counts = reader.counts()
            procedures = reader.procedures()
            adaptations = reader.adaptations()
            happened = reader.events(first, EVENTS_MAX)
            recent = happened if len(happened) >= RECENT_MAX else reader.events(_EVER, RECENT_MAX)
        trainings = [_trained(one) for one in adaptations]
        learned = sum(one.learned_in is not None for one in procedures)
        return Overview(
            model_version=adaptations[-1].version if adaptations else None,
            episodes=counts.episodes,
            skills=counts.skills,
            runs={status.value: count for status, count in counts.runs.items()},
            approved=counts.approved,
            denied=counts.denied,
            learned=learned,
            pending=len(procedures) - learned,
            adaptations=adaptations,
            days=_by_day(happened, adaptations, first, days),
            recent=tuple(sorted((*recent, *trainings), key=lambda event: event.at, reverse=True)[:RECENT_MAX]),
        )

    def forget_all(self, caller: Caller, confirm: bool) -> None:
        """Erases every episode, skill and run; memories and model stay.

        Raises:
            InvalidArgument: ``confirm`` is not True (CONFIRM_MISSING).
            PermissionDenied: the scope ``experience`` is missing.
        """
        require(caller, TokenScope.EXPERIENCE)
        if confirm is not True:
            raise InvalidArgument(
                "Forgetting all experience takes confirm: true.",
                reason=Reason.CONFIRM_MISSING,
                details={"field": "confirm"},
            )
        with self._store.experience(caller.scope, Actor(name=caller.actor)) as unit:
            # inside the transaction: no other writer can name a picture that is being deleted
            for sha256 in {picture.sha256 for picture in unit.forget_experience()}:
                self._files.forget(caller.scope, sha256)
        self._store.scrub()


_EVER = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017 - beside timezone(timedelta)


def _trained(adaptation: Adaptation) -> Event:
    return Event(at=adaptation.at, what=EventKind.TRAINING, id=adaptation.version, name=adaptation.version)


def _by_day(
    events: Iterable[Event], adaptations: Iterable[Adaptation], first: datetime, days: int
) -> tuple[tuple[str, Counter[str]], ...]:
    """Counts by local day, empty ones included; "learned" counts procedures."""
    found: dict[str, Counter[str]] = {}
    for number in range(days):
        day = (first + timedelta(days=number)).date().isoformat()
        found[day] = Counter(dict.fromkeys(_DAY_COUNTS.values(), 0))
    for event in events:
        _count(found, event.at, first, _DAY_COUNTS[event.what], 1)
    for one in adaptations:
        _count(found, one.at, first, _DAY_COUNTS[EventKind.TRAINING], len(one.learned))
    return tuple(found.items())


def _count(found: dict[str, Counter[str]], at: datetime, first: datetime, name: str, number: int) -> None:
    day = at.astimezone(first.tzinfo).date().isoformat()
    if day in found:
        found[day][name] += number
