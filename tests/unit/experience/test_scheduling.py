from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from perdure.domain.experience.cron import parse_cron
from perdure.domain.experience.scheduling import (
    LEASE,
    Taken,
    claimed,
    due_at,
    marked,
    next_due,
    prolonged,
    released,
    set_anew,
    started,
)
from perdure.domain.experience.skill import Cron, Daily, EveryMinutes, Routine, Schedule

pytestmark = pytest.mark.requirement("I5-ROUTINE-1")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC) if "+" in text else datetime.fromisoformat(text + "+00:00")


LONG_AGO = at("2026-01-01T00:00")


def of(schedule: Schedule, last: str | None = None, since: datetime = LONG_AGO, enabled: bool = True) -> Routine:
    return Routine(schedule=schedule, since=since, last_run_at=at(last) if last else None, enabled=enabled)


def test_minutes_are_due_at_once_and_then_as_often_as_they_say() -> None:
    now = at("2026-03-02T12:00")
    assert due_at(of(EveryMinutes(5)), now) == LONG_AGO
    assert due_at(of(EveryMinutes(5), "2026-03-02T11:56"), now) is None
    assert due_at(of(EveryMinutes(5), "2026-03-02T11:55"), now) == now


def test_what_is_disabled_is_never_due() -> None:
    routine = of(EveryMinutes(5), enabled=False)
    assert due_at(routine, at("2026-03-02T12:00")) is None
    assert next_due(routine, at("2026-03-02T12:00")) is None


def test_a_day_goes_by_the_asker_s_offset_where_it_names_no_zone() -> None:
    routine = of(Daily(9, 0))
    assert due_at(routine, at("2026-03-02T12:59"), offset_minutes=-240) is None
    assert due_at(routine, at("2026-03-02T13:00"), offset_minutes=-240) == at("2026-03-02T13:00")
    assert due_at(of(Daily(9, 0), "2026-03-02T13:00"), at("2026-03-02T13:01"), offset_minutes=-240) is None
    assert due_at(routine, at("2026-03-02T09:00")) == at("2026-03-02T09:00")


def test_a_day_goes_by_its_own_zone_whoever_asks() -> None:
    routine = of(Daily(9, 0, "Asia/Tokyo"))
    assert due_at(routine, at("2026-03-02T00:30"), offset_minutes=-240) == at("2026-03-02T00:00")


def test_missed_days_are_not_made_up_for() -> None:
    routine = of(Daily(9, 0, "UTC"), "2026-02-20T09:00")
    assert due_at(routine, at("2026-03-02T08:59")) is None
    assert due_at(routine, at("2026-03-02T09:01")) == at("2026-03-02T09:00")


def test_a_time_just_before_midnight_is_caught_up_with_for_an_hour() -> None:
    routine = of(Daily(23, 59, "UTC"))
    assert due_at(routine, at("2026-03-02T00:10")) == at("2026-03-01T23:59")
    assert due_at(routine, at("2026-03-02T01:00")) is None


def test_nothing_is_due_that_was_before_the_routine_was_set() -> None:
    routine = of(Daily(9, 0, "UTC"), since=at("2026-03-02T10:00"))
    assert due_at(routine, at("2026-03-02T11:00")) is None
    assert due_at(routine, at("2026-03-03T09:00")) == at("2026-03-03T09:00")


def test_a_time_that_the_clock_skips_comes_as_much_later() -> None:
    routine = of(Daily(2, 30, "Europe/Berlin"))
    assert due_at(routine, at("2026-03-29T01:29")) is None
    assert due_at(routine, at("2026-03-29T01:31")) == at("2026-03-29T01:30")  # 03:30 there


def test_a_time_that_comes_twice_counts_once() -> None:
    routine = of(Daily(2, 30, "Europe/Berlin"))
    first = at("2026-10-25T00:30")
    assert due_at(routine, first) == first
    again = replace(routine, last_run_at=first)
    assert due_at(again, first + timedelta(hours=1)) is None
    assert next_due(again, first + timedelta(hours=1)) == at("2026-10-26T01:30")


def test_cron_says_when() -> None:
    routine = of(Cron("*/15 9-17 * * mon-fri", "Europe/Berlin"))
    friday = at("2026-03-06T16:50")  # 17:50 there
    assert due_at(routine, friday) == at("2026-03-06T16:45")
    assert next_due(replace(routine, last_run_at=friday), friday) == at("2026-03-09T08:00")


def test_an_open_hour_goes_on_while_the_clock_jumps() -> None:
    routine = of(Cron("0 * * * *", "Europe/Berlin"))
    for hour in range(3):
        now = at("2026-10-25T00:00") + timedelta(hours=hour)
        assert due_at(replace(routine, last_run_at=now - timedelta(minutes=1)), now) == now
    assert due_at(routine, at("2026-03-29T01:00")) == at("2026-03-29T01:00")


def test_the_leap_day_of_years_ahead_is_found() -> None:
    assert next_due(of(Cron("0 0 29 2 *")), at("2026-03-01T00:00")) == at("2028-02-29T00:00")


@pytest.mark.parametrize(
    ("expression", "day", "on"),
    [
        ("0 0 13 * fri", "2026-02-13", True),
        ("0 0 13 * fri", "2026-02-20", True),
        ("0 0 13 * fri", "2026-02-21", False),
        ("0 0 * * 7", "2026-03-01", True),
        ("0 0 */2 * mon", "2026-03-02", False),
        ("@weekly", "2026-03-01", True),
        ("0 0 1 jan,MAR *", "2026-03-01", True),
    ],
)
def test_days_of_cron(expression: str, day: str, on: bool) -> None:
    fields = parse_cron(expression)
    assert not isinstance(fields, str)
    assert fields.on(datetime.fromisoformat(day).date()) is on


@pytest.mark.parametrize(
    "expression", ["", "* * * *", "60 * * * *", "5-1 * * * *", "*/0 * * * *", "x * * * *", "0 0 31 4 *"]
)
def test_what_is_no_cron_is_told_so(expression: str) -> None:
    assert isinstance(parse_cron(expression), str)


# ------------------------------------------------------------------ leases

NOW = at("2026-03-02T12:00")


@pytest.mark.requirement("I5-ROUTINE-2")
def test_a_claim_holds_until_it_expires() -> None:
    routine = of(EveryMinutes(5))
    held = claimed(routine, NOW, NOW, "a", LEASE)
    assert held is not None
    assert claimed(held, NOW, NOW, "b", LEASE) is None
    assert claimed(held, NOW, NOW, "a", LEASE) is None
    later = NOW + LEASE
    taken = claimed(held, later, NOW, "b", LEASE)
    assert taken is not None
    assert taken.lease_holder == "b"
    assert isinstance(prolonged(taken, later, "a", LEASE), Taken)


def test_a_heartbeat_prolongs_and_a_release_ends() -> None:
    held = claimed(of(EveryMinutes(5)), NOW, NOW, "a", LEASE)
    assert held is not None
    longer = prolonged(held, NOW + timedelta(minutes=9), "a", LEASE)
    assert isinstance(longer, Routine)
    assert longer.lease_until == NOW + timedelta(minutes=19)
    assert isinstance(released(longer, NOW, "b"), Taken)
    free = released(longer, NOW, "a")
    assert isinstance(free, Routine)
    assert free.lease_holder is None
    assert released(free, NOW, "b") == free
    assert isinstance(prolonged(free, NOW, "a", LEASE), Taken)


@pytest.mark.requirement("I5-ROUTINE-2")
def test_only_the_holder_starts_and_only_once() -> None:
    held = claimed(of(EveryMinutes(5)), NOW, NOW, "a", LEASE)
    assert held is not None
    assert isinstance(started(held, NOW, "b"), Taken)
    begun = started(held, NOW, "a")
    assert isinstance(begun, Routine)
    assert (begun.last_run_at, begun.due_at) == (NOW, None)
    assert isinstance(started(begun, NOW, "a"), Taken)


@pytest.mark.requirement("I5-ROUTINE-2")
def test_without_a_claim_the_first_starts_what_is_due() -> None:
    begun = started(of(EveryMinutes(5)), NOW, "a")
    assert isinstance(begun, Routine)
    assert isinstance(started(begun, NOW, "b"), Taken)
    assert isinstance(started(of(EveryMinutes(5), "2026-03-02T11:59"), NOW, "a"), Taken)
    local = of(Daily(9, 0))
    assert isinstance(started(local, at("2026-03-02T13:00"), "a"), Routine)


def test_setting_a_routine_again_keeps_its_run_and_begins_anew_where_the_time_changed() -> None:
    before = replace(of(Daily(9, 0, "UTC"), "2026-03-01T09:00"), lease_holder="a", lease_until=NOW + LEASE)
    same = set_anew(Routine(schedule=Daily(9, 0, "UTC"), values={"x": "1"}), before, NOW)
    assert (same.since, same.last_run_at, same.lease_holder) == (before.since, before.last_run_at, "a")
    other = set_anew(Routine(schedule=Daily(10, 0, "UTC")), before, NOW)
    assert (other.since, other.last_run_at) == (NOW, before.last_run_at)
    fresh = set_anew(Routine(schedule=EveryMinutes(1), last_run_at=NOW, lease_holder="x"), None, NOW)
    assert (fresh.since, fresh.last_run_at, fresh.lease_holder) == (NOW, None, None)


def test_what_is_due_is_marked_and_unmarked() -> None:
    routine = of(EveryMinutes(5), "2026-03-02T11:00")
    due = marked(routine, NOW)
    assert due is not None
    assert due.due_at == at("2026-03-02T11:05")
    assert marked(due, NOW) is None
    assert marked(of(Daily(9, 0)), NOW) is None
    assert marked(replace(routine, lease_holder="a", lease_until=NOW + LEASE), NOW) is None
