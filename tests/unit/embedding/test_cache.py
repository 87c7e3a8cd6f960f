"""Cached vectors, in memory and in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perdure.embedding.cache import VectorCache, cache_key
from perdure.embedding.cachefile import CacheFile, Record
from perdure.embedding.texts import Embedded, Kind

SPACE, DIMENSION = "steered-0123456789ab", 8


def vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).normal(size=DIMENSION).astype(np.float32)


def key(number: int) -> bytes:
    return cache_key(SPACE, Kind.DOCUMENT, f"text {number}")


def opened(folder: Path, *, space: str = SPACE, most_bytes: int = 1 << 20) -> CacheFile:
    return CacheFile(folder, space, DIMENSION, most_bytes)


@pytest.mark.requirement("EMB-06")
def test_the_same_text_has_another_key_on_the_other_side_and_in_another_space() -> None:
    keys = {
        cache_key(SPACE, Kind.DOCUMENT, "text"),
        cache_key(SPACE, Kind.QUERY, "text"),
        cache_key("other", Kind.DOCUMENT, "text"),
        cache_key(SPACE, Kind.DOCUMENT, "Text"),
    }
    assert len(keys) == 4


def test_the_least_recently_used_vector_leaves_memory_first() -> None:
    cache = VectorCache(2 * (4 * DIMENSION + 400))
    cache.put([(key(1), Embedded(vector(1), False, 1)), (key(2), Embedded(vector(2), False, 1))])
    assert cache.get(key(1)) is not None
    cache.put([(key(3), Embedded(vector(3), False, 1))])
    assert cache.get(key(2)) is None
    assert cache.get(key(1)) is not None
    assert cache.memory_bytes <= 2 * (4 * DIMENSION + 400)


def test_a_cache_without_bytes_keeps_nothing() -> None:
    cache = VectorCache(0)
    cache.put([(key(1), Embedded(vector(1), False, 1))])
    assert cache.get(key(1)) is None


@pytest.mark.requirement("EMB-06")
def test_a_vector_is_there_after_a_restart_with_what_was_said_of_it(tmp_path: Path) -> None:
    file = opened(tmp_path / "cache")
    VectorCache(0, file).put([(key(1), Embedded(vector(1), True, 3))])
    file.close()
    found = VectorCache(1 << 20, opened(tmp_path / "cache")).get(key(1))
    assert found is not None
    assert (found.truncated, found.windows, found.cached) == (True, 3, True)
    assert np.array_equal(found.vector, vector(1))


@pytest.mark.requirement("EMB-06")
def test_no_text_is_written_to_the_disk(tmp_path: Path) -> None:
    file = opened(tmp_path / "cache")
    VectorCache(0, file).put([(cache_key(SPACE, Kind.QUERY, "canary"), Embedded(vector(1), False, 1))])
    file.close()
    assert b"canary" not in b"".join(each.read_bytes() for each in (tmp_path / "cache").iterdir())
    assert all(each.stat().st_mode & 0o077 == 0 for each in [tmp_path / "cache", *(tmp_path / "cache").iterdir()])


@pytest.mark.parametrize("damage", [b"", b"not a cache at all" * 50, b"PDVC\x01\n"])
def test_a_file_that_is_no_cache_is_discarded_and_works_again(tmp_path: Path, damage: bytes) -> None:
    folder = tmp_path / "cache"
    opened(folder).close()
    (folder / "young").write_bytes(damage)
    file = opened(folder)
    assert file.get(key(1)) is None
    file.put([(key(1), Record(vector(1), False, 1))])
    file.close()
    assert opened(folder).get(key(1)) is not None


def test_a_flipped_byte_in_a_record_makes_it_a_miss_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    file = opened(folder)
    file.put([(key(number), Record(vector(number), False, 1)) for number in range(2)])
    file.close()
    data = bytearray((folder / "young").read_bytes())
    data[64 + 32 + 8 + 3] ^= 1
    (folder / "young").write_bytes(data)
    file = opened(folder)
    assert file.get(key(0)) is None
    assert file.get(key(1)) is not None


def test_a_torn_record_is_cut_off_and_the_next_one_is_whole(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    file = opened(folder)
    file.put([(key(number), Record(vector(number), False, 1)) for number in range(2)])
    file.close()
    data = (folder / "young").read_bytes()
    (folder / "young").write_bytes(data[:-5])
    file = opened(folder)
    assert file.get(key(1)) is None
    file.put([(key(2), Record(vector(2), False, 1))])
    file.close()
    file = opened(folder)
    for number in (0, 2):
        record = file.get(key(number))
        assert record is not None
        assert np.array_equal(record.vector, vector(number))


def test_vectors_of_another_space_are_discarded(tmp_path: Path) -> None:
    file = opened(tmp_path / "cache")
    file.put([(key(1), Record(vector(1), False, 1))])
    file.close()
    assert opened(tmp_path / "cache", space="steered-ba9876543210").get(key(1)) is None


def test_the_files_stay_within_their_bytes_and_keep_what_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    file = opened(folder, most_bytes=4096)
    for number in range(500):
        file.put([(key(number), Record(vector(number), False, 1))])
        assert file.get(key(0)) is not None
    assert sum(each.stat().st_size for each in folder.iterdir()) <= 4096 + 2 * 72
    assert file.get(key(499)) is not None
    assert file.get(key(100)) is None


def test_a_second_process_is_told_that_the_files_are_taken(tmp_path: Path) -> None:
    file = opened(tmp_path / "cache")
    with pytest.raises(BlockingIOError):
        opened(tmp_path / "cache")
    file.close()
    opened(tmp_path / "cache").close()


def test_a_closed_file_answers_nothing_and_takes_nothing(tmp_path: Path) -> None:
    file = opened(tmp_path / "cache")
    file.close()
    file.put([(key(1), Record(vector(1), False, 1))])
    assert file.get(key(1)) is None
