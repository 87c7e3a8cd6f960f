"""Training a namespace's private model: what it learns, when it is kept, what search does with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from perdure.domain.adapter.residual import corrected
from perdure.domain.adapter.schooling import Verdict, school
from perdure.domain.experience.learning import TrainingStatus
from perdure.domain.experience.run import RunStatus
from perdure.domain.memory import MemoryId
from perdure.domain.recall.answer import Question
from perdure.errors import FailedPrecondition, NotFound, PermissionDenied, Reason
from perdure.maintenance.wiring import _lifecycle
from perdure.ports import JobKind, JobState
from perdure.settings import Settings
from perdure.usecases import train
from support.fake_embedder import vector_of
from support.memory_world import caller
from support.training_world import TrainingWorld, training_world

COLOURS = [f"Note{number} says that the gate{number} is painted colour{number}." for number in range(40)]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[TrainingWorld]:
    with training_world(tmp_path / "store.db") as made:
        yield made


@pytest.fixture
def taught(world: TrainingWorld) -> TrainingWorld:
    """Twelve skills among forty memories."""
    world.teach_many(12)
    world.remember(COLOURS)
    return world


@pytest.mark.requirement("I5-M3")
def test_a_training_makes_a_version_and_then_there_is_nothing_new(taught: TrainingWorld) -> None:
    first = taught.train()
    assert first.status is TrainingStatus.TRAINED
    assert first.version == f"{taught.space}+exp1"
    assert set(first.learned) == {f"skill{number}" for number in range(12)}
    assert first.adaptation is not None
    assert first.adaptation.pairs > 12
    assert taught.train().status is TrainingStatus.NOTHING_NEW
    taught.teach_many(1, first=12)
    second = taught.train()
    assert (second.version, second.previous, second.learned) == (
        f"{taught.space}+exp2",
        f"{taught.space}+exp1",
        ("skill12",),
    )


def test_a_dry_run_counts_and_starts_nothing(taught: TrainingWorld) -> None:
    report = taught.start(taught.me, dry_run=True)
    assert (report.status, report.pending, report.job) == (TrainingStatus.DRY_RUN, 12, "")
    with taught.store.work() as unit:
        assert not unit.jobs(JobKind.TRAIN, 10)


@pytest.mark.requirement("I5-M3")
def test_going_back_makes_exactly_the_later_items_pending_again(taught: TrainingWorld) -> None:
    taught.train()
    taught.teach_many(2, first=12)
    taught.train()
    assert taught.rollback(taught.me) == 1
    assert taught.start(taught.me, dry_run=True).pending == 2
    again = taught.train()
    assert again.version == f"{taught.space}+exp2"
    assert set(again.learned) == {"skill12", "skill13"}


def test_without_a_version_there_is_nothing_to_go_back_from(taught: TrainingWorld) -> None:
    with pytest.raises(NotFound) as caught:
        taught.rollback(taught.me)
    assert caught.value.reason is Reason.MODEL_MISSING


@pytest.mark.requirement("I5-M4")
def test_search_asks_through_the_model_and_says_so(taught: TrainingWorld) -> None:
    assert taught.search("gate3 colour3").model is None
    report = taught.train()
    answer = taught.search("gate3 colour3")
    assert answer.model == report.version
    said = vector_of("gate3 colour3")
    with taught.store.experience_view(taught.me.scope) as reader:
        model = reader.adapter(taught.space)
    assert model is not None
    heard = corrected(model, said)
    hit = answer.recall[0]
    assert hit.parts.similarity == pytest.approx(float(heard @ vector_of(hit.memory.statement.content)), abs=1e-5)
    taught.rollback(taught.me)
    assert taught.search("gate3 colour3").model is None


@pytest.mark.requirement("I5-M4")
def test_a_version_trained_anew_after_going_back_is_the_one_that_is_used(taught: TrainingWorld) -> None:
    taught.train()
    first = taught.search("gate3 colour3").recall[0].parts.similarity
    taught.rollback(taught.me)
    taught.teach_many(30, first=20)
    taught.train()
    # no search in between: the number is the same again, the model is not
    answer = taught.search("gate3 colour3")
    assert answer.model == f"{taught.space}+exp1"
    assert answer.recall[0].parts.similarity != first


@pytest.mark.requirement("I5-M4")
def test_the_model_can_be_switched_off(tmp_path: Path) -> None:
    with training_world(tmp_path / "store.db", models=False) as world:
        world.teach_many(6)
        world.remember(COLOURS)
        assert world.train().status is TrainingStatus.TRAINED
        assert world.search("gate3 colour3").model is None


@pytest.mark.requirement("I5-M4")
def test_the_probe_of_compaction_asks_through_the_model(taught: TrainingWorld, tmp_path: Path) -> None:
    version = taught.train().version
    settings = Settings(home=tmp_path)  # type: ignore[call-arg]  # every field has a default
    verbs = _lifecycle(settings, taught.store, taught.embedder, taught.clock, taught.pool)
    assert verbs.compact._ask(taught.me, Question(query="gate3 colour3")).model == version
    without = _lifecycle(
        settings.model_copy(update={"private_model": False}),
        taught.store,
        taught.embedder,
        taught.clock,
        taught.pool,
    )
    assert without.compact._ask(taught.me, Question(query="gate3 colour3")).model is None


def test_another_namespaces_model_is_never_used(taught: TrainingWorld) -> None:
    taught.train()
    with taught.store.access() as unit:
        unit.create_namespace(caller("other").namespace, taught.clock.now())
    with taught.store.experience_view(caller("other").scope) as reader:
        assert reader.adapter_stamp(taught.space) == ""


@pytest.mark.requirement("I5-M2")
def test_where_the_new_model_is_worse_the_old_one_stays_and_the_answer_says_so(
    taught: TrainingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = taught.train().version
    taught.teach_many(1, first=12)

    def worse(*args: object, **kwargs: object) -> Verdict | None:
        verdict = school(*args, **kwargs)  # type: ignore[arg-type]
        assert verdict is not None
        return Verdict(False, verdict.fitted, 1.0, verdict.pairs, 0.9, 0.8, 1.0, 1.0)

    monkeypatch.setattr(train, "school", worse)
    report = taught.train()
    assert report.status is TrainingStatus.KEPT_OLD
    assert "0.900 to 0.800" in report.message
    assert report.version == version
    assert taught.search("gate3").model == version
    assert taught.start(taught.me, dry_run=True).pending == 1


@pytest.mark.requirement("I5-M5")
def test_curation_leaves_out_what_mostly_fails_and_near_copies_with_reasons(taught: TrainingWorld) -> None:
    taught.ended("skill3", RunStatus.FAILED, 3)
    taught.ended("skill3", RunStatus.SUCCEEDED, 1)
    taught.ended("skill4", RunStatus.SUCCEEDED, 3)
    taught.clock.advance(minutes=1)
    copied = [f"Click “Open{number}” in “Window{number}”." for number in range(8)]
    taught.teach("long", "Open eight windows", *copied)
    taught.clock.advance(minutes=1)
    taught.teach("longer", "Open eight windows", *copied, "Close all.")
    report = taught.train(curate=True)
    assert {(one.id, one.reason, one.like) for one in report.left_out} == {
        ("skill3", "mostly_fails", None),
        ("longer", "near_copy", "long"),
    }
    assert report.status is TrainingStatus.TRAINED
    assert not {"skill3", "longer"} & set(report.learned)
    assert report.pending == 2
    # looked at again next time: the skill's runs go well by now
    taught.ended("skill3", RunStatus.SUCCEEDED, 9)
    again = taught.train(curate=True)
    assert again.learned == ("skill3",)
    assert [one.id for one in again.left_out] == ["longer"]
    assert "longer" in taught.train().learned


def test_a_text_longer_than_the_window_is_embedded_in_chunks(world: TrainingWorld) -> None:
    sentences = [f"Click “Button{number}” in “Panel{number % 7}”." for number in range(120)]
    world.teach("long", "Press many buttons", *sentences)
    world.remember(COLOURS)
    world.tick()
    world.work()
    with world.store.experience_view(world.me.scope) as reader:
        vectors = reader.procedure_vectors(world.space)
    assert len(vectors) > 3
    said = "\n".join(text for text in world.embedder.asked if text.startswith("Task: Press many"))
    assert all(sentence in said for sentence in sentences)


@pytest.mark.requirement("I5-M6")
def test_a_memory_that_is_read_after_a_search_found_it_is_a_used_question(world: TrainingWorld) -> None:
    ids = world.remember(COLOURS)
    world.search("gate7 colour7")
    world.get(world.me, ids[7])
    world.get(world.me, ids[7])
    world.get(world.me, ids[30])
    assert world.flush() == 1
    used = world.used()
    assert [one.memory for one in used] == [ids[7]]
    assert float(used[0].vector @ vector_of("gate7 colour7")) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.requirement("I5-M6")
def test_no_question_is_kept_as_text(world: TrainingWorld, tmp_path: Path) -> None:
    ids = world.remember(COLOURS)
    world.search("gate7 zanzibarine")
    world.get(world.me, ids[7])
    world.flush()
    world.store.close()
    assert not any(b"zanzibarine" in path.read_bytes() for path in tmp_path.iterdir())


def test_a_peek_another_actor_or_a_late_read_is_no_use(world: TrainingWorld) -> None:
    ids = world.remember(COLOURS)
    world.search("gate7 colour7")
    world.get(world.me, ids[7], peek=True)
    world.get(caller(actor="somebody"), ids[7])
    world.clock.advance(minutes=31)
    world.get(world.me, ids[7])
    assert world.flush() == 0


def test_used_questions_alone_are_learned_from(world: TrainingWorld) -> None:
    ids = world.remember(COLOURS)
    for number in range(30):
        world.search(f"which colour has gate{number}")
        world.get(world.me, MemoryId(ids[number]))
    world.flush()
    report = world.train()
    assert report.status in (TrainingStatus.TRAINED, TrainingStatus.KEPT_OLD)
    assert report.learned == ()


@pytest.mark.requirement("I5-M3")
def test_one_training_at_a_time_a_namespace(taught: TrainingWorld) -> None:
    first = taught.start(taught.me)
    assert first.status is TrainingStatus.QUEUED
    assert taught.start(taught.me).job == first.job
    with pytest.raises(FailedPrecondition) as caught:
        taught.start(taught.me, curate=True)
    assert caught.value.reason is Reason.TRAINING_RUNNING


@pytest.mark.requirement("I5-M7")
def test_a_worker_that_dies_leaves_the_old_model_and_another_trains_anew(taught: TrainingWorld) -> None:
    version = taught.train().version
    taught.teach_many(3, first=12)
    job = taught.start(taught.me).job
    now = taught.clock.now()
    with taught.store.work() as unit:
        # taken, and then killed: nothing of it is heard again
        assert unit.take_job(job, "dead", now, now.replace(microsecond=1)) is not None
    assert taught.search("gate3").model == version
    taught.clock.advance(minutes=1)
    taught.work()
    assert taught.start.report(taught.me, job).version == f"{taught.space}+exp2"


def test_a_training_waits_for_an_embedder_that_is_away(taught: TrainingWorld) -> None:
    job = taught.start(taught.me).job
    taught.embedder.away = True
    assert taught.work() == []
    with taught.store.work() as unit:
        stored = unit.job(job)
    assert stored is not None
    assert stored.state is JobState.QUEUED
    taught.embedder.away = False
    taught.clock.advance(minutes=1)
    assert [one.state for one in taught.work()] == [JobState.SUCCEEDED]


def test_a_training_that_is_cancelled_says_so(taught: TrainingWorld) -> None:
    job = taught.start(taught.me).job
    with taught.store.work() as unit:
        unit.request_cancel(job)
    assert taught.start.report(taught.me, job).status is TrainingStatus.CANCELLED


def test_training_needs_the_scope_and_another_namespaces_training_is_not_there(taught: TrainingWorld) -> None:
    with pytest.raises(PermissionDenied):
        taught.start(caller(scopes=frozenset({"read", "write"})))
    job = taught.start(taught.me).job
    with taught.store.access() as unit:
        unit.create_namespace(caller("other").namespace, taught.clock.now())
    with pytest.raises(NotFound) as caught:
        taught.start.report(caller("other"), job)
    assert caught.value.reason is Reason.JOB_NOT_FOUND


@pytest.mark.requirement("I5-M8")
def test_a_procedure_is_found_by_words_at_once_and_by_meaning_once_embedded(taught: TrainingWorld) -> None:
    found = taught.search("send thing5", procedures=True).procedures
    assert found[0].id == "skill5"
    assert found[0].similarity is None
    taught.tick()
    taught.work()
    found = taught.search("send thing5", procedures=True).procedures
    assert found[0].id == "skill5"
    assert found[0].similarity is not None
    taught.teach("skill5", "Paint gate5 anew", "Fetch the brush99.")
    assert taught.search("brush99", procedures=True).procedures[0].name == "Paint gate5 anew"


@pytest.mark.requirement("I5-M8")
def test_procedures_are_found_only_where_asked_for_and_allowed(taught: TrainingWorld) -> None:
    assert not taught.search("send thing5").procedures
    reader = caller(scopes=frozenset({"read"}))
    assert not taught.ask(reader, Question(query="send thing5", procedures=True)).procedures


def test_memories_are_found_as_before_beside_procedures(taught: TrainingWorld) -> None:
    plain = taught.search("gate7 colour7")
    beside = taught.search("gate7 colour7", procedures=True)
    assert [hit.memory.id for hit in plain.recall] == [hit.memory.id for hit in beside.recall]
