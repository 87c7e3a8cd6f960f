from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from perdure.cli import access, words
from perdure.cli.saving import add_command
from perdure.domain.memory import MemoryType, Status, Tier
from perdure.domain.namespace import TokenScope


def parsed(*arguments: str) -> dict[str, object]:
    context = add_command.make_context("add", list(arguments))
    return context.params


def test_the_words_are_those_of_the_domain_and_the_gateway() -> None:
    from perdure.gateway import schemas
    from perdure.importing.sources import BY_NAME

    assert set(words.TYPES) == {item.value for item in MemoryType}
    assert set(words.STATUSES) == {item.value for item in Status}
    assert tuple(BY_NAME) == words.SOURCES
    assert set(words.TIERS) == {item.value for item in Tier}
    assert set(words.PROVENANCES) == set(get_args(schemas.ProvenanceName))
    assert set(access.SCOPES) == {item.value for item in TokenScope}


def test_the_operator_is_one_that_the_use_cases_know() -> None:
    from perdure.usecases.permission import OPERATORS

    assert access.OPERATOR in OPERATORS


@given(st.text(min_size=1).filter(lambda text: any(map(str.isspace, text))))
def test_any_text_with_a_space_is_text_however_it_begins(text: str) -> None:
    for lead in ("- ", "-- ", "-t ", "--type ", ""):
        assert parsed(lead + text, "-p", "shop")["text"] == (lead + text,)


def test_options_stand_before_between_and_behind_the_text() -> None:
    found = parsed("-t", "task", "one", "--tags=a b", "two", "-pshop", "three")
    assert found["text"] == ("one", "two", "three")
    assert (found["type_"], found["tags"], found["project"]) == ("task", ("a b",), "shop")


def test_lists_are_split_at_commas_and_joined_over_repeats() -> None:
    assert words.split_list(["a, b", "c", " ,"]) == ["a", "b", "c"]
    assert words.split_list(("",)) == []
    assert words.split_list(()) is None
