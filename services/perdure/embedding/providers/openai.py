"""Any server with OpenAI's ``/v1/embeddings``. The key comes from PERDURE_EMBEDDING_API_KEY and from nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from perdure.domain.vectors import Matrix
from perdure.embedding.providers.remote import Http, RemoteProvider, RemoteSettings, matrix

DEFAULT_URL: Final = "https://api.openai.com/v1"


class OpenAI(RemoteProvider):
    """A model behind an OpenAI-compatible server.

    Args:
        settings: What it is told; the key is among its headers.
        http: Posts.
    """

    def __init__(self, settings: RemoteSettings, http: Http) -> None:
        super().__init__("openai", settings, http)

    def _ask(self, texts: Sequence[str], *, timeout_s: float) -> Matrix:
        body: dict[str, Any] = {"model": self._settings.model, "input": list(texts), "encoding_format": "float"}
        if self._settings.dimension:
            body["dimensions"] = self._settings.dimension
        return self._http.post("/embeddings", body, lambda answer: _rows(answer, len(texts)), timeout_s=timeout_s)


def _rows(answer: Any, count: int) -> Matrix:
    """The vectors by their ``index``, as servers may answer in any order.

    Raises:
        KeyError, TypeError, ValueError: the answer is malformed.
    """
    by_index = {int(item["index"]): item["embedding"] for item in answer["data"]}
    if sorted(by_index) != list(range(count)) or len(answer["data"]) != count:
        raise ValueError("not one vector for each text")
    return matrix([by_index[index] for index in range(count)], count)
