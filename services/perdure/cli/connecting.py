"""``connect``, ``disconnect``: tell the AI tools on this machine where Perdure is, and take that out again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.hosting import carried_out, finish, hosts_here, machine_here, named_hosts, next_steps, show_plans
from perdure.cli.terminal import note, say, say_json, table
from perdure.cli.words import json_option
from perdure.installer.commands import plan_commands, plan_no_commands
from perdure.installer.connection import Outcome, Plan, only_reads, pasted, plan_connect, plan_disconnect
from perdure.installer.entry import BRIDGE, BRIDGE_MODULE, READONLY, Launch, Remote
from perdure.installer.hooking import Runner, hooks_file, plan_hooks, plan_unhook, runner_of, unhooked
from perdure.installer.hosts import BY_ID, HOSTS, Host
from perdure.installer.machine import Machine, Scope
from perdure.installer.refusal import Refused

__all__ = ["connect_all", "connect_command", "disconnect_command", "next_steps", "show_plans"]

_PASSED_ON = ("PERDURE_HOME", "PERDURE_PORT")


def bridge(
    environment: Mapping[str, str],
    *,
    python: str = sys.executable,
    readonly: bool = False,
    windows: bool = sys.platform == "win32",
) -> Launch:
    """How a host starts the bridge: by its absolute path, since hosts seldom have the person's ``PATH``.

    A home or port that this environment names goes along, since the host's own may not have it. An address or a token
    does not: either would keep the bridge from starting the services.
    """
    env = _passed_on(environment)
    options = (READONLY,) if readonly else ()
    # not resolved: the Python of a virtual environment is often a link to one that knows nothing of us
    folder = Path(python).absolute().parent
    # there, a host can start a real program only, and neither a script without an ending nor a .cmd
    program = folder / (f"{BRIDGE}.exe" if windows else BRIDGE)
    if program.is_file():
        return Launch(str(program), options, env)
    return Launch(str(Path(python).absolute()), ("-m", BRIDGE_MODULE, *options), env)


def hook_runner(machine: Machine, *, python: str = sys.executable, readonly: bool = False) -> Runner:
    """How a host starts the hook: with this Python, and a named home and port set before it where the system can."""
    package = Path(__file__).absolute().parents[1]
    variables = _passed_on(machine.environment)
    return runner_of(Path(python).absolute(), package, variables, machine.system, readonly=readonly)


def _passed_on(environment: Mapping[str, str]) -> dict[str, str]:
    env = {name: environment[name] for name in _PASSED_ON if environment.get(name, "").strip()}
    if "PERDURE_HOME" in env:
        env["PERDURE_HOME"] = str(Path(env["PERDURE_HOME"]).expanduser().absolute())
    return env


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@click.option("--all", "everywhere", is_flag=True, help="Every host that is on this machine; the same as naming none.")
@click.option("--project", is_flag=True, help="Write the project's file instead of yours.")
@click.option("--http", "url", metavar="URL", help="Connect to a Perdure at this address instead of the local one.")
@click.option("--token-env", metavar="VAR", help="With --http: the variable that holds the token.")
@click.option(
    "--readonly/--no-readonly",
    default=None,
    help="Give the tools only what reads: nothing is saved or captured. As it was where neither is said.",
)
@click.option("--rules", is_flag=True, help="Also put a block into the files of rules that the tools read.")
@click.option("--commands", is_flag=True, help="Also put the slash command /perdure into tools that read them.")
@click.option("--no-hooks", is_flag=True, help="Only the memory's tools; run nothing at the moments of a session.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--print", "printed", is_flag=True, help="Print the entry to paste, and change nothing.")
@click.option("--list", "listed", is_flag=True, help="List the hosts, their files, and whether they are here.")
@json_option
def connect_command(
    hosts: tuple[str, ...],
    everywhere: bool,
    project: bool,
    url: str | None,
    token_env: str | None,
    readonly: bool | None,
    rules: bool,
    commands: bool,
    no_hooks: bool,
    dry_run: bool,
    printed: bool,
    listed: bool,
    as_json: bool,
) -> int:
    """Connect AI tools to Perdure: all that are on this machine, or those named.

    One entry goes into each tool's own settings file, and where a tool has hooks, perdure-hook into those: memories
    come when a prompt is sent, and what was decided is kept. All else in the files stays as it is, and they are kept
    beside it first. Doing it again brings the entries up to date.
    """
    if token_env and not url:
        raise Failure("--token-env goes with --http URL.", Exit.USAGE)
    if commands and project:
        raise Failure("--commands is for your own files, not for a project's.", Exit.USAGE)
    if everywhere and hosts:
        raise Failure("Name hosts or say --all, not both.", Exit.USAGE)
    scope = Scope.PROJECT if project else Scope.USER
    machine = machine_here()
    if listed:
        return _list(machine, scope, as_json=as_json)
    remote = _remote(url, token_env)
    if printed:
        way = _way(machine, remote, readonly=bool(readonly))
        return _print(named_hosts(hosts) or hosts_here(machine, scope), way.start, way.target, as_json=as_json)
    chosen = named_hosts(hosts) or hosts_here(machine, scope)
    if not chosen:
        if as_json:
            say_json({"dry_run": dry_run, "hosts": []})
        note("No AI tool was found here. Name one (perdure connect --list shows them), or use --print.")
        return Exit.NOT_FOUND
    # a project's file would name a path of this machine to everybody; a Perdure elsewhere is not what hooks talk to
    hooks = not (no_hooks or project or url)
    # asked before anything is written
    reading = {host.id: only_reads(host, machine, scope) if readonly is None else readonly for host in chosen}
    plans: list[Plan] = []
    for host in chosen:
        way = _way(machine, remote, readonly=reading[host.id])
        # hooks of an earlier time must not go on capturing where now nothing is to run, or only to be read
        unhook = scope is Scope.USER and not hooks and (no_hooks or reading[host.id])
        plans += _connect(host, machine, scope, way, hooks=hooks, unhook=unhook, dry_run=dry_run)
    if rules:
        from perdure.cli.rules import add_rules

        asks_less = all(reading.values())
        plans += add_rules(chosen, machine, scope, readonly=asks_less, dry_run=dry_run, only_readers=True)
    if commands:
        given = [plan for host in chosen if (plan := plan_commands(host, machine)) is not None]
        plans += [carried_out(plan, scope, dry_run=dry_run) for plan in given]
    return finish(plans, dry_run=dry_run, as_json=as_json)


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@click.option("--all", "everywhere", is_flag=True, help="Every host; the same as naming none.")
@click.option("--project", is_flag=True, help="Edit the project's files instead of yours.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@json_option
def disconnect_command(hosts: tuple[str, ...], everywhere: bool, project: bool, dry_run: bool, as_json: bool) -> int:
    """Take Perdure's entry, hooks, rules and command out of AI tools: all, or those named. Memories stay."""
    from perdure.cli.rules import remove_rules

    if everywhere and hosts:
        raise Failure("Name hosts or say --all, not both.", Exit.USAGE)
    scope = Scope.PROJECT if project else Scope.USER
    machine = machine_here()
    named = named_hosts(hosts)
    plans = list(_disconnect(named or _with_file(machine, scope), machine, scope, dry_run=dry_run))
    plans += remove_rules(named or HOSTS, machine, scope, dry_run=dry_run)
    if scope is Scope.USER:
        given = [plan for host in named or HOSTS if (plan := plan_no_commands(host, machine)) is not None]
        plans += [carried_out(plan, scope, dry_run=dry_run) for plan in given]
    if not named:
        # a file that cannot be read and was not asked about is told of only if our name is in it
        plans = [plan for plan in plans if plan.outcome is not Outcome.NOT_CONNECTED]
    if not plans:
        if as_json:
            say_json({"dry_run": dry_run, "hosts": []})
        else:
            say("No AI tool is connected.")
        return Exit.OK
    return finish(plans, dry_run=dry_run, as_json=as_json)


def connect_all(machine: Machine, hosts: Sequence[Host]) -> list[Plan]:
    """Connect these hosts to the local services, for ``setup``; one that only reads goes on doing so."""
    plans: list[Plan] = []
    for host in hosts:
        way = _way(machine, None, readonly=only_reads(host, machine, Scope.USER))
        plans += _connect(host, machine, Scope.USER, way, hooks=True, unhook=False, dry_run=False)
    return plans


@dataclass(frozen=True, slots=True)
class _Way:
    """How a host gets to Perdure: what starts the bridge, what the entry leads to, whether it only reads."""

    start: Launch
    target: Launch | Remote
    readonly: bool


def _way(machine: Machine, remote: Remote | None, *, readonly: bool) -> _Way:
    start = bridge(machine.environment, readonly=readonly)
    target = remote.reading_only() if remote is not None and readonly else remote
    return _Way(start, start if target is None else target, readonly)


def _connect(
    host: Host, machine: Machine, scope: Scope, way: _Way, *, hooks: bool, unhook: bool, dry_run: bool
) -> Iterator[Plan]:
    """The host's plans, each carried out before the next unless it is a dry run: server and hooks may share a file."""
    plan = plan_connect(host, machine, scope, way.target, way.start, unhooked=unhooked)
    server = carried_out(plan, scope, dry_run=dry_run)
    yield server
    if hooks and server.outcome is not Outcome.REFUSED:
        readonly = way.readonly or _shares_with_a_reader(host, machine)
        hooked = plan_hooks(host, machine, hook_runner(machine, readonly=readonly))
        if hooked is not None:
            yield carried_out(hooked, scope, dry_run=dry_run)
    elif unhook:
        yield from _unhooked(host, machine, scope, dry_run=dry_run)


def _shares_with_a_reader(host: Host, machine: Machine) -> bool:
    """Whether another host that only reads runs the hooks of the same file: then they must not capture."""
    path = hooks_file(host, machine)
    others = [other for other in HOSTS if other is not host and path is not None]
    return any(hooks_file(other, machine) == path and only_reads(other, machine, Scope.USER) for other in others)


def _disconnect(hosts: Sequence[Host], machine: Machine, scope: Scope, *, dry_run: bool) -> Iterator[Plan]:
    for host in hosts:
        # what came last goes first
        if scope is Scope.USER:
            yield from _unhooked(host, machine, scope, dry_run=dry_run)
        yield carried_out(plan_disconnect(host, machine, scope), scope, dry_run=dry_run)


def _unhooked(host: Host, machine: Machine, scope: Scope, *, dry_run: bool) -> Iterator[Plan]:
    hooks = plan_unhook(host, machine)
    if hooks is not None and hooks.outcome is not Outcome.NOT_CONNECTED:
        yield carried_out(hooks, scope, dry_run=dry_run)


def _list(machine: Machine, scope: Scope, *, as_json: bool) -> int:
    rows: list[dict[str, Any]] = []
    for host in HOSTS:
        try:
            file: str | None = str(host.file(machine, scope))
        except Refused:
            file = None
        rows.append({"host": host.id, "title": host.title, "here": host.is_here(machine), "file": file})
    if as_json:
        say_json({"hosts": rows})
    else:
        table(
            ("host", "tool", "here", "file"),
            [(row["host"], row["title"], "yes" if row["here"] else "no", row["file"] or "-") for row in rows],
        )
    return Exit.OK


def _print(hosts: Sequence[Host], start: Launch, target: Launch | Remote, *, as_json: bool) -> int:
    if not hosts:
        # what most hosts read
        hosts = [BY_ID["cursor"]]
    try:
        entries = [(host, host.entry(target, start)) for host in hosts]
        if as_json:
            say_json({"hosts": [{"host": host.id, "form": host.form.value, "entry": entry} for host, entry in entries]})
            return Exit.OK
        for host, entry in entries:
            if len(entries) > 1:
                note(f"{host.title}:")
            say(pasted(host, entry).rstrip("\n"))
    except Refused as refusal:
        raise Failure(str(refusal)) from refusal
    return Exit.OK


def _remote(url: str | None, token_env: str | None) -> Remote | None:
    """The Perdure elsewhere that was named; None for the local one."""
    if url is None:
        if os.environ.get("PERDURE_URL", "").strip():
            note("PERDURE_URL is set here; the tools get the local Perdure all the same. For another one: --http URL")
        return None
    try:
        remote = Remote.of(url, token_env)
    except Refused as refusal:
        raise Failure(str(refusal), Exit.USAGE) from refusal
    if remote.in_clear:
        note("This address has no https, so the token crosses the network unprotected.")
    return remote


def _with_file(machine: Machine, scope: Scope) -> list[Host]:
    """Hosts whose file exists, whatever else of them is left, unless it is plain that we are not in it."""
    found = []
    for host in HOSTS:
        try:
            hooks = hooks_file(host, machine) if scope is Scope.USER else None
            if _mentions(host.file(machine, scope)) or (hooks is not None and _mentions(hooks)):
                found.append(host)
        except Refused:
            continue
    return found


def _mentions(path: Path) -> bool:
    try:
        return b"perdure" in path.read_bytes()
    except OSError:
        return False
