"""A model of a folder, by onnxruntime; needs the extra ``onnx``."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.embedding.providers.onnx import Onnx
from perdure.embedding.texts import Kind
from perdure.errors import DataCorrupt, FailedPrecondition, Reason
from support import tiny_onnx

pytest.importorskip("onnxruntime", reason="the extra perdure[onnx] is not installed")
pytest.importorskip("tokenizers", reason="the extra perdure[onnx] is not installed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny_onnx.write(tmp_path)
    return tmp_path


def test_texts_of_unlike_length_are_pooled_without_their_padding(folder: Path) -> None:
    model = Onnx(folder, threads=1)
    rows = model.embed(["harbour office", "kitchen", "yellow yellow yellow"], Kind.DOCUMENT)
    assert rows.tolist() == [[0.5, 1.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 4.0]]
    assert (model.space.dimension, model.space.pooling) == (4, "mean")


def test_the_first_token_may_be_the_text(folder: Path) -> None:
    (folder / "embedding.json").write_text('{"pooling": "cls"}')
    assert Onnx(folder).embed(["harbour office"], Kind.DOCUMENT).tolist() == [[1.0, 0.0, 0.0, 0.0]]


def test_prefixes_are_put_before_the_text_and_counted(folder: Path) -> None:
    (folder / "embedding.json").write_text('{"query_prefix": "office ", "document_prefix": ""}')
    model = Onnx(folder)
    assert model.embed(["harbour"], Kind.QUERY).tolist() == [[0.5, 1.0, 0.0, 0.0]]
    assert (model.tokens("harbour", Kind.QUERY), model.tokens("harbour", Kind.DOCUMENT)) == (2, 1)


def test_another_model_or_tokenizer_is_another_space(folder: Path) -> None:
    first = Onnx(folder).space
    text = (folder / "tokenizer.json").read_text()
    (folder / "tokenizer.json").write_text(text.replace('"harbour"', '"harbor"'))
    assert Onnx(folder).space.fingerprint != first.fingerprint


def test_a_damaged_model_is_said_so(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(DataCorrupt) as caught:
        Onnx(folder)
    assert caught.value.reason is Reason.MODEL_CORRUPT


def test_a_folder_without_a_model_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(FailedPrecondition, match=r"model\.onnx"):
        Onnx(tmp_path)
