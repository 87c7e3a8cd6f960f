"""How memories age, what garbage collection does to them, and what will happen to one and when.

Pure: the clock comes in as ``now``. The ages are those of ``decay.decay_weight``: for a plain save (confidence 0.5) a
weight of 0.3 is reached after 104 days without use, 0.1 after 199.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from perdure.domain.decay import HALF_LIFE_DAYS, decay_weight
from perdure.domain.guard import Verdict, compare
from perdure.domain.memory import Memory, MemoryId, MemoryType, Provenance, Statement, Status, Tier

CONSOLIDATE_BELOW = 0.3
"""A memory with less weight than this may be consolidated with its like."""

ARCHIVE_BELOW = 0.1
"""A memory with less weight than this is archived."""

_DAY = timedelta(days=1)
_CONFIRMED = frozenset({Provenance.HUMAN, Provenance.DEBATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The columns of a memory that its retention depends on; no text."""

    id: MemoryId
    project: str
    type: MemoryType
    confidence: float
    tier: Tier
    provenance: Provenance
    access_count: int
    created_at: datetime
    last_accessed_at: datetime
    expires_at: datetime | None = None
    keyed: bool = False
    stubbed: bool = False


class Cause(enum.StrEnum):
    """Why garbage collection takes a memory out of search."""

    DECAYED = "decayed"
    EXPIRED = "expired"
    INTERFERES = "interferes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retirement:
    """One memory leaves search: for what, and with which weight left. ``winner`` stays where two interfered."""

    id: MemoryId
    cause: Cause
    weight: float
    winner: MemoryId | None = None
    similarity: float | None = None


def life_of(memory: Memory) -> Life:
    """The columns of ``memory`` that matter here."""
    return Life(
        id=memory.id,
        project=memory.statement.project,
        type=memory.statement.type,
        confidence=memory.confidence,
        tier=memory.tier,
        provenance=memory.provenance,
        access_count=memory.access_count,
        created_at=memory.created_at,
        last_accessed_at=memory.last_accessed_at,
        expires_at=memory.expires_at,
        keyed=memory.statement.key is not None,
        stubbed=memory.stub is not None,
    )


def weight_at(life: Life, now: datetime) -> float:
    """The decay weight at ``now``, in (0, 1]; 1 where it was used after ``now`` (another machine's clock)."""
    idle_days = max((now - life.last_accessed_at) / _DAY, 0.0)
    return decay_weight(idle_days, life.confidence)


def days_until(weight: float, confidence: float) -> float | None:
    """Days without use after which a memory of that confidence weighs less than ``weight``; None for never.

    Args:
        weight: In (0, 1).
        confidence: In [0, 1]; at 1 nothing fades.
    """
    if confidence >= 1.0:
        return None
    return HALF_LIFE_DAYS * math.log2(1.0 / weight) / (1.0 - confidence)


def retired(life: Life, now: datetime) -> Retirement | None:
    """What garbage collection does to an active memory on its own account: expiry first, then decay.

    A core memory never decays away; an end somebody set holds for every memory.
    """
    weight = weight_at(life, now)
    if life.expires_at is not None and life.expires_at <= now:
        return Retirement(id=life.id, cause=Cause.EXPIRED, weight=weight)
    if life.tier is Tier.REGULAR and weight < ARCHIVE_BELOW:
        return Retirement(id=life.id, cause=Cause.DECAYED, weight=weight)
    return None


def may_consolidate(life: Life, now: datetime) -> bool:
    """True for an aged memory that nobody confirmed and nothing points at.

    Never a fresh, core or confirmed one; nor one that has an end of its own (``expires_at``), a key that somebody
    saves to, or a stub in a context.
    """
    return (
        life.tier is Tier.REGULAR
        and life.provenance not in _CONFIRMED
        and life.expires_at is None
        and not life.keyed
        and not life.stubbed
        and weight_at(life, now) < CONSOLIDATE_BELOW
    )


def interference(one: Memory, other: Memory, similarity: float, now: datetime) -> Retirement | None:
    """Which of two active memories gives way, when they are so alike that they get in each other's way.

    Of two that say the same, the one with more accesses stays (then core before regular, then the older one). Of two of
    which the newer says otherwise, the newer stays. Where it is not certain, or where the one that would go knows
    something that the other does not (a key, a solution, a file, a concept, a tag), both stay.

    Args:
        one: An active memory.
        other: Another of the same project and type.
        similarity: Their cosine, above the space's ``interference``.
        now: For the weight in the answer.
    """
    verdict = _verdict(one, other)
    if verdict is Verdict.SAME:
        winner, loser = sorted((one, other), key=_rank)
        if not _covers(winner.statement, loser.statement):
            return None
    elif verdict is Verdict.CHANGED:
        loser, winner = sorted((one, other), key=lambda memory: (memory.created_at, memory.id))
        if loser.statement.key is not None:
            return None
    else:
        return None
    if loser.tier is Tier.CORE and winner.tier is not Tier.CORE:
        return None
    return Retirement(
        id=loser.id,
        cause=Cause.INTERFERES,
        weight=weight_at(life_of(loser), now),
        winner=winner.id,
        similarity=similarity,
    )


def settle(retirements: Iterable[Retirement]) -> tuple[Retirement, ...]:
    """The retirements that hold together: each memory goes once, and never in favour of one that went before."""
    gone: set[MemoryId] = set()
    kept: list[Retirement] = []
    for retirement in retirements:
        if retirement.id in gone or retirement.winner in gone:
            continue
        gone.add(retirement.id)
        kept.append(retirement)
    return tuple(kept)


class Next(enum.StrEnum):
    """What happens to a memory if nobody uses it."""

    CONSOLIDATES = "may_be_consolidated"
    ARCHIVED = "archived"
    EXPIRES = "expires"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """``what`` happens at ``at`` (or was due since then), at the first run after it."""

    what: Next
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a memory weighs now, and what will happen to it if nobody uses it; empty ``events``: it stays."""

    status: Status
    weight: float
    idle_days: float
    half_life_days: float | None
    events: tuple[Event, ...]
    stays_because: str = ""


def forecast(memory: Memory, now: datetime) -> Forecast:
    """What happens to ``memory``, and when. A memory out of search has no future of its own: nothing happens to it."""
    life = life_of(memory)
    weight = weight_at(life, now)
    half_life = days_until(0.5, memory.confidence)
    idle_days = max((now - life.last_accessed_at) / _DAY, 0.0)
    events: list[Event] = []
    stays = ""
    if memory.status is not Status.ACTIVE:
        stays = f"it is {memory.status.value} and stays so until somebody restores or purges it"
    else:
        if memory.tier is Tier.REGULAR:
            events = _fading(life)
            stays = "" if events else "a confidence of 1 does not fade"
        else:
            stays = "it is core: neither consolidated nor archived by age"
        if life.expires_at is not None:
            events = [event for event in events if event.at < life.expires_at]
            events.append(Event(what=Next.EXPIRES, at=life.expires_at))
            stays = ""
    return Forecast(
        status=memory.status,
        weight=weight,
        idle_days=idle_days,
        half_life_days=half_life,
        events=tuple(sorted(events, key=lambda event: event.at)),
        stays_because=stays,
    )


def _fading(life: Life) -> list[Event]:
    events: list[Event] = []
    consolidate_days = days_until(CONSOLIDATE_BELOW, life.confidence)
    archive_days = days_until(ARCHIVE_BELOW, life.confidence)
    unbound = life.provenance not in _CONFIRMED and life.expires_at is None and not life.keyed and not life.stubbed
    if consolidate_days is not None and unbound and (at := _after(life.last_accessed_at, consolidate_days)):
        events.append(Event(what=Next.CONSOLIDATES, at=at))
    if archive_days is not None and (at := _after(life.last_accessed_at, archive_days)):
        events.append(Event(what=Next.ARCHIVED, at=at))
    return events


def _after(start: datetime, days: float) -> datetime | None:
    """None beyond the calendar: a confidence next to 1 fades in thousands of years."""
    try:
        return start + timedelta(days=days)
    except OverflowError:
        return None


def _verdict(one: Memory, other: Memory) -> Verdict:
    older, newer = sorted((one, other), key=lambda memory: (memory.created_at, memory.id))
    return compare(older.statement, newer.statement)


def _rank(memory: Memory) -> tuple[int, int, datetime, MemoryId]:
    return (-memory.access_count, 0 if memory.tier is Tier.CORE else 1, memory.created_at, memory.id)


def _covers(winner: Statement, loser: Statement) -> bool:
    return (
        loser.key is None
        and _letters(loser.content) <= _letters(winner.content)
        and (loser.problem is None or loser.problem == winner.problem)
        and (loser.solution is None or loser.solution == winner.solution)
        and set(loser.concepts) <= set(winner.concepts)
        and set(loser.files) <= set(winner.files)
        and set(loser.tags) <= set(winner.tags)
    )


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))
