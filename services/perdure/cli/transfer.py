"""``export`` and ``import``: whole namespaces, in and out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlencode

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.recalling import listed
from perdure.cli.terminal import note, one_line, progress, say, say_json
from perdure.cli.words import SOURCES, STATUSES, json_option, type_option

NDJSON = "application/x-ndjson"
UPLOAD_TIMEOUT_S = 3600.0
"""The answer comes when every line is stored; a large import takes minutes."""
FORMATS = ("jsonl", "markdown", "memory-md")
_PIECE_BYTES = 65536


@click.command()
@click.argument("target", required=False)
@click.option("--format", "form", type=click.Choice(FORMATS), default="jsonl", show_default=True, help="What to write.")
@click.option("-p", "--project", "projects", multiple=True, metavar="NAME", help="Only of this project.")
@type_option(many=True)
@click.option("-s", "--status", "statuses", type=click.Choice(STATUSES), multiple=True, help="Only of this status.")
@click.option("--without-history", is_flag=True, help="Leave earlier states out.")
@click.option("--force", is_flag=True, help="Replace TARGET if it is there.")
def export_command(
    target: str | None,
    form: str,
    projects: tuple[str, ...],
    type_: tuple[str, ...],
    statuses: tuple[str, ...],
    without_history: bool,
    force: bool,
) -> None:
    """Write every memory to TARGET: JSON Lines, a folder of Markdown, or a block in a MEMORY.md.

    JSON Lines go to a file, or to standard output, and hold everything. Markdown is one file a memory, and import
    --from markdown reads it back. memory-md puts the best memories of one project into a marked block of a file and
    leaves the rest of the file as it is.
    """
    from perdure.cli.exporting import write_folder, write_lines

    if form == "memory-md":
        _export_block(target, projects, type_, statuses)
        return
    if form == "markdown" and target in (None, "-"):
        raise Failure("Name the folder to write Markdown into.", Exit.USAGE)
    gateway = Gateway(Place())
    total = 0
    if sys.stderr.isatty() and not (projects or type_ or statuses):
        total = int(gateway.get("/memories/stats").get("total") or 0)
    pairs = [
        *listed(project=projects, type=type_, status=statuses),
        ("history", "false" if without_history or form == "markdown" else None),
    ]
    lines = gateway.lines("/memories/export", pairs)
    if form == "markdown":
        write_folder(lines, Path(str(target)), total, force=force)
    else:
        write_lines(lines, target, total, force=force)


def _export_block(
    target: str | None, projects: tuple[str, ...], types: tuple[str, ...], statuses: tuple[str, ...]
) -> None:
    from perdure.cli.memory_md import FILE, write_block

    if len(projects) > 1 or types or statuses:
        raise Failure("The block names the best memories of one project; of the filters only one -p fits.", Exit.USAGE)
    path = Path(target or FILE)
    path = path / FILE if path.is_dir() else path
    project = projects[0] if projects else path.absolute().parent.name
    block = Gateway(Place()).text("/memories/memory-md?" + urlencode({"project": project})).removesuffix("\n")
    if target == "-":
        say(block)
        return
    written = write_block(path, block)
    note(f"{path} {'written' if written else 'is up to date'} (project {project})")


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--from", "source", type=click.Choice(SOURCES), help="What it comes from; PATH is then often not needed.")
@click.option("-p", "--project", metavar="NAME", help="With --from: put all of it into this project.")
@click.option("--cap", type=click.IntRange(1, 100), metavar="N", help="Of transcripts: memories of one session.")
@click.option("--limit", type=click.IntRange(1, 100_000), metavar="N", help="Of transcripts: memories in all.")
@click.option("--dry-run", is_flag=True, help="Show what would come of it and change nothing.")
@json_option
def import_command(
    paths: tuple[str, ...],
    source: str | None,
    project: str | None,
    cap: int | None,
    limit: int | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Take in memories: Perdure's own export, or with --from what another tool holds.

    Without --from, PATH is a file of JSON Lines as export writes it, or a JSON array of memories; - reads standard
    input. With --from, what is not found by itself is named by PATH. Sources are only read. Importing again changes
    nothing.
    """
    if source is not None:
        from perdure.cli.moving import move_in

        if (cap or limit) and source != "transcripts":
            raise Failure("--cap and --limit are for transcripts.", Exit.USAGE)
        return move_in(source, paths, project=project, cap=cap, limit=limit, dry_run=dry_run, as_json=as_json)
    if len(paths) != 1 or project or cap or limit:
        raise Failure("Name one file that export wrote, or say where it comes from with --from.", Exit.USAGE)
    file = paths[0]
    gateway = Gateway(Place(), timeout_s=UPLOAD_TIMEOUT_S)
    query = [("dry_run", "true" if dry_run else None)]
    with _source(file) as stream, progress("Importing") as draw:
        total = 0 if file == "-" else os.fstat(stream.fileno()).st_size
        report = gateway.upload("/memories/import", _pieces(stream, draw, total), query=query, content_type=NDJSON)
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
