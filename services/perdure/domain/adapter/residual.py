"""What a private model does to a question: ``q' = normalise(q + B·(A·q))``.

Documents are never touched, so a new model needs no vector made again, and taking it away gives back the search of
before to the bit.
"""

from __future__ import annotations

import numpy as np

from perdure.domain.experience.learning import Adapter
from perdure.domain.vectors import Matrix, Vector, unit


def corrected(adapter: Adapter, question: Vector) -> Vector:
    """The question as the private model hears it; float32, unit length.

    A question of another dimension than the model's, or without a direction, comes back as it was.

    Args:
        adapter: Of the question's space.
        question: Unit vector, shape (dimension,).
    """
    if question.shape[0] != adapter.down.shape[1]:
        return question
    return unit(question + adapter.up @ (adapter.down @ question))


def corrected_rows(down: Matrix, up: Matrix, questions: Matrix) -> Matrix:
    """The same for many questions; float32, (n, dimension), unit rows."""
    return unit(questions + (questions @ down.T) @ up.T)


def scaled(up: Matrix, share: float) -> Matrix:
    """``up`` with its correction taken to ``share`` of it; 0 corrects nothing."""
    return np.asarray(up * np.float32(share), dtype=np.float32)
