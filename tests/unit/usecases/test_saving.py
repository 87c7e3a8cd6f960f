"""What a save does."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from perdure.domain.layout import embedded_text
from perdure.domain.memory import CONTENT_BYTES_MAX, Filter, Provenance, Status, Tier
from perdure.domain.saving import Checkpoint, Edit, Outcome
from perdure.errors import Conflict, InvalidArgument, NotFound, PermissionDenied, Reason
from support.memory_world import MemoryWorld, caller, draft

POSTGRES_14 = "The orders service of the billing team runs on the database Postgres 14 in the Frankfurt region"
POSTGRES_16 = "The orders service of the billing team runs on the database Postgres 16 in the Frankfurt region"

BACKUP = (
    "The nightly backup of the main database goes to the cold bucket and is kept for ninety days, after which the "
    "cleaning job removes every file older than that and writes a line about each removal into the audit table of the "
    "operations team"
)


def active(world: MemoryWorld) -> int:
    return world.stats(world.me)[0].active


@pytest.mark.requirement("SAVE-01")
def test_a_saved_memory_is_found_by_its_words_and_read_by_its_id(world: MemoryWorld) -> None:
    result = world.say("We deploy on Fridays with the blue pipeline", tags=("deploy",))
    assert result.outcome is Outcome.CREATED
    assert result.embedded
    assert world.found("blue pipeline") == ["We deploy on Fridays with the blue pipeline"]
    kept = world.get(world.me, result.id)
    assert kept.statement.tags == ("deploy",)
    assert (kept.provenance, kept.confidence, kept.tier) == (Provenance.SAVE, 0.5, Tier.REGULAR)


@pytest.mark.requirement("SAVE-02")
def test_the_same_text_again_is_unchanged_whatever_its_spacing_and_case(world: MemoryWorld) -> None:
    first = world.say("Tabs are four spaces wide")
    again = world.say("tabs  are four spaces WIDE ")
    assert (again.outcome, again.id) == (Outcome.UNCHANGED, first.id)
    assert active(world) == 1


@pytest.mark.requirement("FAULT-03")
def test_six_threads_that_save_one_text_make_one_memory(world: MemoryWorld) -> None:
    gate = threading.Barrier(6)

    def save(_: int) -> Outcome:
        gate.wait(timeout=10)
        return world.say("The build needs Node 20").outcome

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(save, range(6)))
    assert sorted(outcomes) == [Outcome.CREATED] + [Outcome.UNCHANGED] * 5
    assert active(world) == 1


@pytest.mark.requirement("SAVE-02")
def test_the_same_text_in_another_project_or_of_another_type_is_another_memory(world: MemoryWorld) -> None:
    ids = {
        world.say("Use the blue theme").id,
        world.say("Use the blue theme", project="web").id,
        world.say("Use the blue theme", type="decision").id,
    }
    assert len(ids) == 3


@pytest.mark.requirement("SAVE-05", "PAST-01")
def test_a_contradiction_supersedes_and_the_newest_truth_wins(world: MemoryWorld) -> None:
    old = world.say(POSTGRES_14, type="decision")
    new = world.say(POSTGRES_16, type="decision")
    assert (new.outcome, new.superseded) == (Outcome.SUPERSEDED, (old.id,))
    assert world.found("which Postgres do orders run on") == [POSTGRES_16]
    before = world.get(world.me, old.id)
    assert (before.status, before.superseded_by) == (Status.SUPERSEDED, new.id)
    assert world.get(world.me, new.id).supersedes == (old.id,)


def test_a_contradiction_in_another_project_or_type_supersedes_nothing(world: MemoryWorld) -> None:
    world.say(POSTGRES_14, project="a")
    assert world.say(POSTGRES_16, project="b").outcome is Outcome.CREATED
    assert world.say(POSTGRES_16, project="a", type="decision").outcome is Outcome.CREATED


@pytest.mark.requirement("SAVE-04")
def test_saying_the_same_thing_with_more_detail_merges_and_drops_nothing(world: MemoryWorld) -> None:
    first = world.say(BACKUP, tags=("backup",), concepts=("retention",))
    again = world.say(BACKUP + ", as agreed with the auditors", tags=("s3",), files=("ops/backup.sh",))
    assert (again.outcome, again.id) == (Outcome.MERGED, first.id)
    kept = world.get(world.me, first.id)
    assert set(kept.statement.tags) == {"backup", "s3"}
    assert kept.statement.concepts == ("retention",)
    assert kept.statement.files == ("ops/backup.sh",)
    assert [revision.why for revision in world.history(world.me, first.id)[1]] == ["merged"]


def test_a_merged_memory_has_the_vector_of_its_united_text(world: MemoryWorld) -> None:
    world.say(BACKUP)
    merged = world.say(BACKUP + ", as agreed with the auditors", concepts=("retention", "glacier"))
    assert merged.outcome is Outcome.MERGED
    assert merged.embedded
    kept = world.get(world.me, merged.id)
    assert world.embedder.asked[-1] == embedded_text(kept.statement, kept.created_at)


def test_a_merge_whose_twin_moved_on_meanwhile_is_resolved_anew(world: MemoryWorld) -> None:
    first = world.say(BACKUP, tags=("ops",))
    asked = len(world.embedder.asked)

    def once_the_united_text_is_asked_for() -> None:
        world.embedder.meanwhile = lambda: world.update(world.me, first.id, Edit(content="Something else entirely"))

    world.embedder.meanwhile = once_the_united_text_is_asked_for
    again = world.say(BACKUP + ", as agreed with the auditors", concepts=("retention",))
    assert again.outcome is Outcome.CREATED
    assert world.get(world.me, first.id).statement.content == "Something else entirely"
    assert world.get(world.me, again.id).statement.content.endswith("auditors")
    assert len(world.embedder.asked) > asked + 1


def test_the_same_text_saved_by_another_while_this_save_waits_is_one_memory(world: MemoryWorld) -> None:
    world.embedder.meanwhile = lambda: world.say("The build needs Node 20")
    assert world.say("The build needs Node 20").outcome is Outcome.UNCHANGED
    assert active(world) == 1


@pytest.mark.requirement("SAVE-03")
def test_saving_to_a_key_again_replaces_it_with_history(world: MemoryWorld) -> None:
    first = world.say("The answer is red", key="favourite.colour")
    second = world.say("It turned out to be a shade of green", key="favourite.colour", type="preference")
    assert (second.outcome, second.id, second.revision) == (Outcome.REPLACED, first.id, 2)
    now, history = world.history(world.me, first.id)
    assert now.statement.content == "It turned out to be a shade of green"
    assert [(r.why, r.before.statement.content) for r in history] == [("replaced", "The answer is red")]
    assert world.found("shade of green") == ["It turned out to be a shade of green"]


def test_a_key_is_unique_in_its_project_only(world: MemoryWorld) -> None:
    assert world.say("Red", key="colour", project="a").outcome is Outcome.CREATED
    assert world.say("Blue", key="colour", project="b").outcome is Outcome.CREATED


def test_the_same_words_under_two_keys_are_two_memories(world: MemoryWorld) -> None:
    first = world.say("UTC", key="clock.server")
    second = world.say("UTC", key="clock.desk")
    assert (second.outcome, second.id == first.id) == (Outcome.CREATED, False)
    assert world.say("utc", key="clock.desk").outcome is Outcome.UNCHANGED


def test_words_without_a_key_take_a_key_when_it_comes(world: MemoryWorld) -> None:
    first = world.say("The office closes at six")
    keyed = world.say("The office closes at six", key="office.hours")
    assert (keyed.outcome, keyed.id) == (Outcome.MERGED, first.id)
    assert world.get(world.me, first.id).statement.key == "office.hours"


def test_a_key_that_takes_over_words_said_elsewhere_leaves_them_once(world: MemoryWorld) -> None:
    bare = world.say("The office closes at six")
    keyed = world.say("The office never closes at all", key="office.hours", type="fact", tags=("x",))
    assert keyed.outcome in {Outcome.CREATED, Outcome.SUPERSEDED}
    again = world.say("The office closes at six", key="office.hours")
    assert (again.outcome, again.id) == (Outcome.REPLACED, keyed.id)
    assert active(world) == 1
    assert world.get(world.me, bare.id).superseded_by == keyed.id


@pytest.mark.requirement("SAVE-08")
def test_a_zero_vector_is_never_a_twin(world: MemoryWorld) -> None:
    world.embedder.zero = True
    world.say("One thing about ducks")
    assert world.say("Another thing about geese").outcome is Outcome.CREATED
    assert active(world) == 2


@pytest.mark.parametrize("switch", ["away", "loading", "late"])
@pytest.mark.requirement("SAVE-10")
def test_without_an_embedder_a_save_succeeds_and_words_find_it_at_once(world: MemoryWorld, switch: str) -> None:
    setattr(world.embedder, switch, True)
    result = world.say("The zebra crossing is on Elm Street")
    assert (result.outcome, result.embedded) == (Outcome.CREATED, False)
    assert world.found("zebra") == ["The zebra crossing is on Elm Street"]


@pytest.mark.requirement("SAVE-10")
def test_what_was_saved_without_an_embedder_is_embedded_and_resolved_from_the_queue(world: MemoryWorld) -> None:
    old = world.say(POSTGRES_14)
    world.clock.advance(hours=1)
    world.embedder.away = True
    new = world.say(POSTGRES_16)
    assert new.outcome is Outcome.CREATED
    world.embedder.away = False
    world.drain()
    assert world.get(world.me, new.id).space is not None
    assert world.get(world.me, old.id).superseded_by == new.id
    assert world.found("Postgres orders") == [POSTGRES_16]


def test_an_idempotency_key_replays_the_answer(world: MemoryWorld) -> None:
    first = world.save(world.me, draft("Ship it"), idempotency_key="k1")
    world.archive(world.me, first.id)
    again = world.save(world.me, draft("Ship it"), idempotency_key="k1")
    assert again == replace(first, replayed=True)
    assert active(world) == 0


def test_a_repeated_request_waits_for_no_vector(world: MemoryWorld) -> None:
    items = [draft(f"Note {number}") for number in range(60)]
    world.save(world.me, draft("Ship it"), idempotency_key="k1")
    world.save_many(world.me, items, idempotency_key="k2")
    world.embedder.asked.clear()
    assert world.save(world.me, draft("Ship it"), idempotency_key="k1").replayed
    assert all(item.replayed for item in world.save_many(world.me, items, idempotency_key="k2"))  # type: ignore[union-attr]
    with pytest.raises(Conflict):
        world.save(world.me, draft("Do not ship it"), idempotency_key="k1")
    assert world.embedder.asked == []


@pytest.mark.requirement("REST-03")
def test_an_idempotency_key_with_another_request_is_a_conflict(world: MemoryWorld) -> None:
    world.save(world.me, draft("Ship it"), idempotency_key="k1")
    with pytest.raises(Conflict) as caught:
        world.save(world.me, draft("Do not ship it"), idempotency_key="k1")
    assert caught.value.reason is Reason.IDEMPOTENCY_MISMATCH


def test_an_idempotency_key_of_another_tenant_means_nothing(world: MemoryWorld) -> None:
    other = world.namespace("other")
    mine = world.save(world.me, draft("Ship it"), idempotency_key="k1")
    theirs = world.save(other, draft("Something else"), idempotency_key="k1")
    assert (theirs.replayed, theirs.id == mine.id) == (False, False)


@pytest.mark.requirement("SAVE-09")
def test_a_secret_is_blanked_and_the_answer_says_so(world: MemoryWorld) -> None:
    result = world.say("The key is AKIA" + "IOSFODNN7EXAMPLQ and it works")
    assert result.redacted
    assert "AKIAIOSFODNN7" not in world.get(world.me, result.id).statement.content


@pytest.mark.requirement("FAULT-08")
def test_content_of_32_kib_is_kept_whole_and_one_byte_more_is_too_large(world: MemoryWorld) -> None:
    text = ("word " * CONTENT_BYTES_MAX)[: CONTENT_BYTES_MAX - 1] + "x"
    result = world.say(text)
    assert world.get(world.me, result.id).statement.content == text
    with pytest.raises(InvalidArgument) as caught:
        world.say(text + "y")
    assert caught.value.reason is Reason.TOO_LARGE


@pytest.mark.parametrize("content", ["", "   ", "\n\t"])
def test_empty_content_is_refused(world: MemoryWorld, content: str) -> None:
    with pytest.raises(InvalidArgument):
        world.say(content)
    assert active(world) == 0


@pytest.mark.requirement("FAULT-06")
def test_a_nul_byte_and_a_lone_surrogate_never_reach_the_store(world: MemoryWorld) -> None:
    result = world.say("before\x00after \ud800 end")
    kept = world.get(world.me, result.id).statement.content
    assert "\x00" not in kept
    kept.encode("utf-8")


@pytest.mark.requirement("FAULT-07")
def test_nfd_and_nfc_are_one_text(world: MemoryWorld) -> None:
    first = world.say("Cafe\u0301 is closed")
    assert world.say("Caf\u00e9 is closed").id == first.id


@pytest.mark.requirement("SAVE-12")
def test_a_checkpoint_is_a_fact_with_its_parts_and_its_confidence(world: MemoryWorld) -> None:
    result = world.checkpoint(
        world.me,
        Checkpoint(
            task_summary="Fixed the flaky login test",
            problem="The test raced the session cookie",
            solution="Wait for the cookie before the click",
            files=("tests/login.py",),
            concepts=("race condition",),
            project="web",
        ),
    )
    kept = world.get(world.me, result.id)
    assert (kept.provenance, kept.confidence) == (Provenance.CHECKPOINT, 0.65)
    assert kept.statement.tags[:2] == ("checkpoint", "task-completion")
    assert kept.statement.problem == "The test raced the session cookie"


def test_a_reader_may_not_save_and_an_unknown_namespace_is_not_found(world: MemoryWorld) -> None:
    with pytest.raises(PermissionDenied) as caught:
        world.save(caller(actor="abc", scopes=frozenset({"read"})), draft("No"))
    assert caught.value.reason is Reason.SCOPE_MISSING
    with pytest.raises(NotFound):
        world.save(caller("nowhere"), draft("No"))


@pytest.mark.requirement("SAVE-11")
def test_a_batch_answers_each_item_and_one_bad_item_spoils_none(world: MemoryWorld) -> None:
    items = [draft("First of all"), draft(""), draft("Second to none"), draft("first of all")]
    outcomes = world.save_many(world.me, items)
    assert [getattr(item, "outcome", None) for item in outcomes] == [
        Outcome.CREATED,
        None,
        Outcome.CREATED,
        Outcome.UNCHANGED,
    ]
    assert active(world) == 2


@pytest.mark.requirement("SAVE-11")
def test_a_batch_of_500_is_taken_and_one_of_501_or_none_is_refused(world: MemoryWorld) -> None:
    rng = np.random.default_rng(7)
    items = [draft(f"Item {n} " + " ".join(f"w{w}" for w in rng.integers(0, 5000, 12))) for n in range(500)]
    outcomes = world.save_many(world.me, items, idempotency_key="batch")
    assert {item.outcome for item in outcomes} == {Outcome.CREATED}  # type: ignore[union-attr]
    again = world.save_many(world.me, items, idempotency_key="batch")
    assert [item.id for item in again] == [item.id for item in outcomes]  # type: ignore[union-attr]
    assert all(item.replayed for item in again)  # type: ignore[union-attr]
    for bad in ([*items, items[0]], []):
        with pytest.raises(InvalidArgument):
            world.save_many(world.me, bad)


def test_confidence_importance_and_expiry_are_kept(world: MemoryWorld) -> None:
    world.clock.advance(days=1)
    result = world.save(world.me, draft("Likes tea", confidence=0.9, importance=0.8, provenance=Provenance.HUMAN))
    kept = world.get(world.me, result.id)
    assert (kept.confidence, kept.importance, kept.tier) == (0.9, 0.8, Tier.CORE)


def test_list_shows_what_the_filter_lets_through(world: MemoryWorld) -> None:
    for number in range(5):
        world.clock.advance(minutes=1)
        world.say(f"Note number {number} about {['ducks', 'geese', 'swans', 'cranes', 'herons'][number]}", project="p")
    first = world.list(world.me, Filter(projects=("p",)), limit=3)
    rest = world.list(world.me, Filter(projects=("p",)), limit=3, after=first.next)
    assert [len(first.memories), len(rest.memories), rest.next] == [3, 2, None]
