"""``add``, ``checkpoint``, ``update``: what is to be remembered."""

from __future__ import annotations

import uuid
from typing import Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.terminal import note, one_line, paint, say, say_json
from perdure.cli.words import (
    GLOBAL_PROJECT,
    PROVENANCES,
    TextCommand,
    chosen_project,
    joined,
    json_option,
    place_options,
    project_option,
    split_list,
    type_option,
)

_UNIT = click.FloatRange(0, 1)

OUTCOMES = {
    "created": "Saved",
    "unchanged": "Known already",
    "merged": "Merged with a memory that says the same",
    "replaced": "Replaced the memory of this key",
    "superseded": "Saved; it supersedes an older memory",
}


def given(**fields: object) -> dict[str, object]:
    """The fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def _save(path: str, body: dict[str, object], *, named: bool, as_json: bool) -> None:
    """Send it and tell what became of it, and in which project where that was not ``named``."""
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    answer = Gateway(Place()).call("POST", path, body, headers=headers)
    if as_json:
        say_json(answer)
        return
    _report(answer, GLOBAL_PROJECT if named else str(body["project"]))


def _report(answer: dict[str, Any], project: str) -> None:
    outcome = str(answer.get("outcome", "created"))
    say(f"{paint(OUTCOMES.get(outcome, outcome), fg='green')}: {answer.get('id')}")
    if summary := answer.get("summary"):
        say(f"  {one_line(summary)}")
    if project != GLOBAL_PROJECT:
        say(f"  in project {one_line(project)}")
    for name, text in (("superseded", "supersedes"), ("related", "related to")):
        if ids := answer.get(name):
            say(f"  {text} {', '.join(map(str, ids))}")
    if kinds := answer.get("redacted"):
        note(f"Secrets were blanked: {', '.join(map(str, kinds))}.")
    if answer.get("truncated"):
        note("The text is longer than the model reads in one piece; its vector is the mean of several windows.")
    if answer.get("embedded") is False:
        note("It has no vector yet; words find it now, meaning as soon as it is embedded.")


@click.command(cls=TextCommand)
@click.argument("text", nargs=-1)
@type_option(default="fact")
@place_options("Project it belongs to", "It is true everywhere: project _global.")
@click.option("--key", metavar="NAME", help="Stable name; saving to it again replaces the memory.")
@click.option("--tags", "--tag", multiple=True, metavar="A,B", help="Tags.")
@click.option("--problem", metavar="TEXT", help="The problem that was solved.")
@click.option("--solution", metavar="TEXT", help="How it was solved.")
@click.option("--files", "--file", multiple=True, metavar="A,B", help="Files it is about.")
@click.option("--concepts", "--concept", multiple=True, metavar="A,B", help="Concepts it is about.")
@click.option("--provenance", type=click.Choice(PROVENANCES), help="How it came to be; sets the confidence.")
@click.option("--confidence", type=_UNIT, help="Belief that it is true, 0 to 1.")
@click.option("--importance", type=_UNIT, help="How much it matters, 0 to 1.")
@click.option("--expires-at", metavar="TIME", help="When it ends, as 2027-01-31T00:00:00Z.")
@json_option
def add_command(
    text: tuple[str, ...],
    type_: str,
    project: str | None,
    everywhere: bool,
    key: str | None,
    tags: tuple[str, ...],
    problem: str | None,
    solution: str | None,
    files: tuple[str, ...],
    concepts: tuple[str, ...],
    provenance: str | None,
    confidence: float | None,
    importance: float | None,
    expires_at: str | None,
    as_json: bool,
) -> None:
    """Save a memory. TEXT may begin with a dash; - reads it from standard input."""
    body = given(
        content=joined(text, "the text to remember"),
        type=type_,
        project=chosen_project(project, everywhere),
        key=key,
        tags=split_list(tags),
        problem=problem,
        solution=solution,
        files=split_list(files),
        concepts=split_list(concepts),
        provenance=provenance,
        confidence=confidence,
        importance=importance,
        expires_at=expires_at,
    )
    _save("/memories", body, named=project is not None, as_json=as_json)


@click.command(cls=TextCommand)
@click.argument("text", nargs=-1, metavar="[SUMMARY]")
@click.option("--summary", metavar="TEXT", help="What was done; the same as SUMMARY.")
@click.option("--problem", required=True, metavar="TEXT", help="The problem that was solved.")
@click.option("--solution", required=True, metavar="TEXT", help="How it was solved.")
@click.option("--concepts", "--concept", multiple=True, required=True, metavar="A,B", help="Concepts it is about.")
@click.option("--files", "--file", multiple=True, metavar="A,B", help="Files that were touched.")
@place_options("Project it belongs to", "It is true everywhere: project _global.")
@click.option("--tags", "--tag", multiple=True, metavar="A,B", help="Tags.")
@json_option
def checkpoint_command(
    text: tuple[str, ...],
    summary: str | None,
    problem: str,
    solution: str,
    concepts: tuple[str, ...],
    files: tuple[str, ...],
    project: str | None,
    everywhere: bool,
    tags: tuple[str, ...],
    as_json: bool,
) -> None:
    """Save what a finished task taught: summary, problem, solution, concepts."""
    if summary is not None and text:
        raise Failure("Give the summary once: as an argument or with --summary.", Exit.USAGE)
    body = given(
        task_summary=summary if summary is not None else joined(text, "a summary of the task"),
        problem=problem,
        solution=solution,
        concepts=split_list(concepts),
        files=split_list(files),
        project=chosen_project(project, everywhere),
        tags=split_list(tags),
    )
    _save("/memories/checkpoint", body, named=project is not None, as_json=as_json)


@click.command(cls=TextCommand)
@click.argument("id_", metavar="ID")
@click.argument("text", nargs=-1)
@click.option("-c", "--content", metavar="TEXT", help="The new text; the same as TEXT, - reads standard input.")
@type_option()
@project_option("Move it to this project.")
@click.option("--key", metavar="NAME", help="New key; '' removes it.")
@click.option("--tags", "--tag", multiple=True, metavar="A,B", help="New tags, instead of the old; '' removes all.")
@click.option("--problem", metavar="TEXT", help="New problem; '' removes it.")
@click.option("--solution", metavar="TEXT", help="New solution; '' removes it.")
@click.option("--files", "--file", multiple=True, metavar="A,B", help="New files, instead of the old.")
@click.option("--concepts", "--concept", multiple=True, metavar="A,B", help="New concepts, instead of the old.")
@click.option("--provenance", type=click.Choice(PROVENANCES), help="New provenance.")
@click.option("--confidence", type=_UNIT, help="New confidence, 0 to 1.")
@click.option("--importance", type=_UNIT, help="New importance, 0 to 1.")
@click.option("--expires-at", metavar="TIME", help="When it ends; '' never.")
@click.option("--revision", type=click.IntRange(1), help="Refuse unless the memory is at this revision.")
@json_option
def update_command(
    id_: str,
    text: tuple[str, ...],
    content: str | None,
    type_: str | None,
    project: str | None,
    tags: tuple[str, ...],
    files: tuple[str, ...],
    concepts: tuple[str, ...],
    provenance: str | None,
    confidence: float | None,
    importance: float | None,
    revision: int | None,
    as_json: bool,
    **emptiable: str | None,
) -> None:
    """Change a memory; what is not named stays."""
    if content is not None and text:
        raise Failure("Give the new text once: as an argument or with --content.", Exit.USAGE)
    words = text or ((content,) if content is not None else ())
    body = given(
        content=joined(words, "the new text") if words else None,
        type=type_,
        project=project,
        tags=split_list(tags),
        files=split_list(files),
        concepts=split_list(concepts),
        provenance=provenance,
        confidence=confidence,
        importance=importance,
    )
    # null is how the gateway is told to empty a field
    body |= {name: value or None for name, value in emptiable.items() if value is not None}
    if not body:
        raise Failure("Say what to change; see: perdure update --help", Exit.USAGE)
    headers = {"If-Match": f'"{revision}"'} if revision is not None else None
    answer = Gateway(Place()).call("PATCH", f"/memories/{path_id(id_)}", body, headers=headers)
    if as_json:
        say_json(answer)
        return
    say(f"{paint('Updated', fg='green')}: {id_}")
    if kinds := answer.get("redacted"):
        note(f"Secrets were blanked: {', '.join(map(str, kinds))}.")
    if answer.get("embedded") is False:
        note("Its new vector is still to come; words find it now.")


def path_id(text: str) -> str:
    """An id as a piece of a URL's path."""
    from urllib.parse import quote

    if not text.strip() or text in {".", ".."}:
        raise Failure("Give the memory's id; `perdure list` shows ids.", Exit.USAGE)
    return quote(text.strip(), safe="", errors="replace")
