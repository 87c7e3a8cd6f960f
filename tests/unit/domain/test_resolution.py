"""What a save turns out to be."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from perdure.domain.editing import born
from perdure.domain.memory import Memory, MemoryId, MemoryType, Statement, Status
from perdure.domain.namespace import Actor, NamespaceName
from perdure.domain.resolution import (
    Create,
    Merge,
    Replace,
    Supersede,
    Unchanged,
    Verdict,
    compare,
    decide,
    text_sha256,
    unite,
)
from perdure.domain.saving import Draft
from perdure.domain.vectors import Thresholds

NOW = datetime(2026, 3, 12, 9, tzinfo=UTC)
THRESHOLDS = Thresholds(twin=0.92, cluster=0.8, interference=0.95, floor=0.25)


def stored(statement: Statement, name: str = "m1") -> Memory:
    return born(
        Draft(statement=statement),
        id=MemoryId(name),
        namespace=NamespaceName("default"),
        now=NOW,
        actor=Actor(name="local"),
    )


OLD = stored(Statement(content="We use Postgres 14 for orders.", tags=("db",)))


def test_the_hash_ignores_case_width_and_spaces_and_sees_problem_solution_and_key() -> None:
    base = text_sha256(Statement(content="We use  ＡＰＩ keys", problem="p"))
    assert base == text_sha256(Statement(content="we USE api\nkeys", problem="P", tags=("t",)))
    assert len(base) == 64
    others = (
        Statement(content="We use API keys"),
        Statement(content="We use API keys", solution="p"),
        Statement(content="We use API keys", problem="p", key="k"),
    )
    assert base not in {text_sha256(other) for other in others}


def test_the_same_text_is_unchanged() -> None:
    draft = Draft(statement=Statement(content="we use postgres 14  for orders."))
    assert decide(draft, same_text=OLD, same_key=None, twins=(), thresholds=None) == Unchanged(OLD)


def test_the_same_text_with_something_to_add_is_merged_and_drops_nothing() -> None:
    draft = Draft(statement=Statement(content=OLD.statement.content, key="db", tags=("sql",), files=("a.py",)))
    decision = decide(draft, same_text=OLD, same_key=None, twins=(), thresholds=None)
    assert decision == Merge(OLD, replace(OLD.statement, key="db", tags=("sql", "db"), files=("a.py",)))


def test_the_same_key_replaces() -> None:
    keyed = stored(Statement(content="blue", key="colour"))
    draft = Draft(statement=Statement(content="green", key="colour"))
    assert decide(draft, same_text=None, same_key=keyed, twins=((OLD, 1.0),), thresholds=THRESHOLDS) == Replace(keyed)


def test_the_same_text_under_another_key_is_another_memory() -> None:
    keyed = stored(Statement(content="UTC", key="clock-a"))
    draft = Draft(statement=Statement(content="UTC", key="clock-b"))
    assert decide(draft, same_text=keyed, same_key=None, twins=((keyed, 1.0),), thresholds=THRESHOLDS) == Create()


@pytest.mark.requirement("SAVE-05")
def test_a_changed_value_supersedes() -> None:
    draft = Draft(statement=Statement(content="We use Postgres 16 for orders."))
    decision = decide(draft, same_text=None, same_key=None, twins=((OLD, 0.97),), thresholds=THRESHOLDS)
    assert decision == Supersede(OLD)


@pytest.mark.requirement("SAVE-04")
def test_the_same_statement_with_a_detail_is_merged_into_the_fuller_text() -> None:
    draft = Draft(statement=Statement(content="We use Postgres 14 for orders, with PgBouncer in front."))
    decision = decide(draft, same_text=None, same_key=None, twins=((OLD, 0.95),), thresholds=THRESHOLDS)
    assert decision == Merge(OLD, replace(OLD.statement, content=draft.statement.content))


@pytest.mark.requirement("SAVE-06")
def test_doubt_creates_and_links() -> None:
    draft = Draft(statement=Statement(content="They use Postgres for invoices too."))
    decision = decide(draft, same_text=None, same_key=None, twins=((OLD, 0.95),), thresholds=THRESHOLDS)
    assert decision == Create((OLD.id,))


@pytest.mark.parametrize("similarity", [0.92, 0.0, -1.0, float("nan"), float("inf")])
def test_what_is_not_near_enough_or_has_no_meaningful_vector_is_no_twin(similarity: float) -> None:
    twins = ((OLD, similarity),)
    assert decide(OLD.statement, same_text=None, same_key=None, twins=twins, thresholds=THRESHOLDS) == Create()


@pytest.mark.parametrize(
    "other",
    [
        stored(replace(OLD.statement, project="other")),
        stored(replace(OLD.statement, type=MemoryType.TASK)),
        replace(OLD, status=Status.ARCHIVED),
    ],
)
@pytest.mark.requirement("SAVE-07")
def test_nothing_is_merged_across_projects_types_or_states(other: Memory) -> None:
    assert (
        decide(OLD.statement, same_text=None, same_key=None, twins=((other, 1.0),), thresholds=THRESHOLDS) == Create()
    )


def test_only_a_save_to_its_key_takes_a_memory_away_from_it() -> None:
    keyed = stored(replace(OLD.statement, key="db"))
    draft = Draft(statement=Statement(content="We use Postgres 16 for orders."))
    decision = decide(draft, same_text=None, same_key=None, twins=((keyed, 0.97),), thresholds=THRESHOLDS)
    assert decision == Create((keyed.id,))


def test_the_same_is_preferred_to_a_change() -> None:
    exact = stored(Statement(content="We use Postgres 16 for orders, in Frankfurt."), "m2")
    draft = Draft(statement=Statement(content="We use Postgres 16 for orders."))
    twins = ((OLD, 0.99), (exact, 0.93))
    assert decide(draft, same_text=None, same_key=None, twins=twins, thresholds=THRESHOLDS) == Unchanged(exact)


def test_united_lists_keep_what_fits_the_newer_first() -> None:
    old = stored(Statement(content="c", tags=tuple(f"old{index}" for index in range(60))))
    united = unite(old, Statement(content="c", tags=tuple(f"new{index}" for index in range(10))))
    assert len(united.tags) == 64
    assert united.tags[:11] == (*(f"new{index}" for index in range(10)), "old0")


def test_united_texts_are_the_fuller_ones() -> None:
    old = stored(Statement(content="c", problem="short", solution="kept"))
    united = unite(old, Statement(content="c d", problem="a longer problem"))
    assert (united.content, united.problem, united.solution) == ("c d", "a longer problem", "kept")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Room 4 has a projector.", "Room 5 has a projector."),
        ("Issue 12 is fixed.", "Issue 13 is fixed."),
        ("Server 1 is in Tokyo.", "Server 2 is in Tokyo."),
        ("We support Chrome.", "We support Firefox."),
        ("The staging database runs on Postgres.", "The production database runs on Postgres."),
        ("Deployed v2.3 on Friday.", "Deployed v2.4 on Friday."),
        ("We met Anna on 12 March.", "We met Anna on 19 March."),
        ("The team works with Anna.", "The team works with Tom."),
    ],
)
@pytest.mark.requirement("SAVE-06")
def test_two_statements_that_can_both_hold_do_not_supersede_each_other(old: str, new: str) -> None:
    assert compare(Statement(content=old), Statement(content=new)) is Verdict.UNSURE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Bob reports to Anna.", "Anna reports to Bob."),
        ("Migrate from Postgres to MySQL.", "Migrate from MySQL to Postgres."),
        ("Use tabs, not spaces.", "Use spaces, not tabs."),
        ("The limit is 10.", "The limit is 10 million."),
        ("Deploys are allowed.", "Deploys are allowed only on Fridays."),
        ("x <= 5", "x >= 5"),
        ("Price is $100", "Price is €100"),
        ("It is -5 degrees in the room.", "It is 5 degrees in the room."),
        ("use getUserById", "use getUserByName"),
        ("src/auth.ts handles login", "src/authz.ts handles login"),
        ("✅ cache", "❌ cache"),
        ("El límite es de 5 segundos.", "El límite es de 30 segundos."),
        ("Порт сервера 8080", "Порт сервера 9090"),
        ("서버 포트는 8080입니다", "서버 포트는 9090입니다"),
        ("", "x"),
    ],
)
def test_a_difference_that_matters_is_never_the_same(old: str, new: str) -> None:
    assert compare(Statement(content=old), Statement(content=new)) is not Verdict.SAME
    assert compare(Statement(content=new), Statement(content=old)) is not Verdict.SAME


def test_what_is_no_longer_mentioned_may_no_longer_hold() -> None:
    both, one = Statement(content="We use Redis and Kafka."), Statement(content="We use Redis.")
    assert compare(both, one) is Verdict.UNSURE
    assert compare(one, both) is Verdict.SAME


def test_another_solution_is_not_the_same_statement() -> None:
    old = Statement(content="Login loops", solution="Set SameSite to None")
    assert compare(old, replace(old, solution="Clear the cookie")) is Verdict.UNSURE
    assert compare(old, replace(old, solution=None, problem="cookies")) is Verdict.SAME


def test_long_texts_are_compared_word_for_word_only() -> None:
    old = Statement(content="The gateway number 5 uses Redis. " * 900)
    assert compare(old, Statement(content="The gateway number 6 uses Kafka now. " * 850)) is Verdict.UNSURE
    assert compare(old, replace(old, content=old.content.upper())) is Verdict.SAME


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The verbose flag is -v", "the verbose flag is -V"),
        ("The socket lies in /run/App/main.sock", "The socket lies in /run/app/main.sock"),
        ("Call getuser() first", "Call getUser() first"),
    ],
)
def test_a_word_of_code_said_in_another_case_is_a_correction_and_not_lost(old: str, new: str) -> None:
    said = stored(Statement(content=old))
    found = decide(Statement(content=new), same_text=said, same_key=None, twins=(), thresholds=None)
    assert isinstance(found, Merge)
    assert found.statement.content == new
    assert compare(Statement(content=old + "."), Statement(content=new)) is Verdict.UNSURE


@pytest.mark.parametrize(
    ("before", "again"), [("I prefer tabs", "i prefer TABS"), ("The code is on GitHub", "the code is on github")]
)
def test_a_plain_word_in_another_case_is_the_same_word(before: str, again: str) -> None:
    said = stored(Statement(content=before))
    found = decide(Statement(content=again), same_text=said, same_key=None, twins=(), thresholds=None)
    assert isinstance(found, Unchanged)
