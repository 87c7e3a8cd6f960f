"""memory_search finds skills for those who were shown the tools that read them, and says nothing of it otherwise."""

from __future__ import annotations

import pytest

from perdure.gateway.tools import arguments as a
from perdure.gateway.tools.catalogue import CARDS


@pytest.mark.requirement("I5-M8")
def test_a_search_finds_procedures_only_when_it_is_told_to() -> None:
    given = a.parsed("memory_search", a.SearchArguments, {"query": "pay a bill"})
    assert isinstance(given, a.SearchArguments)
    assert not given.question().procedures
    given.beside_procedures()
    assert given.question().procedures


def test_no_argument_of_the_tool_asks_for_procedures() -> None:
    assert "procedures" not in str(CARDS["memory_search"].arguments.model_json_schema())
    with pytest.raises(a.BadArguments):
        a.parsed("memory_search", a.SearchArguments, {"query": "x", "_procedures": True})
