"""Edits, archive, restore, purge, history."""

from __future__ import annotations

import pytest

from perdure.domain.memory import Filter, Status
from perdure.domain.saving import Edit, Outcome
from perdure.errors import AlreadyExists, Conflict, FailedPrecondition, InvalidArgument, NotFound, Reason
from support.memory_world import MemoryWorld

NOWHERE = "00000000-0000-7000-8000-00000000dead"


@pytest.mark.requirement("SAVE-15")
def test_an_edit_moves_updated_at_revision_summary_and_history(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall", tags=("zoo",))
    world.clock.advance(hours=2)
    after, embedded, redacted = world.update(world.me, kept.id, Edit(content="The walrus swims", confidence=0.9))
    assert (after.summary, after.revision, after.updated_at) == ("The walrus swims", 2, world.clock.now())
    assert (embedded, redacted, after.statement.tags) == (True, (), ("zoo",))
    assert world.get(world.me, kept.id).space is not None
    assert [r.before.statement.content for r in world.history(world.me, kept.id)[1]] == ["The walrus sits on the wall"]


def test_an_edit_that_changes_nothing_writes_nothing(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    world.clock.advance(hours=2)
    after, _, _ = world.update(world.me, kept.id, Edit(content="The walrus sits on the wall"))
    assert (after.revision, after.updated_at) == (1, after.created_at)


def test_an_edit_of_importance_alone_asks_no_embedder(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    asked = len(world.embedder.asked)
    after, embedded, _ = world.update(world.me, kept.id, Edit(importance=0.9))
    assert (after.importance, embedded, len(world.embedder.asked)) == (0.9, True, asked)


def test_an_edit_while_the_embedder_is_away_is_found_by_words_and_embedded_later(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    world.embedder.away = True
    _, embedded, _ = world.update(world.me, kept.id, Edit(content="A pelican sleeps"))
    assert not embedded
    world.embedder.away = False
    assert world.found("walrus wall") == []
    assert world.found("pelican") == ["A pelican sleeps"]
    world.drain()
    assert world.get(world.me, kept.id).space is not None


@pytest.mark.requirement("REST-04")
def test_an_edit_of_a_revision_that_moved_on_is_a_conflict(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    world.update(world.me, kept.id, Edit(content="The walrus swims", expected_revision=1))
    with pytest.raises(Conflict) as caught:
        world.update(world.me, kept.id, Edit(content="The walrus flies", expected_revision=1))
    assert caught.value.reason is Reason.REVISION_MOVED
    for act in (world.archive, world.purge, world.restore):
        with pytest.raises(Conflict):
            act(world.me, kept.id, expected_revision=1)


def test_two_edits_of_different_fields_at_once_both_stand(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    world.embedder.meanwhile = lambda: world.update(world.me, kept.id, Edit(importance=0.9))
    after, embedded, _ = world.update(world.me, kept.id, Edit(content="The walrus swims"))
    assert (after.statement.content, after.importance, after.revision, embedded) == ("The walrus swims", 0.9, 3, True)


def test_an_edit_without_a_revision_gets_its_turn_however_many_others_edit(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")

    def others() -> None:
        world.embedder.meanwhile = None
        world.update(world.me, kept.id, Edit(importance=(world.get(world.me, kept.id).importance + 0.01) % 1))
        world.embedder.meanwhile = others

    world.embedder.meanwhile = others
    after, embedded, _ = world.update(world.me, kept.id, Edit(content="The walrus swims"))
    world.embedder.meanwhile = None
    assert (after.statement.content, embedded) == ("The walrus swims", False)
    assert world.found("swims") == ["The walrus swims"]
    world.drain()
    assert world.get(world.me, kept.id).space is not None


def test_fields_can_be_emptied(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits", problem="cold", solution="coat", key="w")
    after, _, _ = world.update(world.me, kept.id, Edit(clear=frozenset({"problem", "solution", "key"})))
    assert (after.statement.problem, after.statement.solution, after.statement.key) == (None, None, None)


def test_an_edit_cannot_take_a_key_that_is_taken(world: MemoryWorld) -> None:
    world.say("Red", key="colour")
    other = world.say("A shape with four corners")
    with pytest.raises(AlreadyExists) as caught:
        world.update(world.me, other.id, Edit(key="colour"))
    assert caught.value.reason is Reason.KEY_TAKEN


def test_an_edit_into_emptiness_is_refused(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    with pytest.raises(InvalidArgument):
        world.update(world.me, kept.id, Edit(content="  "))


@pytest.mark.requirement("SAVE-16")
def test_an_archived_memory_is_out_of_search_and_comes_back(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    assert world.archive(world.me, kept.id).status is Status.ARCHIVED
    assert world.found("walrus wall") == []
    assert world.get(world.me, kept.id).status is Status.ARCHIVED
    with pytest.raises(FailedPrecondition) as caught:
        world.archive(world.me, kept.id)
    assert caught.value.reason is Reason.ALREADY_ARCHIVED
    assert world.restore(world.me, kept.id).status is Status.ACTIVE
    assert world.found("walrus wall") == ["The walrus sits on the wall"]
    with pytest.raises(FailedPrecondition) as caught:
        world.restore(world.me, kept.id)
    assert caught.value.reason is Reason.NOT_ARCHIVED
    assert [r.why for r in world.history(world.me, kept.id)[1]] == ["restored", "archived"]


def test_a_superseded_memory_can_be_restored_and_its_successor_stays(world: MemoryWorld) -> None:
    said = "The orders service of the billing team runs on the database Postgres {} in the Frankfurt region"
    old = world.say(said.format(14))
    new = world.say(said.format(16))
    assert new.outcome is Outcome.SUPERSEDED
    back = world.restore(world.me, old.id)
    assert (back.status, back.superseded_by, back.related) == (Status.ACTIVE, None, (new.id,))
    assert world.get(world.me, new.id).supersedes == ()
    assert len(world.found("orders service Postgres")) == 2


def test_a_key_taken_meanwhile_keeps_its_old_owner_archived(world: MemoryWorld) -> None:
    old = world.say("Red", key="colour")
    world.archive(world.me, old.id)
    world.say("Something wholly different", key="colour")
    with pytest.raises(AlreadyExists):
        world.restore(world.me, old.id)


@pytest.mark.requirement("STORE-12")
def test_a_purged_memory_is_gone_from_everywhere(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the wall")
    world.update(world.me, kept.id, Edit(content="The walrus swims"))
    world.purge(world.me, kept.id)
    assert world.found("walrus", depth=3) == []
    assert world.stats(world.me)[0].total == 0
    assert list(world.export(world.me, Filter(), every_status=True)) == []
    for act in (world.get, world.history, world.purge, world.restore):
        with pytest.raises(NotFound):
            act(world.me, kept.id)


def test_an_unknown_id_is_not_found_whatever_it_looks_like(world: MemoryWorld) -> None:
    for name in (NOWHERE, "", "nonsense", "../../etc"):
        with pytest.raises(NotFound) as caught:
            world.get(world.me, name)  # type: ignore[arg-type]
        assert caught.value.reason is Reason.MEMORY_NOT_FOUND
