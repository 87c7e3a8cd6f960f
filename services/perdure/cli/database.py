"""``db``: backup, check and repair of the store, without the services in between."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.terminal import one_line, paint, progress, say, say_json, table
from perdure.cli.words import json_option


def _parts() -> tuple[Any, Any]:
    """The settings, and what opens the store; imported when a command runs."""
    from perdure.cli.starting import load_settings

    try:
        from perdure.maintenance import database
    except ModuleNotFoundError as error:
        raise Failure(f"{error.name} is not installed; run: pip install 'perdure[store]'") from error
    return load_settings(), database


@click.group()
def db_command() -> None:
    """Back up, check and repair the store of this home."""


@db_command.command("backup")
@click.argument("target", type=click.Path(path_type=Path))
@json_option
def _backup(target: Path, as_json: bool) -> None:
    """Write a consistent copy of the store to TARGET, while the services run or not."""
    settings, database = _parts()
    if target.exists():
        raise Failure(f"{target} is there already; choose another name.", Exit.USAGE)
    if not target.absolute().parent.is_dir():
        raise Failure(f"There is no folder {target.absolute().parent}.", Exit.USAGE)
    size = database.backup(settings, target.absolute())
    if as_json:
        say_json({"target": str(target), "bytes": size})
    else:
        say(f"{paint('Backed up', fg='green')} to {target} ({size_text(size)})")


@db_command.command("check")
@json_option
def _check(as_json: bool) -> int:
    """Compare rows, vectors, full text and links with each other; changes nothing. Exit status 1: not clean."""
    settings, database = _parts()
    with progress("Checking") as draw:
        report = database.check(settings, draw)
    return _report(report, as_json, "`perdure db repair` rebuilds indexes from the rows.")


@db_command.command("repair")
@json_option
def _repair(as_json: bool) -> int:
    """Rebuild the indexes from the rows, which are never touched."""
    settings, database = _parts()
    with progress("Repairing") as draw:
        report = database.repair(settings, draw)
    return _report(report, as_json, "What is left needs a backup: stop the services and put one in place.")


def _report(report: Any, as_json: bool, step: str) -> int:
    findings = list(report.findings)
    if as_json:
        say_json({**asdict(report), "clean": not findings})
    else:
        looked = f"{report.memories} memories, {report.vectors} vectors"
        if not findings:
            say(f"{paint('Clean', fg='green')}: {looked}")
        else:
            say(f"{paint('Not clean', fg='red')}: {len(findings)} findings in {looked}")
            for finding in findings:
                say(f"  {one_line(' '.join(str(part) for part in asdict(finding).values() if part not in ('', None)))}")
            say(step)
    return Exit.ERROR if findings else Exit.OK


@db_command.command("info")
@json_option
def _info(as_json: bool) -> None:
    """Show where the store is, its version and its size."""
    settings, database = _parts()
    facts = asdict(database.info(settings))
    if as_json:
        say_json(facts)
        return
    shown = {**facts, "bytes": size_text(facts["bytes"])} if isinstance(facts.get("bytes"), int) else facts
    table(("store", ""), list(shown.items()))


def size_text(size: int) -> str:
    """Bytes as people read them."""
    value = float(size)
    for unit in ("B", "KB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"
