"""Resident matrices: the vectors of a hot namespace in memory, with the columns that filters need beside them.

A ``View`` never changes: growing writes only beyond its end, and columns that change are copied first. So searches
need no lock. Which view a transaction may use, and what it must look up in the file because the view is newer than it
or older: ``dense``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from perdure.domain.memory import MemoryType, Status, Tier
from perdure.domain.vectors import Matrix
from perdure.store.sqlite.driver import Connection

_Kind = TypeVar("_Kind", bound=np.generic)

NEVER = np.iinfo(np.int64).max
DEAD = -1
TYPES = {kind.value: code for code, kind in enumerate(MemoryType)}
STATUSES = {status.value: code for code, status in enumerate(Status)}
TIERS = {tier.value: code for code, tier in enumerate(Tier)}

_BATCH_ROWS = 4096
_GROWTH = 1.25
_FIELDS = 'm."row", m.id, m.project, m.type, m.status, m.tier, m.created_at, m.expires_at, m.seq, v.e'
_ALL = (
    f'SELECT {_FIELDS} FROM vector v CROSS JOIN memory m ON m."row" = v.memory '
    "WHERE v.namespace = ? AND v.space = ? AND v.zero = 0"
)
_CHANGED = (
    f'SELECT {_FIELDS} FROM memory m LEFT JOIN vector v ON v.memory = m."row" AND v.space = ? AND v.zero = 0 '
    "WHERE m.namespace = ? AND m.seq > ? LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class Columns:
    """One array a column, each as long as the matrix has room. ``status`` is DEAD where a row counts no more."""

    ids: npt.NDArray[np.bytes_]
    rows: npt.NDArray[np.int64]
    seq: npt.NDArray[np.int64]
    created: npt.NDArray[np.int64]
    expires: npt.NDArray[np.int64]
    project: npt.NDArray[np.int32]
    type: npt.NDArray[np.int8]
    status: npt.NDArray[np.int8]
    tier: npt.NDArray[np.int8]

    def resized(self, capacity: int) -> Columns:
        """A copy with room for ``capacity`` rows."""
        return Columns(
            ids=_resized(self.ids, capacity),
            rows=_resized(self.rows, capacity),
            seq=_resized(self.seq, capacity),
            created=_resized(self.created, capacity),
            expires=_resized(self.expires, capacity),
            project=_resized(self.project, capacity),
            type=_resized(self.type, capacity),
            status=_resized(self.status, capacity),
            tier=_resized(self.tier, capacity),
        )


@dataclass(frozen=True, slots=True)
class View:
    """The vectors of one namespace and space as they were at ``seq``: the first ``count`` rows of the arrays."""

    seq: int
    count: int
    dead: int
    matrix: Matrix
    columns: Columns
    projects: dict[str, int]

    @property
    def bytes(self) -> int:
        """Memory taken."""
        taken = self.matrix.nbytes + sum(
            getattr(self.columns, name).nbytes for name in self.columns.__dataclass_fields__
        )
        return int(taken)


@dataclass(slots=True)
class Entry:
    """The newest view of one namespace and space; ``lock`` guards its making."""

    generation: int
    lock: threading.Lock = field(default_factory=threading.Lock)
    view: View | None = None
    slots: dict[int, int] = field(default_factory=dict)


class Residents:
    """Views by namespace and space; those used longest ago go first when ``limit_bytes`` is reached."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[int, int], Entry] = OrderedDict()

    def entry(self, namespace: int, space: int, generation: int) -> Entry:
        """The entry, perhaps still empty; a fresh one where the generation moved on."""
        with self._lock:
            found = self._entries.get((namespace, space))
            if found is None or found.generation < generation:
                found = self._entries[namespace, space] = Entry(generation)
            self._entries.move_to_end((namespace, space))
            return found

    def has(self, namespace: int, space: int, generation: int) -> bool:
        """Whether there is a view of that generation."""
        with self._lock:
            found = self._entries.get((namespace, space))
            return found is not None and found.generation == generation and found.view is not None

    def fresh(self, entry: Entry, connection: Connection, namespace: int, space: int, dimension: int, seq: int) -> View:
        """The entry's view at ``seq`` or later, brought up to date in the transaction of ``connection``."""
        view = entry.view
        if view is not None and view.seq >= seq:
            return view
        with entry.lock:
            view = entry.view
            if view is not None and view.seq >= seq:
                return view
            grown = None if view is None else _advanced(entry.slots, view, connection, namespace, space, seq)
            if grown is None:
                grown = _loaded(entry.slots, connection, namespace, space, dimension, seq)
            entry.view = grown
        self._shrink(entry)
        return grown

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._entries.clear()

    def _shrink(self, kept: Entry) -> None:
        with self._lock:
            total = sum(entry.view.bytes for entry in self._entries.values() if entry.view is not None)
            for name, entry in list(self._entries.items()):
                if total <= self.limit_bytes:
                    return
                if entry is not kept and entry.view is not None:
                    total -= entry.view.bytes
                    del self._entries[name]


def _resized(array: npt.NDArray[_Kind], capacity: int) -> npt.NDArray[_Kind]:
    grown = np.empty((capacity, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array[:capacity]
    return grown


def _loaded(
    slots: dict[int, int], connection: Connection, namespace: int, space: int, dimension: int, seq: int
) -> View:
    count = connection.execute("SELECT count(*) FROM vector WHERE namespace = ? AND space = ?", (namespace, space)).get
    capacity = max(64, int(count * _GROWTH))
    view = View(
        seq=seq,
        count=0,
        dead=0,
        matrix=np.empty((capacity, dimension), dtype=np.float32),
        columns=Columns(
            ids=np.empty(capacity, dtype="S36"),
            rows=np.empty(capacity, dtype=np.int64),
            seq=np.empty(capacity, dtype=np.int64),
            created=np.empty(capacity, dtype=np.int64),
            expires=np.empty(capacity, dtype=np.int64),
            project=np.empty(capacity, dtype=np.int32),
            type=np.empty(capacity, dtype=np.int8),
            status=np.empty(capacity, dtype=np.int8),
            tier=np.empty(capacity, dtype=np.int8),
        ),
        projects={},
    )
    slots.clear()
    cursor = connection.execute(_ALL, (namespace, space))
    while batch := list(islice(cursor, _BATCH_ROWS)):
        view = _appended(slots, view, batch)
    return view


def _appended(slots: dict[int, int], view: View, batch: list[tuple]) -> View:  # type: ignore[type-arg]
    """The view with new rows at its end."""
    first, end = view.count, view.count + len(batch)
    matrix, columns = view.matrix, view.columns
    if end > len(matrix):
        capacity = max(end, int(len(matrix) * _GROWTH))
        matrix = _resized(matrix, capacity)
        columns = columns.resized(capacity)
    rows, ids, projects, types, statuses, tiers, created, expires, changes, vectors = zip(*batch, strict=True)
    matrix[first:end] = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(len(batch), -1)
    slots.update(zip(rows, range(first, end), strict=True))
    codes = view.projects
    columns.ids[first:end] = np.frombuffer("".join(ids).encode(), dtype="S36")  # all of 36 characters, see the schema
    columns.rows[first:end] = rows
    columns.project[first:end] = [codes.setdefault(name, len(codes)) for name in projects]
    columns.type[first:end] = [TYPES[name] for name in types]
    columns.status[first:end] = [STATUSES[name] for name in statuses]
    columns.tier[first:end] = [TIERS[name] for name in tiers]
    columns.created[first:end] = created
    columns.expires[first:end] = [NEVER if at is None else at for at in expires]
    columns.seq[first:end] = changes
    return replace(view, count=end, matrix=matrix, columns=columns)


def _advanced(
    slots: dict[int, int], view: View, connection: Connection, namespace: int, space: int, seq: int
) -> View | None:
    """The view at ``seq``; None where so much changed that loading anew is cheaper."""
    changed = connection.execute(_CHANGED, (space, namespace, view.seq, view.count // 2 + 1000)).fetchall()
    purged = connection.execute(
        "SELECT memory, seq FROM tombstone WHERE namespace = ? AND seq > ?", (namespace, view.seq)
    ).fetchall()
    if len(changed) + len(purged) >= view.count // 2 + 1000:
        return None
    known = [row for row in changed if row[0] in slots]
    columns, dead = view.columns, view.dead
    new = [row for row in changed if row[0] not in slots and row[9] is not None]
    gone = [(row, at) for row, at in purged if row in slots]
    if known or gone:
        columns = columns.resized(len(view.matrix))  # a copy: others still read the old one
    for row in known:
        slot = slots[row[0]]
        columns.seq[slot] = row[8]
        if row[9] is not None and row[9] == view.matrix[slot].tobytes():
            columns.project[slot] = view.projects.setdefault(row[2], len(view.projects))
            columns.type[slot], columns.status[slot], columns.tier[slot] = (
                TYPES[row[3]],
                STATUSES[row[4]],
                TIERS[row[5]],
            )
            columns.created[slot], columns.expires[slot] = row[6], NEVER if row[7] is None else row[7]
            continue
        columns.status[slot] = DEAD
        dead += 1
        del slots[row[0]]
        if row[9] is not None:
            new.append(row)
    for purged_row, at in gone:
        slot = slots.pop(purged_row)
        columns.seq[slot], columns.status[slot] = at, DEAD
        dead += 1
    if dead > 1000 and dead * 4 > view.count:
        return None
    grown = replace(view, columns=columns, dead=dead)
    if new:
        grown = _appended(slots, grown, new)
    return replace(grown, seq=seq)
