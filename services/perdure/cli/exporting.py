"""``export`` in its forms: JSON Lines, a folder of Markdown, a block in a ``MEMORY.md``.

Files are written beside their place and moved there, readable by their owner alone; nothing that somebody else wrote is
replaced without being asked.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from perdure.cli.failure import Exit, Failure
from perdure.cli.terminal import note, progress

_HEAD = re.compile(rb"---\r?\nperdure: \d+\r?\nid: \"([0-9a-f-]{36})\"")
_HEAD_BYTES = 200


def write_lines(lines: Iterator[bytes], file: str | None, total: int, *, force: bool) -> None:
    """JSON Lines to ``file``, or to standard output for None and ``-``."""
    if file in (None, "-"):
        _copy(lines, sys.stdout.buffer, total)
        return
    target = Path(str(file))
    if target.exists() and not force:
        raise Failure(f"{target} is there already; choose another name, or replace it with --force.", Exit.USAGE)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _private(temporary) as out:
            count = _copy(lines, out, total)
            os.fsync(out.fileno())
        temporary.replace(target)
    except OSError as error:
        raise Failure(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)
    note(f"{count} memories written to {target}")


def _copy(lines: Iterator[bytes], out: IO[bytes], total: int) -> int:
    count = 0
    with progress("Exporting") as draw:
        for line in lines:
            out.write(line + b"\n")
            count += 1
            draw(count, max(total, count) if total else 0)
    out.flush()
    return count


def write_folder(lines: Iterable[bytes], folder: Path, total: int, *, force: bool) -> None:
    """One Markdown file a memory below ``folder``, a folder a project.

    With ``force`` the folder may hold an earlier export: a memory's file of then is replaced, whatever its name was;
    files that are not ours stay.

    Raises:
        Failure: the folder holds something and ``force`` was not said, or it cannot be written.
    """
    from perdure.importing.exported import document, name_of

    if folder.exists() and not folder.is_dir():
        raise Failure(f"{folder} is a file; Markdown goes into a folder.", Exit.USAGE)
    if folder.is_dir() and any(folder.iterdir()) and not force:
        raise Failure(f"{folder} is not empty; choose another folder, or export into it with --force.", Exit.USAGE)
    earlier = _earlier(folder)
    ours = set(earlier.values())
    written: set[Path] = set()
    count = 0
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with progress("Exporting") as draw:
            for line in lines:
                memory: dict[str, Any] = json.loads(line)
                project, name = name_of(memory)
                place = folder / project
                place.mkdir(mode=0o700, exist_ok=True)
                target = place / name
                if target in written:  # two ids with one end, of titles that read the same
                    target = place / f"{name.removesuffix('.md')}-{memory['id']}.md"
                written.add(target)
                old = earlier.pop(str(memory["id"]), None)
                if target.exists() and old != target and target not in ours:
                    raise Failure(f"{target} is somebody's own file; it stays as it is. Choose another folder.")
                _put(target, document(memory).encode("utf-8", "surrogatepass"))
                if old is not None and old not in written:
                    old.unlink(missing_ok=True)
                count += 1
                draw(count, max(total, count) if total else 0)
    except OSError as error:
        raise Failure(f"{error.filename or folder} cannot be written: {error.strerror}.") from error
    note(f"{count} memories written to {folder}")


def _earlier(folder: Path) -> dict[str, Path]:
    """The files of an earlier export, by their memories' ids."""
    found: dict[str, Path] = {}
    for path in folder.glob("*/*.md") if folder.is_dir() else ():
        with path.open("rb") as file:
            match = _HEAD.match(file.read(_HEAD_BYTES))
        if match:
            found[match[1].decode("ascii")] = path
    return found


def _put(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _private(temporary) as out:
            out.write(data)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _private(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
