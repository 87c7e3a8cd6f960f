"""What a training learns from a procedure's text, and what curation leaves out."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.domain.experience.curriculum import (
    CHUNK_TOKENS,
    PROCEDURES_MAX,
    _tokens,
    askings,
    chosen,
    chunks,
    curated,
    questions_each,
)
from perdure.domain.experience.finding import Shelf
from perdure.domain.experience.learning import ItemKind, Procedure
from perdure.domain.experience.run import RunStatus
from perdure.domain.recall.lexical import query_terms

AT = datetime(2026, 3, 1, tzinfo=UTC)
INVOICE = (
    "Task: Send an invoice (ledger.exe)\n"
    "1. Click “New” in “Invoices”.\n"
    "2. Set “Amount” to <amount> in “Invoices”.\n"
    "3. Click “Send” in “Invoices”. Ask before doing this."
)


def procedure(text: str, id_: str = "k1", *, name: str = "", learned_in: int | None = None, age: int = 0) -> Procedure:
    return Procedure(
        kind=ItemKind.SKILL,
        id=id_,
        name=name,
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        updated_at=AT - timedelta(days=age),
        learned_in=learned_in,
    )


def test_a_short_text_is_one_chunk() -> None:
    assert chunks(INVOICE) == (INVOICE,)


@pytest.mark.requirement("I5-M9")
def test_each_chunk_begins_with_the_task_and_fits_the_window() -> None:
    text = "Task: Press (p.exe)\n" + "\n".join(f"{n}. Click “Button {n}” in “Panel”." for n in range(200))
    pieces = chunks(text)
    assert len(pieces) > 2
    assert all(piece.startswith("Task: Press (p.exe)\n") for piece in pieces)
    assert all(_tokens(piece) <= CHUNK_TOKENS + 4 for piece in pieces)
    assert "\n".join(line for piece in pieces for line in piece.split("\n")[1:]) == text.partition("\n")[2]


@pytest.mark.requirement("I5-M9")
@given(
    head=st.text("abc äß東 ", max_size=900),
    lines=st.lists(st.text("abcdef 東京都x", min_size=1, max_size=1500), max_size=8),
)
def test_no_character_of_a_text_is_left_out(head: str, lines: list[str]) -> None:
    text = "\n".join((head, *lines))
    pieces = chunks(text)
    said = "".join("".join(piece.split()) for piece in pieces)
    for char in set("".join(text.split())):
        assert said.count(char) >= text.count(char)


def test_a_task_asks_by_its_name_before_its_sentences() -> None:
    asked = askings(procedure(INVOICE, name="Send an invoice"), 8)
    assert [one.text for one in asked] == [
        "Send an invoice",
        "How do I send an invoice?",
        "Send an invoice (ledger)",
        "Click “New” in “Invoices”.",
        "Set “Amount” to <amount> in “Invoices”.",
        "Click “Send” in “Invoices”.",
    ]
    assert {one.weight for one in asked[:3]} == {1.0}
    assert all(one.weight < 1 and one.chunk == 0 for one in asked[3:])
    assert [one.text for one in askings(procedure(INVOICE), 1)] == ["Send an invoice"]


def test_a_name_in_another_script_is_asked_for_as_it_is() -> None:
    asked = askings(procedure("Task: 请求付款 (pay.exe)\n1. Click “支付”.", name="请求付款"), 8)
    assert [one.text for one in asked] == ["请求付款", "请求付款 (pay)", "Click “支付”."]


def test_many_procedures_ask_fewer_questions_each() -> None:
    assert questions_each(1) == 8
    assert questions_each(500) * 500 <= 600
    assert questions_each(10_000) == 1


def test_pending_procedures_come_first_and_then_the_newest_learned() -> None:
    known = [procedure(f"t{n}", f"k{n}", learned_in=1 + n % 2, age=n) for n in range(PROCEDURES_MAX + 5)]
    new = procedure("new", "new")
    taught = chosen([*known, new], ())
    assert taught[0] is new
    assert len(taught) == PROCEDURES_MAX
    assert taught[1].learned_in == 2


@pytest.mark.parametrize(
    ("runs", "out"),
    [
        ([(RunStatus.FAILED, 2)], False),
        ([(RunStatus.FAILED, 2), (RunStatus.SUCCEEDED, 1)], True),
        ([(RunStatus.FAILED, 2), (RunStatus.SUCCEEDED, 2)], False),
        ([(RunStatus.DENIED, 9)], False),
        ([(RunStatus.FAILED, 3), (RunStatus.STOPPED, 4)], False),
    ],
)
@pytest.mark.requirement("I5-M5")
def test_a_skill_whose_runs_mostly_failed_is_left_out(runs: list[tuple[RunStatus, int]], out: bool) -> None:
    tally = [("k1", 1, status, count, 0.0) for status, count in runs]
    left = curated([procedure(INVOICE)], tally)
    assert [one.reason for one in left] == (["mostly_fails"] if out else [])


def test_steps_in_another_program_are_no_near_copy() -> None:
    other = INVOICE.replace("Invoices", "Reminders").replace("an invoice", "a reminder")
    assert curated([procedure(INVOICE), procedure(other, "k2")], ()) == ()


def test_a_new_version_is_no_copy_of_what_it_was() -> None:
    before = procedure(INVOICE, learned_in=1)
    assert curated([before, procedure(INVOICE + "\n4. Close.", "k1")], ()) == ()


def test_words_find_a_procedure_by_stems_phrases_and_cjk() -> None:
    shelf = Shelf(
        [procedure(INVOICE, "k1"), procedure("Task: 请求付款\n1. Click “支付”.", "k2"), procedure("Task: Ship", "k3")],
        {},
    )

    def best(query: str) -> list[str]:
        return [hit.id for hit in shelf.words(query_terms(query)).hits]

    assert best("sending invoices") == ["skill:k1"]
    assert best("请求付款") == ["skill:k2"]
    assert best("付") == ["skill:k2"]
    assert best("nothing at all") == []
