"""What every store does with memories."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from perdure.domain.memory import Filter, LinkKind, MemoryId, MemoryType, Revision, Status, Tier
from perdure.domain.namespace import NamespaceName, Scope
from perdure.domain.recall.candidate import LexicalQuery, QueryTerm
from perdure.domain.recall.lexical import query_terms
from perdure.domain.resolution import text_sha256
from perdure.errors import AlreadyExists, Conflict, FailedPrecondition, InvalidArgument, NotFound, Reason
from perdure.ports import JobKind, JobState, Position, Replay, Store, Use
from support.store_samples import ACTOR, DIMENSION, HERE, SPACE, START, SetClock, memory, new_id, vector

OTHER = Scope(NamespaceName("other"))


def _add(store: Store, *memories, seed: int | None = 1, scope: Scope = HERE):  # type: ignore[no-untyped-def]
    with store.write(scope, ACTOR) as unit:
        for at, one in enumerate(memories):
            unit.add(one, vector=None if seed is None else vector(seed + at), space=None if seed is None else SPACE)
    return memories[0]


def _get(store: Store, id_: MemoryId, scope: Scope = HERE):  # type: ignore[no-untyped-def]
    with store.read(scope) as reader:
        return reader.get(id_)


@pytest.mark.requirement("STORE-01", "PAST-11")
def test_a_memory_comes_back_as_it_was(store: Store) -> None:
    one = memory(
        "Zeile eins\nZeile zwei 東京",
        type=MemoryType.DECISION,
        project="src/app",
        key="db",
        problem="p",
        solution="s",
        concepts=("a", "B"),
        files=("x/y.py",),
        tags=("T", "ü"),
        tier=Tier.CORE,
        confidence=0.85,
        importance=0.25,
        expires_at=START + timedelta(days=1, microseconds=1),
        stub="stub",
        access_count=3,
        shown_count=4,
    )
    _add(store, one)
    assert _get(store, one.id) == replace(one, space=SPACE)


def test_without_a_vector_it_has_no_space(store: Store) -> None:
    one = memory()
    _add(store, one, seed=None)
    assert _get(store, one.id) == one


def test_an_unknown_id_is_none_and_missing_from_many(store: Store) -> None:
    one = _add(store, memory())
    with store.read(HERE) as reader:
        assert reader.get(new_id()) is None
        assert set(reader.get_many((one.id, new_id()))) == {one.id}
        assert reader.get_many(()) == {}
        assert reader.history(new_id()) == ()


@pytest.mark.requirement("STORE-01")
def test_an_id_key_or_text_that_is_taken_is_refused_and_nothing_is_written(store: Store) -> None:
    first = _add(store, memory("one", key="k", project="p"), memory("plain", project="p"))
    for other in (
        replace(memory("two"), id=first.id),
        memory("three", key="k", project="p"),
        memory("  PLAIN\n", project="p"),
    ):
        with pytest.raises(AlreadyExists) as caught, store.write(HERE, ACTOR) as unit:
            unit.add(memory("rides along"), vector=None, space=None)
            unit.add(other, vector=None, space=None)
        assert caught.value.reason is Reason.KEY_TAKEN
    with store.read(HERE) as reader:
        assert reader.stats().total == 2
        assert not reader.lexical(query_terms("rides"), Filter(), limit=5).hits
    assert store.check().findings == ()


def test_key_and_text_are_free_again_once_their_owner_is_archived(store: Store) -> None:
    first = _add(store, memory("one", key="k"))
    with store.write(HERE, ACTOR) as unit:
        stored = unit.get(first.id)
        assert stored is not None
        unit.change(stored, replace(stored, status=Status.ARCHIVED), why="archived")
        again = memory("one", key="k")
        unit.add(again, vector=None, space=None)
        assert unit.by_key("_global", "k") == again
        assert unit.by_text("_global", MemoryType.FACT, text_sha256(again.statement)) == again
    with store.read(HERE) as reader:
        assert reader.by_key("_global", "absent") is None
        assert reader.by_text("elsewhere", MemoryType.FACT, text_sha256(again.statement)) is None


@pytest.mark.parametrize(
    "bad",
    [np.array([np.nan] * DIMENSION, dtype=np.float32), np.array([np.inf] + [0] * (DIMENSION - 1)), vector(1, 8)],
    ids=["nan", "infinity", "dimension"],
)
@pytest.mark.requirement("STORE-09")
def test_a_bad_vector_is_refused_and_nothing_is_written(store: Store, bad) -> None:  # type: ignore[no-untyped-def]
    _add(store, memory("good"))
    with pytest.raises(InvalidArgument) as caught, store.write(HERE, ACTOR) as unit:
        unit.add(memory("bad"), vector=bad.astype(np.float32), space=SPACE)
    assert caught.value.reason is Reason.VECTOR_INVALID
    with store.read(HERE) as reader:
        assert reader.stats().total == 1
        with pytest.raises(InvalidArgument):
            reader.dense(bad, SPACE, Filter(), limit=1)


@pytest.mark.requirement("STORE-11")
def test_a_change_raises_the_revision_and_keeps_what_was(store: Store) -> None:
    one = _add(store, memory("before the change"))
    with store.write(HERE, ACTOR) as unit:
        before = unit.get(one.id)
        assert before is not None
        after = replace(
            before,
            statement=replace(before.statement, content="afterwards", tags=("new",)),
            updated_at=START + timedelta(hours=1),
        )
        result = unit.change(before, after, why="updated")
        assert result == replace(after, revision=2)
        assert unit.get(one.id) == result
    with store.read(HERE) as reader:
        assert reader.get(one.id) == result
        assert reader.history(one.id) == (
            Revision(
                memory=one.id, revision=1, at=START + timedelta(hours=1), actor="tester", why="updated", before=before
            ),
        )
        assert [hit.id for hit in reader.lexical(query_terms("afterwards"), Filter(tags=("NEW",)), limit=5).hits] == [
            one.id
        ]
        assert not reader.lexical(query_terms("before"), Filter(), limit=5).hits
    with pytest.raises(Conflict) as caught, store.write(HERE, ACTOR) as unit:
        unit.change(before, after, why="updated")
    assert caught.value.reason is Reason.REVISION_MOVED


def test_a_filter_on_keys_acts_in_every_search_and_in_lists(store: Store) -> None:
    wanted = _add(store, memory("the build uses make", key="build"), memory("the build uses ninja", key="other"))
    _add(store, memory("the build is slow"), seed=9)
    filter_ = Filter(keys=("build", "absent"))
    with store.read(HERE) as reader:
        assert [one.id for one in reader.page(filter_, after=None, limit=5).memories] == [wanted.id]
        assert [hit.id for hit in reader.dense(vector(1), SPACE, filter_, limit=5)] == [wanted.id]
        assert [hit.id for hit in reader.lexical(query_terms("build"), filter_, limit=5).hits] == [wanted.id]


def test_a_change_to_a_taken_key_is_refused(store: Store) -> None:
    _add(store, memory("one", key="k"))
    two = _add(store, memory("two"))
    with pytest.raises(AlreadyExists), store.write(HERE, ACTOR) as unit:
        stored = unit.get(two.id)
        assert stored is not None
        unit.change(stored, replace(stored, statement=replace(stored.statement, key="k")), why="updated")
    assert _get(store, two.id).revision == 1


def test_what_does_not_exist_cannot_be_changed_linked_or_given_a_vector(store: Store) -> None:
    one, absent = _add(store, memory()), memory("absent")
    with store.write(HERE, ACTOR) as unit:
        for act in (
            lambda: unit.change(absent, absent, why="updated"),
            lambda: unit.set_vector(absent.id, vector(1), SPACE),
            lambda: unit.drop_vectors(absent.id),
            lambda: unit.link(LinkKind.RELATED, one.id, absent.id),
        ):
            with pytest.raises(NotFound) as caught:
                act()
            assert caught.value.reason is Reason.MEMORY_NOT_FOUND
        unit.unlink(LinkKind.RELATED, one.id, absent.id)
        assert unit.purge(absent.id) is False


def test_uses_counted_meanwhile_survive_a_change(store: Store) -> None:
    one = _add(store, memory())
    before = _get(store, one.id)
    later = START + timedelta(days=2)
    with store.work() as work:
        work.record_uses(
            [
                Use(namespace=HERE.namespace, memory=one.id, accessed=2, shown=1, at=later),
                Use(namespace=HERE.namespace, memory=new_id(), accessed=1, shown=1, at=later),
                Use(namespace=NamespaceName("nowhere"), memory=one.id, accessed=1, shown=0, at=later),
            ]
        )
    with store.write(HERE, ACTOR) as unit:
        unit.change(before, replace(before, importance=0.75), why="updated")
    stored = _get(store, one.id)
    assert (stored.access_count, stored.shown_count, stored.last_accessed_at) == (2, 1, later)
    assert stored.updated_at == START
    with store.read(HERE) as reader:
        card = reader.cards((one.id, new_id()))[one.id]
    assert (card.access_count, card.last_accessed_at, card.importance) == (2, later, 0.75)


def test_what_is_only_shown_does_not_count_as_accessed(store: Store) -> None:
    one = _add(store, memory())
    with store.work() as work:
        use = Use(namespace=HERE.namespace, memory=one.id, accessed=0, shown=1, at=START + timedelta(days=2))
        work.record_uses([use])
    assert _get(store, one.id).last_accessed_at == START


def test_links_are_seen_from_both_ends_and_once(store: Store) -> None:
    old, new, near = memory("old"), memory("new"), memory("near")
    _add(store, old, new, near)
    with store.write(HERE, ACTOR) as unit:
        for _ in range(2):
            unit.link(LinkKind.SUPERSEDES, new.id, old.id)
        unit.link(LinkKind.CONSOLIDATED_FROM, new.id, near.id)
        unit.link(LinkKind.RELATED, near.id, old.id)
        with pytest.raises(InvalidArgument):
            unit.link(LinkKind.RELATED, old.id, old.id)
    assert _get(store, new.id).supersedes == (old.id,)
    assert _get(store, old.id).superseded_by == new.id
    assert _get(store, new.id).consolidated_from == (near.id,)
    assert _get(store, near.id).consolidated_into == new.id
    assert _get(store, near.id).related == (old.id,)
    assert _get(store, old.id).related == (near.id,)
    with store.write(HERE, ACTOR) as unit:
        unit.unlink(LinkKind.SUPERSEDES, new.id, old.id)
    assert _get(store, old.id).superseded_by is None


def test_an_imported_revision_is_kept_once(store: Store) -> None:
    one = _add(store, memory())
    before = replace(memory("as it was"), id=one.id)
    revision = Revision(memory=one.id, revision=1, at=START, actor="someone", why="merged", before=before)
    with store.write(HERE, ACTOR) as unit:
        unit.add_revision(revision)
        unit.add_revision(revision)
        assert unit.history(one.id) == (revision,)


@pytest.mark.requirement("SEARCH-15")
def test_pages_run_newest_first_and_meet_without_gap_or_overlap(store: Store) -> None:
    memories = [
        memory(f"n{at}", created_at=START + timedelta(minutes=at // 3), project=f"p{at % 2}") for at in range(11)
    ]
    _add(store, *memories)
    seen = []
    after: Position | None = None
    with store.read(HERE) as reader:
        while True:
            page = reader.page(Filter(), after=after, limit=4)
            seen += [one.id for one in page.memories]
            after = page.next
            if after is None:
                break
        assert len(reader.page(Filter(projects=("p1",)), after=None, limit=50).memories) == 5
        assert reader.page(Filter(), after=None, limit=11).next is None
    expected = sorted(memories, key=lambda one: (one.created_at, one.id), reverse=True)
    assert seen == [one.id for one in expected]


def test_recent_ones_come_by_last_access(store: Store) -> None:
    memories = [memory(f"n{at}", last_accessed_at=START + timedelta(hours=at), project=f"p{at % 2}") for at in range(4)]
    _add(store, *memories, memory("gone", status=Status.ARCHIVED, last_accessed_at=START + timedelta(days=9)))
    with store.read(HERE) as reader:
        assert [one.id for one in reader.recent(None, 2)] == [memories[3].id, memories[2].id]
        assert [one.id for one in reader.recent("p0", 9)] == [memories[2].id, memories[0].id]


def test_stats_count_by_state_type_and_project(store: Store) -> None:
    _add(store, memory("a", project="x"), memory("b", type=MemoryType.TASK), memory("c", status=Status.ARCHIVED))
    _add(store, memory("d", status=Status.SUPERSEDED), memory("e", status=Status.CONSOLIDATED), seed=None)
    with store.read(HERE) as reader:
        stats = reader.stats()
        assert (stats.active, stats.archived, stats.superseded, stats.consolidated, stats.total) == (2, 1, 1, 1, 5)
        assert stats.by_type == {"fact": 1, "task": 1}
        assert stats.by_project == {"x": 1, "_global": 1}
        assert stats.unembedded == 2
        assert reader.unembedded(Filter(statuses=())) == 2
        assert reader.unembedded(Filter()) == 0


def test_a_zero_question_and_an_unknown_space_find_nothing(store: Store) -> None:
    one = _add(store, memory())
    with store.read(HERE) as reader:
        assert reader.dense(vector(1) * 0, SPACE, Filter(), limit=5) == ()
        assert reader.dense(vector(1), "none-0", Filter(), limit=5) == ()
        assert reader.similarities(vector(1), "none-0", [one.id]) == {}
        assert reader.vectors([one.id], "none-0") == {}
        assert reader.lexical(LexicalQuery(()), Filter(), limit=5).hits == ()


@pytest.mark.requirement("SAVE-08")
def test_a_stored_zero_vector_is_nobodys_neighbour(store: Store) -> None:
    one = memory("zero")
    with store.write(HERE, ACTOR) as unit:
        unit.add(one, vector=vector(1) * 0, space=SPACE)
    with store.read(HERE) as reader:
        assert reader.dense(vector(1), SPACE, Filter(), limit=5) == ()
        assert reader.similarities(vector(1), SPACE, [one.id]) == {one.id: 0.0}
    assert store.check().findings == ()


def test_the_nearest_come_first_with_their_cosine(store: Store) -> None:
    memories = [memory(f"n{at}") for at in range(5)]
    _add(store, *memories)
    with store.read(HERE) as reader:
        hits = reader.dense(vector(3), SPACE, Filter(), limit=3)
        assert hits[0].id == memories[2].id
        assert hits[0].similarity == pytest.approx(1.0)
        cosines = {one.id: float(vector(1 + at) @ vector(3)) for at, one in enumerate(memories)}
        assert {hit.id: hit.similarity for hit in hits} == pytest.approx(
            {hit.id: cosines[hit.id] for hit in hits}, abs=1e-5
        )
        assert reader.similarities(vector(3), SPACE, [one.id for one in memories]) == pytest.approx(cosines, abs=1e-5)
        stored = reader.vectors([memories[0].id, new_id()], SPACE)
        assert np.allclose(stored[memories[0].id], vector(1))
        assert reader.dense(vector(3), SPACE, Filter(), limit=1, exclude=[memories[2].id])[0].id != memories[2].id


def test_terms_are_never_syntax(store: Store) -> None:
    one = _add(store, memory('say "hello" AND (goodbye) OR NEAR scope:ns1 *'))
    with store.read(HERE) as reader:
        for text in ('"hello"', 'hello" OR "', "AND", "(goodbye)", "NEAR(", "scope:ns1", "hel*lo", '""', "words : x"):
            query = LexicalQuery((QueryTerm(text), QueryTerm(text, prefix=True)))
            assert {hit.id for hit in reader.lexical(query, Filter(), limit=5).hits} <= {one.id}
        assert reader.lexical(LexicalQuery((QueryTerm("good", prefix=True),)), Filter(), limit=5).hits


@pytest.mark.parametrize(
    "query", ["数", "数据", "数据库", "миграция", "resume", "RÉSUMÉ", "getUserById", "user by id", "v2.13.7"]
)
@pytest.mark.requirement("FAULT-05")
def test_words_of_many_scripts_are_found(store: Store, query: str) -> None:
    one = memory("数据库の миграция: résumé of getUserById in v2.13.7")
    _add(store, one, *(memory(f"filler {at}") for at in range(5)))
    with store.read(HERE) as reader:
        answer = reader.lexical(query_terms(query), Filter(), limit=5)
    assert [hit.id for hit in answer.hits] == [one.id]
    assert 0 < answer.hits[0].bm25 <= answer.ceiling


@pytest.mark.requirement("STORE-05")
def test_nothing_crosses_from_one_namespace_to_another(store: Store) -> None:
    with store.access() as access:
        access.create_namespace(OTHER.namespace, START)
    theirs = _add(store, memory("canary 7421", namespace=OTHER.namespace, key="k"), scope=OTHER)
    mine = _add(store, memory("mine", key="k"))
    with store.read(HERE) as reader:
        assert reader.scope == HERE
        assert reader.get(theirs.id) is None
        assert reader.get_many((theirs.id, mine.id)).keys() == {mine.id}
        assert [hit.id for hit in reader.dense(vector(1), SPACE, Filter(statuses=()), limit=9)] == [mine.id]
        assert reader.lexical(query_terms("canary"), Filter(statuses=()), limit=9).hits == ()
        assert reader.similarities(vector(1), SPACE, [theirs.id]) == {}
        assert reader.vectors([theirs.id], SPACE) == {}
        assert reader.cards([theirs.id]) == {}
        assert [one.id for one in reader.page(Filter(statuses=()), after=None, limit=9).memories] == [mine.id]
        assert reader.stats().total == 1
    with store.write(HERE, ACTOR) as unit:
        assert unit.purge(theirs.id) is False
        with pytest.raises(NotFound):
            unit.link(LinkKind.RELATED, mine.id, theirs.id)
    assert _get(store, theirs.id, OTHER) is not None
    for opened in (store.read, lambda scope: store.write(scope, ACTOR)):
        with pytest.raises(NotFound) as caught, opened(Scope(NamespaceName("absent"))):
            pass
        assert caught.value.reason is Reason.NAMESPACE_NOT_FOUND


@pytest.mark.requirement("STORE-05")
def test_one_id_may_live_in_two_namespaces(store: Store) -> None:
    with store.access() as access:
        access.create_namespace(OTHER.namespace, START)
    one = _add(store, memory("here"))
    _add(store, replace(memory("there"), id=one.id, namespace=OTHER.namespace), scope=OTHER)
    assert _get(store, one.id).statement.content == "here"
    assert _get(store, one.id, OTHER).statement.content == "there"


@pytest.mark.requirement("STORE-10")
def test_a_memory_without_a_vector_is_queued_with_one_job_and_one_event(store: Store, clock: SetClock) -> None:
    one, two = memory("one"), memory("two")
    _add(store, one, seed=None)
    _add(store, two, seed=None)
    with store.work() as work:
        assert [item.memory for item in work.pending(9, clock.now())] == [one.id, two.id]
        (job,) = work.jobs(JobKind.EMBED_PENDING, 9)
        assert job.state is JobState.QUEUED
        assert [event.job for event in work.outbox(9)] == [job.id]
        work.postpone(HERE.namespace, one.id, clock.now() + timedelta(minutes=1))
        assert [item.memory for item in work.pending(9, clock.now())] == [two.id]
        assert work.pending_count() == 2
        clock.advance(minutes=1)
        assert work.pending(1, clock.now())[0].attempts == 1
    with store.write(HERE, ACTOR) as unit:
        unit.set_vector(one.id, vector(1), SPACE)
    with store.work() as work:
        assert [item.memory for item in work.pending(9, clock.now())] == [two.id]
    with store.write(HERE, ACTOR) as unit:
        unit.drop_vectors(one.id)
        assert unit.dense(vector(1), SPACE, Filter(), limit=1) == ()
    with store.work() as work:
        assert work.pending_count() == 2


@pytest.mark.requirement("EMB-13")
def test_the_first_vectors_space_is_the_active_one_until_the_switch(store: Store) -> None:
    one, two = memory("one"), memory("two")
    with store.read(HERE) as reader:
        assert reader.active_space() is None
    _add(store, one)
    with store.write(HERE, ACTOR) as unit:
        unit.add(two, vector=vector(2, 8), space="new-1")
    with store.work() as work:
        assert work.active_space() == SPACE
        assert work.spaces() == {SPACE: 1, "new-1": 1}
        assert work.pending_count() == 0  # a vector is there: re-embedding is what is needed
        assert [item.memory for item in work.without_vector("new-1", 9, None)] == [one.id]
        assert work.without_vector("new-1", 9, one.id) == ()
        assert work.count_without_vector("new-1") == 1
    with store.read(HERE) as reader:
        assert reader.unembedded(Filter()) == 1
        assert [hit.id for hit in reader.dense(vector(1), SPACE, Filter(), limit=9)] == [one.id]
    with pytest.raises(FailedPrecondition) as caught, store.work() as work:
        work.switch_space("new-1")
    assert caught.value.reason is Reason.SPACE_MISMATCH
    with store.write(HERE, ACTOR) as unit:
        unit.set_vector(one.id, vector(3, 8), "new-1")
    assert _get(store, one.id).space == SPACE
    with store.work() as work:
        work.switch_space("new-1")
    with store.read(HERE) as reader:
        assert reader.active_space() == "new-1"
        assert reader.dense(vector(1), SPACE, Filter(), limit=9) == ()
        assert [hit.id for hit in reader.dense(vector(3, 8), "new-1", Filter(), limit=1)] == [one.id]
        assert reader.unembedded(Filter()) == 0
    assert _get(store, one.id).space == "new-1"
    assert store.check().findings == ()


@pytest.mark.requirement("STORE-12")
def test_purge_leaves_nothing_to_find(store: Store) -> None:
    one, other = memory("secret canary 9931", key="k"), memory("other")
    _add(store, one, other)
    with store.write(HERE, ACTOR) as unit:
        stored = unit.get(one.id)
        assert stored is not None
        unit.change(stored, replace(stored, importance=0.1), why="updated")
        unit.link(LinkKind.RELATED, one.id, other.id)
        unit.remember("key-1", Replay("sha", b"answer " + one.id.encode()), expires_at=START + timedelta(days=1))
        unit.remember("key-2", Replay("sha", b"answer"), expires_at=START + timedelta(days=1))
        assert unit.purge(one.id) is True
        assert unit.purge(one.id) is False
        assert unit.dense(vector(1), SPACE, Filter(statuses=()), limit=9)[0].id == other.id
    with store.read(HERE) as reader:
        assert reader.get(one.id) is None
        assert reader.history(one.id) == ()
        assert reader.by_key("_global", "k") is None
        assert reader.lexical(query_terms("canary"), Filter(statuses=()), limit=9).hits == ()
        assert one.id not in {hit.id for hit in reader.dense(vector(1), SPACE, Filter(statuses=()), limit=9)}
        assert reader.replay("key-1") is None
        assert reader.replay("key-2") == Replay("sha", b"answer")
    assert _get(store, other.id).related == ()
    assert store.check().findings == ()


@pytest.mark.requirement("JOB-05")
def test_an_answer_is_remembered_until_it_expires(store: Store, clock: SetClock) -> None:
    with store.write(HERE, ACTOR) as unit:
        unit.remember("k", Replay("r", b"\x00answer"), expires_at=clock.now() + timedelta(hours=1))
    with store.read(HERE) as reader:
        assert reader.replay("k") == Replay("r", b"\x00answer")
        assert reader.replay("other") is None
    clock.advance(hours=1)
    with store.read(HERE) as reader:
        assert reader.replay("k") is None
    with store.work() as work:
        assert work.expire_replays(clock.now(), 10) == 1
        assert work.expire_replays(clock.now(), 10) == 0


@pytest.mark.requirement("STORE-10")
def test_an_exception_undoes_everything(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.write(HERE, ACTOR) as unit:
        unit.add(memory(), vector=vector(1), space=SPACE)
        raise ZeroDivisionError
    with store.read(HERE) as reader:
        assert reader.stats().total == 0
        assert reader.active_space() is None
    with store.work() as work:
        assert work.outbox(9) == ()


def test_a_reader_keeps_its_view_while_others_write(store: Store) -> None:
    one = _add(store, memory("one"))
    with store.read(HERE) as reader:
        assert reader.get(one.id) is not None
        assert len(reader.dense(vector(1), SPACE, Filter(), limit=9)) == 1
        writer = threading.Thread(target=lambda: _change_all(store, one.id))
        writer.start()
        writer.join()
        with store.read(HERE) as later:  # makes a resident matrix newer than the first reader's view
            assert [hit.id for hit in later.dense(vector(1), SPACE, Filter(), limit=9)] != [one.id]
        assert [hit.id for hit in reader.dense(vector(1), SPACE, Filter(), limit=9)] == [one.id]
        assert reader.stats().total == 1
        assert reader.get(one.id) is not None


def _change_all(store: Store, id_: MemoryId) -> None:
    with store.write(HERE, ACTOR) as unit:
        unit.purge(id_)
        unit.add(memory("two"), vector=vector(2), space=SPACE)
