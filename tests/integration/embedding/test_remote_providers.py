"""Ollama and OpenAI-compatible providers against servers that behave, and that do not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from perdure.domain.vectors import unit
from perdure.embedding.breaker import Breaker
from perdure.embedding.engine import compute
from perdure.embedding.providers import remote
from perdure.embedding.providers.families import Prefixes, family, prefixes
from perdure.embedding.providers.ollama import Ollama
from perdure.embedding.providers.openai import OpenAI
from perdure.embedding.providers.remote import Http, RemoteProvider, RemoteSettings
from perdure.embedding.texts import Kind
from perdure.errors import (
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    PerdureError,
    Reason,
    Unavailable,
)

from .conftest import FakeProvider, as_json, hang, raw, status, vector

WAIT_S = 20.0
KINDS = ("ollama", "openai")
Make = Callable[..., RemoteProvider]


@pytest.fixture
def make(fake: FakeProvider) -> Any:
    opened: list[Http] = []

    def build(kind: str, *, model: str = "", failures: int = 100, breaker: Breaker | None = None, **told: Any) -> Any:
        name = model or ("nomic-embed-text" if kind == "ollama" else "text-embedding-3-small")
        told.setdefault("prefixes", prefixes(name, query=None, document=None))
        settings = RemoteSettings(
            url=fake.url if kind == "ollama" else f"{fake.url}/v1/", model=name, family=family(name), **told
        )
        http = Http(settings, breaker or Breaker(time.monotonic, failures=failures), backoff_s=(0.01,))
        opened.append(http)
        return Ollama(settings, http) if kind == "ollama" else OpenAI(settings, http)

    yield build
    for http in opened:
        http.close()


def embed(provider: RemoteProvider, *texts: str, kind: Kind = Kind.DOCUMENT, timeout_s: float = WAIT_S) -> np.ndarray:
    return provider.embed(texts, kind, timeout_s=timeout_s)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_come_in_order_whatever_the_order_of_the_answer(make: Make, kind: str) -> None:
    provider = make(kind, prefixes=Prefixes())
    texts = [f"text {number}" for number in range(5)]
    assert embed(provider, *texts).tolist() == [vector(text, 8) for text in texts]
    assert (provider.space.provider, provider.space.dimension) == (kind, 8)


@pytest.mark.requirement("EMB-03")
def test_ollama_is_told_not_to_cut_and_gets_the_models_prefixes(make: Make, fake: FakeProvider) -> None:
    provider = make("ollama")
    embed(provider, "a note")
    embed(provider, "a question", kind=Kind.QUERY)
    path, body, _ = fake.posts()[-2]
    assert path == "/api/embed"
    assert (body["model"], body["truncate"]) == ("nomic-embed-text", False)
    assert body["input"] == ["search_document: a note"]
    assert fake.posts()[-1][1]["input"] == ["search_query: a question"]


def test_the_digest_of_ollamas_model_is_part_of_the_space(make: Make, fake: FakeProvider) -> None:
    first = make("ollama").space
    fake.answer = lambda path, body: (  # type: ignore[method-assign]  # the model was pulled anew
        as_json(200, {"models": [{"name": "nomic-embed-text:latest", "digest": "d2"}]})
        if path == "/api/tags"
        else as_json(200, {"embeddings": [vector(text, 8) for text in body["input"]]})
    )
    assert make("ollama").space.fingerprint != first.fingerprint


@pytest.mark.requirement("EMB-03")
def test_openai_gets_the_key_and_the_dimension_it_was_told(make: Make, fake: FakeProvider) -> None:
    embed(make("openai", headers={"Authorization": "Bearer k-1"}, dimension=8), "a note")
    path, body, headers = fake.posts()[-1]
    assert path == "/v1/embeddings"
    assert body == {
        "model": "text-embedding-3-small",
        "input": ["a note"],
        "encoding_format": "float",
        "dimensions": 8,
    }
    assert headers["authorization"] == "Bearer k-1"


def test_without_a_key_none_is_sent_whatever_lies_in_the_environment(
    make: Make, fake: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-2")
    make("openai")
    assert "authorization" not in fake.posts()[-1][2]


def test_many_texts_go_in_calls_of_64(make: Make, fake: FakeProvider) -> None:
    provider = make("openai")
    found = compute(provider, Kind.DOCUMENT, [f"text {number}" for number in range(150)], lambda: WAIT_S)
    assert [len(body["input"]) for _, body, _ in fake.posts()[1:]] == [64, 64, 22]
    assert np.allclose(found[149].vector, unit(np.array(vector("text 149", 8))), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("trouble", [status(500), status(503), status(429, **{"Retry-After": "0"}), raw(b"{not json")])
@pytest.mark.requirement("EMB-07")
def test_a_passing_trouble_is_tried_again(make: Make, fake: FakeProvider, kind: str, trouble: Any) -> None:
    provider = make(kind)
    fake.script = [trouble, trouble]
    assert embed(provider, "text").shape == (1, 8)
    assert len(fake.posts()) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_lasting_trouble_is_given_up_after_three_attempts(make: Make, fake: FakeProvider, kind: str) -> None:
    provider = make(kind)
    fake.script = [status(500)] * 9
    with pytest.raises(Unavailable) as caught:
        embed(provider, "text")
    assert caught.value.reason is Reason.EMBEDDER_AWAY
    assert caught.value.details["status"] == 500
    assert len(fake.script) == 6


def test_a_provider_that_wants_a_long_pause_is_not_asked_again_and_the_pause_is_passed_on(
    make: Make, fake: FakeProvider
) -> None:
    provider = make("openai")
    fake.script = [status(429, **{"Retry-After": "120"})]
    with pytest.raises(Unavailable) as caught:
        embed(provider, "text", timeout_s=5.0)
    assert caught.value.retry_after_s == 120.0


@pytest.mark.parametrize("code", [401, 403, 404])
def test_a_wrong_key_or_model_is_said_at_once(make: Make, fake: FakeProvider, code: int) -> None:
    provider = make("openai")
    fake.script = [status(code)] * 3
    with pytest.raises(Unavailable, match="PERDURE_EMBEDDING_") as caught:
        embed(provider, "text")
    assert caught.value.details["status"] == code
    assert len(fake.script) == 2


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0] * 8}]},
        {"data": [{"index": 0, "embedding": [1.0] * 8}, {"index": 0, "embedding": [1.0] * 8}]},
        {"data": [{"index": 0, "embedding": [0.0] * 8}]},
        {"data": [{"index": 0, "embedding": [None] * 8}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": "AAAA"}]},
    ],
    ids=str,
)
def test_an_answer_that_is_not_what_it_should_be_is_never_a_vector(make: Make, fake: FakeProvider, body: Any) -> None:
    provider = make("openai")
    fake.script = [raw(json.dumps(body).encode())] * 3
    with pytest.raises(Unavailable) as caught:
        embed(provider, "text")
    assert caught.value.reason is Reason.EMBEDDER_AWAY


def test_infinite_numbers_are_refused(make: Make, fake: FakeProvider) -> None:
    provider = make("ollama")
    fake.script = [raw(b'{"embeddings": [[1, 2, 3, 4, 5, 6, 7, 1e999]]}')] * 3
    with pytest.raises(Unavailable):
        embed(provider, "text")


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_of_another_length_are_not_of_this_space(make: Make, fake: FakeProvider, kind: str) -> None:
    provider = make(kind)
    fake.dimension = 12
    with pytest.raises(FailedPrecondition) as caught:
        embed(provider, "text")
    assert caught.value.reason is Reason.SPACE_MISMATCH


def test_a_model_without_the_wanted_dimension_is_refused_when_it_is_loaded(make: Make) -> None:
    with pytest.raises(FailedPrecondition) as caught:
        make("ollama", dimension=16)
    assert caught.value.reason is Reason.SPACE_MISMATCH


@pytest.mark.requirement("EMB-07")
def test_a_provider_that_hangs_is_left_after_its_time(make: Make, fake: FakeProvider) -> None:
    provider = make("openai", timeout_s=0.2)
    fake.script = [hang]
    with pytest.raises(DeadlineExceeded):
        embed(provider, "text")


@pytest.mark.requirement("EMB-07")
def test_a_provider_that_hangs_again_and_again_opens_the_breaker(make: Make, fake: FakeProvider) -> None:
    provider = make("openai", timeout_s=0.1, failures=2)
    fake.script = [hang, hang]
    for _ in range(2):
        with pytest.raises(DeadlineExceeded):
            embed(provider, "text")
    with pytest.raises(Unavailable) as caught:
        embed(provider, "text")
    assert caught.value.reason is Reason.CIRCUIT_OPEN
    assert len(fake.posts()) == 3


def test_the_breaker_lets_a_trial_through_and_closes_when_it_works(make: Make, fake: FakeProvider) -> None:
    now = [0.0]
    provider = make("openai", breaker=Breaker(lambda: now[0], failures=3, open_s=5.0))
    fake.script = [status(500)] * 3
    with pytest.raises(Unavailable):
        embed(provider, "text")
    with pytest.raises(Unavailable) as caught:
        embed(provider, "text")
    assert caught.value.reason is Reason.CIRCUIT_OPEN
    now[0] = 5.0
    assert embed(provider, "text").shape == (1, 8)
    assert embed(provider, "text").shape == (1, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_that_is_too_long_after_all_is_embedded_in_halves(make: Make, fake: FakeProvider, kind: str) -> None:
    provider = make(kind)
    fake.max_chars = 400
    assert embed(provider, "short", "long words " * 100).shape == (2, 8)
    prefix = provider.space.document_prefix
    assert all(text.startswith(prefix) for _, body, _ in fake.posts()[1:] for text in body["input"])


def test_a_text_that_is_refused_though_short_is_the_callers_fault_and_not_the_providers(
    make: Make, fake: FakeProvider
) -> None:
    provider = make("openai", failures=1)
    fake.script = [status(400)]
    with pytest.raises(InvalidArgument) as caught:
        embed(provider, "text")
    assert caught.value.reason is Reason.TEXT_UNUSABLE
    assert embed(provider, "text").shape == (1, 8)


def test_nobody_at_the_address_is_said_so(fake: FakeProvider) -> None:
    settings = RemoteSettings(
        url="http://127.0.0.1:9", model="m", prefixes=Prefixes(), family=family("m"), timeout_s=0.5
    )
    http = Http(settings, Breaker(time.monotonic), backoff_s=(0.01,))
    with pytest.raises(Unavailable) as caught:
        Ollama(settings, http)
    assert caught.value.reason is Reason.EMBEDDER_AWAY
    http.close()


def test_no_error_quotes_the_text(make: Make, fake: FakeProvider) -> None:
    provider = make("openai")
    for trouble in (status(400), status(401), raw(b'{"echo": "canary"}')):
        fake.script = [trouble] * 3
        with pytest.raises(PerdureError) as caught:
            embed(provider, "canary")
        assert "canary" not in f"{caught.value.message} {caught.value.details}"


def test_a_proxy_of_the_environment_is_not_used_for_this_machine(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert embed(make("openai"), "text").shape == (1, 8)
    assert remote.PATIENCE_S > 0
