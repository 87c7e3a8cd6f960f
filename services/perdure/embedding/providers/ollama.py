"""Ollama, by its ``/api/embed``.

Ollama cuts a text that is too long without a word unless told not to; we cut into windows ourselves and tell it not to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from perdure.domain.vectors import Matrix
from perdure.embedding.providers.remote import Http, RemoteProvider, RemoteSettings, matrix

DEFAULT_URL: Final = "http://127.0.0.1:11434"


class Ollama(RemoteProvider):
    """A model that Ollama serves; its digest is part of the space, so a model pulled anew is a new space.

    Args:
        settings: What it is told.
        http: Posts.
    """

    def __init__(self, settings: RemoteSettings, http: Http) -> None:
        super().__init__("ollama", settings, http, model_sha256=_digest(http.get("/api/tags"), settings.model))

    def _ask(self, texts: Sequence[str], *, timeout_s: float) -> Matrix:
        body: dict[str, Any] = {
            "model": self._settings.model,
            "input": list(texts),
            "truncate": False,
            "keep_alive": "5m",
        }
        if self._settings.dimension:
            body["dimensions"] = self._settings.dimension
        return self._http.post(
            "/api/embed", body, lambda answer: matrix(answer["embeddings"], len(texts)), timeout_s=timeout_s
        )


def _digest(tags: Any, model: str) -> str:
    """The model's digest in the answer of ``/api/tags``; empty where it does not say."""
    models = tags.get("models") if isinstance(tags, dict) else None
    wanted = model if ":" in model else f"{model}:latest"
    for each in models if isinstance(models, list) else ():
        if isinstance(each, dict) and each.get("name") == wanted and isinstance(each.get("digest"), str):
            return str(each["digest"])
    return ""
