"""When a routine is due, and who may run it then.

Pure: the clock comes in as ``now``. A routine is due from its time on until it was run, but what its host slept through
is not made up for: a time of an earlier day is past, once it is an hour old, and of several missed times of one day
the last stands for all. Nothing is due that was due before the routine was set.

Local times follow the zone's own clock: a time that the clock skips happens as much later as the clock jumps; a time
that comes twice happens the first time. A cron expression whose hour is open goes by the hours as they pass.
Source: issue 5; Builderforce Memory, ``isDue``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import assert_never

from perdure.domain.experience.cron import CronFields, parse_cron
from perdure.domain.experience.skill import Cron, Daily, EveryMinutes, Routine
from perdure.domain.experience.zones import zone_of

LEASE = timedelta(minutes=10)
"""How long a claim holds without a sign of life, unless its holder asks for another time."""

LEASE_S_MIN = 30
LEASE_S_MAX = 86_400
HOLDER_CHARS_MAX = 200

GRACE = timedelta(hours=1)
"""How long at least a time is worth catching up with, so that one just before midnight is not lost to the next day."""

OFFSET_MINUTES_MAX = 840
"""14 hours; no zone is further from UTC."""

_HORIZON_DAYS = 366 * 8 + 2
"""29 February comes within it, also around 2100."""


@dataclass(frozen=True, slots=True)
class Taken:
    """Somebody else holds the routine, or it is not claimed; ``why`` is a sentence for people."""

    why: str


def due_at(routine: Routine, now: datetime, *, offset_minutes: int | None = None) -> datetime | None:
    """Since when the routine is due, <= ``now``; None when it is not. Leases do not matter here.

    Args:
        routine: When, and when last.
        now: Aware.
        offset_minutes: Of the asker from UTC, for a daily routine that names no zone; None is UTC.
    """
    if not routine.enabled:
        return None
    match routine.schedule:
        case EveryMinutes(minutes=minutes):
            at = routine.last_run_at
            at = (routine.since or now) if at is None else at + timedelta(minutes=max(1, minutes))
            return at if at <= now else None
        case Daily() | Cron() as schedule:
            at = _last_time(schedule, now, offset_minutes)
            if at is None or (routine.since is not None and at < routine.since):
                return None
            return at if routine.last_run_at is None or routine.last_run_at < at else None
        case _:
            assert_never(routine.schedule)


def next_due(routine: Routine, now: datetime, *, offset_minutes: int | None = None) -> datetime | None:
    """When the routine is due next, also now (then when it became so); None where it is not enabled."""
    if not routine.enabled:
        return None
    due = due_at(routine, now, offset_minutes=offset_minutes)
    if due is not None:
        return due
    schedule = routine.schedule
    if isinstance(schedule, EveryMinutes):
        at = routine.last_run_at
        return routine.since if at is None else at + timedelta(minutes=max(1, schedule.minutes))
    zone = _zone(schedule, offset_minutes)
    today = now.astimezone(zone).date()
    for ahead in range(-1, _HORIZON_DAYS):
        # the day before too: what the clock skips at midnight may happen on the next
        for at in _times(schedule, _day(today, ahead), zone):
            if at > now:
                return at
    return None


def could_be_due(routine: Routine, now: datetime) -> bool:
    """Whether the routine is due for somebody somewhere; a daily one without a zone is so at different times."""
    if isinstance(routine.schedule, Daily) and routine.schedule.zone is None:
        offsets = range(-OFFSET_MINUTES_MAX, OFFSET_MINUTES_MAX + 1, 15)
        return any(due_at(routine, now, offset_minutes=offset) is not None for offset in offsets)
    return due_at(routine, now) is not None


# ------------------------------------------------------------------ leases


def is_leased(routine: Routine, now: datetime) -> bool:
    """True while somebody's claim holds."""
    return routine.lease_holder is not None and routine.lease_until is not None and now < routine.lease_until


def claimed(routine: Routine, now: datetime, due: datetime, holder: str, lease: timedelta) -> Routine | None:
    """The routine in the hands of ``holder``; None where a claim holds, be it the same holder's.

    A host that asks twice is more likely two processes of one name than one that forgot.
    """
    if is_leased(routine, now):
        return None
    return replace(routine, due_at=due, lease_holder=holder, lease_until=now + lease)


def prolonged(routine: Routine, now: datetime, holder: str, lease: timedelta) -> Routine | Taken:
    """The routine with a claim that begins anew; also one that ran out, if nobody took it meanwhile."""
    if routine.lease_holder is None:
        return Taken("Nobody has claimed this routine; ask for what is due first.")
    if routine.lease_holder != holder:
        return Taken("Another host has claimed this routine.")
    return replace(routine, lease_until=now + lease)


def released(routine: Routine, now: datetime, holder: str) -> Routine | Taken:
    """The routine without a claim; it is due for everybody again unless it was started."""
    if is_leased(routine, now) and routine.lease_holder != holder:
        return Taken("Another host has claimed this routine.")
    return replace(routine, lease_holder=None, lease_until=None)


def started(routine: Routine, now: datetime, holder: str, lease: timedelta = LEASE) -> Routine | Taken:
    """The routine with a run of it begun by ``holder``: it counts as run now, and nobody else may start it.

    Whoever claimed it may; where nobody did, whoever comes first, if it is due.
    """
    if is_leased(routine, now):
        if routine.lease_holder != holder:
            return Taken("Another host has claimed this routine.")
        if routine.due_at is None:
            return Taken("This routine was started under this claim already.")
    elif not could_be_due(routine, now):
        return Taken("This routine is not due; start it with the trigger 'manual'.")
    until = now + lease
    if routine.lease_holder == holder and routine.lease_until is not None:
        until = max(until, routine.lease_until)
    return replace(routine, last_run_at=now, due_at=None, lease_holder=holder, lease_until=until)


def marked(routine: Routine, now: datetime) -> Routine | None:
    """The routine with ``due_at`` as it is now; None where that says so already, or is not for us to say."""
    if is_leased(routine, now) or (isinstance(routine.schedule, Daily) and routine.schedule.zone is None):
        return None
    due = due_at(routine, now)
    return None if due == routine.due_at else replace(routine, due_at=due)


def set_anew(routine: Routine, before: Routine | None, now: datetime) -> Routine:
    """``routine`` as somebody sets it in the place of ``before``: its last run and claim stay.

    What was due until now is not made up for, unless only values changed.
    """
    if before is None:
        return replace(routine, since=now, last_run_at=None, due_at=None, lease_holder=None, lease_until=None)
    same = before.schedule == routine.schedule and before.enabled and before.since is not None
    return replace(
        routine,
        since=before.since if same else now,
        last_run_at=before.last_run_at,
        due_at=before.due_at if same else None,
        lease_holder=before.lease_holder,
        lease_until=before.lease_until,
    )


# ------------------------------------------------------------------ local times


def _last_time(schedule: Daily | Cron, now: datetime, offset_minutes: int | None) -> datetime | None:
    """The last time up to ``now`` that is worth catching up with."""
    zone = _zone(schedule, offset_minutes)
    today = now.astimezone(zone).date()
    for day in (today, _day(today, -1)):
        for at in reversed(_times(schedule, day, zone)):
            if at <= now and (at.astimezone(zone).date() == today or now - at < GRACE):
                return at
    return None


def _times(schedule: Daily | Cron, day: date, zone: tzinfo) -> tuple[datetime, ...]:
    """The schedule's times on ``day``, in order, UTC."""
    if isinstance(schedule, Daily):
        return (_instant(day, schedule.hour, schedule.minute, zone),)
    fields = parse_cron(schedule.expression)
    if isinstance(fields, str) or not fields.on(day):
        return ()
    return _cron_times(fields, day, zone)


@lru_cache(maxsize=1024)
def _cron_times(fields: CronFields, day: date, zone: tzinfo) -> tuple[datetime, ...]:
    if fields.every_hour:
        return tuple(_as_hours_pass(fields, day, zone))
    return tuple(sorted({_instant(day, hour, minute, zone) for hour in fields.hours for minute in fields.minutes}))


def _as_hours_pass(fields: CronFields, day: date, zone: tzinfo) -> Iterator[datetime]:
    """Each minute of the day that is shown by the clock and meant; one that is shown twice is meant twice."""
    at = _instant(day, 0, 0, zone)
    minutes = frozenset(fields.minutes)
    while (shown := at.astimezone(zone)).date() == day:
        if shown.minute in minutes:
            yield at
        at += timedelta(minutes=1)


def _instant(day: date, hour: int, minute: int, zone: tzinfo) -> datetime:
    # fold 0: the first of two; of a time that is skipped, what it is by the clock before the jump
    return datetime.combine(day, time(hour, minute), tzinfo=zone).astimezone(UTC)


def _zone(schedule: Daily | Cron, offset_minutes: int | None) -> tzinfo:
    if schedule.zone is not None:
        return zone_of(schedule.zone) or UTC
    return timezone(timedelta(minutes=offset_minutes or 0))


def _day(day: date, ahead: int) -> date:
    return day + timedelta(days=ahead)
