"""Cron expressions of five fields: minute, hour, day of the month, month, day of the week.

Lists, ranges, steps, names of months and days, 7 for Sunday, and the words @hourly @daily @weekly @monthly @yearly.
Where both days are restricted either one is enough. Source: crontab(5).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

_WORDS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = {name: at for at, name in enumerate(_MONTH_NAMES, start=1)}
_DAYS = {name: at for at, name in enumerate(_DAY_NAMES)}
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _DAYS),
)
_PART = re.compile(r"(?:\*|(?P<first>\w{1,3})(?:-(?P<last>\w{1,3}))?)(?:/(?P<step>\d{1,2}))?\Z", re.ASCII)
_LONGEST = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}


@dataclass(frozen=True, slots=True)
class CronFields:
    """What each field allows. ``any_day``, ``any_weekday``: that field begins with a star."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    any_day: bool
    any_weekday: bool

    @property
    def every_hour(self) -> bool:
        """True where the hour does not matter, so that the clock's jumps do not either."""
        return len(self.hours) == 24

    def on(self, day: date) -> bool:
        """Whether anything is to happen on ``day``."""
        if day.month not in self.months:
            return False
        by_day, by_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return by_day and by_weekday
        return by_day or by_weekday


@lru_cache(maxsize=512)
def parse_cron(expression: str) -> CronFields | str:
    """The fields of ``expression``; a sentence about what is wrong where it is none, or never comes true."""
    fields = _WORDS.get(expression.strip().lower(), expression).split()
    if len(fields) != len(_FIELDS):
        return "it has to have five fields: minute, hour, day of the month, month, day of the week."
    sets: list[frozenset[int]] = []
    for text, (name, least, most, names) in zip(fields, _FIELDS, strict=True):
        found = _field(text.lower(), least, most, names)
        if found is None:
            return f"its {name} cannot be read; a number from {least} to {most}, a list, a range or a step is meant."
        sets.append(found)
    minutes, hours, days, months, weekdays = sets
    parsed = CronFields(
        minutes=tuple(sorted(minutes)),
        hours=tuple(sorted(hours)),
        days=days,
        months=months,
        weekdays=frozenset(day % 7 for day in weekdays),
        any_day=fields[2].startswith("*"),
        any_weekday=fields[4].startswith("*"),
    )
    by_days_alone = parsed.any_day or parsed.any_weekday
    if by_days_alone and all(day > _LONGEST.get(month, 31) for day in days for month in months):
        return "it never comes true: no such month has such a day."
    return parsed


def _field(text: str, least: int, most: int, names: dict[str, int]) -> frozenset[int] | None:
    values: set[int] = set()
    for part in text.split(","):
        match = _PART.match(part)
        if match is None:
            return None
        step = int(match["step"] or 1)
        if match["first"] is None:
            first, last = least, most
        else:
            start = _number(match["first"], names)
            end = start if match["last"] is None else _number(match["last"], names)
            if start is None or end is None:
                return None
            # "5/15" is from 5 on
            first, last = start, most if match["step"] and match["last"] is None else end
        if not (least <= first <= last <= most and step >= 1):
            return None
        values.update(range(first, last + 1, step))
    return frozenset(values)


def _number(text: str, names: dict[str, int]) -> int | None:
    return int(text) if text.isdecimal() else names.get(text)
