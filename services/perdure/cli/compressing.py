"""``compress``: Claude Code's memory files become stubs where memory holds all of them, and come back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import click

from perdure.bridge import compress_files
from perdure.bridge.compress import Memory, Unanswered
from perdure.bridge.compress_run import REASONS, compress
from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.terminal import clean, note, say, say_json
from perdure.cli.words import json_option

_LAST = "last"


@click.command()
@click.option("--apply", "apply", is_flag=True, help="Do it; without this nothing is written.")
@click.option(
    "--undo",
    metavar="[RUN]",
    is_flag=False,
    flag_value=_LAST,
    default=None,
    help="Put back, byte for byte, what a run replaced: the last one, or the one named.",
)
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Claude Code's folder `projects`, if it is elsewhere; may be repeated.",
)
@json_option
def compress_command(apply: bool, undo: str | None, folders: tuple[Path, ...], as_json: bool) -> int:
    """Make stubs of Claude Code's memory files whose whole text is in memory.

    A file of .claude/projects/*/memory is fetched from memory and compared; only where every character is there does
    one line take its place, after the file was kept. MEMORY.md, links and front matter are never touched.
    """
    place = Place()
    if undo is not None:
        if apply or folders:
            raise Failure("--undo goes alone.", Exit.USAGE)
        return _undo(place.home, undo, as_json=as_json)
    chosen = list(folders) or [compress_files.projects_folder(os.environ)]
    try:
        report = compress(chosen, place.home, _Stored(place), dry_run=not apply)
    except Unanswered as fault:
        raise Failure(str(fault), Exit.AWAY) from None
    if as_json:
        say_json(report.as_json())
    else:
        for line in report.sentences():
            say(clean(line))
        if report.dry_run and report.shrunk:
            note("Nothing was written; --apply does it.")
    return Exit.ERROR if report.stopped else Exit.OK


class _Stored:
    """Memories by the command line's own way to the gateway."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def keyed(self, keys: Sequence[str]) -> Sequence[Memory]:
        answer = Gateway(self._place).get("/memories", [("limit", 500), *(("key", key) for key in keys)])
        return list(answer["memories"])

    def like(self, text: str) -> Sequence[Memory]:
        query = [("q", text), ("limit", 20), ("shown_only", "true")]
        return [hit["memory"] for hit in Gateway(self._place).get("/memories/search", query)["recall"]]

    def get(self, memory: str) -> Memory | None:
        try:
            found: Memory = Gateway(self._place).get(f"/memories/{quote(memory, safe='')}", [("peek", "true")])
        except Failure as failure:
            if failure.status == Exit.NOT_FOUND:
                return None
            raise
        return found


def _undo(home: Path, run: str, *, as_json: bool) -> int:
    try:
        if run == _LAST:
            waiting = compress_files.runs(home)
            if not waiting:
                raise Failure("There is nothing to put back.", Exit.NOT_FOUND)
            run = waiting[0]
        back, left = compress_files.undo(home, run)
    except compress_files.Unkept as fault:
        raise Failure(str(fault)) from None
    if as_json:
        say_json({"run": run, "restored": back, "left": [{"file": path, "reason": why} for path, why in left]})
    else:
        for path in back:
            say(clean(f"{path}: as it was"))
        for path, why in left:
            say(clean(f"{path}: left as it is, {REASONS.get(why, why)}"))
        kept = home / compress_files.FOLDER / run
        say(f"{len(back)} put back." + (f" What the others were is in {kept}." if left else ""))
    return Exit.ERROR if left else Exit.OK


__all__ = ["compress_command"]
