"""Any ONNX model in a folder: ``model.onnx``, ``tokenizer.json`` and, if the defaults do not fit, ``embedding.json``.

``embedding.json`` may hold ``name``, ``pooling`` (``mean`` or ``cls``), ``max_tokens``, ``query_prefix`` and
``document_prefix``. Needs the extra ``perdure[onnx]``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from perdure.domain.layout import LAYOUT_VERSION
from perdure.domain.vectors import Matrix, Space, Vector
from perdure.embedding.providers import UNCALIBRATED, Limits
from perdure.embedding.providers.families import Prefixes, family
from perdure.embedding.texts import Kind
from perdure.errors import DataCorrupt, FailedPrecondition, InvalidArgument, Reason

POOLINGS: Final = ("mean", "cls")


@dataclass(frozen=True, slots=True)
class OnnxConfig:
    """What ``embedding.json`` says, with the model family's defaults."""

    name: str
    pooling: str
    max_tokens: int
    prefixes: Prefixes


class Onnx:
    """A model run by onnxruntime.

    Args:
        folder: Where its files are.
        threads: Threads of one call, >= 1.
        query_prefix: Wins over the folder's; None does not.
        document_prefix: Likewise.

    Raises:
        FailedPrecondition: onnxruntime or tokenizers is not installed, or the folder has no model.
        InvalidArgument: ``embedding.json`` is malformed.
        DataCorrupt: the model or its tokenizer cannot be read (MODEL_CORRUPT).
    """

    def __init__(
        self, folder: Path, *, threads: int = 2, query_prefix: str | None = None, document_prefix: str | None = None
    ) -> None:
        try:
            import onnxruntime
            import tokenizers
        except ImportError as error:
            raise FailedPrecondition(
                "The onnx provider needs onnxruntime and tokenizers: pip install 'perdure[onnx]'.",
                reason=Reason.EMBEDDER_AWAY,
            ) from error
        model, tokenizer = folder / "model.onnx", folder / "tokenizer.json"
        for file in (model, tokenizer):
            if not file.is_file():
                raise FailedPrecondition(
                    f"PERDURE_EMBEDDING_ONNX_DIR holds no {file.name}.",
                    reason=Reason.EMBEDDER_AWAY,
                    details={"file": file.name},
                )
        config = read_config(folder, query_prefix=query_prefix, document_prefix=document_prefix)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        # threads that spin between calls would take the machine from everybody else
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # both raise bare Exceptions of their own
            raise DataCorrupt(
                "The ONNX model or its tokenizer cannot be read.",
                reason=Reason.MODEL_CORRUPT,
                details={"kind": type(error).__name__},
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._inputs = [each.name for each in self._session.get_inputs()]
        self._config = config
        self._space = Space(
            provider="onnx",
            model=config.name,
            dimension=int(self._run(["probe"]).shape[1]),
            pooling=config.pooling,
            query_prefix=config.prefixes.query,
            document_prefix=config.prefixes.document,
            model_sha256=_sha256(model, tokenizer),
            mean_sha256="",
            layout=LAYOUT_VERSION,
            thresholds=UNCALIBRATED,
        )

    @property
    def space(self) -> Space:
        """The model's space, not calibrated."""
        return self._space

    @property
    def mean(self) -> Vector | None:
        """None."""
        return None

    @property
    def limits(self) -> Limits:
        """Small calls, as others wait behind them."""
        return Limits(text_tokens=self._config.max_tokens, batch_texts=8, batch_tokens=1024)

    def tokens(self, text: str, kind: Kind) -> int:
        """Tokens of ``text`` with its prefix and special tokens, exact."""
        return len(self._tokenizer.encode(self._config.prefixes.of(kind) + text).ids)

    def embed(self, texts: Sequence[str], kind: Kind, *, timeout_s: float = 30.0) -> Matrix:  # noqa: ARG002 - a run cannot be stopped
        """See ``Provider.embed``."""
        return self._run([self._config.prefixes.of(kind) + text for text in texts])

    def close(self) -> None:
        """Nothing to do."""

    def _run(self, texts: Sequence[str]) -> Matrix:
        encoded = [each.ids for each in self._tokenizer.encode_batch(list(texts))]
        ids = np.zeros((len(encoded), max(1, *map(len, encoded))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, tokens in enumerate(encoded):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        output = self._session.run(None, {name: known[name] for name in self._inputs if name in known})[0]
        return pooled(np.asarray(output, dtype=np.float32), mask, self._config.pooling)


def read_config(folder: Path, *, query_prefix: str | None, document_prefix: str | None) -> OnnxConfig:
    """What ``embedding.json`` says; without one, the family that the folder's name belongs to.

    Raises:
        InvalidArgument: it is malformed.
    """
    file = folder / "embedding.json"
    try:
        said = json.loads(file.read_text("utf-8")) if file.is_file() else {}
        if not isinstance(said, dict):
            raise TypeError("not an object")
        name = str(said.get("name", folder.name))
        own = family(name)
        pooling = said.get("pooling", "mean")
        max_tokens = int(said.get("max_tokens", own.text_tokens))
        if pooling not in POOLINGS or max_tokens < 16:
            raise ValueError("pooling is mean or cls, max_tokens at least 16")
    except (ValueError, TypeError) as error:
        raise InvalidArgument(
            "embedding.json beside the ONNX model is malformed: pooling is mean or cls, max_tokens at least 16.",
            reason=Reason.FIELD_INVALID,
            details={"file": file.name},
        ) from error
    query = query_prefix if query_prefix is not None else str(said.get("query_prefix", own.prefixes.query))
    document = str(said.get("document_prefix", own.prefixes.document)) if document_prefix is None else document_prefix
    return OnnxConfig(name, str(pooling), max_tokens, Prefixes(query, document))


def pooled(output: Matrix, mask: np.ndarray[Any, Any], pooling: str) -> Matrix:
    """One row a text.

    Args:
        output: The model's first output: (n, tokens, d), or (n, d) where the model pools itself.
        mask: 1 for a token, 0 for padding; (n, tokens).
        pooling: mean or cls.
    """
    if output.ndim == 2:
        return output
    if pooling == "cls":
        return np.ascontiguousarray(output[:, 0])
    weights = mask[:, :, None].astype(np.float32)
    return np.asarray((output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0), dtype=np.float32)


def _sha256(*files: Path) -> str:
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
