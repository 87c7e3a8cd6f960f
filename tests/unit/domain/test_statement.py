"""Statements as they may be stored."""

from __future__ import annotations

import math
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

import pytest

from perdure.domain.memory import Filter, MemoryType, Origin, Provenance, Statement
from perdure.domain.saving import Checkpoint, Draft
from perdure.domain.statement import as_stored, checked, checked_draft, checkpoint_draft, deduplicated
from perdure.errors import InvalidArgument, Reason


def refusal(statement: Statement) -> tuple[Reason, object]:
    with pytest.raises(InvalidArgument) as caught:
        checked(statement)
    return caught.value.reason, caught.value.details["field"]


def test_a_statement_is_cleaned_and_its_lists_lose_repetitions() -> None:
    statement = checked(
        Statement(
            content="  hello\x00 world \r\n",
            project=" ",
            key=" ",
            problem="",
            solution=" s ",
            tags=("Ops", "ops ", "", "db"),
            files=("src/a.py", " src/a.py"),
        )
    )
    assert statement == Statement(content="hello world", solution="s", tags=("Ops", "db"), files=("src/a.py",))


def test_content_is_needed() -> None:
    assert refusal(Statement(content=" \n ")) == (Reason.FIELD_MISSING, "content")
    assert refusal(Statement(content="\x00\x01")) == (Reason.TEXT_UNUSABLE, "content")


def test_limits_are_in_bytes_of_utf_8_and_name_their_field() -> None:
    assert checked(Statement(content="x" * 32768)).content
    assert refusal(Statement(content="x" * 32769)) == (Reason.TOO_LARGE, "content")
    assert refusal(Statement(content="字" * 10923)) == (Reason.TOO_LARGE, "content")
    assert refusal(Statement(content="c", problem="x" * 32769)) == (Reason.TOO_LARGE, "problem")
    assert refusal(Statement(content="c", project="p" * 201)) == (Reason.TOO_LARGE, "project")
    assert refusal(Statement(content="c", key="k" * 201)) == (Reason.TOO_LARGE, "key")
    assert refusal(Statement(content="c", tags=("t" * 301,))) == (Reason.TOO_LARGE, "tags")
    assert refusal(Statement(content="c", files=tuple(map(str, range(65))))) == (Reason.TOO_LARGE, "files")


def test_a_line_break_in_a_short_field_cannot_forge_another_line() -> None:
    assert checked(Statement(content="c", project="a\nb", key="k\r\nl", tags=("x\ny",))) == Statement(
        content="c", project="a b", key="k l", tags=("x y",)
    )


def test_the_first_of_equal_items_stays() -> None:
    assert deduplicated(("B", "a", "b", "A ")) == ("B", "a")


@pytest.mark.parametrize("value", [-0.01, 1.01, math.nan, math.inf])
def test_confidence_and_importance_are_shares(value: float) -> None:
    for draft in (
        Draft(statement=Statement(content="c"), confidence=value),
        Draft(statement=Statement(content="c"), importance=value),
    ):
        with pytest.raises(InvalidArgument) as caught:
            checked_draft(draft)
        assert caught.value.reason is Reason.OUT_OF_RANGE


def test_expiry_needs_a_time_zone_and_is_kept_in_utc() -> None:
    aware = datetime(2026, 3, 12, 9, tzinfo=timezone(timedelta(hours=9)))
    draft = checked_draft(Draft(statement=Statement(content="c"), expires_at=aware))
    assert draft.expires_at == datetime(2026, 3, 12, 0, tzinfo=UTC)
    assert draft.expires_at is not None and draft.expires_at.tzinfo is UTC
    for wrong in (datetime(2026, 3, 12), datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))):  # noqa: DTZ001
        with pytest.raises(InvalidArgument) as caught:
            checked_draft(Draft(statement=Statement(content="c"), expires_at=wrong))
        assert caught.value.reason is Reason.FIELD_INVALID


def test_a_too_long_origin_is_refused() -> None:
    with pytest.raises(InvalidArgument) as caught:
        checked_draft(Draft(statement=Statement(content="c"), origin=Origin(host="h" * 201)))
    assert caught.value.details["field"] == "origin.host"


@pytest.mark.requirement("REST-02")
def test_a_checkpoint_is_laid_out_as_nan_forget_does() -> None:
    draft = checkpoint_draft(
        Checkpoint(
            task_summary="Fixed the login loop",
            problem="Cookies were dropped",
            solution="Set SameSite=None",
            files=("src/auth.ts", "src/session.ts"),
            concepts=("auth",),
            project="atlas",
            tags=("web", "checkpoint"),
        )
    )
    assert draft.statement == Statement(
        content="Fixed the login loop\n\nProblem: Cookies were dropped\n\nSolution: Set SameSite=None\n\n"
        "Files: src/auth.ts, src/session.ts",
        type=MemoryType.FACT,
        project="atlas",
        problem="Cookies were dropped",
        solution="Set SameSite=None",
        concepts=("auth",),
        files=("src/auth.ts", "src/session.ts"),
        tags=("checkpoint", "task-completion", "web"),
    )
    assert draft.provenance is Provenance.CHECKPOINT


@pytest.mark.parametrize("field", ["task_summary", "problem", "solution"])
def test_a_checkpoint_needs_its_three_texts(field: str) -> None:
    texts = {"task_summary": "t", "problem": "p", "solution": "s"} | {field: " "}
    with pytest.raises(InvalidArgument) as caught:
        checkpoint_draft(Checkpoint(**texts))
    assert (caught.value.reason, caught.value.details["field"]) == (Reason.FIELD_MISSING, field)


@pytest.mark.requirement("FAULT-07")
def test_a_filter_asks_for_names_as_memories_keep_them() -> None:
    names = ("Zoë", "clé")
    stored = checked(Statement(content="x", project=names[0], tags=names, concepts=names, files=names))
    typed = tuple(f" {unicodedata.normalize('NFD', name)}\0" for name in names)
    asked = as_stored(Filter(projects=typed[:1], not_projects=typed, tags=typed, concepts=typed, files=typed))
    assert asked.projects == (stored.project,)
    assert (asked.tags, asked.concepts, asked.files) == (stored.tags, stored.concepts, stored.files)
    assert asked.not_projects == names
