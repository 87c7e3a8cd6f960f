"""How full text cuts text into tokens: FTS5's own ``porter unicode61 remove_diacritics 2``, for both backends."""

from __future__ import annotations

import threading

import apsw


class Tokens:
    """The tokenizer. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection = apsw.Connection(":memory:")
        self._tokenizer = self._connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])

    def __call__(self, text: str) -> tuple[str, ...]:
        """The tokens of ``text``, in order."""
        with self._lock:
            found = self._tokenizer(
                text.encode("utf-8", "replace"),
                apsw.FTS5_TOKENIZE_DOCUMENT,
                None,
                include_offsets=False,
                include_colocated=False,
            )
        return tuple(str(token) for token in found)
