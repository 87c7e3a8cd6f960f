"""What a search finds, in which order, and what it says about itself."""

from __future__ import annotations

from datetime import timedelta

import pytest

from perdure.domain.memory import Filter, MemoryType, Provenance, Status
from perdure.domain.recall.answer import Arm, DenseSkip
from perdure.domain.saving import Edit
from perdure.errors import InvalidArgument, NotFound
from support.memory_world import MemoryWorld, draft

BIRDS = ("heron", "crane", "stork", "ibis", "egret")


@pytest.mark.requirement("STORE-02", "PAST-03")
def test_twenty_archived_neighbours_do_not_hide_the_one_active_answer(world: MemoryWorld) -> None:
    topic = "quarterly invoice export to the finance bucket"
    for number in range(20):
        kept = world.say(f"{topic} draft {number} by person{number} with remark{number} and aside{number}")
        if kept.id:
            world.archive(world.me, kept.id)
    world.say(f"{topic} is done by the ledger job")
    assert world.found(topic, limit=5) == [f"{topic} is done by the ledger job"]


def test_a_project_filter_acts_inside_the_arms(world: MemoryWorld) -> None:
    for number in range(60):
        world.say(f"zebra {BIRDS[number % 5]} alpha{number} beta{number} gamma{number}", project="crowd")
    world.say("zebra in the small project", project="small")
    assert world.found("zebra", filter=Filter(projects=("small",))) == ["zebra in the small project"]
    assert world.found("zebra", project="small", depth=1) == ["zebra in the small project"]


@pytest.mark.requirement("SEARCH-03")
def test_popularity_never_lifts_an_unrelated_memory_over_an_exact_match(world: MemoryWorld) -> None:
    exact = "Rotate the signing certificate with the vault command"
    for number in range(4):
        popular = world.say(f"Lunch menu {number}: soup{number} bread{number} apple{number} the the")
        for _ in range(500):
            world.get(world.me, popular.id)
    world.say(exact)
    world.flush()
    world.clock.advance(days=20)
    assert world.found(exact)[0] == exact


@pytest.mark.requirement("SAVE-15", "PAST-02")
def test_an_edited_memory_is_found_under_its_new_words_and_not_under_its_old_ones(world: MemoryWorld) -> None:
    kept = world.say("The walrus sits on the harbour wall")
    world.update(world.me, kept.id, Edit(content="A pelican sleeps near the lighthouse"))
    assert world.found("pelican lighthouse") == ["A pelican sleeps near the lighthouse"]
    assert world.found("walrus harbour") == []


@pytest.mark.requirement("SEARCH-04")
def test_nothing_relevant_is_an_honest_no_match(world: MemoryWorld) -> None:
    world.say("The walrus sits on the harbour wall")
    answer = world.ask("quantum chromodynamics lattice")
    assert (answer.recognition, answer.recall) == ((), ())
    assert answer.dense_ran
    assert answer.lexical_ran


@pytest.mark.requirement("SEARCH-11", "PAST-11")
def test_an_expired_memory_is_never_returned(world: MemoryWorld) -> None:
    soon = world.clock.now() + timedelta(hours=1)
    world.say("The freeze lasts until noon", expires_at=soon)
    assert len(world.found("freeze noon")) == 1
    world.clock.advance(hours=1)
    assert world.found("freeze noon", depth=3) == []
    assert world.list(world.me, Filter(), limit=10).memories == ()
    assert world.sync(world.me).recent == ()


@pytest.mark.requirement("SEARCH-06")
def test_a_project_search_widens_at_depth_two_and_says_so(world: MemoryWorld) -> None:
    world.say("The cache uses redis streams", project="api")
    world.say("The queue uses redis lists", project="jobs")
    answer = world.ask("redis", project="api")
    assert [hit.memory.statement.project for hit in answer.recognition] == ["api"]
    assert {hit.memory.statement.project: hit.widened for hit in answer.recall} == {"api": False, "jobs": True}
    own = {hit.memory.id: hit.parts.relevance for hit in answer.recall}
    assert all(hit.parts.relevance == own[hit.memory.id] for hit in answer.recognition)


def test_a_project_without_an_answer_still_gets_the_other_projects(world: MemoryWorld) -> None:
    world.say("The queue uses redis lists", project="jobs")
    answer = world.ask("redis lists", project="empty")
    assert answer.recognition == ()
    assert [(hit.memory.statement.project, hit.widened) for hit in answer.recall] == [("jobs", True)]


@pytest.mark.requirement("SEARCH-06")
def test_strict_project_never_widens(world: MemoryWorld) -> None:
    world.say("The queue uses redis lists", project="jobs")
    assert world.ask("redis lists", project="empty", strict_project=True, depth=3).recall == ()


@pytest.mark.requirement("SEARCH-01")
def test_associations_are_neighbours_not_shown_yet_and_never_refresh_decay(world: MemoryWorld) -> None:
    world.say("otter river bank den fish")
    neighbour = world.say("river bank den fish beaver dam")
    answer = world.ask("otter", depth=3, limit=1)
    assert answer.stage == 3
    assert [hit.memory.id for hit in answer.associations] == [neighbour.id]
    assert answer.associations[0].arm is Arm.ASSOCIATION
    world.clock.advance(days=1)
    world.ask("otter", depth=3, limit=1)
    world.flush()
    kept = world.get(world.me, neighbour.id, peek=True)
    assert (kept.access_count, kept.last_accessed_at) == (0, kept.created_at)
    assert kept.shown_count == 2


def test_what_is_not_near_is_no_association(world: MemoryWorld) -> None:
    world.say("otter river bank den fish")
    world.say("tabs are four spaces wide in every file")
    assert world.ask("otter", depth=3).associations == ()


def test_before_the_first_vector_no_association_is_sought(world: MemoryWorld) -> None:
    world.embedder.away = True
    world.say("otter river bank den fish")
    answer = world.ask("otter", depth=3)
    assert (answer.stage, len(answer.recall), answer.associations) == (2, 1, ())


@pytest.mark.requirement("SEARCH-08")
def test_full_delivery_moves_access_and_a_summary_moves_shown_only(world: MemoryWorld) -> None:
    kept = world.say("The mill grinds rye")
    world.clock.advance(days=3)
    world.ask("rye mill", depth=1)
    world.ask("rye mill", shown_only=True)
    world.flush()
    seen = world.get(world.me, kept.id, peek=True)
    assert (seen.access_count, seen.shown_count, seen.last_accessed_at) == (0, 2, seen.created_at)
    world.ask("rye mill")
    world.get(world.me, kept.id)
    world.flush()
    seen = world.get(world.me, kept.id, peek=True)
    assert (seen.access_count, seen.shown_count, seen.last_accessed_at) == (2, 2, world.clock.now())
    assert (seen.updated_at, seen.revision) == (seen.created_at, 1)


@pytest.mark.parametrize("switch", ["away", "loading", "late"])
@pytest.mark.requirement("SEARCH-05")
def test_a_fall_back_to_words_is_never_silent(world: MemoryWorld, switch: str) -> None:
    world.say("The mill grinds rye")
    setattr(world.embedder, switch, True)
    answer = world.ask("rye")
    assert [hit.arm for hit in answer.recall] == [Arm.LEXICAL]
    assert (answer.dense_ran, answer.dense_skipped) == (False, DenseSkip.EMBEDDER_AWAY)


@pytest.mark.requirement("EMB-12", "PAST-06")
def test_a_changed_space_is_never_mixed_with_the_old(world: MemoryWorld) -> None:
    world.say("The mill grinds rye")
    world.embedder.model = "other"
    answer = world.ask("rye")
    assert (answer.dense_ran, answer.dense_skipped) == (False, DenseSkip.SPACE_CHANGED)
    assert len(answer.recall) == 1
    assert world.sync(world.me).embedder == "space_changed"


def test_before_the_first_vector_the_answer_says_so(world: MemoryWorld) -> None:
    world.embedder.away = True
    world.say("The mill grinds rye")
    answer = world.ask("rye")
    assert (answer.dense_skipped, answer.unembedded) == (DenseSkip.NO_VECTORS, 1)


@pytest.mark.requirement("SEARCH-12")
def test_what_only_words_found_still_has_its_true_cosine(world: MemoryWorld) -> None:
    world.say("The mill grinds rye")
    hit = world.ask("rye").recall[0]
    assert hit.parts.similarity is not None
    assert hit.parts.lexical_rank == 1
    assert hit.score == pytest.approx(hit.parts.score)


@pytest.mark.requirement("ACCESS-07")
def test_another_tenants_memory_is_found_by_no_search_and_no_id(world: MemoryWorld) -> None:
    other = world.namespace("other")
    canary = world.say("canary swordfish password", who=other)
    assert world.found("canary swordfish", depth=3) == []
    for act in (world.get, world.archive, world.restore, world.purge, world.history):
        with pytest.raises(NotFound):
            act(world.me, canary.id)
    assert world.stats(world.me)[0].total == 0


@pytest.mark.requirement("SEARCH-07")
def test_filters_by_type_tag_concept_file_time_and_status(world: MemoryWorld) -> None:
    begin = world.clock.now()
    first = world.say("apple one", type="decision", tags=("Red",), concepts=("fruit",), files=("a.py",))
    world.clock.advance(hours=1)
    second = world.say("apple two")
    world.archive(world.me, second.id)
    noon = world.clock.now()

    def ids(**conditions: object) -> list[str]:
        return [hit.memory.id for hit in world.ask("apple", filter=Filter(**conditions)).recall]  # type: ignore[arg-type]

    assert ids(types=(MemoryType.DECISION,)) == [first.id]
    assert ids(types=(MemoryType.TASK,)) == []
    assert ids(tags=("red",)) == [first.id]
    assert ids(concepts=("fruit",), files=("a.py",)) == [first.id]
    assert ids(created_from=begin, created_to=noon) == [first.id]
    assert ids(statuses=(Status.ARCHIVED,)) == [second.id]
    assert ids(tags=("green",)) == []


@pytest.mark.parametrize("query", ["", "   ", "\n", "\x00"])
def test_an_empty_query_is_refused(world: MemoryWorld, query: str) -> None:
    with pytest.raises(InvalidArgument):
        world.ask(query)


@pytest.mark.parametrize(("field", "value"), [("depth", 0), ("depth", 4), ("limit", 0), ("limit", 51)])
def test_a_depth_or_limit_out_of_range_is_refused(world: MemoryWorld, field: str, value: int) -> None:
    with pytest.raises(InvalidArgument):
        world.ask("anything", **{field: value})


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("数据库使用连接池", "池"),
        ("数据库使用连接池", "连接"),
        ("東京タワーは赤い", "東京"),
        ("서울은 수도이다", "서울"),
        ("База данных работает на сервере", "сервере"),
        ("Le café est fermé", "cafe"),
        ("Le cafe est ferme", "café"),
        ("Deploy 🚀 on Friday", "deploy friday"),
        ("שלום עולם", "שלום"),
        ("call getUserById first", "getUserById"),
        ("call getUserById first", "user id"),
        ("it fails with ERR_CONN_RESET", "ERR_CONN_RESET"),
        ("see src/auth.ts for it", "auth.ts"),
        ("Cafe\u0301 noir", "Caf\u00e9"),
    ],
)
@pytest.mark.parametrize("away", [False, True])
@pytest.mark.requirement("FAULT-05", "PAST-12")
def test_words_of_every_script_are_found(world: MemoryWorld, content: str, query: str, away: bool) -> None:
    world.say("Something else entirely about gardening tools")
    world.say(content)
    world.embedder.away = away
    assert len(world.found(query)) == 1


@pytest.mark.requirement("FAULT-06")
def test_a_query_with_nul_and_a_lone_surrogate_is_answered(world: MemoryWorld) -> None:
    world.say("The mill grinds rye")
    assert len(world.found("rye\x00 \ud800 mill")) == 1


def test_a_human_confirmed_memory_outranks_a_like_one(world: MemoryWorld) -> None:
    world.say("The port of the gateway is open alpha beta")
    world.save(world.me, draft("The port of the gateway is open gamma delta", provenance=Provenance.HUMAN))
    assert world.found("port gateway open")[0].endswith("gamma delta")


def test_a_briefing_counts_projects_and_shows_the_latest(world: MemoryWorld) -> None:
    world.say("The cache uses redis streams", project="api")
    world.clock.advance(minutes=1)
    world.say("The queue uses kafka topics", project="jobs")
    briefing = world.sync(world.me)
    assert (briefing.active, dict(briefing.projects), briefing.embedder) == (2, {"api": 1, "jobs": 1}, "ready")
    assert briefing.recent[0].statement.project == "jobs"
    assert [m.statement.project for m in world.sync(world.me, project="api").recent] == ["api"]
