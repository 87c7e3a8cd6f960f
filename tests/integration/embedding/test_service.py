"""The service as its callers see it: over a unix socket, by the client of the other services."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from perdure.embedding import choice, wiring
from perdure.embedding.loading import State
from perdure.embedding.servicer import SERVICE
from perdure.embedding.wiring import CACHE_FOLDER, Parts, build
from perdure.errors import DeadlineExceeded, InvalidArgument, LimitExceeded, Reason, Unavailable
from perdure.rpc.embedding.v1 import embedding_pb2 as pb
from perdure.rpc.embedding.v1 import embedding_pb2_grpc as pb_grpc
from perdure.settings import Settings
from perdure.wire.clients import EmbeddingClient
from support.embedding_fakes import SteeredProvider
from support.stack import wait_until

from .conftest import FakeProvider

WAIT_S = 20.0


@pytest.fixture
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="pe-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


class Services:
    """Starts services in this process and stops them."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.running: list[tuple[Parts, EmbeddingClient]] = []

    def start(self, **values: Any) -> tuple[Parts, EmbeddingClient]:
        values.setdefault("embedding_provider", "test")
        settings = Settings(home=self.home, **values)
        parts = build(settings)
        parts.server.start()
        parts.loader.start()
        client = EmbeddingClient(settings.target("embedding"))
        self.running.append((parts, client))
        return parts, client

    def ready(self, **values: Any) -> EmbeddingClient:
        parts, client = self.start(**values)
        wait_until(lambda: parts.loader.status.state is State.READY, what="the model")
        return client

    def stop(self) -> None:
        while self.running:
            parts, client = self.running.pop()
            client.close()
            parts.server.stop(grace_s=1.0)
            parts.close()


@pytest.fixture
def services(home: Path) -> Iterator[Services]:
    services = Services(home)
    yield services
    services.stop()


def steer(monkeypatch: pytest.MonkeyPatch) -> SteeredProvider:
    """The provider that the next service loads."""
    provider = SteeredProvider()
    monkeypatch.setattr(choice, "load", lambda _settings, _metrics: provider)
    assert wiring.choice is choice
    return provider


def test_documents_and_queries_get_unit_vectors_of_one_space(services: Services) -> None:
    client = services.ready()
    found = client.documents(["the harbour office", "yellow kitchens"], timeout_s=WAIT_S)
    assert found.vectors.shape == (2, 384)
    assert np.allclose(np.linalg.norm(found.vectors, axis=1), 1.0, atol=1e-5)
    assert found.space == client.space() == client.query("harbour", timeout_s=WAIT_S).space
    assert client.describe()[1] == "ready"


@pytest.mark.requirement("EMB-02")
def test_it_listens_before_the_model_is_there_and_says_that_it_loads(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    provider = SteeredProvider()

    def load(_settings: object, _metrics: object) -> SteeredProvider:
        assert gate.wait(WAIT_S)
        return provider

    monkeypatch.setattr(choice, "load", load)
    parts, client = services.start()
    for ask in (lambda: client.query("text", timeout_s=5.0), client.space):
        with pytest.raises(Unavailable) as caught:
            ask()
        assert caught.value.reason is Reason.EMBEDDER_LOADING
    assert health(services.home, SERVICE) == health_pb2.HealthCheckResponse.NOT_SERVING
    assert health(services.home, "") == health_pb2.HealthCheckResponse.SERVING
    gate.set()
    wait_until(lambda: parts.loader.status.state is State.READY, what="the model")
    assert client.query("text", timeout_s=WAIT_S).vectors.shape == (1, 8)
    assert health(services.home, SERVICE) == health_pb2.HealthCheckResponse.SERVING


def test_a_model_that_cannot_be_loaded_is_named_in_every_answer(services: Services) -> None:
    parts, client = services.start(embedding_provider="openai")
    wait_until(lambda: parts.loader.status.state is State.FAILING, what="the failure")
    with pytest.raises(Unavailable, match="PERDURE_EMBEDDING_MODEL") as caught:
        client.query("text", timeout_s=5.0)
    assert caught.value.reason is Reason.EMBEDDER_AWAY


def test_a_vector_comes_from_the_disk_after_a_restart(services: Services) -> None:
    vectors = services.ready().documents(["a note"], timeout_s=WAIT_S).vectors
    services.stop()
    client = services.ready()
    with grpc.insecure_channel(f"unix:{services.home}/run/embedding.sock") as channel:
        answer = pb_grpc.EmbeddingServiceStub(channel).Embed(
            pb.EmbedRequest(texts=["a note", "another"], kind=pb.TEXT_KIND_DOCUMENT), timeout=WAIT_S
        )
    assert [each.cached for each in answer.vectors] == [True, False]
    assert np.array_equal(client.documents(["a note"], timeout_s=WAIT_S).vectors, vectors)


def test_a_damaged_cache_stops_nothing(services: Services) -> None:
    folder = services.home / CACHE_FOLDER
    folder.mkdir(parents=True)
    (folder / "young").write_bytes(b"\xff" * 5000)
    (folder / "old").write_bytes(b"")
    assert services.ready().query("text", timeout_s=WAIT_S).vectors.shape == (1, 384)


def test_a_cache_folder_that_cannot_be_made_stops_nothing(services: Services) -> None:
    (services.home / CACHE_FOLDER).write_text("a file in the way")
    assert services.ready().query("text", timeout_s=WAIT_S).vectors.shape == (1, 384)


def test_a_nul_in_a_text_does_not_cut_it(services: Services) -> None:
    client = services.ready()
    cut, whole, plain = client.documents(
        ["backups", "backups\0run at night", "backups run at night"], timeout_s=WAIT_S
    ).vectors
    assert np.array_equal(whole, plain)
    assert not np.array_equal(whole, cut)


@pytest.mark.requirement("EMB-08")
def test_a_text_that_was_cut_is_reported(services: Services) -> None:
    found = services.ready().documents(["short", "word " * 20_000], timeout_s=WAIT_S)
    assert found.truncated == (False, True)


@pytest.mark.parametrize(
    "request_",
    [
        pb.EmbedRequest(texts=["text"]),
        pb.EmbedRequest(kind=pb.TEXT_KIND_QUERY),
        pb.EmbedRequest(texts=[" "], kind=pb.TEXT_KIND_QUERY),
        pb.EmbedRequest(texts=["text"] * 257, kind=pb.TEXT_KIND_QUERY),
    ],
    ids=["no kind", "no text", "an empty text", "too many texts"],
)
def test_a_wrong_request_is_the_callers_fault(services: Services, request_: pb.EmbedRequest) -> None:
    services.ready()
    channel = grpc.insecure_channel(f"unix:{services.home}/run/embedding.sock")
    with channel, pytest.raises(grpc.RpcError) as caught:
        pb_grpc.EmbeddingServiceStub(channel).Embed(request_, timeout=WAIT_S)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_an_empty_text_is_invalid_for_the_client_too(services: Services) -> None:
    with pytest.raises(InvalidArgument) as caught:
        services.ready().query("  ", timeout_s=WAIT_S)
    assert caught.value.reason is Reason.TEXT_UNUSABLE


@pytest.mark.requirement("EMB-05")
def test_many_callers_get_what_each_would_get_alone(services: Services) -> None:
    client = services.ready(embedding_test_delay_ms=5)
    texts = [f"note {number} about harbour {number % 7}" for number in range(40)]
    found: dict[str, np.ndarray] = {}

    def ask(mine: list[str]) -> None:
        for text in mine:
            found[text] = client.documents([text], timeout_s=WAIT_S).vectors[0]

    threads = [threading.Thread(target=ask, args=(texts[start::8],)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    services.stop()
    shutil.rmtree(services.home / CACHE_FOLDER)
    alone = services.ready()
    for text in texts:
        assert np.allclose(found[text], alone.documents([text], timeout_s=WAIT_S).vectors[0], atol=1e-6)


@pytest.mark.requirement("EMB-15")
def test_a_question_is_answered_while_background_work_runs(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = steer(monkeypatch)
    client = services.ready()
    provider.gate.clear()
    worker = threading.Thread(
        target=lambda: client.documents([f"text {n}" for n in range(50)], timeout_s=WAIT_S, background=True)
    )
    worker.start()
    assert provider.entered.acquire(timeout=WAIT_S)
    asker = threading.Thread(target=lambda: client.query("question", timeout_s=WAIT_S))
    asker.start()
    wait_until(lambda: "question" in provider.texts, what="the question's turn")
    assert len(provider.texts) <= 5
    provider.gate.set()
    worker.join(WAIT_S)
    asker.join(WAIT_S)


def test_work_of_a_caller_that_has_gone_is_never_computed(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = steer(monkeypatch)
    client = services.ready()
    provider.gate.clear()
    first = threading.Thread(target=lambda: client.documents(["first"], timeout_s=WAIT_S))
    first.start()
    assert provider.entered.acquire(timeout=WAIT_S)
    with pytest.raises((DeadlineExceeded, Unavailable)):
        client.documents(["gone"], timeout_s=0.1)
    provider.gate.set()
    first.join(WAIT_S)
    client.documents(["last"], timeout_s=WAIT_S)
    assert provider.texts == ["first", "last"]


def test_a_full_queue_is_said_so(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = steer(monkeypatch)
    client = services.ready(grpc_threads=32)
    provider.gate.clear()
    workers = [
        threading.Thread(
            target=lambda number=number: _quietly(client, [f"{number} {n}" for n in range(256)]), daemon=True
        )
        for number in range(9)
    ]
    for worker in workers:
        worker.start()
    refused: list[LimitExceeded] = []

    def full() -> bool:
        try:
            client.documents([f"one more {time.monotonic()}"], timeout_s=0.2, background=True)
        except LimitExceeded as error:
            refused.append(error)
        except (DeadlineExceeded, Unavailable):
            pass
        return bool(refused)

    wait_until(full, what="the full queue")
    assert refused[0].reason is Reason.QUEUE_FULL
    provider.gate.set()
    for worker in workers:
        worker.join(WAIT_S)


@pytest.mark.requirement("EMB-16")
def test_a_space_without_measured_thresholds_gets_them_once(services: Services, fake: FakeProvider) -> None:
    told = {"embedding_provider": "ollama", "embedding_url": fake.url, "embedding_model": "nomic-embed-text"}
    first = services.ready(**told).space()
    asked = len(fake.posts())
    assert first.provider == "ollama"
    assert -1.0 < first.thresholds.floor < first.thresholds.twin <= 1.0
    services.stop()
    assert services.ready(**told).space() == first
    assert len(fake.posts()) == asked + 1


def test_other_prefixes_are_another_space(services: Services, fake: FakeProvider) -> None:
    told = {"embedding_provider": "openai", "embedding_url": fake.url, "embedding_model": "m"}
    plain = services.ready(**told).space()
    services.stop()
    prefixed = services.ready(**told, embedding_query_prefix="q: ").space()
    assert prefixed.fingerprint != plain.fingerprint
    assert prefixed.query_prefix == "q: "


def test_what_it_did_can_be_scraped(services: Services) -> None:
    parts, client = services.start()
    wait_until(lambda: parts.loader.status.state is State.READY, what="the model")
    client.query("text", timeout_s=WAIT_S)
    client.query("text", timeout_s=WAIT_S)
    text = parts.metrics.render().decode()
    assert 'perdure_embedding_cache_lookups_total{outcome="hit"} 1.0' in text
    assert 'perdure_embedding_batch_texts_count{lane="question"} 1.0' in text
    assert "perdure_embedding_model_ready 1.0" in text


def _quietly(client: EmbeddingClient, texts: list[str]) -> None:
    with contextlib.suppress(LimitExceeded, DeadlineExceeded, Unavailable):
        client.documents(texts, timeout_s=WAIT_S, background=True)


def health(home: Path, service: str) -> Any:
    with grpc.insecure_channel(f"unix:{home}/run/embedding.sock") as channel:
        return (
            health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=service), timeout=5).status
        )
