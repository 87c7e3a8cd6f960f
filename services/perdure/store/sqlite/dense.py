"""The dense arm: exact nearest neighbours, filters before the top-k.

Small or cold namespaces are searched in the file with sqlite-vec's distance; others in a resident matrix. Both only
choose candidates, with a margin for rounding; similarities and order come from one exact calculation, so the answers
are the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perdure.domain.memory import Filter, MemoryId
from perdure.domain.recall.candidate import DenseHit
from perdure.domain.vectors import Matrix, Vector
from perdure.store.sqlite.conditions import conditions, wanted_labels
from perdure.store.sqlite.driver import Connection
from perdure.store.sqlite.resident import DEAD, STATUSES, TIERS, TYPES, Residents, View
from perdure.store.sqlite.rows import micros, to_list, to_list_of_numbers

DIGITS = 6
"""Similarities are rounded to this many digits, so that equal vectors are equal whatever the order of summation."""
_MARGIN = 1e-5
"""More than float32 scans err by at 4096 dimensions of unit vectors."""
_SPARE = 16
_GATHER_SHARE = 0.15
"""Below this share of rows that pass, only those are read. Measured at 100 000 x 384: rows far apart cost 6 times as
much each as rows in a row."""
_BLOCK_ROWS = 256
_EDGE_ROWS = 64
"""Rows a block when the edge of the best is looked for: 0.16 ms instead of 0.8 for sorting 100 000 parts."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where to search: a namespace as one transaction sees it."""

    connection: Connection
    namespace: int
    seq: int
    generation: int
    touched: frozenset[int]
    """Memories this transaction itself has changed."""


@dataclass(frozen=True, slots=True)
class SpaceRow:
    """A space as stored."""

    number: int
    dimension: int


def exact(rows: Matrix, vector: Vector) -> npt.NDArray[np.float64]:
    """Cosines of unit ``rows`` with the unit ``vector``, rounded; the same for a row whatever rows stand beside it."""
    products = rows.astype(np.float64) * vector.astype(np.float64)
    cosines: npt.NDArray[np.float64] = np.clip(np.round(products.sum(axis=1), DIGITS), -1.0, 1.0)
    return cosines


class Dense:
    """Searches by vectors. Safe for many threads; each brings its own transaction."""

    def __init__(self, residents: Residents, min_rows: int) -> None:
        self._residents = residents
        self._min_rows = min_rows

    def search(
        self,
        place: Place,
        space: SpaceRow,
        vector: Vector,
        filter_: Filter,
        *,
        limit: int,
        exclude: Collection[MemoryId],
    ) -> tuple[DenseHit, ...]:
        """The ``limit`` nearest that pass the filter, nearest first, ties by id. ``vector`` has length 1."""
        wanted = limit + len(exclude)
        hidden = set(exclude)
        if self._is_resident(place, space):
            hits = self._resident(place, space, vector, filter_, wanted)
        else:
            hits = _in_file(place, space, vector, filter_, wanted, None)
        hits.sort(key=lambda hit: (-hit.similarity, hit.id))
        return tuple(hit for hit in hits if hit.id not in hidden)[:limit]

    def _is_resident(self, place: Place, space: SpaceRow) -> bool:
        if self._residents.limit_bytes <= 0:
            return False
        if self._residents.has(place.namespace, space.number, place.generation):
            return True
        room = self._residents.limit_bytes // (space.dimension * 4 + 48)
        rows = place.connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM vector WHERE namespace = ? AND space = ? LIMIT ?)",
            (place.namespace, space.number, min(self._min_rows, room + 1)),
        ).get
        if rows < self._min_rows or rows > room:
            return False
        if self._min_rows > room:
            return True
        total = place.connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM vector WHERE namespace = ? AND space = ? LIMIT ?)",
            (place.namespace, space.number, room + 1),
        ).get
        return bool(total <= room)

    def _resident(self, place: Place, space: SpaceRow, vector: Vector, filter_: Filter, wanted: int) -> list[DenseHit]:
        entry = self._residents.entry(place.namespace, space.number, place.generation)
        view = entry.view
        if entry.generation != place.generation or (place.touched and (view is None or view.seq < place.seq)):
            # An older generation than the newest, or a view that cannot be published from here: the file knows.
            return _in_file(place, space, vector, filter_, wanted, None)
        view = self._residents.fresh(entry, place.connection, place.namespace, space.number, space.dimension, place.seq)
        stale: set[int] = set(place.touched)
        if view.seq > place.seq:
            newer = view.columns.rows[: view.count][view.columns.seq[: view.count] > place.seq]
            stale.update(newer.tolist())
        found = _in_view(view, vector, _mask(view, place, filter_, stale), wanted)
        if stale:
            found += _in_file(place, space, vector, filter_, wanted, stale)
        return found


def _mask(view: View, place: Place, filter_: Filter, stale: Iterable[int]) -> npt.NDArray[np.bool_]:
    """Which rows of the view pass."""
    count, columns = view.count, view.columns
    status = columns.status[:count]
    if len(filter_.statuses) == 1:
        mask: npt.NDArray[np.bool_] = status == STATUSES[filter_.statuses[0].value]
    elif filter_.statuses:
        mask = np.isin(status, [STATUSES[one.value] for one in filter_.statuses])
    else:
        mask = status != DEAD
    if filter_.projects:
        mask &= _among(columns.project[:count], [view.projects.get(name, -1) for name in filter_.projects])
    if filter_.not_projects:
        mask &= ~_among(columns.project[:count], [view.projects.get(name, -1) for name in filter_.not_projects])
    if filter_.types:
        mask &= _among(columns.type[:count], [TYPES[one.value] for one in filter_.types])
    if filter_.tiers:
        mask &= _among(columns.tier[:count], [TIERS[one.value] for one in filter_.tiers])
    if filter_.created_from is not None:
        mask &= columns.created[:count] >= micros(filter_.created_from)
    if filter_.created_to is not None:
        mask &= columns.created[:count] < micros(filter_.created_to)
    if filter_.as_of is not None:
        mask &= columns.expires[:count] > micros(filter_.as_of)
    if filter_.keys:
        rows = place.connection.execute(
            'SELECT "row" FROM memory WHERE namespace = ? AND "key" IN (SELECT value FROM json_each(?))',
            (place.namespace, to_list(filter_.keys)),
        )
        mask &= np.isin(columns.rows[:count], np.fromiter((row for (row,) in rows), dtype=np.int64))
    for kind, value in wanted_labels(filter_):
        rows = place.connection.execute(
            "SELECT memory FROM label WHERE namespace = ? AND kind = ? AND value = ?", (place.namespace, kind, value)
        )
        mask &= np.isin(columns.rows[:count], np.fromiter((row for (row,) in rows), dtype=np.int64))
    hidden = list(stale)
    if hidden:
        mask &= ~np.isin(columns.rows[:count], np.array(hidden, dtype=np.int64))
    return mask


def _among(column: npt.NDArray[Any], codes: list[int]) -> npt.NDArray[np.bool_]:
    mask: npt.NDArray[np.bool_] = column == codes[0]
    for code in codes[1:]:
        mask |= column == code
    return mask


def _in_view(view: View, vector: Vector, mask: npt.NDArray[np.bool_], wanted: int) -> list[DenseHit]:
    """Hits among which the ``wanted`` nearest are."""
    passing = int(np.count_nonzero(mask))
    if passing == 0:
        return []
    matrix = view.matrix[: view.count]
    chosen: npt.NDArray[np.intp] | None = None
    if passing < view.count * _GATHER_SHARE:
        chosen = np.flatnonzero(mask)
        similar = _gathered(matrix, chosen, vector)
    else:
        similar = _scanned(matrix, vector)
        if passing < view.count:
            similar[~mask] = -np.inf
    best = np.flatnonzero(similar >= _edge(similar, wanted) - _MARGIN if wanted < passing else similar > -np.inf)
    slots = best if chosen is None else chosen[best]
    cosines = exact(matrix[slots], vector)
    return [
        DenseHit(MemoryId(id_.decode()), float(cosine))
        for id_, cosine in zip(view.columns.ids[slots].tolist(), cosines, strict=True)
    ]


def _scanned(rows: Matrix, vector: Vector) -> npt.NDArray[np.float32]:
    """Products of each row with ``vector``.

    vecdot and neither ``@`` nor einsum: one core reads 100 000 x 384 in 6 ms (OpenBLAS's sgemv with one thread 13 or
    more, einsum 8), and two threads do so at once; with einsum two took twice as long as one.
    """
    products: npt.NDArray[np.float32] = np.vecdot(rows, vector)
    return products


def _edge(similar: npt.NDArray[np.float32], wanted: int) -> float:
    """A value that at least ``wanted`` of ``similar`` reach, and few more."""
    blocks = len(similar) // _EDGE_ROWS
    if blocks <= wanted:
        return float(np.partition(similar, len(similar) - wanted)[len(similar) - wanted])
    best = similar[: blocks * _EDGE_ROWS].reshape(blocks, _EDGE_ROWS).max(axis=1)
    edge = float(np.partition(best, blocks - wanted)[blocks - wanted])
    near = similar[similar >= edge]
    return float(np.partition(near, len(near) - wanted)[len(near) - wanted])


def _gathered(matrix: Matrix, chosen: npt.NDArray[np.intp], vector: Vector) -> npt.NDArray[np.float32]:
    similar = np.empty(len(chosen), dtype=np.float32)
    block = np.empty((_BLOCK_ROWS, matrix.shape[1]), dtype=np.float32)
    for start in range(0, len(chosen), _BLOCK_ROWS):
        part = chosen[start : start + _BLOCK_ROWS]
        taken = block[: len(part)]
        np.take(matrix, part, axis=0, out=taken, mode="clip")
        similar[start : start + len(part)] = _scanned(taken, vector)
    return similar


def _in_file(
    place: Place, space: SpaceRow, vector: Vector, filter_: Filter, wanted: int, only: Collection[int] | None
) -> list[DenseHit]:
    """Hits among which the ``wanted`` nearest are; of ``only`` these where given."""
    where, values = conditions(filter_, place.namespace)
    data = vector.astype("<f4").tobytes()
    among = ""
    listed: list[Any] = []
    if only is not None:
        among = "AND v.memory IN (SELECT value FROM json_each(?)) "
        listed = [to_list_of_numbers(only)]
    sql = (
        "SELECT v.memory, vec_distance_l2(v.e, ?) AS distance FROM vector v "
        'CROSS JOIN memory m ON m."row" = v.memory '
        f"WHERE v.namespace = ? AND v.space = ? AND v.zero = 0 {among}AND {where} ORDER BY distance LIMIT ?"
    )
    limit = wanted + _SPARE
    while True:
        found = place.connection.execute(sql, (data, place.namespace, space.number, *listed, *values, limit)).fetchall()
        if len(found) < limit:
            return _ranked(place, space, vector, [row for row, _ in found])
        # cos = 1 - d*d/2: compare cosines, in which the margin is meant
        edge = 1.0 - found[wanted - 1][1] ** 2 / 2
        last = 1.0 - found[-1][1] ** 2 / 2
        if last < edge - _MARGIN:
            return _ranked(place, space, vector, [row for row, _ in found])
        limit *= 4


def _ranked(place: Place, space: SpaceRow, vector: Vector, candidates: list[int]) -> list[DenseHit]:
    if not candidates:
        return []
    found = place.connection.execute(
        'SELECT m.id, v.e FROM vector v JOIN memory m ON m."row" = v.memory '
        "WHERE v.space = ? AND v.memory IN (SELECT value FROM json_each(?))",
        (space.number, to_list_of_numbers(candidates)),
    ).fetchall()
    rows = np.frombuffer(b"".join(e for _, e in found), dtype="<f4").reshape(len(found), -1)
    similar = exact(rows, vector)
    return [DenseHit(MemoryId(id_), float(value)) for (id_, _), value in zip(found, similar, strict=True)]
