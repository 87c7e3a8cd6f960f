"""What a model family wants: its prefixes and how much text it takes.

Prefixes belong to the model, not to the provider; they come from the models' cards. Settings override them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from perdure.embedding.texts import Kind

_BGE: Final = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Text put before a query and before a document; either may be empty."""

    query: str = ""
    document: str = ""

    def of(self, kind: Kind) -> str:
        """The prefix of that side."""
        return self.query if kind is Kind.QUERY else self.document


@dataclass(frozen=True, slots=True)
class Family:
    """Prefixes and the tokens a text may have, the prefix included."""

    prefixes: Prefixes = Prefixes()
    text_tokens: int = 512


# the first whose name is in the model's name is taken, so the narrower name stands first
_FAMILIES: Final[tuple[tuple[str, Family], ...]] = (
    ("e5-mistral", Family(Prefixes("Instruct: Given a query, retrieve relevant passages\nQuery: "), 4096)),
    ("e5", Family(Prefixes("query: ", "passage: "))),
    ("nomic-embed", Family(Prefixes("search_query: ", "search_document: "), 2048)),
    ("embeddinggemma", Family(Prefixes("task: search result | query: ", "title: none | text: "), 2048)),
    ("bge-m3", Family(text_tokens=8192)),
    ("bge-small-en", Family(Prefixes(_BGE))),
    ("bge-base-en", Family(Prefixes(_BGE))),
    ("bge-large-en", Family(Prefixes(_BGE))),
    ("bge-large", Family(Prefixes(_BGE))),
    ("mxbai-embed", Family(Prefixes(_BGE))),
    ("arctic-embed2", Family(Prefixes("query: "), 8192)),
    ("arctic-embed-l-v2", Family(Prefixes("query: "), 8192)),
    ("arctic-embed-m-v2", Family(Prefixes("query: "), 8192)),
    ("arctic-embed", Family(Prefixes(_BGE))),
    ("all-minilm", Family(text_tokens=256)),
    ("text-embedding-", Family(text_tokens=8192)),
)


def family(model: str) -> Family:
    """What ``model`` wants; no prefixes and 512 tokens where nothing is known of it."""
    name = model.casefold().replace("_", "-")
    return next((found for part, found in _FAMILIES if part in name), Family())


def prefixes(model: str, *, query: str | None, document: str | None) -> Prefixes:
    """The family's prefixes, each replaced by the user's where that is not None."""
    own = family(model).prefixes
    return Prefixes(own.query if query is None else query, own.document if document is None else document)
