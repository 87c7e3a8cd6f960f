"""``search``, ``get``, ``list``, ``history``: what is remembered."""

from __future__ import annotations

import textwrap
from typing import Any

import click

from perdure.cli.failure import Exit
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.saving import path_id
from perdure.cli.terminal import clean, note, one_line, paint, say, say_json, table, when
from perdure.cli.words import (
    GLOBAL_PROJECT,
    STATUSES,
    TIERS,
    TextCommand,
    chosen_project,
    joined,
    json_option,
    place_options,
    project_option,
    split_list,
    type_option,
)

FACTORS = ("decay_weight", "frequency_boost", "confidence_boost", "importance_boost")


@click.command(cls=TextCommand)
@click.argument("query", nargs=-1)
@place_options("Begin in this project, others may follow", "Begin in no project.")
@click.option("--strict", is_flag=True, help="Stay in the project.")
@click.option(
    "-d", "--depth", type=click.IntRange(1, 3), help="1 summaries, 2 full memories (default), 3 associations."
)
@click.option("-n", "--limit", type=click.IntRange(1, 50), help="How many at most; 5 by default.")
@type_option(many=True)
@click.option("--tag", "--tags", "tags", multiple=True, metavar="A,B", help="Only with all of these tags.")
@click.option("--concept", "--concepts", "concepts", multiple=True, metavar="A,B", help="Only with all of these.")
@click.option("--file", "--files", "files", multiple=True, metavar="A,B", help="Only about all of these files.")
@click.option("--tier", type=click.Choice(TIERS), help="Only of this tier.")
@click.option("--from", "created_from", metavar="TIME", help="Only saved at or after this time.")
@click.option("--to", "created_to", metavar="TIME", help="Only saved before this time.")
@click.option("--skills", is_flag=True, help="Find skills and demonstrations too.")
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@json_option
def search_command(
    query: tuple[str, ...],
    project: str | None,
    everywhere: bool,
    strict: bool,
    depth: int | None,
    limit: int | None,
    type_: tuple[str, ...],
    tags: tuple[str, ...],
    concepts: tuple[str, ...],
    files: tuple[str, ...],
    tier: str | None,
    created_from: str | None,
    created_to: str | None,
    skills: bool,
    explain: bool,
    as_json: bool,
) -> int:
    """Find memories by meaning and by words. Exit status 6: nothing matched."""
    pairs: list[tuple[str, object]] = [
        ("q", joined(query, "what to search for")),
        ("project", _begun_in(project, everywhere)),
        ("depth", depth),
        ("limit", limit),
        ("tier", tier),
        ("created_from", created_from),
        ("created_to", created_to),
        ("strict", "true" if strict else None),
        ("procedures", "true" if skills else None),
        *listed(type=type_, tags=split_list(tags), concepts=split_list(concepts), files=split_list(files)),
    ]
    answer = Gateway(Place()).get("/memories/search", pairs)
    found = bool(answer.get("recognition") or answer.get("recall") or answer.get("procedures"))
    if as_json:
        say_json(answer)
    else:
        _show_answer(answer, explain)
    return Exit.OK if found else Exit.NO_MATCH


def _begun_in(project: str | None, everywhere: bool) -> str | None:
    """Where a search begins; a folder that is nobody's project is no place to begin."""
    chosen = chosen_project(project, everywhere)
    return chosen if project or chosen != GLOBAL_PROJECT else None


def listed(**lists: list[str] | tuple[str, ...] | None) -> list[tuple[str, object]]:
    """Query parameters that are given once for each item."""
    return [(name, item) for name, items in lists.items() for item in items or ()]


def _show_answer(answer: dict[str, Any], explain: bool) -> None:
    recall = answer.get("recall") or []
    full = {item_id(item) for item in recall}
    for number, item in enumerate(recall, start=1):
        _block(number, item, explain)
    rest = [item for item in answer.get("recognition") or [] if item_id(item) not in full]
    for number, item in enumerate(rest, start=len(recall) + 1):
        _block(number, item, explain)
    if associations := answer.get("associations"):
        say(paint("Associated", bold=True))
        for item in associations:
            _block(None, item, explain)
    procedures = answer.get("procedures") or []
    if procedures:
        say(paint("How it is done", bold=True))
        for item in procedures:
            _procedure(item)
    if not recall and not rest and not procedures:
        say("No memory matches.")
    _notes(answer)


def _procedure(item: dict[str, Any]) -> None:
    kind = "demonstration" if item["kind"] == "episode" else one_line(item["kind"])
    similarity = item.get("similarity")
    meaning = f"  meaning {similarity:.2f}" if isinstance(similarity, int | float) else ""
    say(f"- {paint(one_line(item['name']), bold=True)}  [{kind}]{meaning}")
    # its first line says the name again
    say(textwrap.indent("\n".join(clean(item["text"]).splitlines()[1:]), "   "))
    say(paint(f"   {one_line(item['id'])}", dim=True))
    say()


def _block(number: int | None, item: dict[str, Any], explain: bool) -> None:
    memory = item.get("memory") or item
    lead = f"{number}." if number is not None else "-"
    core = " core" if memory.get("tier") == "core" else ""
    head = f"{lead} {paint(one_line(memory.get('summary', '')), bold=True)}"
    say(f"{head}  [{memory.get('type', '')}{core}]  {_score(item)}")
    content = clean(memory.get("content") or "")
    if content and one_line(content) != one_line(memory.get("summary", "")):
        say(textwrap.indent(content, "   "))
    for name in ("problem", "solution"):
        if text := memory.get(name):
            say(f"   {name.capitalize()}: {textwrap.indent(clean(text), '     ').strip()}")
    for name in ("files", "concepts", "tags"):
        if items := memory.get(name):
            say(f"   {name.capitalize()}: {', '.join(map(one_line, items))}")
    other = " (another project)" if item.get("widened") else ""
    created = f" · {when(memory['created_at'])}" if memory.get("created_at") else ""
    say(paint(f"   {one_line(memory.get('project', ''))}{other}{created} · {item_id(item)}", dim=True))
    say(paint(f"   why: {_why(item, explain)}", dim=True))
    say()


def item_id(item: dict[str, Any]) -> str:
    """The id of a search's item, whichever list it is in."""
    return str(item.get("id") or (item.get("memory") or {}).get("id") or "")


def _score(item: dict[str, Any]) -> str:
    score = item.get("adjusted_score", item.get("score"))
    return f"{score:.2f}" if isinstance(score, int | float) else ""


def _parts(item: dict[str, Any]) -> dict[str, Any]:
    parts = item.get("parts")
    return parts if isinstance(parts, dict) else item


def _why(item: dict[str, Any], explain: bool) -> str:
    parts = _parts(item)
    reasons = []
    similarity = parts.get("similarity")
    if isinstance(similarity, int | float):
        reasons.append(f"meaning {similarity:.2f}")
    if rank := parts.get("lexical_rank"):
        reasons.append(f"words, rank {rank}")
    if item.get("arm") == "association":
        reasons.append("near what was found")
    names = ("relevance", *FACTORS, "bm25") if explain else ()
    for name in names:
        value = parts.get(name)
        if isinstance(value, int | float):
            reasons.append(f"{name.replace('_', ' ')} {value:.3f}")
    return " · ".join(reasons) or "found"


def _notes(answer: dict[str, Any]) -> None:
    warnings = answer.get("warnings") or []
    if answer.get("dense_ran") is False and not warnings:
        warnings = ["Only words were compared."]
    for warning in warnings:
        note(one_line(warning))
    if model := answer.get("model"):
        note(f"Asked through the private model {one_line(model)}.")


@click.command()
@click.argument("id_", metavar="ID")
@json_option
def get_command(id_: str, as_json: bool) -> None:
    """Show one memory in full, whatever its status."""
    memory = Gateway(Place()).get(f"/memories/{path_id(id_)}")
    if as_json:
        say_json(memory)
        return
    for name, value in memory.items():
        if value in (None, "", [], {}):
            continue
        if isinstance(value, list):
            shown = ", ".join(map(one_line, value))
        elif name.endswith("_at"):
            shown = when(value)
        elif isinstance(value, dict):
            shown = ", ".join(f"{key} {one_line(part)}" for key, part in value.items() if part)
        else:
            shown = textwrap.indent(clean(value), " " * 18).strip()
        if shown:
            say(f"{paint(name.ljust(17), dim=True)} {shown}")


@click.command()
@project_option("Only of this project.")
@type_option(many=True)
@click.option("-s", "--status", type=click.Choice((*STATUSES, "all")), help="active by default.")
@click.option("--tag", "--tags", "tags", multiple=True, metavar="A,B", help="Only with all of these tags.")
@click.option("--tier", type=click.Choice(TIERS), help="Only of this tier.")
@click.option("-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many.")
@click.option("--cursor", metavar="CURSOR", help="Go on where an earlier list ended.")
@json_option
def list_command(
    project: str | None,
    type_: tuple[str, ...],
    status: str | None,
    tags: tuple[str, ...],
    tier: str | None,
    limit: int,
    cursor: str | None,
    as_json: bool,
) -> None:
    """List memories, newest first."""
    statuses = STATUSES if status == "all" else (status,) if status else ()
    filters = [
        ("project", project),
        ("tier", tier),
        *listed(type=type_, status=statuses, tags=split_list(tags)),
    ]
    gateway = Gateway(Place())
    memories: list[dict[str, Any]] = []
    answer: dict[str, Any] = {}
    while len(memories) < limit:
        page = min(limit - len(memories), PAGE)
        answer = gateway.get("/memories", [*filters, ("limit", page), ("cursor", cursor)])
        memories += answer.get("memories") or []
        cursor = answer.get("next_cursor")
        if not cursor:
            break
    if as_json:
        say_json({**answer, "memories": memories})
        return
    if not memories:
        note("No memories." if not (project or type_ or status or tags or tier) else "No memory matches.")
        return
    table(
        ("id", "type", "project", "saved", "summary"),
        [
            (m.get("id"), m.get("type"), m.get("project"), when(m.get("created_at", "")), m.get("summary"))
            for m in memories
        ],
    )
    if cursor:
        note(f"There are more: -n {limit * 2}, or --cursor {cursor}")


PAGE = 500
"""Memories in one page at most, by the gateway's own limit."""


@click.command()
@click.argument("id_", metavar="ID")
@json_option
def history_command(id_: str, as_json: bool) -> None:
    """Show what a memory said before, newest first."""
    answer = Gateway(Place()).get(f"/memories/{path_id(id_)}/history")
    if as_json:
        say_json(answer)
        return
    revisions = answer.get("revisions") or []
    if not revisions:
        note("It was never changed.")
        return
    for revision in revisions:
        before = revision.get("before") or {}
        head = f"revision {revision.get('revision')}, until {when(revision.get('at', ''))}: {revision.get('why', '')}"
        say(paint(head, bold=True) + f" by {one_line(revision.get('actor', '?'))}")
        say(textwrap.indent(clean(before.get("content") or before.get("summary") or ""), "   "))
