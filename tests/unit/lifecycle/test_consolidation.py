"""Sentences, merged texts and groups."""

from __future__ import annotations

import numpy as np
import pytest

from perdure.domain.consolidation import grouping, merging
from perdure.domain.consolidation import plan as planning
from perdure.domain.consolidation.sentences import pieces, said
from perdure.domain.memory import CONTENT_BYTES_MAX, Memory, Provenance
from perdure.domain.retention import life_of
from support.aged import THRESHOLDS, aged, near
from support.clocks import BEGIN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use Postgres 16.2. It runs on db1.", ["We use Postgres 16.2. ", "It runs on db1."]),
        (
            "See https://a.example/v1.2/x.html for it. Then go.",
            ["See https://a.example/v1.2/x.html for it. ", "Then go."],
        ),
        ("Edit src/app.py, e.g. the top. Done!", ["Edit src/app.py, e.g. the top. ", "Done!"]),
        ("Am 3. Mai geht es los. Danach nicht mehr.", ["Am 3. Mai geht es los. ", "Danach nicht mehr."]),
        ("部署使用蓝绿发布。数据库在东京。", ["部署使用蓝绿发布。", "数据库在东京。"]),
        ("デプロイは金曜日です。「はい。」と言った。", ["デプロイは金曜日です。", "「はい。」", "と言った。"]),
        ("J. Smith owns it. Ask him.", ["J. Smith owns it. ", "Ask him."]),
        ("1. build\n2. test\n", ["1. build\n", "2. test\n"]),
        ("Run this:\n```\na. B\n\nc\n```\nThen rest.", ["Run this:\n", "```\na. B\n\nc\n```\n", "Then rest."]),
    ],
)
def test_texts_are_parted_where_sentences_end(text: str, expected: list[str]) -> None:
    assert list(pieces(text)) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We deploy on Fridays.", "we deploy on Fridays"),
        ("The API listens on port 80.", "- API listens on port 80"),
        ("Don't push to main.", "Do not push to main!"),
        ("2026-01-02: Deploys take long.", "deploys take long"),
    ],
)
def test_case_marks_articles_and_days_make_no_other_statement(one: str, other: str) -> None:
    assert said(one) == said(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Postgres 14 runs on db1.", "Postgres 16 runs on db1."),
        ("Deploy on Fridays.", "Do not deploy on Fridays."),
        ("Anna reports to Bob.", "Bob reports to Anna."),
        ("The API listens on 80.", "The staging API listens on 80."),
        ("Set userId first.", "Set userid first."),
        ("Plan A is live.", "Plan is live."),
        ("Read .env first.", "Read env first."),
    ],
)
def test_numbers_negation_order_and_names_make_another_statement(one: str, other: str) -> None:
    assert said(one) != said(other)


@pytest.mark.requirement("LIFE-04")
def test_a_merged_text_says_each_sentence_once_oldest_first_with_its_day() -> None:
    members = [
        aged("The cache is Redis 7 on port 6379. Eviction is off.", idle_days=120),
        aged("The cache is Redis 7 on port 6379. Backups run at night.", idle_days=110),
        aged("the cache is Redis 7 on port 6379", idle_days=105),
    ]
    assert merging.merged(members[::-1]).content == (
        "2025-11-01: The cache is Redis 7 on port 6379. Eviction is off.\n2025-11-11: Backups run at night."
    )


def test_steps_of_a_list_stay_where_they_belong() -> None:
    deploy, rollback = "Deploy:\n- stop it\n- start it", "Rollback:\n- stop it\n- revert"
    content = merging.merged([aged(deploy, idle_days=2), aged(rollback, idle_days=1)]).content
    assert deploy in content
    assert rollback in content


@pytest.mark.requirement("LIFE-04")
def test_problems_and_solutions_keep_their_pairs_and_no_list_item_is_lost() -> None:
    members = [
        aged("a", idle_days=3, problem="p1", solution="s1", files=("x.py",), tags=("one",), concepts=("c",)),
        aged("b", idle_days=2, problem="p2", files=("y.py", "x.py")),
        aged("c", idle_days=1, problem="p1", solution="s1", tags=("two",)),
    ]
    statement = merging.merged(members)
    assert statement.problem == "(1) p1\n(2) p2"
    assert statement.solution == "(1) s1"
    assert (statement.files, statement.tags, statement.concepts) == (("x.py", "y.py"), ("one", "two"), ("c",))


def test_what_does_not_fit_one_memory_goes_into_several() -> None:
    members = [aged(f"Entry {n}. " + f"word{n} " * 1500, idle_days=200 - n) for n in range(9)]
    runs = merging.portions(members)
    assert len(runs) > 1
    assert [memory.id for run in runs for memory in run] == [memory.id for memory in members]
    assert all(len(merging.merged(run).content.encode()) <= CONTENT_BYTES_MAX for run in runs)


def _plan(memories: list[Memory], vectors: np.ndarray, **options: int) -> list[planning.Group]:
    order = sorted(range(len(memories)), key=lambda row: memories[row].created_at)
    lives = [life_of(memories[row]) for row in order]
    rows = {memories[row].id: vectors[row] for row in order}
    found: list[planning.Group] = []
    for part in planning.parts(lives, vectors[order], THRESHOLDS, BEGIN, **options):
        found.extend(planning.groups([memories[order[row]] for row in part], rows))
    return found


def test_three_aged_memories_about_one_thing_become_one() -> None:
    memories = [aged(f"Fact {n} about caching.", idle_days=110 + n) for n in range(3)]
    (group,) = _plan(memories, near(3))
    assert {memory.id for memory in group.members} == {memory.id for memory in memories}
    assert all(f"Fact {n} about caching." in group.statement.content for n in range(3))
    assert np.linalg.norm(group.vector) == pytest.approx(1.0, abs=1e-5)


def test_two_are_too_few() -> None:
    assert _plan([aged(f"Fact {n}.", idle_days=110) for n in range(2)], near(2)) == []


def test_fresh_core_and_confirmed_memories_are_left_out_of_a_group() -> None:
    memories = [aged(f"Fact {n}.", idle_days=110) for n in range(3)]
    memories += [aged("Fresh.", idle_days=5), aged("Core.", idle_days=999, provenance=Provenance.HUMAN)]
    memories += [aged("Used up.", idle_days=110, confidence=0.9)]
    (group,) = _plan(memories, near(6))
    assert {memory.id for memory in group.members} == {memory.id for memory in memories[:3]}


def test_topics_stay_apart() -> None:
    memories = [aged(f"Fact {n}.", idle_days=110 + n) for n in range(12)]
    vectors = np.concatenate([near(4, topic=topic) for topic in range(3)])
    found = {frozenset(memory.statement.content for memory in group.members) for group in _plan(memories, vectors)}
    assert found == {frozenset(f"Fact {n}." for n in range(start, start + 4)) for start in (0, 4, 8)}


def test_a_large_group_becomes_several_of_like_size() -> None:
    memories = [aged(f"Fact number {n}.", idle_days=200 - n / 10) for n in range(50)]
    sizes = sorted(len(group.members) for group in _plan(memories, near(50), members_max=20))
    assert sizes == [16, 17, 17]


def test_a_memory_without_direction_is_like_nothing() -> None:
    vectors = near(4)
    vectors[3] = 0.0
    memories = [aged(f"Fact {n}.", idle_days=110) for n in range(4)]
    (group,) = _plan(memories, vectors)
    assert memories[3].id not in {memory.id for memory in group.members}


def test_what_was_consolidated_starts_a_new_life_below_core() -> None:
    memories = [aged(f"Fact {n}.", idle_days=400, confidence=0.8, access_count=2) for n in range(3)]
    (group,) = _plan(memories, near(3))
    memory = planning.born(group, id=memories[0].id, namespace=memories[0].namespace, now=BEGIN, actor="consolidate")
    assert (memory.access_count, memory.confidence, memory.last_accessed_at) == (6, 0.8, BEGIN)
    assert memory.provenance is Provenance.CONSOLIDATION


def test_the_sketch_finds_every_close_pair_of_a_large_set() -> None:
    random = np.random.default_rng(3)
    base = random.standard_normal((5000, 160)).astype(np.float32)
    base[4000:4500] = base[:500] + 0.1 * random.standard_normal((500, 160)).astype(np.float32)
    base /= np.linalg.norm(base, axis=1, keepdims=True)
    exact = {(int(a), int(b)) for a, b in zip(*np.nonzero(np.triu(base @ base.T, 1) > 0.9), strict=True)}
    found = {
        (int(a), int(b)) for left, right, _ in grouping.close_pairs(base, 0.9) for a, b in zip(left, right, strict=True)
    }
    assert found == exact
    assert len(exact) >= 500
