"""What every store does with namespaces, tokens, jobs and itself."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from perdure.domain.namespace import DEFAULT_NAMESPACE, NamespaceName
from perdure.errors import AlreadyExists, FailedPrecondition, NotFound, Reason
from perdure.ports import AuditEvent, Job, JobKind, JobState, Store, Token
from perdure.store import open_store
from support.store_samples import ACTOR, HERE, SPACE, START, SetClock, memory, vector

TEAM = NamespaceName("team")


def test_a_new_store_has_the_default_namespace(store: Store) -> None:
    with store.access() as access:
        (only,) = access.namespaces()
        assert (only.name, only.memories) == (DEFAULT_NAMESPACE, 0)
        assert access.namespace(TEAM) is None


def test_namespaces_are_made_once_and_counted(store: Store) -> None:
    with store.access() as access:
        assert access.create_namespace(TEAM, START).name == TEAM
    with pytest.raises(AlreadyExists) as caught, store.access() as access:
        access.create_namespace(TEAM, START)
    assert caught.value.reason is Reason.NAMESPACE_EXISTS
    with store.write(HERE, ACTOR) as unit:
        unit.add(memory("a"), vector=None, space=None)
        one = memory("b")
        unit.add(one, vector=None, space=None)
        unit.purge(one.id)
    with store.access() as access:
        assert {one.name: one.memories for one in access.namespaces()} == {"default": 1, "team": 0}
        found = access.namespace(TEAM)
        assert found is not None
        assert found.created_at == START


@pytest.mark.requirement("ACCESS-03")
def test_tokens_are_kept_used_and_revoked(store: Store) -> None:
    token = Token(
        id="abc",
        namespace=DEFAULT_NAMESPACE,
        name="laptop",
        secret_sha256="ff",
        scopes=frozenset({"read", "write"}),
        created_at=START,
        expires_at=START + timedelta(days=1),
    )
    later = START + timedelta(hours=1)
    with store.access() as access:
        access.create_namespace(TEAM, START)
        access.add_token(token)
        access.add_token(replace(token, id="def", namespace=TEAM, created_at=later))
        with pytest.raises(AlreadyExists):
            access.add_token(token)
        with pytest.raises(NotFound):
            access.add_token(replace(token, id="x", namespace=NamespaceName("absent")))
    with store.access() as access:
        assert access.token("abc") == token
        assert access.token("zzz") is None
        assert [one.id for one in access.tokens(None)] == ["def", "abc"]
        assert [one.id for one in access.tokens(TEAM)] == ["def"]
    with store.access() as access:
        access.use_token("abc", later)
        access.use_token("abc", START)
        assert access.revoke_token("abc", later) == replace(token, last_used_at=later, revoked_at=later)
        again = access.revoke_token("abc", later + timedelta(hours=1))
        assert again is not None
        assert again.revoked_at == later
        assert access.revoke_token("zzz", later) is None


def test_the_trail_runs_newest_first(store: Store) -> None:
    events = [
        AuditEvent(at=START, actor="a", namespace=name, act="token.created", subject=str(at))
        for at, name in enumerate(("default", "team", "default"))
    ]
    with store.access() as access:
        for event in events:
            access.audit(event)
        assert access.trail(None, 2) == (events[2], events[1])
        assert access.trail(DEFAULT_NAMESPACE, 9) == (events[2], events[0])


def _job(id_: str = "j1", kind: JobKind = JobKind.REEMBED) -> Job:
    return Job(id=id_, kind=kind, state=JobState.QUEUED, created_at=START, parameters={"a": "b"})


@pytest.mark.requirement("JOB-02")
def test_one_unfinished_job_of_a_kind(store: Store) -> None:
    with store.work() as work:
        assert work.add_job(_job()) == _job()
        assert work.add_job(_job("j2")) == _job()
        assert work.add_job(_job("j3", JobKind.EXPIRE_IDEMPOTENCY)).id == "j3"
        assert work.job("j1") == _job()
        assert work.job("j2") is None
        events = work.outbox(9)
        assert [event.job for event in events] == ["j1", "j3"]
        work.handed_over([events[0].id])
        assert [event.job for event in work.outbox(9)] == ["j3"]
        assert [job.id for job in work.jobs(None, 9)] == ["j3", "j1"]
        assert [job.id for job in work.jobs(JobKind.REEMBED, 9)] == ["j1"]


@pytest.mark.requirement("JOB-02")
def test_a_job_runs_under_one_lease_until_it_lapses(store: Store) -> None:
    until = START + timedelta(seconds=10)
    with store.work() as work:
        work.add_job(_job())
        assert [job.id for job in work.stalled_jobs(START)] == ["j1"]
        taken = work.take_job("j1", "w1", START, until)
        assert taken is not None
        assert (taken.state, taken.attempts, taken.lease_owner) == (JobState.RUNNING, 1, "w1")
        assert work.stalled_jobs(START) == ()
        assert work.take_job("j1", "w2", START, until) is None
        assert work.take_job("absent", "w2", START, until) is None
        assert work.save_job(replace(taken, done=3, total=9, message="going"))
        assert [job.id for job in work.stalled_jobs(until)] == ["j1"]
        second = work.take_job("j1", "w2", until, until + timedelta(seconds=10))
        assert second is not None
        assert (second.attempts, second.done, second.started_at) == (2, 3, START)
        assert work.save_job(replace(taken, done=4)) is False
        finished = replace(second, state=JobState.SUCCEEDED, finished_at=until, lease_until=None)
        assert work.save_job(finished)
        assert work.save_job(finished) is False
        assert work.take_job("j1", "w3", until + timedelta(hours=1), until + timedelta(hours=2)) is None
        assert work.add_job(_job("j9")).id == "j9"


def test_a_queued_job_is_cancelled_at_once_and_a_running_one_is_asked(store: Store, clock: SetClock) -> None:
    with store.work() as work:
        work.add_job(_job())
        cancelled = work.request_cancel("j1")
        assert cancelled is not None
        assert (cancelled.state, cancelled.finished_at) == (JobState.CANCELLED, clock.now())
        work.add_job(_job("j2"))
        taken = work.take_job("j2", "w", START, START + timedelta(seconds=9))
        assert taken is not None
        asked = work.request_cancel("j2")
        assert asked is not None
        assert (asked.state, asked.cancel_requested) == (JobState.RUNNING, True)
        assert work.save_job(taken)
        stored = work.job("j2")
        assert stored is not None
        assert stored.cancel_requested
        assert work.request_cancel("absent") is None


def test_a_look_at_tokens_does_not_wait_for_a_writer(store: Store) -> None:
    if store.info().backend == "memory":
        pytest.skip("the reference backend has one lock for everything")
    with store.write(HERE, ACTOR) as unit:
        unit.add(memory(), vector=None, space=None)
        with store.access() as access:
            assert access.token("none") is None
        with store.work() as work:
            assert work.pending(1, START) == ()


def test_a_check_counts_what_it_saw(store: Store) -> None:
    with store.write(HERE, ACTOR) as unit:
        unit.add(memory("a"), vector=vector(1), space=SPACE)
        unit.add(memory("b"), vector=None, space=None)
    seen: list[tuple[int, int]] = []
    report = store.check(lambda done, total: seen.append((done, total)))
    assert (report.memories, report.vectors, report.findings) == (2, 1, ())
    assert seen[-1] == (2, 2)
    assert store.repair().findings == ()


@pytest.mark.requirement("STORE-06")
def test_a_backup_is_a_store_of_its_own(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "sub" / "copy.db"
    if store.info().backend == "memory":
        with pytest.raises(FailedPrecondition):  # there is no file
            store.backup(target)
        return
    with store.write(HERE, ACTOR) as unit:
        unit.add(one := memory("kept"), vector=vector(1), space=SPACE)
    assert store.backup(target) == target.stat().st_size
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(AlreadyExists):
        store.backup(target)
    copy = open_store(f"sqlite:///{target}")
    with copy.read(HERE) as reader:
        assert reader.get(one.id) is not None
    assert copy.check().findings == ()
    copy.close()


def test_a_closed_store_is_of_no_use(store: Store) -> None:
    store.close()
    with pytest.raises(FailedPrecondition), store.read(HERE):
        pass
