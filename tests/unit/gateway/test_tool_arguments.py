import json

import pytest

from perdure.domain.memory import MemoryType, Origin
from perdure.errors import InvalidArgument
from perdure.gateway.tools import arguments as a
from perdure.gateway.tools.catalogue import CARDS, TOOLSETS, cards_of


@pytest.mark.requirement("MCP-02")
def test_an_unknown_argument_is_refused_by_name_with_those_there_are() -> None:
    with pytest.raises(a.BadArguments, match=r"There is no argument 'querry'.*Its arguments: query, project"):
        a.parsed("memory_search", a.SearchArguments, {"query": "x", "querry": "y"})


def test_a_missing_argument_is_named() -> None:
    with pytest.raises(a.BadArguments, match="'content' is missing"):
        a.parsed("memory_save", a.SaveArguments, {"type": "fact"})


def test_a_refusal_never_repeats_the_value() -> None:
    with pytest.raises(a.BadArguments) as caught:
        a.parsed("memory_search", a.SearchArguments, {"query": "x", "limit": "sk-secret-value"})
    assert "sk-secret-value" not in str(caught.value)
    assert "'limit'" in str(caught.value)


def test_numbers_sent_as_text_are_understood() -> None:
    assert a.parsed("memory_search", a.SearchArguments, {"query": "x", "limit": "7"}).limit == 7


def test_null_is_the_same_as_leaving_out() -> None:
    given = a.parsed("memory_search", a.SearchArguments, {"query": "x", "project": None, "type": None})
    assert given.question().project is None
    assert given.question().filter.types == ()


@pytest.mark.requirement("MCP-06")
def test_nan_forgets_arguments_make_a_draft() -> None:
    draft = a.parsed(
        "memory_save",
        a.SaveArguments,
        {
            "content": "c", "type": "decision", "project": "p", "tags": ["t"], "problem": "b", "solution": "s",
            "files": ["f"], "concepts": ["k"], "provenance": "human", "confidence": 0.9,
        },
    ).draft(Origin(host="h"))  # fmt: skip
    assert draft.statement.type is MemoryType.DECISION
    assert (draft.statement.tags, draft.statement.files, draft.statement.concepts) == (("t",), ("f",), ("k",))
    assert (draft.provenance.value, draft.confidence, draft.origin.host) == ("human", 0.9, "h")


def test_an_update_without_changes_is_refused() -> None:
    with pytest.raises(a.BadArguments, match="at least one field"):
        a.parsed("memory_update", a.UpdateArguments, {"id": "x", "revision": 3}).edit()


def test_an_empty_text_empties_what_may_be_empty_and_null_keeps_it() -> None:
    edit = a.parsed(
        "memory_update", a.UpdateArguments, {"id": "x", "key": "", "expires_at": "", "problem": None}
    ).edit()
    assert edit.clear == {"key", "expires_at"}
    assert edit.problem is None


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_schemas_are_closed_objects_without_noise(card) -> None:  # type: ignore[no-untyped-def]
    schema = a.schema(card.arguments)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    text = json.dumps(schema)
    assert '"title"' not in text
    assert "anyOf" not in text
    assert all("type" in field or "enum" in field for field in schema["properties"].values())


@pytest.mark.requirement("MCP-04")
def test_the_core_list_is_small_and_always_in_the_same_order() -> None:
    listed = [card.listed().model_dump(mode="json", by_alias=True, exclude_none=True) for card in cards_of(("core",))]
    assert len(json.dumps(listed, separators=(",", ":")).encode()) <= 8 * 1024
    assert [tool["name"] for tool in listed] == [card.name for card in TOOLSETS["core"]]
    assert [card.name for card in cards_of(tuple(reversed(TOOLSETS)))] == list(CARDS)


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
@pytest.mark.requirement("MCP-05")
def test_every_tool_says_what_it_does_to_the_world(card) -> None:  # type: ignore[no-untyped-def]
    tool = card.listed()
    notes = tool.annotations
    assert notes is not None
    assert None not in (notes.read_only_hint, notes.destructive_hint, notes.idempotent_hint, notes.title)
    assert notes.open_world_hint is False
    assert len(tool.name) <= 24
    assert not (notes.read_only_hint and notes.destructive_hint)


def test_only_search_and_save_are_always_loaded() -> None:
    always = {card.name for card in CARDS.values() if (card.listed().meta or {}).get("anthropic/alwaysLoad")}
    assert always == {"memory_search", "memory_save"}


def test_an_unknown_toolset_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="core, curation, maintenance, experience, keyed, cost, all"):
        cards_of(("core", "nope"))
