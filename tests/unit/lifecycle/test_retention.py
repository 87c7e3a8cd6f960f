"""Ages, garbage collection's verdicts, and forecasts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from perdure.domain.memory import Provenance, Status, Tier
from perdure.domain.retention import (
    ARCHIVE_BELOW,
    CONSOLIDATE_BELOW,
    Cause,
    Next,
    days_until,
    forecast,
    interference,
    life_of,
    may_consolidate,
    retired,
    settle,
)
from support.aged import aged
from support.clocks import BEGIN


def test_a_plain_save_may_be_consolidated_after_104_days_and_is_archived_after_199() -> None:
    assert days_until(CONSOLIDATE_BELOW, 0.5) == pytest.approx(104.2, abs=0.05)
    assert days_until(ARCHIVE_BELOW, 0.5) == pytest.approx(199.3, abs=0.05)
    assert not may_consolidate(life_of(aged("a", idle_days=104)), BEGIN)
    assert may_consolidate(life_of(aged("a", idle_days=105)), BEGIN)
    assert retired(life_of(aged("a", idle_days=199)), BEGIN) is None
    gone = retired(life_of(aged("a", idle_days=200)), BEGIN)
    assert gone is not None
    assert gone.cause is Cause.DECAYED


def test_a_checkpoint_lives_longer_than_a_save() -> None:
    assert retired(life_of(aged("a", idle_days=284, provenance=Provenance.CHECKPOINT)), BEGIN) is None
    assert retired(life_of(aged("a", idle_days=286, provenance=Provenance.CHECKPOINT)), BEGIN) is not None


@pytest.mark.parametrize("provenance", [Provenance.HUMAN, Provenance.DEBATE])
def test_core_survives_whatever_its_age(provenance: Provenance) -> None:
    memory = aged("a", idle_days=100_000, provenance=provenance)
    assert memory.tier is Tier.CORE
    assert retired(life_of(memory), BEGIN) is None
    assert not may_consolidate(life_of(memory), BEGIN)


def test_an_end_that_somebody_set_holds_for_core_too_and_before_decay() -> None:
    memory = aged("a", idle_days=300, provenance=Provenance.HUMAN, expires_at=BEGIN)
    gone = retired(life_of(memory), BEGIN)
    assert gone is not None
    assert gone.cause is Cause.EXPIRED


@pytest.mark.parametrize(
    "fields", [{"key": "k"}, {"expires_at": BEGIN + timedelta(days=9)}, {"stub": "[absorbed→Perdure v1] a"}]
)
def test_what_somebody_points_at_is_never_consolidated(fields: dict[str, object]) -> None:
    assert not may_consolidate(life_of(aged("a", idle_days=150, **fields)), BEGIN)


def test_of_two_that_say_the_same_the_one_more_used_stays() -> None:
    often = aged("Deploys go out with make release.", access_count=5)
    seldom = aged("deploys go out with make release", idle_days=3, access_count=1)
    verdict = interference(often, seldom, 0.99, BEGIN)
    assert verdict is not None
    assert (verdict.id, verdict.winner) == (seldom.id, often.id)
    assert interference(seldom, often, 0.99, BEGIN) == verdict


def test_of_two_that_contradict_the_newer_stays_however_often_the_older_was_used() -> None:
    old = aged("The database runs Postgres 14.", idle_days=50, access_count=40)
    new = aged("The database runs Postgres 16.", idle_days=1)
    verdict = interference(old, new, 0.97, BEGIN)
    assert verdict is not None
    assert (verdict.id, verdict.winner) == (old.id, new.id)


def test_of_two_neither_goes_where_one_knows_more_than_the_one_that_would_stay() -> None:
    often = aged("Deploys go out with make release.", access_count=5)
    seldom = aged("Deploys go out with make release.", solution="Ask Mira for the key.")
    assert interference(often, seldom, 0.99, BEGIN) is None


def test_a_core_memory_never_gives_way_to_a_regular_one() -> None:
    core = aged("Deploys go out with make release.", provenance=Provenance.HUMAN)
    often = aged("Deploys go out with make release.", access_count=9)
    assert interference(core, often, 0.99, BEGIN) is None


def test_nobody_goes_in_favour_of_one_that_went_before() -> None:
    a, b, c = (aged("Deploys go out with make release.", access_count=n) for n in (9, 5, 1))
    verdicts = [interference(b, a, 0.99, BEGIN), interference(c, b, 0.99, BEGIN), interference(c, a, 0.99, BEGIN)]
    assert [(gone.id, gone.winner) for gone in settle(v for v in verdicts if v)] == [(b.id, a.id), (c.id, a.id)]


def test_the_forecast_of_a_save_names_both_days() -> None:
    memory = aged("a", idle_days=10)
    future = forecast(memory, BEGIN)
    assert [event.what for event in future.events] == [Next.CONSOLIDATES, Next.ARCHIVED]
    assert [(event.at - BEGIN).days for event in future.events] == [94, 189]
    assert future.half_life_days == pytest.approx(60)


def test_the_forecast_says_why_a_memory_stays() -> None:
    assert "core" in forecast(aged("a", provenance=Provenance.HUMAN), BEGIN).stays_because
    assert "archived" in forecast(aged("a", status=Status.ARCHIVED), BEGIN).stays_because


def test_the_forecast_of_an_expiring_memory_ends_with_its_end() -> None:
    memory = aged("a", expires_at=BEGIN + timedelta(days=30))
    assert [event.what for event in forecast(memory, BEGIN).events] == [Next.EXPIRES]


def test_a_confidence_next_to_one_outlives_the_calendar() -> None:
    assert forecast(aged("a", confidence=0.9999999, tier=Tier.REGULAR), BEGIN).events == ()
