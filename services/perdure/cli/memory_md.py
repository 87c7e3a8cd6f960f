"""``memory-md sync``: the managed block in a project's MEMORY.md. All the rest of the file stays as it is."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import click

from perdure.cli.failure import Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.terminal import paint, say, say_json
from perdure.cli.words import json_option, project_option

FILE = "MEMORY.md"
BACKUP_SUFFIX = ".perdure-backup"


@click.group(name="memory-md")
def memory_md_command() -> None:
    """Keep a block of this project's best memories in its MEMORY.md."""


@memory_md_command.command("sync")
@project_option("The project; the one that the file is in by default.")
@click.option("--path", type=click.Path(path_type=Path), default=Path(FILE), show_default=True, help="The file.")
@json_option
def _sync(project: str | None, path: Path, as_json: bool) -> None:
    """Write the block; what stands outside its two markers is not touched, not by a byte."""
    from urllib.parse import urlencode

    from perdure.project import project_of

    target = path / FILE if path.is_dir() else path
    name = project or project_of(str(target.absolute().parent)).name
    block = Gateway(Place()).text("/memories/memory-md?" + urlencode({"project": name})).removesuffix("\n")
    written = write_block(target, block)
    if as_json:
        say_json({"path": str(target), "project": name, "written": written})
    elif written:
        say(f"{paint('Written', fg='green')}: {target} (project {name})")
    else:
        say(f"{target} is up to date (project {name})")


def write_block(target: Path, block: str) -> bool:
    """Put ``block`` into the file, by a new file in its place; a backup the first time. False where nothing changed.

    Raises:
        Failure: the file cannot be read or written, is not UTF-8, or its markers do not pair up.
    """
    from perdure.domain.memory_md import BEGIN, merge
    from perdure.errors import FailedPrecondition

    real = target.resolve()  # a link stays a link
    try:
        raw = real.read_bytes() if real.exists() else b""
        mark = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
        before = raw[len(mark) :].decode("utf-8", "surrogateescape")
        after = mark + merge(before, block).encode("utf-8", "surrogateescape")
        if after == raw:
            return False
        if raw and BEGIN.split(" (")[0] not in before:
            _keep(real, raw)
        _replace(real, after)
    except FailedPrecondition as error:
        raise Failure(error.message) from error
    except OSError as error:
        raise Failure(f"{target}: {error.strerror}.") from error
    return True


def _keep(real: Path, raw: bytes) -> None:
    backup = real.with_name(real.name + BACKUP_SUFFIX)
    if not backup.exists():
        backup.write_bytes(raw)
        backup.chmod(real.stat().st_mode & 0o777)


def _replace(real: Path, data: bytes) -> None:
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o644
    handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(real)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
