"""Prefixes belong to the model; the user's win."""

from __future__ import annotations

import pytest

from perdure.embedding.providers.families import Prefixes, family, prefixes
from perdure.embedding.texts import Kind

BGE = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("intfloat/multilingual-e5-small", "query: ", "passage: "),
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("mxbai-embed-large", BGE, ""),
        ("BAAI/bge-small-en-v1.5", BGE, ""),
        ("snowflake-arctic-embed", BGE, ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("bge-m3", "", ""),
        ("all-minilm", "", ""),
        ("text-embedding-3-small", "", ""),
        ("something-nobody-knows", "", ""),
    ],
)
@pytest.mark.requirement("EMB-09")
def test_a_model_gets_the_prefixes_of_its_family(model: str, query: str, document: str) -> None:
    own = family(model).prefixes
    assert (own.of(Kind.QUERY), own.of(Kind.DOCUMENT)) == (query, document)


def test_a_prefix_that_is_set_replaces_the_familys_also_when_empty() -> None:
    assert prefixes("e5-base", query="", document=None) == Prefixes("", "passage: ")
    assert prefixes("e5-base", query=None, document="doc: ") == Prefixes("query: ", "doc: ")


def test_a_model_with_a_short_context_says_so() -> None:
    assert family("all-minilm").text_tokens == 256
    assert family("unknown").text_tokens == 512
