"""Groups of vectors that are near each other, and pairs that are too near.

Arithmetic on stored vectors only; no model. Exact: a group is what average linkage makes of the whole set, found
without holding the whole set's matrix of similarities.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from perdure.domain.vectors import Matrix

BLOCK_ROWS = 2048
"""Rows compared at a time: 2,048 x 8,192 similarities are 64 MiB."""

BLOCK_COLUMNS = 8192

COMPONENT_MAX = 2048
"""Largest set clustered at once (16 MiB of similarities); a larger one is first parted at higher thresholds."""

THRESHOLD_STEP = 0.02

SKETCH_DIMENSIONS = 64
"""Axes of the first, cheap look at pairs. 100,000 x 384: the look needs a sixth of the full product's work."""

ROUNDING = 1e-5

GATHER_COST = 200
"""Fetching two rows and multiplying them costs about as much as this many products within a block."""

GATHER_ROWS = 16384

SKETCH_ROWS_MIN = 4096
SKETCH_SAMPLE = 4096

Indices = npt.NDArray[np.intp]


def clusters(vectors: Matrix, threshold: float) -> tuple[tuple[int, ...], ...]:
    """Average-link clusters: two groups join while the mean similarity between their members exceeds ``threshold``.

    Args:
        vectors: float32, (n, d), unit rows; a zero row is alike to nothing.
        threshold: Cosine in (0, 1).

    Returns:
        Row numbers of each cluster, ascending, single rows included; clusters by their first row.
    """
    found: list[tuple[int, ...]] = []
    # Average linkage joins two groups only if some pair between them exceeds the threshold, so every cluster lies
    # within one connected component of the graph of such pairs.
    waiting = [(part, threshold) for part in components(vectors, threshold)]
    while waiting:
        rows, level = waiting.pop()
        if len(rows) <= COMPONENT_MAX:
            found.extend(_average_link(vectors, rows, threshold))
        elif level + THRESHOLD_STEP < 1.0:
            tighter = level + THRESHOLD_STEP
            waiting.extend((rows[part], tighter) for part in components(vectors[rows], tighter))
        else:
            for start in range(0, len(rows), COMPONENT_MAX):
                found.extend(_average_link(vectors, rows[start : start + COMPONENT_MAX], threshold))
    return tuple(sorted(found))


def components(vectors: Matrix, threshold: float) -> list[Indices]:
    """Connected components of the graph of pairs with a similarity above ``threshold``; each ascending."""
    root = np.arange(len(vectors), dtype=np.intp)
    for left, right, _ in close_pairs(vectors, threshold):
        _join(root, left, right)
    order = np.argsort(root, kind="stable")
    cuts = np.flatnonzero(np.diff(root[order])) + 1
    return [part for part in np.split(order, cuts) if len(part)]


def close_pairs(
    vectors: Matrix, threshold: float, *, fresh: Sequence[bool] | None = None
) -> Iterator[tuple[Indices, Indices, npt.NDArray[np.float32]]]:
    """Pairs with a similarity above ``threshold``, in blocks: left rows, right rows (greater), similarities.

    Args:
        vectors: float32, (n, d), unit rows; a zero row is alike to nothing.
        threshold: Cosine in (0, 1).
        fresh: Where given, only pairs of which one row at least is fresh are looked at.
    """
    count = len(vectors)
    mask = None if fresh is None else np.asarray(fresh, dtype=bool)
    sketch = _sketch(vectors)
    for start in range(0, count, BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, count)
        for first in range(start, count, BLOCK_COLUMNS):
            last = min(first + BLOCK_COLUMNS, count)
            if mask is not None and not mask[start:stop].any() and not mask[first:last].any():
                continue
            near = np.flatnonzero(sketch[start:stop] @ sketch[first:last].T > threshold - ROUNDING)
            left, right = np.divmod(near, last - first)
            keep = left + start < right + first
            if mask is not None:
                keep &= mask[left + start] | mask[right + first]
            left, right = left[keep], right[keep]
            if not len(left):
                continue
            alike = _alike(vectors[start:stop], vectors[first:last], left, right)
            hit = alike > threshold
            if hit.any():
                yield left[hit] + start, right[hit] + first, alike[hit]


def neighbourhoods(vectors: Matrix, rows: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """``rows`` in parts of like size, at most ``size`` each: the oldest first, with those nearest to it.

    Args:
        vectors: float32, (n, d), unit rows.
        rows: Row numbers, oldest first.
        size: Members of a part at most, >= 1.
    """
    parts = -(-len(rows) // size)
    left = list(rows)
    answer: list[tuple[int, ...]] = []
    for part in range(parts, 0, -1):
        share = -(-len(left) // part)
        alike = vectors[left] @ vectors[left[0]]
        alike[0] = 2.0  # the first belongs to its own part, whatever rounding says
        order = np.argsort(-alike, kind="stable")[:share]
        chosen = sorted(order.tolist())
        answer.append(tuple(left[place] for place in chosen))
        taken = set(chosen)
        left = [row for place, row in enumerate(left) if place not in taken]
    return answer


def _alike(rows: Matrix, columns: Matrix, left: Indices, right: Indices) -> npt.NDArray[np.float32]:
    """Similarities of the pairs; one by one where few, out of the whole block's product where many."""
    if len(left) * GATHER_COST > len(rows) * len(columns):
        product: npt.NDArray[np.float32] = (rows @ columns.T)[left, right]
        return product
    answer = np.empty(len(left), dtype=np.float32)
    for start in range(0, len(left), GATHER_ROWS):
        part = slice(start, start + GATHER_ROWS)
        np.einsum("ij,ij->i", rows[left[part]], columns[right[part]], out=answer[part])
    return answer


def _sketch(vectors: Matrix) -> Matrix:
    """Rows of which no two have a smaller product than the originals have, on fewer axes.

    Shadows on the main axes of the set, and one axis more for what they leave out: by Cauchy and Schwarz, the product
    of the parts left out is at most the product of their lengths.
    """
    count, dimension = vectors.shape
    if count < SKETCH_ROWS_MIN or dimension <= 2 * SKETCH_DIMENSIONS:
        return vectors
    sample = vectors[:: max(count // SKETCH_SAMPLE, 1)].astype(np.float64)
    _, axes = np.linalg.eigh(sample.T @ sample)
    sketch = np.empty((count, SKETCH_DIMENSIONS + 1), dtype=np.float32)
    sketch[:, :-1] = vectors @ axes[:, -SKETCH_DIMENSIONS:].astype(np.float32)
    left_out = np.einsum("ij,ij->i", vectors, vectors) - np.einsum("ij,ij->i", sketch[:, :-1], sketch[:, :-1])
    sketch[:, -1] = np.sqrt(np.maximum(left_out, 0.0))
    return sketch


def _join(root: Indices, left: Indices, right: Indices) -> None:
    """Hooks the greater root of each pair to the smaller and jumps pointers until each row names its root."""
    while True:
        one, other = root[left], root[right]
        apart = one != other
        if not apart.any():
            return
        low, high = np.minimum(one, other)[apart], np.maximum(one, other)[apart]
        np.minimum.at(root, high, low)
        while not np.array_equal(further := root[root], root):
            root[:] = further


def _average_link(vectors: Matrix, rows: Indices, threshold: float) -> list[tuple[int, ...]]:
    """Average linkage cut at ``threshold``, by chains of nearest neighbours: O(n²)."""
    count = len(rows)
    if count == 1:
        return [(int(rows[0]),)]
    alike = (vectors[rows] @ vectors[rows].T).astype(np.float32)
    np.fill_diagonal(alike, -np.inf)
    members: list[list[int]] = [[int(row)] for row in rows]
    open_ = np.ones(count, dtype=bool)
    chain: list[int] = []
    while chain or open_.any():
        if not chain:
            chain.append(int(np.argmax(open_)))
        tip = chain[-1]
        nearest = int(np.argmax(alike[tip]))
        if not alike[tip, nearest] > threshold:
            # Whatever the others do, average linkage never brings them nearer than the nearest is now.
            open_[tip] = False
            alike[:, tip] = -np.inf
            alike[tip, :] = -np.inf
            chain.pop()
            continue
        if len(chain) > 1 and alike[tip, chain[-2]] >= alike[tip, nearest]:
            second = chain[-2]
            del chain[-2:]
            keep, gone = min(tip, second), max(tip, second)
            weight, other = len(members[keep]), len(members[gone])
            joined = (alike[keep] * weight + alike[gone] * other) / (weight + other)
            alike[keep, :] = joined
            alike[:, keep] = joined
            alike[keep, keep] = -np.inf
            alike[gone, :] = -np.inf
            alike[:, gone] = -np.inf
            members[keep] += members[gone]
            members[gone] = []
            open_[gone] = False
            continue
        chain.append(nearest)
    return [tuple(sorted(group)) for group in members if group]
