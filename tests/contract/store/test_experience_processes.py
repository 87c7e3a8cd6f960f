"""Experience when processes race and are killed. SQLite only: why, in test_experience.py."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from perdure.domain.experience.run import SkillRunId
from perdure.domain.experience.skill import SkillId
from perdure.store import open_experience_store
from support.store_samples import ACTOR, HERE
from support.stored_experience import START, adaptation, adapter, line, of_skill, routine, run, skill

ROUNDS = 25
KILLS = 10


def _forked(work: Callable[[int], None]) -> tuple[int, int]:
    """Process id of a child that runs ``work(pipe)``, and the pipe's reading end. The child never returns."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            work(writing)
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


def _all_of(reading: int) -> bytes:
    data = b""
    while more := os.read(reading, 65536):
        data += more
    os.close(reading)
    return data


def _claim_each_round(url: str, holder: str, pipe: int) -> None:
    """Writes the number of each round in which it got the lease."""
    store = open_experience_store(url)
    for round_ in range(ROUNDS):
        now = START + timedelta(hours=round_)
        with store.experience(HERE, ACTOR) as unit:
            (due,) = unit.routines()
            assert due.routine is not None
            if due.routine.lease_until is None or due.routine.lease_until <= now:
                until = now + timedelta(minutes=10)
                unit.set_routine(due.id, replace(due.routine, lease_holder=holder, lease_until=until))
                os.write(pipe, bytes([round_]))
    store.close()


@pytest.mark.e2e
@pytest.mark.requirement("EXP-STORE-01")
def test_of_processes_that_claim_one_routine_at_once_one_gets_it_each_time(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    store = open_experience_store(url)
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(routine=routine()), of_skill())
    store.close()
    children = [_forked(lambda pipe, n=n: _claim_each_round(url, f"h{n}", pipe)) for n in range(4)]  # type: ignore[misc]
    wins: Counter[int] = Counter()
    for child, reading in children:
        wins.update(_all_of(reading))
        os.waitpid(child, 0)
    # A process that is behind sees a later lease and leaves it alone; no round is ever won twice.
    assert set(wins.values()) == {1}
    assert ROUNDS - 1 in wins


def _work_for_ever(url: str, pipe: int) -> None:
    """Adds lines to a trail, versions to a skill and models, a byte on the pipe for each that was acknowledged."""
    store = open_experience_store(url)
    for _ in range(100_000):
        with store.experience(HERE, ACTOR) as unit:
            kept, present = unit.skill_run(SkillRunId("r1")), unit.skill(SkillId("k1"))
            assert kept is not None
            assert present is not None
            number = unit.adapter_number("s") + 1
            unit.append_step(kept.id, line(len(kept.steps)))
            version = present.version + 1
            unit.put_skill(skill(version=version), of_skill(text=f"Text {version}."))
            unit.learn(adapter(number, space="s"), adaptation(number, space="s"), [])
        os.write(pipe, b".")


@pytest.mark.e2e
@pytest.mark.requirement("EXP-STORE-06")
def test_a_process_killed_at_any_moment_loses_nothing_it_acknowledged_and_tears_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    rng = random.Random(20260302)
    store = open_experience_store(url)
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(), of_skill())
        unit.put_run(run())
    store.close()
    acknowledged = 0
    for _ in range(KILLS):
        child, reading = _forked(lambda pipe: _work_for_ever(url, pipe))
        first = os.read(reading, 1)  # it works: now any moment will do
        assert first
        threading.Event().wait(rng.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        acknowledged += len(first + _all_of(reading))
        store = open_experience_store(url)
        assert store.check().findings == ()
        with store.experience_view(HERE) as reader:
            kept, present = reader.skill_run(SkillRunId("r1")), reader.skill(SkillId("k1"))
            number = reader.adapter_number("s")
        store.close()
        assert kept is not None
        assert present is not None
        assert len(kept.steps) == present.version - 1 == number
        # One more at most: committed, and killed before it could say so.
        assert acknowledged <= number <= acknowledged + KILLS
        assert [one.idx for one in kept.steps] == list(range(number))
