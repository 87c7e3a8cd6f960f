"""The smallest ONNX model that looks like an encoder: each token is a row of a table. Written by hand as protobuf."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

VOCABULARY = ["[PAD]", "[UNK]", "harbour", "office", "kitchen", "yellow"]
TABLE = np.array([[9, 9, 9, 9], [1, 1, 1, 1], [1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 4]], dtype="<f4")
_FLOAT, _INT64 = 1, 7


def write(folder: Path) -> None:
    """``model.onnx`` (input_ids, attention_mask → last_hidden_state) and ``tokenizer.json`` (whole words)."""
    (folder / "model.onnx").write_bytes(_model())
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {word: number for number, word in enumerate(VOCABULARY)},
            "unk_token": "[UNK]",
        },
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def _model() -> bytes:
    table = (
        b"".join(_number(1, size) for size in TABLE.shape)
        + _number(2, _FLOAT)
        + _bytes(8, b"table")
        + _bytes(9, TABLE.tobytes())
    )
    # the mask is an input that the graph does not read, as in many exported models
    node = _bytes(1, b"table") + _bytes(1, b"input_ids") + _bytes(2, b"last_hidden_state") + _bytes(4, b"Gather")
    graph = (
        _bytes(1, node)
        + _bytes(2, b"tiny")
        + _bytes(5, table)
        + _bytes(11, _value(b"input_ids", _INT64, [b"batch", b"tokens"]))
        + _bytes(11, _value(b"attention_mask", _INT64, [b"batch", b"tokens"]))
        + _bytes(12, _value(b"last_hidden_state", _FLOAT, [b"batch", b"tokens", TABLE.shape[1]]))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13))


def _value(name: bytes, kind: int, shape: list[bytes | int]) -> bytes:
    dimensions = b"".join(_bytes(1, _number(1, each) if isinstance(each, int) else _bytes(2, each)) for each in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dimensions)))


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += struct.pack("B", value & 0x7F | 0x80)
        value >>= 7
    return out + struct.pack("B", value)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value
