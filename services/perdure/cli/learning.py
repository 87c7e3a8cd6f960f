"""``model`` and ``experience``: the private model, and a namespace's experience as a whole; ``usage``."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.steps import counted, path_of
from perdure.cli.terminal import ask, note, one_line, paint, progress, say, say_json, table, when
from perdure.cli.words import json_option

POLL_S = 0.5
UNFINISHED = frozenset({"queued", "running"})
BAR_CELLS = 24
IMPORT_TIMEOUT_S = 600.0
BODY_BYTES = 4 * 1024 * 1024
"""Documents in one body of an import; the gateway takes 8 MiB by default."""

KINDS = ("episode", "skill", "run")
LISTS = ("episodes", "skills", "runs")

_DAYS = click.option("--days", type=click.IntRange(1, 365), default=30, show_default=True, help="How far back.")


@click.group()
def model_command() -> None:
    """Train the namespace's private model, see what it learned, go back to the one before."""


@model_command.command("train")
@click.option("--dry-run", is_flag=True, help="Say what would be learned, and learn nothing.")
@click.option("--curate", is_flag=True, help="Leave out what mostly fails, and near-copies.")
@click.option("--no-wait", is_flag=True, help="Start it and return.")
@json_option
def train_model(dry_run: bool, curate: bool, no_wait: bool, as_json: bool) -> int:
    """Learn from skills, demonstrations, and the memories that questions led to."""
    gateway = Gateway(Place())
    report = gateway.call("POST", "/experience/train", {"dry_run": dry_run, "curate": curate, "wait": False})
    if not no_wait:
        try:
            report = _watched(gateway, report)
        except KeyboardInterrupt:
            note(f"It goes on in the background; see it with: perdure model show --training {report['job']}")
            return Exit.INTERRUPTED
    if as_json:
        say_json(report)
    else:
        _show_training(report)
    return Exit.ERROR if report["status"] in ("failed", "cancelled") else Exit.OK


def _watched(gateway: Gateway, report: dict[str, Any]) -> dict[str, Any]:
    with progress("Training") as draw:
        while report["status"] in UNFINISHED:
            draw(int(report.get("done") or 0), int(report.get("total") or 0))
            time.sleep(POLL_S)
            report = gateway.get(f"/experience/trainings/{quote(report['job'], safe='')}")
    return report


@model_command.command("show")
@click.option("--training", metavar="JOB", help="How far this training is, or what came of it.")
@json_option
def show_model(training: str | None, as_json: bool) -> None:
    """Show the model in use and the trainings that made it."""
    gateway = Gateway(Place())
    if training is not None:
        report = gateway.get(f"/experience/trainings/{quote(training, safe='')}")
        say_json(report) if as_json else _show_training(report)
        return
    found = gateway.get("/experience/overview", [("days", 1)])
    if as_json:
        say_json({name: found[name] for name in ("model_version", "learned", "pending", "adaptations")})
        return
    say(f"Model: {paint(one_line(found['model_version'] or 'none; searches use the embedder as it is'), bold=True)}")
    say(f"  {counted(found['learned'], 'procedure')} learned, {found['pending']} pending")
    for one in found["adaptations"]:
        _show_adaptation(one)


@model_command.command("rollback")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def rollback_model(yes: bool, as_json: bool) -> None:
    """Go back to the model before; what the present one learned is pending again."""
    if not (yes or ask("Go back to the model before?")):
        raise Failure("Nothing was changed. Say --yes to do it without a question.", Exit.USAGE)
    number = Gateway(Place()).call("POST", "/experience/model/rollback")["number"]
    if as_json:
        say_json({"number": number})
        return
    say(f"{paint('Gone back', fg='green')}: " + (f"to version {number}" if number else "to the embedder as it is"))


_SAID = {
    "dry_run": "would learn",
    "nothing_new": "There is nothing new to learn",
    "no_window": "There is nothing that could be learned from yet",
    "trained": "Learned",
    "queued": "Waits for a worker",
    "running": "Under way",
    "failed": "Failed",
    "cancelled": "Cancelled",
}


def _show_training(report: dict[str, Any]) -> None:
    status = report["status"]
    if status == "kept_old":
        # its message says which model stays and what was compared
        message = one_line(report["message"]) or "the model in use stays"
        say(f"Nothing was changed: {paint(message, fg='yellow')}.")
    elif status == "dry_run":
        say(f"It would learn {counted(report['pending'], 'procedure')}.")
    else:
        colour = {"trained": "green", "failed": "red", "kept_old": "yellow"}.get(status)
        said = paint(_SAID.get(status, status), fg=colour) if colour else _SAID.get(status, status)
        count = f": {counted(len(report['learned']), 'procedure')}" if status == "trained" else "."
        say(f"{said}{count}")
    if report.get("message") and status not in ("nothing_new", "kept_old"):
        say(f"  {one_line(report['message'])}")
    if status == "trained" and report.get("version"):
        say(f"  model {one_line(report['version'])}, before it {one_line(report['previous'] or 'none')}")
    if report.get("adaptation"):
        _show_adaptation(report["adaptation"])
    for one in report["left_out"]:
        like = f" of {one_line(one['like'])}" if one.get("like") else ""
        say(f"  left out: {one_line(one['name'])} ({one['reason'].replace('_', ' ')}{like})")
    if status in UNFINISHED:
        say(paint(f"  perdure model show --training {report['job']} shows how far it is", dim=True))


def _show_adaptation(one: dict[str, Any]) -> None:
    parts = [f"version {one['number']}, {when(one['at'])}: {one['pairs']} pairs, {one['passes']} passes"]
    for what in ("recall", "replay"):
        before, after = one[f"{what}_before"], one[f"{what}_after"]
        if before is not None and after is not None:
            parts.append(f"{'held out' if what == 'recall' else what} {before:.2f} -> {after:.2f}")
    say(f"  {', '.join(parts)}")


# ---------------------------------------------------------------- the whole


@click.group()
def experience_command() -> None:
    """See, move and erase all that was shown and done."""


@experience_command.command("overview")
@_DAYS
@json_option
def overview(days: int, as_json: bool) -> None:
    """Show skills, runs, approvals, the model, and the days."""
    offset = datetime.now(UTC).astimezone().utcoffset()
    minutes = int(offset.total_seconds() // 60) if offset else 0
    gateway = Gateway(Place())
    found = gateway.get("/experience/overview", [("days", days), ("tz_offset_minutes", minutes)])
    if as_json:
        say_json(found)
        return
    if not (found["episodes"] or found["skills"] or found["runs"]):
        note("No experience yet. Keep a demonstration with: perdure episode add FILE")
        return
    runs = ", ".join(f"{count} {one_line(status).replace('_', ' ')}" for status, count in sorted(found["runs"].items()))
    approvals = found["approvals"]
    say(f"{paint('Experience', bold=True)}")
    say(f"  demonstrations {found['episodes']}   skills {found['skills']}   runs {runs or 'none'}")
    say(f"  approvals      {approvals['approved']} given, {approvals['denied']} denied")
    say(f"  model          {one_line(found['model_version'] or 'none')}")
    say(f"  learned        {_bar(found['learned'], found['learned'] + found['pending'])}")
    if found["pending"]:
        say(paint("  perdure model train learns what is pending", dim=True))
    for one in found["adaptations"]:
        _show_adaptation(one)
    _days(found["days"])
    for one in found["recent"]:
        say(f"  {when(one['at'])}  {one_line(one['what']):<14} {one_line(one['name'])}")


def _bar(done: int, total: int) -> str:
    full = BAR_CELLS * done // total if total else 0
    return f"[{'#' * full}{'.' * (BAR_CELLS - full)}] {done} of {total}"


def _days(days: list[dict[str, Any]]) -> None:
    most = max((int(day.get("runs", 0)) for day in days), default=0)
    busy = [day for day in days if any(int(day.get(name, 0)) for name in _COUNTED)]
    if not busy:
        return
    say("  day         demos  skills  runs")
    for day in busy:
        runs = int(day.get("runs", 0))
        bar = "#" * (BAR_CELLS * runs // most if most else 0)
        counts = [int(day.get(name, 0)) for name in _COUNTED]
        say(f"  {one_line(day['day'])}  {counts[0]:>5}  {counts[1]:>6}  {counts[2]:>4}  {bar}")


_COUNTED = ("demonstrations", "skills", "runs", "learned")


@experience_command.command("export")
@click.argument("file")
@click.option("--screenshots", metavar="DIR", help="Write the pictures too, as DIR/<episode>/<name>.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def export_experience(file: str, screenshots: str | None, force: bool) -> None:
    """Write episodes, skills and runs to FILE, as Builderforce Memory's experience.json."""
    gateway = Gateway(Place(), timeout_s=IMPORT_TIMEOUT_S)
    target = Path(file)
    if target.exists() and not force:
        raise Failure(f"{target} is there already; choose another name, or replace it with --force.", Exit.USAGE)
    whole = gateway.get("/experience/export")
    _write(target, json.dumps(whole, ensure_ascii=False, indent=2).encode("utf-8", "backslashreplace"))
    pictures = _fetch_pictures(gateway, whole, Path(screenshots)) if screenshots else 0
    counts = ", ".join(counted(len(whole.get(f"{kind}s", [])), kind) for kind in KINDS)
    beside = f", {counted(pictures, 'picture')} to {screenshots}" if screenshots else ""
    note(f"{counts} written to {target}{beside}")


def _write(target: Path, data: bytes) -> None:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(target)
    except OSError as error:
        raise Failure(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _fetch_pictures(gateway: Gateway, whole: dict[str, Any], folder: Path) -> int:
    count = 0
    for episode in whole.get("episodes", []):
        base = f"/episodes/{quote(episode['id'], safe='')}/screenshots"
        for one in gateway.get(base)["screenshots"]:
            data = gateway.file(f"{base}/{quote(one['name'], safe='')}")
            _write(folder / Path(episode["id"]).name / Path(one["name"]).name, data)
            count += 1
    return count


@experience_command.command("import")
@click.argument("file")
@click.option("--screenshots", metavar="DIR", help="Take the pictures from DIR/<episode>/<name>.")
@click.option("--dry-run", is_flag=True, help="Say what would come in, and store nothing.")
@json_option
def import_experience(file: str, screenshots: str | None, dry_run: bool, as_json: bool) -> int:
    """Take in an experience.json (schema evermind.experience/1). Importing it again changes nothing."""
    gateway = Gateway(Place(), timeout_s=IMPORT_TIMEOUT_S)
    try:
        whole = json.loads(Path(file).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.", Exit.USAGE) from error
    except ValueError as error:
        raise Failure(f"{file} holds no JSON: {error}.", Exit.USAGE) from error
    if not isinstance(whole, dict):
        raise Failure(f"{file} is to hold an object with the schema evermind.experience/1.", Exit.USAGE)
    pictures = _pictures(whole, Path(screenshots)) if screenshots else []
    report = _send(gateway, whole, dry_run)
    unsent = [] if dry_run else _send_pictures(gateway, pictures)
    report["problems"] += unsent
    sent = len(pictures) - len(unsent)
    if as_json:
        say_json({**report, "screenshots": sent})
    else:
        _show_import(report, sent, dry_run)
    return Exit.ERROR if report["problems"] else Exit.OK


def _send(gateway: Gateway, whole: dict[str, Any], dry_run: bool) -> dict[str, Any]:
    """Send the file in bodies that the gateway takes; the head with the first."""
    query = [("dry_run", "true" if dry_run else None)]
    head = {name: value for name, value in whole.items() if name not in LISTS}
    total: dict[str, Any] = {"created": Counter(), "unchanged": Counter(), "problems": [], "dry_run": dry_run}
    for number, (starts, lists) in enumerate(_bodies(whole)):
        body = head if number == 0 else {"schema": head.get("schema")}
        report = gateway.call("POST", "/experience/import", {**body, **lists}, query=query)
        total["created"].update(report["created"])
        total["unchanged"].update(report["unchanged"])
        total["problems"] += [_placed(problem, starts) for problem in report["problems"]]
    return total


def _bodies(whole: dict[str, Any]) -> Iterator[tuple[dict[str, int], dict[str, Any]]]:
    """The lists in parts of ``BODY_BYTES``, each with the places at which its lists begin. At least one part."""
    starts = dict.fromkeys(LISTS, 0)
    # what is no list goes first, so that the gateway refuses it before anything is stored
    part = {name: whole[name] for name in LISTS if not isinstance(whole.get(name, []), list)}
    size = 0
    for name in LISTS:
        for at, item in enumerate(() if name in part else whole.get(name, [])):
            item_size = len(json.dumps(item)) + 2
            if size and size + item_size > BODY_BYTES:
                yield starts, part
                starts, part, size = {**dict.fromkeys(LISTS, 0), name: at}, {}, 0
            part.setdefault(name, []).append(item)
            size += item_size
    yield starts, part


def _placed(problem: str, starts: dict[str, int]) -> str:
    """``problem`` with the places of the whole file."""

    def moved(match: re.Match[str]) -> str:
        return f"{match[1]}[{int(match[2]) + starts[match[1]]}]"

    return re.sub(r"\b(episodes|skills|runs)\[(\d+)\]", moved, problem, count=1)


def _pictures(whole: dict[str, Any], folder: Path) -> list[tuple[str, str, bytes]]:
    """The pictures in ``folder`` of the file's episodes, as (episode, name, content)."""
    if not folder.is_dir():
        raise Failure(f"{folder} is no folder.", Exit.USAGE)
    episodes = whole.get("episodes", [])
    found = []
    for episode in episodes if isinstance(episodes, list) else []:
        id_ = str(episode.get("id")) if isinstance(episode, dict) else ""
        if not id_ or Path(id_).name != id_:
            continue
        for path in sorted(item for item in (folder / id_).glob("*") if item.is_file() and not item.is_symlink()):
            try:
                found.append((id_, path.name, path.read_bytes()))
            except OSError as error:
                raise Failure(f"{path} cannot be read: {error.strerror}.", Exit.USAGE) from error
    return found


def _send_pictures(gateway: Gateway, pictures: list[tuple[str, str, bytes]]) -> list[str]:
    """Send them; a sentence for each that was not taken."""
    problems = []
    for episode, name, data in pictures:
        try:
            gateway.put_file(path_of("episodes", episode, "screenshots", name), data)
        except Failure as failure:
            if failure.status == Exit.AWAY:
                raise
            problems.append(f"{episode}/{name}: {failure.message}")
    return problems


def _show_import(report: dict[str, Any], pictures: int, dry_run: bool) -> None:
    verb = "Would take in" if dry_run else "Taken in"
    counts = [counted(count, kind) for kind in KINDS if (count := report["created"].get(kind))]
    if pictures:
        counts.append(counted(pictures, "picture"))
    say(f"{paint(verb, fg='green')}: {', '.join(counts) or 'nothing new'}")
    known = sum(report["unchanged"].values())
    if known:
        say(f"  {known} {'was' if known == 1 else 'were'} there already")
    for problem in report["problems"]:
        say(f"  {paint('left out', fg='yellow')}: {one_line(problem)}")


@experience_command.command("forget-all")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
def forget_all(yes: bool, as_json: bool) -> None:
    """Erase every episode, skill and run. Memories and the model stay."""
    if not (yes or ask("Erase every episode, skill and run for ever?")):
        raise Failure("Nothing was erased. Say --yes to do it without a question.", Exit.USAGE)
    answer = Gateway(Place(), timeout_s=IMPORT_TIMEOUT_S).call("POST", "/experience/forget-all", {"confirm": True})
    if as_json:
        say_json(answer)
        return
    say(f"{paint('Erased', fg='green')}: all episodes, skills and runs")


@click.command()
@_DAYS
@json_option
def usage_command(days: int, as_json: bool) -> None:
    """Show tokens that memory served, and saved against putting the whole store into each prompt."""
    found = Gateway(Place()).get("/usage", [("days", days)])
    if as_json:
        say_json(found)
        return
    if not found["calls"]:
        note("Nothing was served yet.")
        return
    answers = counted(found["calls"], "answer")
    say(f"{found['tokens_served']:,} tokens served in {answers}, {found['tokens_saved']:,} saved")
    table(
        ("client", "day", "answers", "served", "saved"),
        [
            (one["client"], one["day"], one["calls"], one["tokens_served"], one["tokens_saved"])
            for one in found["by_client_and_day"]
        ],
    )
