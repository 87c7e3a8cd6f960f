"""``archive``, ``restore``, ``purge``: where a memory is in its life."""

from __future__ import annotations

import sys

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.saving import path_id
from perdure.cli.terminal import ask, one_line, paint, say, say_json
from perdure.cli.words import json_option

_REVISION = click.option("--revision", type=click.IntRange(1), help="Refuse unless the memory is at this revision.")


def _headers(revision: int | None) -> dict[str, str] | None:
    return {"If-Match": f'"{revision}"'} if revision is not None else None


@click.command()
@click.argument("id_", metavar="ID")
@_REVISION
@json_option
def archive_command(id_: str, revision: int | None, as_json: bool) -> None:
    """Hide a memory from search; `perdure restore` brings it back."""
    answer = Gateway(Place()).call("DELETE", f"/memories/{path_id(id_)}", headers=_headers(revision))
    if as_json:
        say_json(answer)
    else:
        say(f"{paint('Archived', fg='green')}: {id_} (perdure restore {id_} brings it back)")


@click.command()
@click.argument("id_", metavar="ID")
@_REVISION
@json_option
def restore_command(id_: str, revision: int | None, as_json: bool) -> None:
    """Bring an archived memory back."""
    answer = Gateway(Place()).call("POST", f"/memories/{path_id(id_)}/restore", headers=_headers(revision))
    if as_json:
        say_json(answer)
    else:
        say(f"{paint('Restored', fg='green')}: {id_}")


@click.command()
@click.argument("id_", metavar="[ID]", required=False)
@click.option("--project", metavar="NAME", help="Erase every memory of this project.")
@click.option("--namespace", metavar="NAME", help="Erase every memory of your namespace; its name confirms it.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@_REVISION
@json_option
def purge_command(
    id_: str | None, project: str | None, namespace: str | None, yes: bool, revision: int | None, as_json: bool
) -> None:
    """Erase a memory everywhere, history and indexes too. There is no way back.

    What was consolidated from it is taken apart; what it was consolidated from is erased with it.
    """
    if sum(given is not None for given in (id_, project, namespace)) != 1:
        raise Failure("Name one memory, or --project, or --namespace.", Exit.USAGE)
    if id_ is None:
        _erase(project, namespace, yes, as_json)
        return
    gateway = Gateway(Place())
    path = f"/memories/{path_id(id_)}"
    if not yes:
        memory = gateway.get(path, [("peek", "true")])
        _sure(f'Erase "{one_line(memory.get("summary", id_))}" for good?')
    answer = gateway.call("DELETE", path, query=[("purge", "true")], headers=_headers(revision))
    if as_json:
        say_json(answer)
    else:
        say(f"{paint('Erased', fg='green')}: {id_}")


def _erase(project: str | None, namespace: str | None, yes: bool, as_json: bool) -> None:
    what = f"the project {project}" if project is not None else f"the namespace {namespace}"
    if not yes:
        _sure(f"Erase every memory of {one_line(what)} for good?")
    body = {"confirm": project if project is not None else namespace}
    if project is not None:
        body["project"] = project
    answer = Gateway(Place(), timeout_s=150.0).call("POST", "/memories/erase", body)
    if as_json:
        say_json(answer)
    else:
        say(f"{paint('Erased', fg='green')}: {answer['erased']} memories of {one_line(what)}")


def _sure(question: str) -> None:
    if not sys.stdin.isatty():
        raise Failure("Erasing is for good; say --yes where there is no terminal to ask on.", Exit.USAGE)
    if not ask(question):
        raise Failure("Nothing was erased.")
