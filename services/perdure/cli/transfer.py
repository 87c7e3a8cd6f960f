"""``export`` and ``import``: whole namespaces as JSON Lines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.recalling import listed
from perdure.cli.terminal import note, one_line, progress, say, say_json
from perdure.cli.words import STATUSES, json_option, type_option

NDJSON = "application/x-ndjson"
UPLOAD_TIMEOUT_S = 3600.0
"""The answer comes when every line is stored; a large import takes minutes."""
_PIECE_BYTES = 65536


@click.command()
@click.argument("file", required=False)
@click.option("-p", "--project", "projects", multiple=True, metavar="NAME", help="Only of this project.")
@type_option(many=True)
@click.option("-s", "--status", "statuses", type=click.Choice(STATUSES), multiple=True, help="Only of this status.")
@click.option("--without-history", is_flag=True, help="Leave earlier states out.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def export_command(
    file: str | None,
    projects: tuple[str, ...],
    type_: tuple[str, ...],
    statuses: tuple[str, ...],
    without_history: bool,
    force: bool,
) -> None:
    """Write every memory as JSON Lines to FILE, or to standard output."""
    gateway = Gateway(Place())
    total = 0
    if sys.stderr.isatty() and not (projects or type_ or statuses):
        total = int(gateway.get("/memories/stats").get("total") or 0)
    pairs = [
        *listed(project=projects, type=type_, status=statuses),
        ("history", "false" if without_history else None),
    ]
    lines = gateway.lines("/memories/export", pairs)
    if file in (None, "-"):
        _write(lines, sys.stdout.buffer, total)
        return
    target = Path(str(file))
    if target.exists() and not force:
        raise Failure(f"{target} is there already; choose another name, or replace it with --force.", Exit.USAGE)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            count = _write(lines, out, total)
            os.fsync(out.fileno())
        temporary.replace(target)
    except OSError as error:
        raise Failure(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)
    note(f"{count} memories written to {target}")


def _write(lines: Iterator[bytes], out: IO[bytes], total: int) -> int:
    count = 0
    with progress("Exporting") as draw:
        for line in lines:
            out.write(line + b"\n")
            count += 1
            draw(count, max(total, count) if total else 0)
    out.flush()
    return count


@click.command()
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Say what would happen and change nothing.")
@json_option
def import_command(file: str, dry_run: bool, as_json: bool) -> int:
    """Take in memories from JSON Lines, as export writes them; - reads standard input.

    A JSON array of memories, as NaN Forget exports, is taken too. Importing the same file again changes nothing.
    """
    gateway = Gateway(Place(), timeout_s=UPLOAD_TIMEOUT_S)
    query = [("dry_run", "true" if dry_run else None)]
    with _source(file) as source, progress("Importing") as draw:
        total = 0 if file == "-" else os.fstat(source.fileno()).st_size
        report = gateway.upload("/memories/import", _pieces(source, draw, total), query=query, content_type=NDJSON)
    if as_json:
        say_json(report)
    else:
        _show(report)
    return Exit.ERROR if report.get("failed") else Exit.OK


def _source(file: str) -> IO[bytes]:
    if file == "-":
        return sys.stdin.buffer
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.", Exit.USAGE) from error


def _pieces(source: IO[bytes], draw: Any, total: int) -> Iterator[bytes]:
    sent = 0
    first = source.read(_PIECE_BYTES)
    if first.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        yield from _array(first + source.read())
        return
    piece = first.removeprefix(b"\xef\xbb\xbf")
    while piece:
        yield piece
        sent += len(piece)
        draw(sent, max(total, sent) if total else 0)
        piece = source.read(_PIECE_BYTES)


def _array(raw: bytes) -> Iterator[bytes]:
    try:
        items = json.loads(raw.decode("utf-8-sig"))
    except ValueError as error:
        raise Failure(f"The input begins as a JSON array but is none: {error}.", Exit.USAGE) from error
    for item in items:
        yield json.dumps(item).encode("ascii") + b"\n"


def _show(report: dict[str, Any]) -> None:
    would = "Would take in" if report.get("dry_run") else "Took in"
    counts = ", ".join(f"{report.get(name, 0)} {name}" for name in ("created", "unchanged", "merged", "failed"))
    say(f"{would} {report.get('read', 0)} lines: {counts}")
    problems = report.get("problems") or []
    for problem in problems:
        note(f"line {problem.get('line')}: {one_line(problem.get('message', ''))}")
    if report.get("failed", 0) > len(problems):
        note(f"and {report['failed'] - len(problems)} more")
