"""Procedures, used questions, the private model and its ledger. SQLite only: why, in test_experience.py."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.learning import Adapter, ItemKind, UsedQuery
from perdure.domain.experience.run import SkillRunId
from perdure.domain.experience.skill import SkillId
from perdure.domain.memory import LinkKind, MemoryId, Status
from perdure.errors import Conflict, InvalidArgument, Reason
from perdure.ports import ExperienceStore, ProcedureVector
from perdure.store import open_experience_store
from support.store_samples import ACTOR, DIMENSION, HERE, SPACE, SetClock, memory, new_id, vector
from support.stored_experience import START, adaptation, adapter, episode, of_episode, of_skill, picture, run, skill

OTHER_SPACE = "test-000000000002"
GENERATIONS = 10


@pytest.fixture
def store(tmp_path: Path, clock: SetClock) -> Iterator[ExperienceStore]:
    opened = open_experience_store(f"sqlite:///{tmp_path / 'store.db'}", clock=clock)
    yield opened
    opened.close()


def _learn(store: ExperienceStore, number: int, *items: tuple[ItemKind, str, str], space: str = SPACE) -> None:
    ids = tuple(id_ for _, id_, _ in items)
    with store.experience(HERE, ACTOR) as unit:
        unit.learn(adapter(number, space=space), adaptation(number, ids, space=space), items)


def _learned_in(store: ExperienceStore, space: str | None = SPACE) -> dict[str, int | None]:
    with store.experience_view(HERE) as reader:
        return {one.id: one.learned_in for one in reader.procedures(space)}


def _same(one: Adapter | None, other: Adapter) -> bool:
    assert one is not None
    assert one.down.dtype == one.up.dtype == np.dtype("<f4")
    return (
        (one.version, one.number, one.space) == (other.version, other.number, other.space)
        and np.array_equal(one.down, other.down)
        and np.array_equal(one.up, other.up)
    )


# ------------------------------------------------------------------------------------------------ procedures


def test_a_compiled_skill_takes_the_place_of_its_episode_until_it_is_forgotten(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_episode(episode("e1"), of_episode("e1"))
        unit.put_episode(episode("e2"), of_episode("e2"))
        unit.put_skill(skill(), of_skill())
        assert unit.procedures() == (of_skill("k1"), of_episode("e2"))
        unit.put_skill(skill(version=2), of_skill(text="Another text."))
        assert unit.procedures()[0] == of_skill("k1", "Another text.")
        unit.forget_skill(SkillId("k1"))
        assert unit.procedures() == (of_episode("e1"), of_episode("e2"))
        unit.forget_episode(EpisodeId("e1"))
        assert unit.procedures() == (of_episode("e2"),)


def _chunks(id_: str, count: int, *, seed: int = 0, kind: ItemKind = ItemKind.SKILL) -> list[ProcedureVector]:
    sha256 = (of_skill(id_) if kind is ItemKind.SKILL else of_episode(id_)).sha256
    return [ProcedureVector(kind=kind, id=id_, chunk=n, sha256=sha256, vector=vector(seed + n)) for n in range(count)]


def _same_vectors(found: tuple[ProcedureVector, ...], expected: list[ProcedureVector]) -> bool:
    def facts(one: ProcedureVector) -> tuple[object, ...]:
        return one.kind, one.id, one.chunk, one.sha256

    assert all(np.allclose(one.vector, other.vector, atol=1e-6) for one, other in zip(found, expected, strict=True))
    return list(map(facts, found)) == list(map(facts, expected))


def test_vectors_of_a_procedure_are_replaced_whole_and_go_with_its_text(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill("k1", source=None), of_skill("k1"))
        unit.put_skill(skill("k2", source=None), of_skill("k2"))
        unit.set_procedure_vectors(SPACE, [*_chunks("k1", 3), *_chunks("k2", 1)])
        unit.set_procedure_vectors(OTHER_SPACE, _chunks("k1", 1, seed=9))
        assert _same_vectors(unit.procedure_vectors(SPACE), [*_chunks("k1", 3), *_chunks("k2", 1)])
        unit.set_procedure_vectors(SPACE, _chunks("k1", 2, seed=5))
        assert _same_vectors(unit.procedure_vectors(SPACE), [*_chunks("k1", 2, seed=5), *_chunks("k2", 1)])
        assert _same_vectors(unit.procedure_vectors(OTHER_SPACE), _chunks("k1", 1, seed=9))
        unit.put_skill(skill("k1", source=None, version=2), of_skill("k1"))
        assert len(unit.procedure_vectors(SPACE)) == 3
        unit.put_skill(skill("k1", source=None, version=3), of_skill("k1", "Another text."))
        assert _same_vectors(unit.procedure_vectors(SPACE), _chunks("k2", 1))
        assert unit.procedure_vectors(OTHER_SPACE) == ()
        unit.forget_skill(SkillId("k2"))
        assert unit.procedure_vectors(SPACE) == ()


def test_vectors_of_a_text_that_changed_or_went_meanwhile_are_not_stored(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill("k1", source=None), of_skill("k1", "Newer than the vector."))
        unit.set_procedure_vectors(SPACE, [*_chunks("k1", 1), *_chunks("gone", 1)])
        assert unit.procedure_vectors(SPACE) == ()


def test_vectors_of_an_episode_are_not_told_while_a_skill_stands_for_it(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_episode(episode(), of_episode())
        unit.set_procedure_vectors(SPACE, _chunks("e1", 2, kind=ItemKind.EPISODE))
        assert len(unit.procedure_vectors(SPACE)) == 2
        unit.put_skill(skill(), of_skill())
        assert unit.procedure_vectors(SPACE) == ()
        unit.forget_skill(SkillId("k1"))
        assert len(unit.procedure_vectors(SPACE)) == 2


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_refused(store: ExperienceStore, value: float) -> None:
    bad = np.full(DIMENSION, value, dtype=np.float32)
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill("k1", source=None), of_skill("k1"))
        for act in (
            lambda: unit.set_procedure_vectors(SPACE, [replace(_chunks("k1", 1)[0], vector=bad)]),
            lambda: unit.note_queries([UsedQuery(vector=bad, space=SPACE, memory=new_id(), at=START)], keep=9),
            lambda: unit.learn(replace(adapter(1), up=np.full((16, 2), value, dtype=np.float32)), adaptation(1), []),
            lambda: unit.learn(replace(adapter(1), up=adapter(1).down), adaptation(1), []),
        ):
            with pytest.raises(InvalidArgument) as caught:
                act()
            assert caught.value.reason is Reason.VECTOR_INVALID


# -------------------------------------------------------------------------------------- what questions teach


def _asked(memory_id: MemoryId, seed: int, *, space: str = SPACE) -> UsedQuery:
    return UsedQuery(vector=vector(seed), space=space, memory=memory_id, at=START + timedelta(seconds=seed))


def _seeds(store: ExperienceStore, space: str = SPACE, limit: int = 99) -> list[int]:
    with store.experience_view(HERE) as reader:
        return [int((one.at - START).total_seconds()) for one in reader.used_queries(space, limit)]


def test_used_questions_come_newest_first_and_the_newest_are_kept(store: ExperienceStore) -> None:
    one, two = memory("One."), memory("Two.")
    with store.experience(HERE, ACTOR) as unit:
        for each in (one, two):
            unit.add(each, vector=None, space=None)
        unit.note_queries([_asked(one.id, 1), _asked(two.id, 3), _asked(one.id, 2), _asked(new_id(), 4)], keep=9)
        found = unit.used_queries(SPACE, 9)
        assert [query.memory for query in found] == [two.id, one.id, one.id]
        assert np.allclose(found[0].vector, vector(3), atol=1e-6)
    assert _seeds(store) == [3, 2, 1]
    assert _seeds(store, limit=2) == [3, 2]
    assert _seeds(store, OTHER_SPACE) == []
    with store.experience(HERE, ACTOR) as unit:
        unit.note_queries([_asked(one.id, 5), _asked(one.id, 4, space=OTHER_SPACE)], keep=3)
    assert _seeds(store) == [5, 3]
    assert _seeds(store, OTHER_SPACE) == [4]


def test_a_purged_memory_takes_the_questions_that_found_it_along(store: ExperienceStore) -> None:
    one, two = memory("One."), memory("Two.")
    with store.experience(HERE, ACTOR) as unit:
        for each in (one, two):
            unit.add(each, vector=None, space=None)
        unit.note_queries([_asked(one.id, 1), _asked(two.id, 2)], keep=9)
        unit.purge(two.id)
    assert _seeds(store) == [1]
    assert store.check().findings == ()


def test_superseded_memories_with_a_vector_are_told_newest_first(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        pairs = []
        for n in range(4):
            newer = memory(f"New {n}.", created_at=START + timedelta(days=n))
            older = memory(f"Old {n}.", status=Status.SUPERSEDED)
            unit.add(newer, vector=vector(n), space=SPACE)
            unit.add(older, vector=None if n == 1 else vector(n), space=None if n == 1 else SPACE)
            unit.link(LinkKind.SUPERSEDES if n != 2 else LinkKind.RELATED, newer.id, older.id)
            pairs.append((newer.id, older.id))
        assert unit.superseded_of(SPACE, 9) == (pairs[3], pairs[0])
        assert unit.superseded_of(SPACE, 1) == (pairs[3],)
        assert unit.superseded_of(OTHER_SPACE, 9) == ()
        unit.purge(pairs[3][1])
        assert unit.superseded_of(SPACE, 9) == (pairs[0],)


# ------------------------------------------------------------------------------------------------- the model


def test_the_model_in_use_is_the_last_that_was_learned(store: ExperienceStore) -> None:
    with store.experience_view(HERE) as reader:
        assert (reader.adapter(SPACE), reader.adapter_number(SPACE), reader.adaptations()) == (None, 0, ())
    _learn(store, 1)
    _learn(store, 2)
    with store.experience_view(HERE) as reader:
        assert _same(reader.adapter(SPACE), adapter(2))
        assert reader.adapter_number(SPACE) == 2
        assert reader.adaptations() == (adaptation(1), adaptation(2))
        assert (reader.adapter(OTHER_SPACE), reader.adapter_number(OTHER_SPACE)) == (None, 0)


@pytest.mark.parametrize("number", [1, 3])
def test_a_model_that_is_not_the_next_is_a_conflict(store: ExperienceStore, number: int) -> None:
    _learn(store, 1)
    with pytest.raises(Conflict) as caught:
        _learn(store, number)
    assert caught.value.reason is Reason.REVISION_MOVED


@pytest.mark.requirement("EXP-STORE-04")
def test_a_rollback_makes_exactly_the_later_items_pending_and_the_number_is_used_again(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        for id_ in ("k1", "k2", "k3"):
            unit.put_skill(skill(id_, source=None), of_skill(id_))
    first, second, third = ((ItemKind.SKILL, id_, of_skill(id_).sha256) for id_ in ("k1", "k2", "k3"))
    _learn(store, 1, first)
    _learn(store, 2, first, second)
    assert _learned_in(store) == {"k1": 1, "k2": 2, "k3": None}
    with store.experience(HERE, ACTOR) as unit:
        assert unit.rollback_model(SPACE) == 1
    assert _learned_in(store) == {"k1": 1, "k2": None, "k3": None}
    with store.experience_view(HERE) as reader:
        assert _same(reader.adapter(SPACE), adapter(1))
        assert reader.adaptations() == (adaptation(1, ("k1",)),)
    _learn(store, 2, third)
    assert _learned_in(store) == {"k1": 1, "k2": None, "k3": 2}
    with store.experience(HERE, ACTOR) as unit:
        assert unit.rollback_model(SPACE) == 1
        assert unit.rollback_model(SPACE) == 0
        assert unit.rollback_model(SPACE) is None
        assert unit.adapter(SPACE) is None
        assert unit.adaptations() == ()
    assert set(_learned_in(store).values()) == {None}


def test_what_was_learned_is_the_text_so_a_changed_one_is_pending_until_it_is_as_before(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(source=None), of_skill())
    _learn(store, 1, (ItemKind.SKILL, "k1", of_skill().sha256))
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(source=None, version=2), of_skill(text="Another text."))
    assert _learned_in(store) == {"k1": None}
    _learn(store, 2, (ItemKind.SKILL, "k1", of_skill(text="Another text.").sha256))
    assert _learned_in(store) == {"k1": 2}
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(source=None, version=3), of_skill())
    assert _learned_in(store) == {"k1": 1}


def test_what_is_forgotten_is_dropped_from_the_ledger(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_episode(episode(), of_episode())
    _learn(store, 1, (ItemKind.EPISODE, "e1", of_episode().sha256))
    with store.experience(HERE, ACTOR) as unit:
        unit.forget_episode(EpisodeId("e1"))
        unit.put_episode(episode(), of_episode())
    assert _learned_in(store) == {"e1": None}


def test_each_space_has_a_model_and_a_ledger_of_its_own(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(source=None), of_skill())
        unit.add(memory(), vector=vector(1), space=SPACE)
    _learn(store, 1, (ItemKind.SKILL, "k1", of_skill().sha256), space=OTHER_SPACE)
    assert _learned_in(store, None) == _learned_in(store, SPACE) == {"k1": None}
    assert _learned_in(store, OTHER_SPACE) == {"k1": 1}
    _learn(store, 1)
    with store.experience(HERE, ACTOR) as unit:
        assert unit.adaptations() == (adaptation(1),)
        assert unit.adaptations(OTHER_SPACE) == (adaptation(1, ("k1",), space=OTHER_SPACE),)
        assert unit.rollback_model(SPACE) == 0
        assert unit.adapter_number(OTHER_SPACE) == 1


def test_before_any_memory_has_a_vector_the_last_training_says_which_space_is_meant(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(source=None), of_skill())
    _learn(store, 1, (ItemKind.SKILL, "k1", of_skill().sha256))
    assert _learned_in(store, None) == {"k1": 1}
    with store.experience_view(HERE) as reader:
        assert reader.adaptations() == (adaptation(1, ("k1",)),)


def test_ten_generations_and_200_trainings_are_kept(store: ExperienceStore) -> None:
    for number in range(1, 204):
        _learn(store, number)
    with store.experience_view(HERE) as reader:
        assert [one.number for one in reader.adaptations()] == list(range(4, 204))
    with store.experience(HERE, ACTOR) as unit:
        back = [unit.rollback_model(SPACE) for _ in range(GENERATIONS + 1)]
        assert back == [*range(202, 203 - GENERATIONS, -1), None, None]
        assert _same(unit.adapter(SPACE), adapter(203 - GENERATIONS + 1))


def test_a_training_that_fails_while_it_is_written_leaves_the_old_model(store: ExperienceStore) -> None:
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(source=None), of_skill())
    _learn(store, 1)
    with pytest.raises(RuntimeError), store.experience(HERE, ACTOR) as unit:
        unit.learn(adapter(2), adaptation(2, ("k1",)), [(ItemKind.SKILL, "k1", of_skill().sha256)])
        raise RuntimeError
    with store.experience_view(HERE) as reader:
        assert _same(reader.adapter(SPACE), adapter(1))
        assert reader.adaptations() == (adaptation(1),)
    assert _learned_in(store) == {"k1": None}


def test_a_model_of_a_number_used_again_is_told_from_the_one_that_was_rolled_back(store: ExperienceStore) -> None:
    stamps: list[str] = []
    with store.experience(HERE, ACTOR) as unit:
        assert unit.adapter_stamp(SPACE) == ""
        for act in (
            lambda: unit.learn(adapter(1), adaptation(1), []),
            lambda: unit.learn(adapter(2), adaptation(2), []),
            lambda: unit.rollback_model(SPACE),
            lambda: unit.learn(adapter(2), adaptation(2), []),
            lambda: unit.rollback_model(SPACE),
            lambda: unit.rollback_model(SPACE),
        ):
            act()
            stamps.append(unit.adapter_stamp(SPACE))
    assert stamps[0] == stamps[2] == stamps[4] != ""
    assert len({stamps[0], stamps[1], stamps[3]}) == 3
    assert stamps[5] == ""


def test_whatever_changes_the_procedures_or_their_vectors_changes_the_stamp(store: ExperienceStore) -> None:
    stamps: list[str] = []
    with store.experience(HERE, ACTOR) as unit:
        for act in (
            lambda: None,
            lambda: unit.put_episode(episode(), of_episode()),
            lambda: unit.put_episode(episode(), of_episode(text="Same time, another text.")),
            lambda: unit.put_skill(skill(), of_skill()),
            lambda: unit.set_procedure_vectors(SPACE, _chunks("k1", 1)),
            lambda: unit.set_procedure_vectors(SPACE, _chunks("k1", 1, seed=4)),
            lambda: unit.learn(adapter(1), adaptation(1), [(ItemKind.SKILL, "k1", of_skill().sha256)]),
            lambda: unit.rollback_model(SPACE),
            lambda: unit.forget_skill(SkillId("k1")),
            lambda: unit.forget_episode(EpisodeId("e1")),
            lambda: unit.forget_experience(),
        ):
            act()
            stamps.append(unit.shelf_stamp(SPACE))
    assert len(set(stamps)) == len(stamps)
    with store.experience(HERE, ACTOR) as unit:
        unit.put_run(run())
        unit.record_usage([])
        assert unit.shelf_stamp(SPACE) == stamps[-1]


def test_a_stamp_that_was_undone_is_never_given_again(store: ExperienceStore) -> None:
    with pytest.raises(RuntimeError), store.experience(HERE, ACTOR) as unit:
        unit.put_episode(episode(), of_episode(text="Undone."))
        undone = unit.shelf_stamp(SPACE)
        raise RuntimeError
    with store.experience(HERE, ACTOR) as unit:
        assert unit.shelf_stamp(SPACE) == ""
        unit.put_episode(episode(), of_episode())
        assert unit.shelf_stamp(SPACE) != undone


@pytest.mark.requirement("EXP-STORE-08")
def test_forgetting_all_experience_leaves_memories_and_model(store: ExperienceStore) -> None:
    kept = memory()
    with store.experience(HERE, ACTOR) as unit:
        unit.add(kept, vector=vector(1), space=SPACE)
        unit.put_episode(episode("e1"), of_episode("e1"))
        unit.put_episode(episode("e2"), of_episode("e2"))
        unit.put_skill(skill(), of_skill())
        unit.put_run(run())
        for id_, name in (("e1", "a"), ("e1", "b"), ("e2", "c")):
            unit.put_screenshot(EpisodeId(id_), picture(name, name.encode()))
        unit.set_procedure_vectors(SPACE, _chunks("k1", 2))
        unit.note_queries([_asked(kept.id, 1)], keep=9)
    _learn(store, 1, (ItemKind.SKILL, "k1", of_skill().sha256))
    with store.experience(HERE, ACTOR) as unit:
        assert [one.name for one in unit.forget_experience()] == ["a", "b", "c"]
        assert unit.forget_experience() == ()
    with store.experience_view(HERE) as reader:
        assert reader.episodes(after="", limit=9).episodes == ()
        assert reader.skills(after="", limit=9).skills == ()
        assert reader.skill_run(SkillRunId("r1")) is None
        assert reader.procedures() == ()
        assert reader.procedure_vectors(SPACE) == ()
        assert reader.get(kept.id) is not None
        assert _same(reader.adapter(SPACE), adapter(1))
        assert reader.adaptations() == (adaptation(1, ("k1",)),)
    assert _seeds(store) == [1]
    assert store.check().findings == ()
    with store.experience(HERE, ACTOR) as unit:
        unit.put_skill(skill(), of_skill())
    assert _learned_in(store) == {"k1": None}


def test_switching_the_space_forgets_vectors_of_the_others_and_keeps_their_models(store: ExperienceStore) -> None:
    one = memory()
    with store.experience(HERE, ACTOR) as unit:
        unit.add(one, vector=vector(1), space=SPACE)
        unit.set_vector(one.id, vector(2), OTHER_SPACE)
        unit.put_skill(skill(source=None), of_skill())
        for space in (SPACE, OTHER_SPACE):
            unit.set_procedure_vectors(space, _chunks("k1", 1))
            unit.note_queries([_asked(one.id, 1, space=space)], keep=9)
    _learn(store, 1)
    with store.work() as work:
        work.switch_space(OTHER_SPACE)
    with store.experience_view(HERE) as reader:
        assert reader.procedure_vectors(SPACE) == ()
        assert len(reader.procedure_vectors(OTHER_SPACE)) == 1
        assert reader.adapter_number(SPACE) == 1
        assert reader.adaptations() == ()
    assert (_seeds(store), _seeds(store, OTHER_SPACE)) == ([], [1])


# -------------------------------------------------------------------------------------- ledger and rollback


class Ledger:
    """What the store should say: every version with what it was the first to learn, oldest first."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.versions: list[set[tuple[str, str]]] = []

    def learned_in(self) -> dict[str, int | None]:
        return {
            id_: next((n for n, learned in enumerate(self.versions, 1) if (id_, text) in learned), None)
            for id_, text in self.texts.items()
        }


@given(seed=st.integers(0, 2**32 - 1))
@pytest.mark.requirement("EXP-STORE-04")
def test_whatever_is_learned_changed_forgotten_and_rolled_back_the_ledger_tells_the_truth(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    rng = random.Random(seed)
    ledger = Ledger()
    versions: dict[str, int] = {}
    opened = open_experience_store(f"sqlite:///{tmp_path_factory.mktemp('ledger') / 'store.db'}")
    try:
        for _ in range(15):
            id_ = f"k{rng.randrange(4)}"
            with opened.experience(HERE, ACTOR) as unit:
                match rng.choice(("put", "put", "learn", "learn", "rollback", "forget")):
                    case "put":
                        text = f"Text {rng.randrange(3)} of {id_}."
                        versions[id_] = versions.get(id_, 0) + 1
                        unit.put_skill(skill(id_, source=None, version=versions[id_]), of_skill(id_, text))
                        ledger.texts[id_] = text
                    case "learn" if len(ledger.versions) < GENERATIONS:
                        number = len(ledger.versions) + 1
                        items = rng.sample(sorted(ledger.texts), k=rng.randint(0, len(ledger.texts)))
                        unit.learn(
                            adapter(number),
                            adaptation(number, tuple(items)),
                            [(ItemKind.SKILL, one, of_skill(one, ledger.texts[one]).sha256) for one in items],
                        )
                        ledger.versions.append({(one, ledger.texts[one]) for one in items})
                    case "rollback":
                        expected = len(ledger.versions) - 1 if ledger.versions else None
                        assert unit.rollback_model(SPACE) == expected
                        ledger.versions = ledger.versions[:-1]
                    case "forget":
                        assert unit.forget_skill(SkillId(id_)) == (id_ in ledger.texts)
                        ledger.texts.pop(id_, None)
                        versions.pop(id_, None)
                        for learned in ledger.versions:
                            learned -= {pair for pair in learned if pair[0] == id_}
            with opened.experience_view(HERE) as reader:
                assert {one.id: one.learned_in for one in reader.procedures(SPACE)} == ledger.learned_in()
                assert reader.adapter_number(SPACE) == len(ledger.versions)
                assert len(reader.adaptations(SPACE)) == len(ledger.versions)
        assert opened.check().findings == ()
    finally:
        opened.close()
