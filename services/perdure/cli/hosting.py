"""What the commands over AI tools share: which tools, on which machine, and what happened to their files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from perdure.cli.failure import Exit, Failure
from perdure.cli.terminal import clean, note, say, say_json, table
from perdure.installer.commands import FOLDERS
from perdure.installer.connection import Outcome, Part, Plan, carry_out
from perdure.installer.hooking import hooks_note, unread
from perdure.installer.hosts import ALIASES, BY_ID, HOSTS, Host
from perdure.installer.machine import Machine, Scope, this_machine
from perdure.installer.refusal import Refused

_NEW = frozenset({Outcome.CONNECTED, Outcome.UPDATED})
_WORDS_OF_RULES = {
    Outcome.CONNECTED: "added",
    Outcome.DISCONNECTED: "removed",
    Outcome.NOT_CONNECTED: "not there",
}


def machine_here() -> Machine:
    """This machine.

    Raises:
        Failure: it has no home directory.
    """
    try:
        return this_machine()
    except Refused as refusal:
        raise Failure(str(refusal), Exit.USAGE) from refusal


def named_hosts(names: Sequence[str]) -> list[Host]:
    """The hosts of these names, each once.

    Raises:
        Failure: there is none of that name.
    """
    found: dict[str, Host] = {}
    for name in names:
        key = ALIASES.get(name.lower(), name.lower())
        if key not in BY_ID:
            raise Failure(f"There is no host {json.dumps(clean(name))}. Hosts: {', '.join(BY_ID)}.", Exit.USAGE)
        found[key] = BY_ID[key]
    return list(found.values())


def hosts_here(machine: Machine, scope: Scope) -> list[Host]:
    """The hosts that are on this machine and have a file of that scope."""
    return [host for host in HOSTS if host.is_here(machine) and (scope is Scope.USER or host.project_file is not None)]


def carried_out(plan: Plan, scope: Scope, *, dry_run: bool) -> Plan:
    """The plan, done unless it is a dry run."""
    return plan if dry_run else carry_out(plan, private=scope is Scope.USER)


def show_plans(plans: Sequence[Plan], *, dry_run: bool = False) -> None:
    """What happened to each host: a table on a terminal, lines elsewhere; reasons on stderr."""
    would = {plan.outcome for plan in plans if plan.changes} if dry_run else set()
    rows = [
        (title_of(plan), f"{'would be ' if plan.outcome in would else ''}{word_of(plan)}", plan.path or "-")
        for plan in plans
    ]
    table(("tool", "outcome", "file"), rows)
    for plan in plans:
        if plan.outcome is Outcome.REFUSED:
            note(f"perdure: {title_of(plan)} was left as it was: {clean(plan.why)}.")


def title_of(plan: Plan) -> str:
    """What the plan is about, for a person."""
    match plan.part:
        case Part.SERVER:
            return plan.host.title
        case Part.HOOKS:
            return f"{plan.host.title}, hooks"
        case Part.RULES:
            # several hosts may read it
            return f"rules, {plan.path.name if plan.path else plan.host.title}"
        case Part.COMMANDS:
            return f"{plan.host.title}, command"


def word_of(plan: Plan) -> str:
    """What happened to it, for a person."""
    words = {} if plan.part in {Part.SERVER, Part.HOOKS} else _WORDS_OF_RULES
    return words.get(plan.outcome, plan.outcome.value)


def next_steps(plans: Sequence[Plan]) -> list[str]:
    """What the person does then, a line for each host that changed."""
    entries = [plan for plan in plans if plan.part in {Part.SERVER, Part.HOOKS}]
    changed = {plan.host.id: plan.host for plan in entries if plan.outcome in _NEW}
    notes = [f"{host.title}: {host.after}" for host in changed.values()]
    hooked = [plan for plan in plans if plan.part is Part.HOOKS and plan.host.id in changed and plan.changes]
    notes += [f"{plan.host.title}: {text}" for plan in hooked if (text := hooks_note(plan.host))]
    connected = [plan for plan in plans if plan.outcome is Outcome.UNCHANGED or plan in hooked]
    notes += [f"{plan.host.title}: {text}" for plan in connected if (text := unread(plan))]
    commands = [plan for plan in plans if plan.part is Part.COMMANDS and plan.outcome in _NEW]
    return notes + [f"{plan.host.title}: the command is {FOLDERS[plan.host.id].call}" for plan in commands]


def finish(plans: Sequence[Plan], *, dry_run: bool, as_json: bool) -> int:
    """Tell what happened, or would, and give the exit status."""
    from perdure.installer.showing import diff

    diffs = [diff(plan) for plan in plans] if dry_run else []
    if as_json:
        say_json({"dry_run": dry_run, "hosts": [_as_json(plan) for plan in plans]})
    else:
        for text in filter(None, diffs):
            say(clean(text))
        if dry_run:
            note("Nothing was written. Values of other entries are hidden.")
        show_plans(plans, dry_run=dry_run)
        if not dry_run:
            for line in next_steps(plans):
                note(line)
    return Exit.ERROR if any(plan.outcome is Outcome.REFUSED for plan in plans) else Exit.OK


def _as_json(plan: Plan) -> dict[str, Any]:
    return {
        "host": plan.host.id,
        "part": plan.part.value,
        "outcome": word_of(plan),
        "file": str(plan.path) if plan.path else None,
        "why": plan.why or None,
    }
