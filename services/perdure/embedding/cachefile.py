"""Cached vectors in files that survive a restart.

Two generations of fixed-size records, appended to: when the young file reaches half the allowed bytes it becomes the
old one and the old one goes; a hit in the old one is written again into the young. So the bytes are bounded, what is
used stays, and nothing is ever rewritten. A record carries a checksum; a torn or foreign file is discarded. Nothing
here is worth an fsync: what a power cut loses is computed again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
import threading
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from perdure.domain.vectors import Vector, to_bytes

log = structlog.get_logger()

_MAGIC: Final = b"PDVC\x01\n"
_HEADER_BYTES: Final = 64
_KEY_BYTES: Final = 32
_FACTS: Final = struct.Struct("<HBxI")  # windows, truncated, crc32 of key, these facts and vector


@dataclass(frozen=True, slots=True)
class Record:
    """What is stored of one text."""

    vector: Vector
    truncated: bool
    windows: int


class _Generation:
    """One file of records and its index."""

    def __init__(self, path: Path, fingerprint: str, dimension: int) -> None:
        self.path = path
        self._dimension = dimension
        self._size = _KEY_BYTES + _FACTS.size + 4 * dimension
        header = (_MAGIC + f"{fingerprint} {dimension}\n".encode()).ljust(_HEADER_BYTES, b"\0")
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.slots: dict[bytes, int] = {}
        length = os.fstat(self._file).st_size
        if os.pread(self._file, _HEADER_BYTES, 0) != header:
            if length:
                log.warning("cache.discarded", file=path.name, bytes=length)
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, header, 0)
            length = _HEADER_BYTES
        self._count = (length - _HEADER_BYTES) // self._size
        # a torn record at the end is cut off, so that the next one starts where it must
        os.ftruncate(self._file, _HEADER_BYTES + self._count * self._size)
        for slot in range(self._count):
            key = os.pread(self._file, _KEY_BYTES, self._at(slot))
            self.slots[key] = slot

    @property
    def nbytes(self) -> int:
        return self._at(self._count)

    def get(self, key: bytes) -> Record | None:
        slot = self.slots.get(key)
        if slot is None:
            return None
        data = os.pread(self._file, self._size, self._at(slot))
        body = data[_KEY_BYTES + _FACTS.size :]
        if len(data) == self._size and data[:_KEY_BYTES] == key:
            windows, truncated, crc = _FACTS.unpack_from(data, _KEY_BYTES)
            if crc == _crc(key, windows, truncated, body):
                return Record(np.frombuffer(body, dtype="<f4"), bool(truncated), windows)
        log.warning("cache.record_discarded", file=self.path.name)
        del self.slots[key]
        return None

    def append(self, entries: Iterable[tuple[bytes, Record]]) -> None:
        data = bytearray()
        added: list[bytes] = []
        for key, record in entries:
            body = to_bytes(record.vector)
            crc = _crc(key, record.windows, record.truncated, body)
            data += key + _FACTS.pack(record.windows, record.truncated, crc) + body
            added.append(key)
        written = os.pwrite(self._file, data, self._at(self._count))
        for key in added[: written // self._size]:
            self.slots[key] = self._count
            self._count += 1

    def close(self) -> None:
        os.close(self._file)

    def _at(self, slot: int) -> int:
        return _HEADER_BYTES + slot * self._size


class CacheFile:
    """Vectors of one space in a folder; one process at a time, others do without. Safe for many threads.

    Args:
        folder: Where the files are; made with mode 0700.
        fingerprint: The space's fingerprint; files of another space are discarded.
        dimension: Length of the vectors.
        most_bytes: Bytes of both files together.

    Raises:
        OSError: the folder cannot be used, or another process uses it (BlockingIOError).
    """

    def __init__(self, folder: Path, fingerprint: str, dimension: int, most_bytes: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock_file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._space = fingerprint, dimension
            self._half = most_bytes // 2
            self._old = _Generation(folder / "old", *self._space)
            self._young = _Generation(folder / "young", *self._space)
        except OSError:
            os.close(self._lock_file)
            raise
        self._lock = threading.Lock()
        self._open = True

    def get(self, key: bytes) -> Record | None:
        """The record of that key; None where there is none or it is damaged."""
        with self._lock:
            if not self._open:
                return None
            try:
                record = self._young.get(key)
                if record is None and (record := self._old.get(key)) is not None:
                    self._append([(key, record)])
            except OSError as error:
                self._give_up(error)
                return None
            return record

    def put(self, entries: list[tuple[bytes, Record]]) -> None:
        """Stores new records; a disk that fails turns the file off and nothing else."""
        with self._lock:
            if self._open:
                try:
                    self._append(entries)
                except OSError as error:
                    self._give_up(error)

    def close(self) -> None:
        """Closes the files; again is harmless."""
        with self._lock:
            self._close()

    def _append(self, entries: list[tuple[bytes, Record]]) -> None:
        fresh = [(key, record) for key, record in entries if key not in self._young.slots]
        if fresh and self._young.nbytes >= self._half:
            self._turn()
        self._young.append(fresh)

    def _turn(self) -> None:
        """The young generation becomes the old one."""
        self._old.close()
        self._young.close()
        self._young.path.replace(self._old.path)
        self._old = _Generation(self._old.path, *self._space)
        self._young = _Generation(self._young.path, *self._space)

    def _give_up(self, error: OSError) -> None:
        log.warning("cache.turned_off", error=str(error))
        self._close()

    def _close(self) -> None:
        if self._open:
            self._open = False
            for file in (self._old.close, self._young.close, lambda: os.close(self._lock_file)):
                with contextlib.suppress(OSError):
                    file()


def _crc(key: bytes, windows: int, truncated: bool, body: bytes) -> int:
    return zlib.crc32(body, zlib.crc32(key + bytes((windows & 0xFF, windows >> 8, bool(truncated)))))
