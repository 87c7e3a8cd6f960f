"""Where the vectors of a namespace lie.

A mean of all vectors, kept by the version of the namespace it was made from. A small namespace gets a new one whenever
it changed; of a large one a mean is used until it has grown by a tenth, as one vector more cannot move it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice

import numpy as np

from perdure.domain.recall.contrast import Centre
from perdure.store.sqlite.dense import Place, SpaceRow
from perdure.store.sqlite.driver import Connection

KEPT = 4096
"""Namespaces whose centre is kept; 1.6 KB each at 384 dimensions."""

EXACT_BELOW = 1000
GROWTH = 1.1
_BATCH_ROWS = 4096


@dataclass(frozen=True, slots=True)
class _Made:
    generation: int
    seq: int
    size: int
    centre: Centre | None


class Centres:
    """Centres by namespace and space. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: OrderedDict[tuple[int, int], _Made] = OrderedDict()

    def centre(self, place: Place, space: SpaceRow, size: int) -> Centre | None:
        """The centre as the transaction of ``place`` sees it, or a little older in a large namespace.

        Args:
            place: The namespace and the transaction.
            space: Of the vectors.
            size: How many memories the namespace holds.
        """
        name = (place.namespace, space.number)
        with self._lock:
            made = self._made.get(name)
        if made is not None and made.generation == place.generation:
            if made.seq == place.seq and not place.touched:
                return made.centre
            grown_little = made.size / GROWTH <= size <= made.size * GROWTH
            if made.centre is not None and made.centre.count >= EXACT_BELOW and grown_little:
                return made.centre
        centre = _measured(place.connection, place.namespace, space)
        with self._lock:
            self._made[name] = _Made(place.generation, -1 if place.touched else place.seq, size, centre)
            self._made.move_to_end(name)
            while len(self._made) > KEPT:
                self._made.popitem(last=False)
        return centre


def _measured(connection: Connection, namespace: int, space: SpaceRow) -> Centre | None:
    total = np.zeros(space.dimension, dtype=np.float64)
    count = 0
    cursor = connection.execute(
        "SELECT e FROM vector WHERE namespace = ? AND space = ? AND zero = 0", (namespace, space.number)
    )
    while batch := list(islice(cursor, _BATCH_ROWS)):
        rows = np.frombuffer(b"".join(e for (e,) in batch), dtype="<f4").reshape(len(batch), -1)
        total += rows.sum(axis=0, dtype=np.float64)
        count += len(batch)
    return Centre((total / count).astype(np.float32), count) if count else None
