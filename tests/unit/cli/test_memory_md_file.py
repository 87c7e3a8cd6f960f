"""The managed block in a real file: atomic, backed up once, theirs untouched."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.cli.failure import Failure
from perdure.cli.maintenance import plot
from perdure.cli.memory_md import BACKUP_SUFFIX, write_block
from perdure.domain.memory_md import BEGIN, END, block
from support.aged import aged

EMPTY = block("p", [])


def test_a_new_file_is_made(tmp_path: Path) -> None:
    target = tmp_path / "MEMORY.md"
    assert write_block(target, EMPTY)
    assert target.read_text("utf-8") == EMPTY + "\n"
    assert [path.name for path in tmp_path.iterdir()] == ["MEMORY.md"]


@pytest.mark.requirement("LIFE-13")
def test_theirs_stays_byte_for_byte_and_the_first_time_is_backed_up(tmp_path: Path) -> None:
    target = tmp_path / "MEMORY.md"
    theirs = b"\xef\xbb\xbf# Mine\r\nbad utf-8: \xff\xfe \r\n"
    target.write_bytes(theirs)
    target.chmod(0o640)
    assert write_block(target, EMPTY)
    backup = tmp_path / f"MEMORY.md{BACKUP_SUFFIX}"
    assert backup.read_bytes() == theirs
    assert target.read_bytes().startswith(theirs)
    assert target.stat().st_mode & 0o777 == 0o640
    assert write_block(target, block("p", [aged("New.")]))
    assert target.read_bytes().startswith(theirs)
    assert backup.read_bytes() == theirs


def test_the_same_block_again_writes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "MEMORY.md"
    write_block(target, EMPTY)
    before = target.stat().st_mtime_ns
    assert not write_block(target, EMPTY)
    assert target.stat().st_mtime_ns == before


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.md", tmp_path / "MEMORY.md"
    real.write_text("mine\n", "utf-8")
    link.symlink_to(real)
    write_block(link, EMPTY)
    assert link.is_symlink()
    assert BEGIN in real.read_text("utf-8")


def test_broken_markers_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    target = tmp_path / "MEMORY.md"
    target.write_text(END, "utf-8")
    with pytest.raises(Failure):
        write_block(target, EMPTY)
    assert target.read_text("utf-8") == END
    assert [path.name for path in tmp_path.iterdir()] == ["MEMORY.md"]


@pytest.mark.parametrize(("half_life", "idle"), [(60.0, 0.0), (60.0, 130.0), (600.0, 5000.0), (None, 10.0)])
def test_the_plot_shows_now_once_and_fits_a_terminal(half_life: float | None, idle: float) -> None:
    lines = plot(half_life, idle)
    assert sum(line.count("o") for line in lines) == 1
    assert max(map(len, lines)) <= 79
