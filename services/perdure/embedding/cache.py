"""Vectors already computed: the recent ones in memory, more of them in a file.

Knows keys and vectors; never a text. Safe for many threads.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict

from perdure.embedding.cachefile import CacheFile, Record
from perdure.embedding.texts import Embedded, Kind

_ENTRY_BYTES = 400
"""What an entry weighs beside its vector: key, objects and dictionary slot, measured with sys.getsizeof."""


def cache_key(fingerprint: str, kind: Kind, text: str) -> bytes:
    """32 bytes that stand for one text on one side of one space."""
    digest = hashlib.sha256(f"{fingerprint}\0{kind}\0".encode())
    digest.update(text.encode("utf-8"))
    return digest.digest()


class VectorCache:
    """Least recently used vectors leave memory first; all of them go to the file as well, where there is one.

    Args:
        memory_bytes: Memory for vectors; 0 keeps none.
        file: The persistent part; None keeps none.
    """

    def __init__(self, memory_bytes: int, file: CacheFile | None = None) -> None:
        self._most = memory_bytes
        self._file = file
        self._held: OrderedDict[bytes, Embedded] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def memory_bytes(self) -> int:
        """What the vectors in memory weigh."""
        return self._bytes

    def get(self, key: bytes) -> Embedded | None:
        """The vector of that key, marked as cached."""
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
                return found
        record = self._file.get(key) if self._file else None
        if record is None:
            return None
        found = Embedded(record.vector, record.truncated, record.windows, cached=True)
        self._keep(key, found)
        return found

    def put(self, entries: list[tuple[bytes, Embedded]]) -> None:
        """Remembers new vectors."""
        for key, entry in entries:
            self._keep(key, Embedded(entry.vector, entry.truncated, entry.windows, cached=True))
        if self._file:
            self._file.put([(key, Record(entry.vector, entry.truncated, entry.windows)) for key, entry in entries])

    def close(self) -> None:
        """Closes the file."""
        if self._file:
            self._file.close()

    def _keep(self, key: bytes, entry: Embedded) -> None:
        weight = entry.vector.nbytes + _ENTRY_BYTES
        if weight > self._most:
            return
        with self._lock:
            if key not in self._held:
                self._bytes += weight
            self._held[key] = entry
            self._held.move_to_end(key)
            while self._bytes > self._most:
                _, old = self._held.popitem(last=False)
                self._bytes -= old.vector.nbytes + _ENTRY_BYTES
