from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.hook_payloads import DECISION
from support.rest_gateway import Asked, RestGateway, serving

MEMORY: dict[str, Any] = {
    "id": "0199f0a4-0000-7000-8000-000000000001",
    "project": "shop",
    "type": "decision",
    "content": DECISION,
    "summary": DECISION,
    "tier": "regular",
    "confidence": 0.5,
    "importance": 0.5,
    "created_at": "2026-11-29T10:00:00Z",
    "updated_at": "2026-11-29T10:00:00Z",
    "origin": {"host": "codex", "agent": "", "session": "other"},
}


def hit(
    memory: dict[str, Any] | None = None, *, similarity: float = 0.6, score: float = 0.7, **more: Any
) -> dict[str, Any]:
    found = {**MEMORY, **(memory or {})}
    parts = {"similarity": similarity, "lexical_rank": 1, "relevance": score}
    return {"id": found["id"], "project": found["project"], "score": score, "parts": parts, "memory": found, **more}


def stored(asked: Asked) -> dict[str, Any]:
    """A batch as the gateway answers it."""
    return {"results": [{"index": n, "id": str(n), "outcome": "created"} for n in range(len(asked.body["memories"]))]}


@pytest.fixture
def gateway() -> Iterator[RestGateway]:
    def prepare(rest: RestGateway) -> None:
        rest.routes["GET /memories/search"] = {"recall": [hit()]}
        rest.routes["GET /memories/stats"] = {"active": 42, "by_project": {"shop": 3}}
        rest.routes["GET /memories"] = {"memories": [MEMORY]}
        rest.routes["POST /memories/batch"] = stored

    yield from serving(prepare)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository of project ``shop``."""
    git = tmp_path / "work" / "checkout" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text('[remote "origin"]\n\turl = git@example.org:acme/shop.git\n')
    return git.parent


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "user" / ".perdure"


def saves(gateway: RestGateway) -> list[dict[str, Any]]:
    """All memories that arrived, in order."""
    return [memory for asked in gateway.asked if asked.method == "POST" for memory in asked.body["memories"]]
