"""``episode`` and ``skill``: what was shown, and what became of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.steps import CURSOR, LIMIT, action_text, counted, moment_text, more, path_of, schedule_text, value_text
from perdure.cli.terminal import ask, note, one_line, paint, say, say_json, table
from perdure.cli.words import json_option

_YES = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


def _document(file: str, what: str) -> dict[str, Any]:
    """The JSON object in ``file``; ``-`` is standard input."""
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}.", Exit.USAGE) from error
    try:
        value = json.loads(raw.decode("utf-8-sig"))
    except ValueError as error:
        raise Failure(f"{file} holds no JSON: {error}.", Exit.USAGE) from error
    if not isinstance(value, dict):
        raise Failure(f"{file} is to hold {what} as a JSON object.", Exit.USAGE)
    return value


def _sure(question: str, yes: bool) -> None:
    if not (yes or ask(question)):
        raise Failure("Nothing was erased. Say --yes to do it without a question.", Exit.USAGE)


# ---------------------------------------------------------------- episodes


@click.group()
def episode_command() -> None:
    """Keep demonstrations: how something was done, step by step."""


@episode_command.command("add")
@click.argument("file")
@click.option("--screenshots", metavar="DIR", help="Send the pictures that its steps name, from this folder.")
@json_option
def add_episode(file: str, screenshots: str | None, as_json: bool) -> None:
    """Keep the demonstration in FILE (JSON; - reads standard input). Secrets in it are blanked first."""
    gateway = Gateway(Place())
    document = _document(file, "an episode")
    pictures = _pictures(document, Path(screenshots)) if screenshots else []
    stored = gateway.call("POST", "/episodes", document)
    for name, data in pictures:
        gateway.put_file(path_of("episodes", stored["id"], "screenshots", name), data)
    if as_json:
        say_json(stored)
        return
    steps = counted(len(stored["steps"]), "step")
    say(f"{paint('Kept', fg='green')}: {stored['id']}  {one_line(stored['name'])}, {steps}")
    if pictures:
        say(f"  {counted(len(pictures), 'picture')} kept with it")
    if stored.get("redacted"):
        say(f"  Secrets were blanked: {', '.join(map(one_line, stored['redacted']))}")
    say(paint(f"  perdure skill preview {stored['id']} shows the skill it would become", dim=True))


def _pictures(document: dict[str, Any], folder: Path) -> list[tuple[str, bytes]]:
    steps = document.get("steps")
    names = [step.get("screenshot") for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    found: list[tuple[str, bytes]] = []
    for name in dict.fromkeys(name for name in names if isinstance(name, str) and name):
        if Path(name).name != name:
            raise Failure(f"The picture {name} is not a plain file name.", Exit.USAGE)
        try:
            found.append((name, (folder / name).read_bytes()))
        except OSError as error:
            raise Failure(f"{folder / name} cannot be read: {error.strerror}.", Exit.USAGE) from error
    return found


@episode_command.command("list")
@LIMIT
@CURSOR
@json_option
def list_episodes(limit: int, cursor: str, as_json: bool) -> None:
    """List demonstrations, newest first."""
    answer = Gateway(Place()).get("/episodes", [("limit", limit), ("cursor", cursor or None)])
    if as_json:
        say_json(answer)
        return
    if not answer["episodes"]:
        note("No demonstration yet. Keep one with: perdure episode add FILE")
        return
    table(
        ("id", "name", "program", "when", "steps"),
        [
            (one["id"], one["name"], one["program"], moment_text(one.get("startedAt")), one["steps"])
            for one in answer["episodes"]
        ],
    )
    more(answer)


@episode_command.command("show")
@click.argument("id_", metavar="ID")
@json_option
def show_episode(id_: str, as_json: bool) -> None:
    """Show a demonstration with its steps."""
    found = Gateway(Place()).get(path_of("episodes", id_))
    if as_json:
        say_json(found)
        return
    say(paint(one_line(found["name"]), bold=True))
    say(f"  {' '.join(map(one_line, (found['program'], *found['args'])))}, {moment_text(found.get('startedAt'))}")
    for number, step in enumerate(found["steps"]):
        say(f"  {number:>3}  {one_line(step['id'])}  {action_text(step['action'])}")


@episode_command.command("forget")
@click.argument("id_", metavar="ID")
@_YES
@json_option
def forget_episode(id_: str, yes: bool, as_json: bool) -> int:
    """Erase a demonstration and its pictures; a skill made of it stays."""
    _sure(f"Erase the demonstration {id_} for ever?", yes)
    return _forgotten(Gateway(Place()).call("DELETE", path_of("episodes", id_)), f"demonstration {id_}", as_json)


def _forgotten(answer: dict[str, Any], what: str, as_json: bool) -> int:
    if not answer["forgotten"]:
        raise Failure(f"There is no {what}.", Exit.NOT_FOUND)
    if as_json:
        say_json(answer)
    else:
        say(f"{paint('Erased', fg='green')}: the {what}")
    return Exit.OK


# ---------------------------------------------------------------- skills


@click.group()
def skill_command() -> None:
    """Make skills of demonstrations, look at them, and see how they do."""


def _edits(function: Any) -> Any:
    for option in (
        click.option("--name", metavar="TEXT", help="Call the skill so."),
        click.option("--remove", "removed", multiple=True, metavar="STEP", help="Leave this step out."),
        click.option("--fix", "fixed", multiple=True, metavar="STEP", help="Keep this step's value as it was typed."),
        click.option("--approve", "gated", multiple=True, metavar="STEP", help="Ask before this step."),
        click.option("--no-approve", "open_", multiple=True, metavar="STEP", help="Do not ask before this step."),
        click.option("--param", "named", multiple=True, metavar="STEP=NAME", help="Call this step's parameter so."),
    ):
        function = option(function)
    return function


def _edits_of(given: dict[str, Any]) -> dict[str, Any]:
    names = {}
    for pair in given["named"]:
        step, equals, name = pair.partition("=")
        if not equals or not step or not name:
            raise Failure(f"--param takes STEP=NAME, not {pair}.", Exit.USAGE)
        names[step] = name
    approvals = dict.fromkeys(given["gated"], True) | dict.fromkeys(given["open_"], False)
    edits = {
        "name": given["name"],
        "removed": list(given["removed"]),
        "fixed": list(given["fixed"]),
        "approvals": approvals,
        "paramNames": names,
    }
    return {"edits": {name: value for name, value in edits.items() if value not in (None, [], {})}}


@skill_command.command("preview")
@click.argument("episode", metavar="EPISODE")
@_edits
@json_option
def preview_skill(episode: str, as_json: bool, **given: Any) -> None:
    """Show the skill that a demonstration would become; nothing is kept."""
    _show_skill(Gateway(Place()).call("POST", path_of("episodes", episode, "preview"), _edits_of(given)), as_json)


@skill_command.command("compile")
@click.argument("episode", metavar="EPISODE")
@_edits
@json_option
def compile_skill(episode: str, as_json: bool, **given: Any) -> None:
    """Make a skill of a demonstration, or the next version of the skill it was made into."""
    skill = Gateway(Place()).call("POST", path_of("episodes", episode, "compile"), _edits_of(given))
    if not as_json:
        say(f"{paint('Compiled', fg='green')}: {skill['id']}, version {skill['version']}")
    _show_skill(skill, as_json)


@skill_command.command("list")
@LIMIT
@CURSOR
@json_option
def list_skills(limit: int, cursor: str, as_json: bool) -> None:
    """List skills, newest first."""
    answer = Gateway(Place()).get("/skills", [("limit", limit), ("cursor", cursor or None)])
    if as_json:
        say_json(answer)
        return
    if not answer["skills"]:
        note("No skill yet. Make one with: perdure skill compile EPISODE")
        return
    table(
        ("id", "name", "version", "steps", "routine"),
        [
            (
                one["id"],
                one["name"],
                one["version"],
                f"{one['steps']} ({one['gated']} {'asks' if one['gated'] == 1 else 'ask'})"
                if one["gated"]
                else one["steps"],
                schedule_text(one.get("routine")),
            )
            for one in answer["skills"]
        ],
    )
    more(answer)


@skill_command.command("show")
@click.argument("id_", metavar="ID")
@click.option("--version", type=click.IntRange(1), help="As that version was.")
@json_option
def show_skill(id_: str, version: int | None, as_json: bool) -> None:
    """Show a skill: parameters, steps, schedule, and how its runs went."""
    gateway = Gateway(Place())
    skill = gateway.get(path_of("skills", id_), [("version", version)])
    _show_skill(skill, as_json)
    if not as_json:
        _show_records(gateway.get(path_of("skills", id_, "record"))["records"])


@skill_command.command("diff")
@click.argument("id_", metavar="ID")
@click.argument("old", type=click.IntRange(1), required=False)
@click.argument("new", type=click.IntRange(1), required=False)
@json_option
def diff_skill(id_: str, old: int | None, new: int | None, as_json: bool) -> None:
    """Show what changed between two versions; by default, what the last one changed."""
    answer = Gateway(Place()).get(path_of("skills", id_, "diff"), [("old", old), ("new", new)])
    if as_json:
        say_json(answer)
        return
    say(f"From version {answer['old']} to version {answer['new']}:")
    for line in answer["lines"] or ["nothing changed"]:
        say(f"  {one_line(line)}")


@skill_command.command("record")
@click.argument("id_", metavar="[ID]", required=False)
@json_option
def record_of_skill(id_: str | None, as_json: bool) -> None:
    """Show how often runs succeed, what usually fails, and which skills to retire."""
    path = path_of("skills", id_, "record") if id_ else "/experience/records"
    answer = Gateway(Place()).get(path)
    if as_json:
        say_json(answer)
    elif answer["records"]:
        _show_records(answer["records"])
    else:
        note("No run has ended yet.")


@skill_command.command("forget")
@click.argument("id_", metavar="ID")
@_YES
@json_option
def forget_skill(id_: str, yes: bool, as_json: bool) -> int:
    """Erase a skill in every version; its runs stay."""
    _sure(f"Erase the skill {id_} for ever?", yes)
    return _forgotten(Gateway(Place()).call("DELETE", path_of("skills", id_)), f"skill {id_}", as_json)


def _show_skill(skill: dict[str, Any], as_json: bool) -> None:
    if as_json:
        say_json(skill)
        return
    say(f"{paint(one_line(skill['name']), bold=True)}  {one_line(skill['program'])}")
    for one in skill["params"]:
        said = "secret, asked for each time" if one["secret"] else f"{json.dumps(one.get('default'))} by default"
        say(f"  {one_line(one['name'])}  {one_line(one['label'])} ({one_line(said)})")
    for number, step in enumerate(skill["steps"]):
        gate = paint("  asks first", fg="yellow") if step["requiresApproval"] else ""
        say(f"  {number:>3}  {one_line(step['id'])}  {action_text(step['action'])}{gate}")
    if skill.get("routine"):
        values = ", ".join(
            f"{one_line(name)}={value_text(value)}" for name, value in skill["routine"]["values"].items()
        )
        say(f"  runs {schedule_text(skill['routine'])}" + (f" with {values}" if values else ""))


def _show_records(records: list[dict[str, Any]]) -> None:
    for one in records:
        low, high = one["interval_95"]
        say(
            f"version {one['version']} of {one_line(one['name'])}: "
            f"{one['succeeded']} of {counted(one['runs'], 'run')} succeeded "
            f"({one['success_rate']:.0%}; 95% sure of {low:.0%} to {high:.0%})"
        )
        for step in one["fails_at"]:
            say(f"  fails at {one_line(step['step_id'])}: {counted(step['runs'], 'time')}")
        if one["cost_per_success"] is not None:
            say(f"  a success costs ${one['cost_per_success']:.4f}")
        if one["retire"]:
            say(paint(f"  {one_line(one['why'])}", fg="yellow"))
