"""A private retrieval service with its embedding service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from perdure.settings import Settings
from perdure.wire.clients import AccessClient, MemoryClient
from support.retrieval_services import Services


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    settings = Settings(home=tmp_path, embedding_provider="test", embedding_disk_cache_bytes=0)
    target = settings.target("retrieval")
    with ExitStack() as stack:
        made = Services(
            settings,
            stack.enter_context(closing(MemoryClient(target))),
            stack.enter_context(closing(AccessClient(target))),
        )
        stack.callback(made.stop_embedding)
        stack.callback(made.stop_retrieval)
        made.start_embedding()
        made.start_retrieval()
        yield made
