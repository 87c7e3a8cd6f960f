"""``rules``: a marked block in the files of rules that AI tools read, on request and never otherwise."""

from __future__ import annotations

from collections.abc import Sequence

import click

from perdure.cli.failure import Exit
from perdure.cli.hosting import carried_out, finish, hosts_here, machine_here, named_hosts
from perdure.cli.terminal import note, say, say_json
from perdure.cli.words import json_option
from perdure.installer.connection import Outcome, Plan
from perdure.installer.hosts import BY_ID, HOSTS, Host
from perdure.installer.machine import Machine, Scope
from perdure.installer.refusal import Refused
from perdure.installer.rules import block, once, plan_no_rules, plan_rules, rules_file
from perdure.project import GLOBAL, project_of

_NAMED = frozenset({"file", "remote", "git"})
"""What names a project for everybody who works on it; a folder's own name may be another one elsewhere."""

_global = click.option("-g", "--global", "everywhere", is_flag=True, help="Your own files instead of the project's.")
_readonly = click.option("--readonly", is_flag=True, help="Ask for the tools that read and no others.")
_dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


@click.group(name="rules")
def rules_command() -> None:
    """Tell AI tools in their files of rules when to recall and when to save.

    CLAUDE.md, AGENTS.md, GEMINI.md and .cursor/rules/perdure.mdc of the project. A marked block is ours, all else stays
    as it is, and the file is kept beside it first.
    """


@rules_command.command("add")
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@_global
@_readonly
@_dry_run
@json_option
def _add(hosts: tuple[str, ...], everywhere: bool, readonly: bool, dry_run: bool, as_json: bool) -> int:
    """Put the block in, or bring it up to date: for the tools on this machine, or those named."""
    scope = Scope.USER if everywhere else Scope.PROJECT
    machine = machine_here()
    named = named_hosts(hosts)
    chosen = named or hosts_here(machine, Scope.USER) or [BY_ID["codex"]]
    plans = add_rules(chosen, machine, scope, readonly=readonly, dry_run=dry_run, only_readers=not named)
    if not plans:
        note("None of the tools here reads such a file.")
        return Exit.NOT_FOUND
    return finish(plans, dry_run=dry_run, as_json=as_json)


@rules_command.command("remove")
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@_global
@_dry_run
@json_option
def _remove(hosts: tuple[str, ...], everywhere: bool, dry_run: bool, as_json: bool) -> int:
    """Take the block out again: of all files that have it, or of those that the named tools read."""
    scope = Scope.USER if everywhere else Scope.PROJECT
    plans = remove_rules(named_hosts(hosts) or HOSTS, machine_here(), scope, dry_run=dry_run)
    if not plans and not as_json:
        say("No file has the block.")
        return Exit.OK
    return finish(plans, dry_run=dry_run, as_json=as_json)


@rules_command.command("show")
@_global
@_readonly
@json_option
def _show(everywhere: bool, readonly: bool, as_json: bool) -> None:
    """Print the block, for pasting elsewhere, and say which files have it."""
    scope = Scope.USER if everywhere else Scope.PROJECT
    machine = machine_here()
    written = _block(machine, scope, readonly=readonly)
    plans = _planned(HOSTS, machine, scope, written)
    there = [str(plan.path) for plan in plans if plan.outcome in {Outcome.UPDATED, Outcome.UNCHANGED}]
    if as_json:
        say_json({"block": written, "files": there})
        return
    say(written)
    note(f"In: {', '.join(there)}" if there else "No file has it.")


def add_rules(
    hosts: Sequence[Host], machine: Machine, scope: Scope, *, readonly: bool, dry_run: bool, only_readers: bool
) -> list[Plan]:
    """Put the block into the files that these hosts read, each file once; ``only_readers`` passes over the others."""
    chosen = [host for host in hosts if not only_readers or _reads(host, machine, scope)]
    plans = _planned(chosen, machine, scope, _block(machine, scope, readonly=readonly))
    return [carried_out(plan, scope, dry_run=dry_run) for plan in plans]


def remove_rules(hosts: Sequence[Host], machine: Machine, scope: Scope, *, dry_run: bool) -> list[Plan]:
    """Take the block out of the files that these hosts read; files that have none are passed over."""
    readers = [host for host in hosts if _reads(host, machine, scope)]
    plans = once([plan_no_rules(host, machine, scope) for host in readers])
    return [carried_out(plan, scope, dry_run=dry_run) for plan in plans if plan.outcome is not Outcome.NOT_CONNECTED]


def _planned(hosts: Sequence[Host], machine: Machine, scope: Scope, written: str) -> list[Plan]:
    return once([plan_rules(host, machine, scope, written) for host in hosts])


def _block(machine: Machine, scope: Scope, *, readonly: bool) -> str:
    found = project_of(str(machine.project))
    named = scope is Scope.PROJECT and found.source in _NAMED
    return block(found.name if named else GLOBAL, readonly=readonly)


def _reads(host: Host, machine: Machine, scope: Scope) -> bool:
    try:
        rules_file(host, machine, scope)
    except Refused:
        return False
    return True
