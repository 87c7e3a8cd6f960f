"""Thresholds of a space nobody has measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from perdure.domain.vectors import Matrix, Thresholds
from perdure.embedding import calibration
from perdure.embedding.engine import compute
from perdure.embedding.providers import deterministic
from perdure.embedding.texts import Kind

FINGERPRINT = "ollama-0123456789ab"
DERIVED = Thresholds(twin=0.81, cluster=0.78, interference=0.95, floor=0.2)


def embed(texts: Sequence[str], kind: Kind) -> Matrix:
    provider = deterministic.Deterministic()
    return np.stack([each.vector for each in compute(provider, kind, texts, lambda: 60.0)])


def in_a_cone(texts: Sequence[str], kind: Kind) -> Matrix:
    """The same space pressed together, as raw E5 is: all cosines move towards 1, their order stays."""
    rows = embed(texts, kind)
    pressed = np.hstack([rows, np.full((len(rows), 1), 3.0, dtype=np.float32)])
    return pressed / np.linalg.norm(pressed, axis=1, keepdims=True)


def test_thresholds_stand_in_their_order() -> None:
    found = calibration.derive(embed)
    assert found.floor < found.cluster <= found.twin <= found.interference <= 1.0


def test_thresholds_follow_a_space_whose_vectors_lie_in_a_narrow_cone() -> None:
    wide, narrow = calibration.derive(embed), calibration.derive(in_a_cone)
    assert narrow.floor > 0.85
    assert narrow.twin > wide.twin


@pytest.mark.requirement("EMB-16")
def test_reworded_statements_are_twins_and_unrelated_ones_are_not() -> None:
    found = calibration.derive(embed)
    said = embed([statement for statement, _, _ in calibration.SAMPLES], Kind.DOCUMENT)
    again = embed([reworded for _, reworded, _ in calibration.SAMPLES], Kind.DOCUMENT)
    cosines = said @ again.T
    unrelated = ~np.eye(len(said), dtype=bool)
    assert np.mean(np.diag(cosines) > found.twin) > 0.6
    assert np.mean(cosines[unrelated] > found.cluster) == 0.0


def test_the_same_space_gives_the_same_thresholds() -> None:
    assert calibration.derive(embed) == calibration.derive(embed)


def test_derived_thresholds_are_kept_for_their_space_alone(tmp_path: Path) -> None:
    calibration.keep(tmp_path / "new", FINGERPRINT, DERIVED)
    assert calibration.kept(tmp_path / "new", FINGERPRINT) == DERIVED
    assert calibration.kept(tmp_path / "new", "ollama-ba9876543210") is None


@pytest.mark.parametrize(
    "content", ["", "{", "[]", f'{{"{FINGERPRINT}": {{"twin": "x"}}}}', f'{{"{FINGERPRINT}": NaN}}']
)
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / calibration.FILE).write_text(content)
    assert calibration.kept(tmp_path, FINGERPRINT) is None
