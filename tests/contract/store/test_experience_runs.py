"""Runs, their trails, and leases of routines. SQLite only: why, in test_experience.py."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from perdure.domain.experience.run import RunStatus, SkillRun, SkillRunId, StepOutcome
from perdure.domain.experience.skill import SkillId
from perdure.domain.namespace import NamespaceName, Scope
from perdure.errors import AlreadyExists, NotFound, Reason
from perdure.ports import ExperienceStore
from perdure.store import open_experience_store
from support.store_samples import ACTOR, HERE, SetClock
from support.stored_experience import START, line, of_skill, routine, run, skill

KEPT = 500


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path, clock: SetClock) -> Iterator[ExperienceStore]:
    opened = open_experience_store(f"sqlite:///{path}", clock=clock)
    yield opened
    opened.close()


def _put(store: ExperienceStore, *runs: SkillRun) -> None:
    with store.experience(HERE, ACTOR) as unit:
        for one in runs:
            unit.put_run(one)


def _ids(store: ExperienceStore, skill_id: str | None = None, limit: int = 100) -> list[str]:
    found: list[str] = []
    after = ""
    while True:
        with store.experience_view(HERE) as reader:
            page = reader.skill_runs(None if skill_id is None else SkillId(skill_id), after=after, limit=limit)
        found += [one.id for one in page.runs]
        after = page.next
        if not after:
            return found


def test_a_run_is_read_as_it_was_stored_and_changed_with_its_trail(store: ExperienceStore) -> None:
    _put(store, run())
    lines = (
        line(0),
        line(1, "s4", StepOutcome.WAITING),
        line(1, "s4", StepOutcome.APPROVED, "by Ann"),
        line(1, "s4", StepOutcome.OK),
    )
    with store.experience(HERE, ACTOR) as unit:
        for one in lines:
            unit.append_step(SkillRunId("r1"), one)
    ended = replace(
        run(status=RunStatus.FAILED, cost=0.125),
        heard_at=START + timedelta(seconds=59, microseconds=7),
        error="No such window.",
        holder="host-1",
        model="m",
        tokens=1234,
    )
    with store.experience(HERE, ACTOR) as unit:
        unit.change_run(replace(ended, steps=()))
    with store.experience_view(HERE) as reader:
        assert reader.skill_run(SkillRunId("r1")) == replace(ended, steps=lines)
        assert reader.skill_runs(None, after="", limit=1).runs == (replace(ended, steps=lines),)
        assert reader.skill_run(SkillRunId("r2")) is None


def test_a_run_of_a_known_id_is_refused(store: ExperienceStore) -> None:
    _put(store, run())
    with pytest.raises(AlreadyExists):
        _put(store, run(version=2))


def test_a_run_that_is_not_there_cannot_be_changed_or_added_to(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        for act in (lambda: unit.change_run(run()), lambda: unit.append_step(SkillRunId("r1"), line())):
            with pytest.raises(NotFound) as caught:
                act()
            assert caught.value.reason is Reason.RUN_NOT_FOUND


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE skill_run_step SET outcome = 'ok'",
        "UPDATE skill_run_step SET detail = NULL",
        "DELETE FROM skill_run_step",
    ],
)
@pytest.mark.requirement("EXP-STORE-02")
def test_no_statement_changes_a_trail_or_takes_a_line_out_of_it(store: ExperienceStore, path: Path, sql: str) -> None:
    _put(store, run())
    with store.experience(HERE, ACTOR) as unit:
        unit.append_step(SkillRunId("r1"), line(outcome=StepOutcome.FAILED, detail="d"))
    other: Any = apsw.Connection(str(path))
    try:
        with pytest.raises(apsw.ConstraintError):
            other.execute(sql)
    finally:
        other.close()
    with store.experience_view(HERE) as reader:
        kept = reader.skill_run(SkillRunId("r1"))
    assert kept is not None
    assert kept.steps == (line(outcome=StepOutcome.FAILED, detail="d"),)


def test_runs_come_newest_first_on_pages_that_meet_of_all_skills_or_of_one(store: ExperienceStore) -> None:
    _put(store, *(run(f"r{n}", skill_id=f"k{n % 2}", after_s=n // 3) for n in range(9)))
    assert _ids(store, limit=2) == [f"r{n}" for n in (8, 7, 6, 5, 4, 3, 2, 1, 0)]
    assert _ids(store, "k1", limit=3) == ["r7", "r5", "r3", "r1"]
    assert _ids(store, "k9") == []


@pytest.mark.requirement("EXP-STORE-02")
def test_the_newest_500_are_kept_and_runs_that_have_not_ended_beside_them(store: ExperienceStore) -> None:
    old = [run("waits", status=RunStatus.WAITING_FOR_APPROVAL, after_s=-2), run("goes-on", after_s=-1)]
    ended = [run(f"r{n:03}", status=RunStatus.SUCCEEDED, after_s=n) for n in range(KEPT + 3)]
    _put(store, *old, *ended)
    with store.experience(HERE, ACTOR) as unit:
        unit.append_step(SkillRunId("r502"), line())
    assert _ids(store) == [f"r{n:03}" for n in range(502, 2, -1)] + ["goes-on", "waits"]
    with store.experience(HERE, ACTOR) as unit:
        unit.change_run(replace(old[0], status=RunStatus.STOPPED))
    _put(store, run("newest", after_s=9999))
    assert "waits" not in _ids(store)
    assert "r003" not in _ids(store)
    assert store.check().findings == ()


def test_a_run_that_goes_takes_its_trail_along(store: ExperienceStore, path: Path) -> None:
    _put(store, run("oldest", status=RunStatus.RUNNING, after_s=-9))
    with store.experience(HERE, ACTOR) as unit:
        unit.append_step(SkillRunId("oldest"), line(detail="canary-detail"))
        unit.change_run(run("oldest", status=RunStatus.FAILED, after_s=-9))
    _put(store, *(run(f"r{n:03}", status=RunStatus.SUCCEEDED, after_s=n) for n in range(KEPT)))
    assert "oldest" not in _ids(store)
    assert store.scrub()
    assert b"canary-detail" not in path.read_bytes()


def test_an_imported_run_keeps_its_trail_and_is_imported_once(store: ExperienceStore) -> None:
    one = run(status=RunStatus.DENIED, steps=(line(), line(1, "s4", StepOutcome.DENIED)), cost=0.5)
    with store.experience(HERE, ACTOR) as unit:
        assert unit.import_run(one)
        assert not unit.import_run(replace(one, status=RunStatus.SUCCEEDED, steps=()))
        assert unit.skill_run(SkillRunId("r1")) == one


def test_stale_runs_are_those_not_ended_of_which_nothing_was_heard(store: ExperienceStore) -> None:
    _put(
        store,
        run("new", after_s=100),
        run("old", after_s=10),
        run("older", status=RunStatus.WAITING_FOR_APPROVAL, after_s=5),
        run("ended", status=RunStatus.SUCCEEDED, after_s=0),
    )
    with store.experience(HERE, ACTOR) as unit:
        unit.append_step(SkillRunId("old"), line())
        assert [one.id for one in unit.stale_runs(START + timedelta(seconds=100))] == ["older", "old"]
        assert unit.stale_runs(START + timedelta(seconds=100))[1].steps == (line(),)
        assert unit.stale_runs(START) == ()


def test_a_tally_counts_ended_runs_by_skill_version_and_status(store: ExperienceStore) -> None:
    ok, bad = RunStatus.SUCCEEDED, RunStatus.FAILED
    _put(
        store,
        run("a", status=ok, cost=0.25),
        run("b", status=ok, cost=0.5),
        run("c", status=bad),
        run("d", status=ok, version=2),
        run("e", status=ok, skill_id="k2"),
        run("f"),
    )
    with store.experience_view(HERE) as reader:
        assert reader.tally(SkillId("k1")) == (("k1", 1, bad, 1, 0.0), ("k1", 1, ok, 2, 0.75), ("k1", 2, ok, 1, 0.0))
        assert reader.tally(None) == (*reader.tally(SkillId("k1")), ("k2", 1, ok, 1, 0.0))
        assert reader.tally(SkillId("k9")) == ()


def test_failed_steps_count_runs_once_each_most_first(store: ExperienceStore) -> None:
    failed = StepOutcome.FAILED
    _put(store, run("a"), run("b"), run("c", version=2), run("d", skill_id="k2"))
    with store.experience(HERE, ACTOR) as unit:
        for name, step in (("a", "s1"), ("a", "s1"), ("a", "s3"), ("b", "s3"), ("c", "s3"), ("d", "s1")):
            unit.append_step(SkillRunId(name), line(0, step, failed))
        unit.append_step(SkillRunId("b"), line(0, "s2"))
        assert unit.failed_steps(SkillId("k1")) == ((1, "s3", 2), (2, "s3", 1), (1, "s1", 1))


# ---------------------------------------------------------------------------------------------- two at once


def _claim(store: ExperienceStore, holder: str, now: datetime) -> bool:
    """What a claim is to the store: looking and writing in one transaction."""
    with store.experience(HERE, ACTOR) as unit:
        (due,) = unit.routines()
        assert due.routine is not None
        if due.routine.lease_until is not None and due.routine.lease_until > now:
            return False
        unit.set_routine(due.id, replace(due.routine, lease_holder=holder, lease_until=now + timedelta(minutes=10)))
        return True


@pytest.mark.requirement("EXP-STORE-01")
def test_of_many_claims_at_once_through_two_handles_of_the_store_one_wins(store: ExperienceStore, path: Path) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(routine=routine()), of_skill())
    with ExitStack() as stack:
        other = open_experience_store(f"sqlite:///{path}")
        stack.callback(other.close)
        for round_ in range(10):
            now = START + timedelta(hours=round_)
            gate = threading.Barrier(4)
            won: list[str] = []

            def claim(
                holder: str, handle: ExperienceStore, now: datetime = now, gate: Any = gate, won: Any = won
            ) -> None:
                gate.wait()
                if _claim(handle, holder, now):
                    won.append(holder)

            threads = [
                threading.Thread(target=claim, args=(f"h{n}", handle)) for n, handle in enumerate((store, other) * 2)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            assert len(won) == 1
            with other.experience_view(HERE) as reader:
                (held,) = reader.routines()
            assert held.routine is not None
            assert held.routine.lease_holder == won[0]


def test_lines_that_many_append_at_once_are_all_there_each_in_its_own_order(store: ExperienceStore, path: Path) -> None:
    _put(store, run())
    other = open_experience_store(f"sqlite:///{path}")
    try:

        def append(step_id: str, handle: ExperienceStore) -> None:
            for idx in range(10):
                with handle.experience(HERE, ACTOR) as unit:
                    unit.append_step(SkillRunId("r1"), line(idx, step_id))

        threads = [threading.Thread(target=append, args=(f"s{n}", one)) for n, one in enumerate((store, other) * 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        with other.experience_view(HERE) as reader:
            kept = reader.skill_run(SkillRunId("r1"))
    finally:
        other.close()
    assert kept is not None
    assert len(kept.steps) == 40
    for n in range(4):
        assert [one.idx for one in kept.steps if one.step_id == f"s{n}"] == list(range(10))


def test_ten_thousand_runs_leave_500_and_no_namespace_prunes_anothers(store: ExperienceStore) -> None:
    other = Scope(NamespaceName("other"))
    with store.access() as access:
        access.create_namespace(other.namespace, START)
    with store.experience(other, ACTOR) as unit:
        unit.put_run(run("theirs", status=RunStatus.SUCCEEDED, after_s=-1e6))
    for batch in range(20):
        _put(
            store, *(run(f"r{n}", status=RunStatus.SUCCEEDED, after_s=n) for n in range(batch * 500, batch * 500 + 500))
        )
    assert _ids(store, limit=500) == [f"r{n}" for n in range(9_999, 9_499, -1)]
    with store.experience_view(other) as reader:
        assert reader.skill_run(SkillRunId("theirs")) is not None
        assert reader.tally(None) == (("k1", 1, RunStatus.SUCCEEDED, 1, 0.0),)
