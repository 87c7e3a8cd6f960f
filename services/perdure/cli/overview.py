"""``sync``, ``stats``, ``prompt``, ``health``: the whole at a glance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.terminal import note, one_line, paint, say, say_json, table
from perdure.cli.words import GLOBAL_PROJECT, chosen_project, json_option, place_options


@click.command()
@place_options("Recent memories of this project only", "Recent memories of every project.")
@json_option
def sync_command(project: str | None, everywhere: bool, as_json: bool) -> None:
    """Show what a session needs to know when it starts."""
    chosen = chosen_project(project, everywhere)
    body = {"project": chosen} if project or chosen != GLOBAL_PROJECT else {}
    answer = Gateway(Place()).call("POST", "/memories/sync", body)
    if as_json:
        say_json(answer)
        return
    said = answer.get("message") or f"{answer.get('active_memories', 0)} active memories."
    say(one_line(said))
    if projects := answer.get("projects"):
        say("Projects: " + ", ".join(f"{one_line(name)} ({count})" for name, count in projects.items()))
    for memory in answer.get("recent") or []:
        say(f"- [{memory.get('type', '')}] {one_line(memory.get('summary', ''))}")


@click.command()
@json_option
def stats_command(as_json: bool) -> None:
    """Count memories by status, type and project."""
    answer = Gateway(Place()).get("/memories/stats")
    if as_json:
        say_json(answer)
        return
    names = ("active", "archived", "superseded", "consolidated", "total", "unembedded")
    table(("memories", "count"), [(name, answer[name]) for name in names if name in answer])
    for title, counts in (("type", answer.get("by_type")), ("project", answer.get("by_project"))):
        if counts:
            ordered = sorted(counts.items(), key=lambda pair: -pair[1])
            table((title, "active"), ordered)
    if answer.get("unembedded"):
        note("Memories without a vector are found by words; the worker embeds them.")


@click.command()
@click.argument("host", required=False)
def prompt_command(host: str | None) -> None:  # noqa: ARG001 - the name of a host is accepted, as NaN Forget's did
    """Print the instructions for agents that do not speak MCP."""
    say(Gateway(Place()).text("/memories/instructions").rstrip("\n"))


GOOD = frozenset({"ok", "ready", "up", "serving"})


def dependencies(body: Any) -> Iterator[tuple[str, bool, str]]:
    """Name, readiness and remark of each part that an answer of /readyz names."""
    if not isinstance(body, dict):
        return
    for value in body.values():
        if not isinstance(value, dict):
            continue
        for name, state in value.items():
            said = state.get("status", "") if isinstance(state, dict) else state
            ready = said is True or str(said).lower() in GOOD
            remark = state.get("detail") or state.get("message") or "" if isinstance(state, dict) else ""
            yield str(name), ready, one_line(remark or ("" if isinstance(said, bool) else said))


@click.command()
@json_option
def health_command(as_json: bool) -> None:
    """Ask the gateway how it and its parts are. Exit status 5: not ready."""
    place = Place()
    status, body = Gateway(place).probe("/readyz", timeout_s=10.0)
    if status == 0:
        step = "check PERDURE_URL" if place.chosen else "start it with: perdure up --detach"
        raise Failure(f"Perdure does not answer at {place.url} ({body}); {step}", Exit.AWAY)
    if as_json:
        say_json(body)
    else:
        say(f"{place.url}: {paint('ready', fg='green') if status == 200 else paint('not ready', fg='red')}")
        table(("part", "state"), [(name, "ready" if good else text) for name, good, text in dependencies(body)])
    if status != 200:
        raise Failure("Perdure is not ready yet; see: perdure doctor", Exit.AWAY)
