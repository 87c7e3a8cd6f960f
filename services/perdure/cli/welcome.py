"""``setup``: from nothing to a memory that every AI tool on this machine shares, with what was remembered before."""

from __future__ import annotations

import sys

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.terminal import ask, say


@click.command()
@click.option(
    "--yes", is_flag=True, help="Ask nothing: start, connect every tool that is here, take in what they hold."
)
@click.option("--no-import", is_flag=True, help="Take in nothing that other tools remember.")
def setup_command(yes: bool, no_import: bool) -> int:
    """Start the services, connect the AI tools on this machine and take in what they hold, asking before each step.

    With --yes the memories of NaN Forget, Builderforce and Claude Code are taken in; transcripts and other stores are
    named, and wait for perdure import --from.
    """
    if not yes and not sys.stdin.isatty():
        raise Failure("setup asks before each step; say --yes where there is no terminal to ask on.", Exit.USAGE)
    say("Perdure gives the AI tools on this machine one memory, in three steps.")
    started = _start(yes=yes)
    connected = _connect(yes=yes)
    moved = Exit.OK if no_import or started != Exit.OK else _move_in(yes=yes)
    say()
    if started == connected == moved == Exit.OK:
        say("Done. Tell one tool something worth keeping and ask another for it.")
    say("To take the tools out again: perdure disconnect. To stop the services: perdure down.")
    return started or connected or moved


def _start(*, yes: bool) -> int:
    """Step one; the bridge starts the services too when a tool first needs them, so a no is no obstacle."""
    from perdure.cli.processes import up_command
    from perdure.cli.running import living_run
    from perdure.cli.starting import load_settings

    run = living_run(load_settings().run_dir)
    say()
    if run is not None:
        say(f"1. The services run already at {run.url}.")
        return Exit.OK
    say("1. The services keep the memories; they run in the background and listen on this machine only.")
    if not (yes or ask("   Start them now?")):
        say("   Not started; the first tool that needs them starts them.")
        return Exit.OK
    try:
        context = click.get_current_context()
        return int(context.invoke(up_command, detach=True, in_background=False, processes=None))
    except Failure as failure:
        failure.show()
        return failure.status


def _connect(*, yes: bool) -> int:
    from perdure.cli.connecting import connect_all, next_steps, show_plans
    from perdure.installer.connection import Outcome
    from perdure.installer.hosts import HOSTS
    from perdure.installer.machine import this_machine
    from perdure.installer.refusal import Refused

    try:
        machine = this_machine()
    except Refused as refusal:
        raise Failure(str(refusal), Exit.USAGE) from refusal
    here = [host for host in HOSTS if host.is_here(machine)]
    say()
    if not here:
        say("2. No AI tool was found here. Once one is installed: perdure connect")
        return Exit.OK
    say("2. One entry goes into each tool's own settings, and where it has hooks, one for each moment of a session:")
    say("   memories come when a prompt is sent, and what was decided is kept. The rest of its files stays, and copies")
    say("   are kept beside them. Without hooks: perdure connect --no-hooks")
    chosen = [host for host in here if yes or ask(f"   Connect {host.title}?")]
    if not chosen:
        say("   None connected. Later: perdure connect")
        return Exit.OK
    plans = connect_all(machine, chosen)
    show_plans(plans)
    for line in next_steps(plans):
        say(f"   {line}")
    return Exit.ERROR if any(plan.outcome is Outcome.REFUSED for plan in plans) else Exit.OK


def _move_in(*, yes: bool) -> int:
    """Step three: what other memories on this machine hold. Only read; a second setup takes in what is new."""
    from perdure.cli.moving import Found, counted, here, look, send, show
    from perdure.importing.draft import Kind
    from perdure.importing.sources import SOURCES

    where = here()
    found: list[Found] = []
    later: list[str] = []
    for source in SOURCES:
        places = source.places(where)
        if not places:
            continue
        if not source.by_setup:
            later.append(f"{source.title} ({len(places)} found): perdure import --from {source.name} --dry-run")
            continue
        found.append(look(source, places, where))
    say()
    taken = [one for one in found if one.drafts]
    if not taken and not later:
        say("3. No other memory was found on this machine. Later: perdure import --from ...")
        return Exit.OK
    say("3. What is remembered on this machine already; nothing is changed or deleted there.")
    status = Exit.OK
    for one in taken:
        count = counted(len(one.drafts))
        if not (yes or ask(f"   Take in {count} of {one.source.title}?")):
            say(f"   {one.source.title} ({count}): perdure import --from {one.source.name}")
            continue
        try:
            show(one, send(one))
        except Failure as failure:
            failure.show()
            status = Exit.ERROR
    for one in found:
        if not one.drafts and one.of(Kind.LOST):
            say(f"   {one.source.title}: {one.of(Kind.LOST)[0].reason}")
    for line in later:
        say(f"   {line}")
    return status
