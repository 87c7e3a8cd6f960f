"""The retrieval and embedding services, whole, in this process, each on its own socket in a private home."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from perdure.domain.namespace import Caller
from perdure.embedding import wiring as embedding_wiring
from perdure.errors import PerdureError
from perdure.observability.metrics import Metrics
from perdure.retrieval import wiring as retrieval_wiring
from perdure.settings import Settings
from perdure.wire.clients import AccessClient, EmbeddingClient, MemoryClient
from support.memory_world import caller
from support.stack import wait_until


@dataclass
class Services:
    """Starts and stops the two services of one home; clients reach whichever runs."""

    settings: Settings
    memories: MemoryClient
    access: AccessClient
    me: Caller = field(default_factory=caller)
    _metrics: Metrics | None = None
    _embedding: ExitStack = field(default_factory=ExitStack)
    _retrieval: ExitStack = field(default_factory=ExitStack)

    def start_retrieval(self) -> None:
        parts = retrieval_wiring.build(self.settings)
        self._retrieval.callback(parts.close)
        self._metrics = parts.metrics
        parts.flusher.start()
        parts.server.start()
        self._retrieval.callback(parts.server.stop)

    def metrics(self) -> str:
        """What the retrieval service shows Prometheus."""
        assert self._metrics is not None
        return self._metrics.render().decode()

    def stop_retrieval(self) -> None:
        """As on SIGTERM: answer what runs, write the last counts, let go of the store."""
        self._retrieval.close()

    def start_embedding(self) -> None:
        parts = embedding_wiring.build(self.settings)
        self._embedding.callback(parts.close)
        parts.server.start()
        self._embedding.callback(parts.server.stop)
        parts.loader.start()

        def ready() -> bool:
            with closing(EmbeddingClient(self.settings.target("embedding"))) as client:
                try:
                    return client.describe()[1] == "ready"
                except PerdureError:
                    return False

        wait_until(ready, what="the embedder")

    def stop_embedding(self) -> None:
        self._embedding.close()
