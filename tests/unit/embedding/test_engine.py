"""What a caller gets: vectors in order, from cache or provider, in windows, centred."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

from perdure.domain.vectors import unit
from perdure.embedding.cache import VectorCache
from perdure.embedding.engine import Engine, compute, with_thresholds
from perdure.embedding.providers import Limits
from perdure.embedding.texts import Kind
from perdure.errors import DeadlineExceeded, InvalidArgument, Reason, Unavailable
from support.embedding_fakes import THRESHOLDS, SteeredProvider, metrics, raw

WAIT_S = 20.0


@pytest.fixture
def provider() -> SteeredProvider:
    return SteeredProvider()


@pytest.fixture
def engine(provider: SteeredProvider) -> Iterator[Engine]:
    engine = Engine(provider, VectorCache(1 << 20), metrics())
    yield engine
    provider.gate.set()
    engine.close()


def documents(engine: Engine, *texts: str, timeout_s: float = WAIT_S, background: bool = False):  # type: ignore[no-untyped-def]  # a tuple of Embedded
    return engine.embed(texts, Kind.DOCUMENT, background=background, timeout_s=timeout_s)


def test_vectors_come_in_the_order_of_the_texts_and_are_unit(engine: Engine) -> None:
    texts = [f"text {number}" for number in range(11)]
    found = documents(engine, *texts)
    for text, each in zip(texts, found, strict=True):
        assert np.allclose(each.vector, unit(raw(text, Kind.DOCUMENT)), atol=1e-6)
        assert np.linalg.norm(each.vector) == pytest.approx(1.0, abs=1e-5)
        assert (each.truncated, each.windows, each.cached) == (False, 1, False)


def test_a_batch_gives_what_each_text_gives_alone(engine: Engine, provider: SteeredProvider) -> None:
    texts = [f"some text number {number}" for number in range(9)]
    together = documents(engine, *texts)
    alone = Engine(SteeredProvider(), VectorCache(0), metrics())
    for text, each in zip(texts, together, strict=True):
        assert np.array_equal(documents(alone, text)[0].vector, each.vector)
    alone.close()
    assert max(len(called) for _, called in provider.calls) > 1


@pytest.mark.requirement("EMB-06")
def test_a_text_seen_before_comes_from_the_cache(engine: Engine, provider: SteeredProvider) -> None:
    first = documents(engine, "text")[0]
    again = documents(engine, "  text\0")[0]
    assert (first.cached, again.cached) == (False, True)
    assert np.array_equal(first.vector, again.vector)
    assert provider.texts == ["text"]


@pytest.mark.requirement("EMB-09")
def test_a_query_is_no_document(engine: Engine, provider: SteeredProvider) -> None:
    document = documents(engine, "text")[0]
    query = engine.embed(["text"], Kind.QUERY, background=False, timeout_s=WAIT_S)[0]
    assert not np.array_equal(document.vector, query.vector)
    assert [kind for kind, _ in provider.calls] == [Kind.DOCUMENT, Kind.QUERY]


def test_a_long_text_is_the_average_of_its_windows_by_their_tokens(engine: Engine, provider: SteeredProvider) -> None:
    text = " ".join(f"w{number}" for number in range(24))
    found = documents(engine, text)[0]
    first, second = provider.texts
    assert (found.windows, found.truncated) == (2, False)
    assert f"{first} {second}" == text
    weighted = len(first.split()) * unit(raw(first, Kind.DOCUMENT)) + len(second.split()) * unit(
        raw(second, Kind.DOCUMENT)
    )
    assert np.allclose(found.vector, unit(weighted), atol=1e-6)


def test_a_text_of_too_many_windows_says_that_it_was_cut(engine: Engine) -> None:
    found = documents(engine, " ".join(f"w{number}" for number in range(400)))[0]
    assert (found.windows, found.truncated) == (8, True)
    assert documents(engine, " ".join(f"w{number}" for number in range(400)))[0].truncated


def test_the_mean_is_taken_from_both_sides_and_the_rest_is_unit_again() -> None:
    mean = np.full(8, 0.2, dtype=np.float32)
    provider = SteeredProvider(mean=mean)
    for kind in Kind:
        found = compute(provider, kind, ["text"], lambda: WAIT_S)[0]
        assert np.allclose(found.vector, unit(unit(raw("text", kind)) - mean), atol=1e-6)


def test_calls_hold_no_more_texts_and_tokens_than_the_provider_takes() -> None:
    provider = SteeredProvider(limits=Limits(text_tokens=16, batch_texts=3, batch_tokens=8))
    compute(provider, Kind.DOCUMENT, ["a b c", "d e f", "g h", "i", "j", "k", "l m n o p q r s t u"], lambda: WAIT_S)
    sizes = [(len(texts), sum(len(text.split()) for text in texts)) for _, texts in provider.calls]
    assert all(count <= 3 and (tokens <= 8 or count == 1) for count, tokens in sizes)
    assert len(sizes) == 3


def test_work_stops_between_calls_once_nobody_waits() -> None:
    provider = SteeredProvider()
    left = iter([5.0, 0.0])
    with pytest.raises(DeadlineExceeded):
        compute(provider, Kind.DOCUMENT, [" ".join(["word"] * 16 * 8)], lambda: next(left))
    assert len(provider.calls) == 1


@pytest.mark.parametrize("count", [0, 257])
def test_a_request_holds_1_to_256_texts(engine: Engine, count: int) -> None:
    with pytest.raises(InvalidArgument) as caught:
        documents(engine, *["text"] * count)
    assert caught.value.reason is Reason.OUT_OF_RANGE


def test_an_empty_text_is_refused_by_its_place(engine: Engine, provider: SteeredProvider) -> None:
    with pytest.raises(InvalidArgument) as caught:
        documents(engine, "text", " \0 ")
    assert caught.value.reason is Reason.TEXT_UNUSABLE
    assert caught.value.details["index"] == 1
    assert provider.calls == []


def test_a_text_the_provider_refuses_is_named_by_its_place(engine: Engine) -> None:
    with pytest.raises(InvalidArgument) as caught:
        documents(engine, "good", "unusable", "fine")
    assert caught.value.details["index"] == 1


def test_a_provider_that_is_away_is_said_so_and_nothing_is_cached(engine: Engine, provider: SteeredProvider) -> None:
    provider.error = Unavailable("away", reason=Reason.EMBEDDER_AWAY)
    with pytest.raises(Unavailable):
        documents(engine, "text")
    provider.error = None
    assert not documents(engine, "text")[0].cached


def test_a_caller_waits_no_longer_than_it_said_and_finds_the_vector_the_next_time(
    engine: Engine, provider: SteeredProvider
) -> None:
    provider.gate.clear()
    with pytest.raises(DeadlineExceeded) as caught:
        documents(engine, "text", timeout_s=0.05)
    assert caught.value.reason is Reason.DEADLINE
    provider.gate.set()
    documents(engine, "text")
    assert provider.texts == ["text"]


def test_who_joins_a_text_that_is_being_given_up_still_gets_it(engine: Engine, provider: SteeredProvider) -> None:
    provider.error = DeadlineExceeded("the others gave up", reason=Reason.DEADLINE)
    provider.gate.clear()
    found: list[object] = []
    thread = threading.Thread(target=lambda: found.extend(documents(engine, "text")))
    thread.start()
    assert provider.entered.acquire(timeout=WAIT_S)
    # the first computation fails after the second has been allowed
    threading.Timer(0.05, lambda: setattr(provider, "error", None)).start()
    provider.gate.set()
    thread.join(WAIT_S)
    assert len(found) == 1


def test_a_text_that_cannot_be_done_in_time_holds_up_no_other_save() -> None:
    provider = SteeredProvider(limits=Limits(text_tokens=16, batch_texts=4, batch_tokens=64, token_s=1.0))
    engine = Engine(provider, VectorCache(1 << 20), metrics())
    provider.gate.clear()
    with pytest.raises(DeadlineExceeded):
        documents(engine, "four words are many", timeout_s=0.1)
    assert provider.entered.acquire(timeout=WAIT_S)
    threading.Thread(target=lambda: documents(engine, "one"), daemon=True).start()
    assert provider.entered.acquire(timeout=WAIT_S)
    provider.gate.set()
    assert documents(engine, "four words are many")[0].windows == 1
    assert provider.texts.count("four words are many") == 1
    engine.close()


def test_a_long_text_begun_in_the_background_is_finished_though_its_caller_has_gone(
    engine: Engine, provider: SteeredProvider
) -> None:
    text = " ".join(f"w{number}" for number in range(100))
    provider.gate.clear()
    with pytest.raises(DeadlineExceeded):
        documents(engine, text, timeout_s=0.1, background=True)
    provider.gate.set()
    assert documents(engine, text, background=True)[0].windows > 4
    assert len(provider.texts) == len(set(provider.texts))


def test_other_thresholds_leave_the_space_itself_as_it_is(provider: SteeredProvider) -> None:
    other = with_thresholds(provider.space, THRESHOLDS)
    assert other.fingerprint == provider.space.fingerprint


def test_closing_closes_the_provider() -> None:
    provider = SteeredProvider()
    Engine(provider, VectorCache(0), metrics()).close()
    assert provider.closed
