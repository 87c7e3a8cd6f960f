"""Connecting a host and taking the connection out again: planned as values, then carried out.

The inverse is exact: where a backup is known from which connecting makes the very file that is there, that backup is
what is put back; else our entry alone is cut out.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from perdure.installer import files, jsonc
from perdure.installer.entry import NAME, Entry, Launch, Remote, is_ours, updated
from perdure.installer.entry import only_reads as entry_only_reads
from perdure.installer.hosts import Form, Host
from perdure.installer.machine import Machine, Scope
from perdure.installer.refusal import Refused


class Part(enum.Enum):
    """The things that a host can be told of."""

    SERVER = "server"
    HOOKS = "hooks"
    RULES = "rules"
    COMMANDS = "commands"


class Outcome(enum.Enum):
    """What happens, or happened, to a host's file."""

    CONNECTED = "connected"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    DISCONNECTED = "disconnected"
    NOT_CONNECTED = "not connected"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do with one file.

    Attributes:
        host: The host.
        part: What of it: its list of servers, its hooks, a file of rules, or a slash command.
        path: The file as the person names it, links and all; None where the host has none of that scope.
        outcome: What will have happened.
        original: The file as it is; None where it could not be read.
        content: The bytes to write; None to delete the file. Only where ``changes``.
        entry: The entry that is written; empty where none is.
        why: Why it was refused, a sentence without values from the file.
        backup: Whether this version is to be kept.
    """

    host: Host
    path: Path | None
    outcome: Outcome
    part: Part = Part.SERVER
    original: files.Original | None = None
    content: bytes | None = None
    entry: Entry | None = None
    why: str = ""
    backup: bool = False

    @property
    def changes(self) -> bool:
        """Whether the file will be another one."""
        return self.outcome in {Outcome.CONNECTED, Outcome.UPDATED, Outcome.DISCONNECTED}


def plan_connect(
    host: Host,
    machine: Machine,
    scope: Scope,
    target: Launch | Remote,
    bridge: Launch,
    *,
    unhooked: Callable[[files.Original, Host], files.Original] = lambda original, _host: original,
) -> Plan:
    """How the host comes to know Perdure; never raises for what is wrong with a file.

    Args:
        host: The host.
        machine: The person's place.
        scope: Whose file.
        target: What the entry leads to.
        bridge: What starts where the file has no word for the target.
        unhooked: The same file without hooks of ours, which may be in it beside our entry.
    """
    path: Path | None = None
    try:
        path = host.file(machine, scope)
        entry = host.entry(target, bridge)
        original = files.read(path)
        format_ = _format(host.form)
        _there, old = format_.read(original.text, host.container, NAME)
        if old is not None and not is_ours(old):
            raise Refused(f'it has an entry named "{NAME}" that is not ours; rename or remove it')
        entry = updated(old, entry) if old is not None else entry
        if old == entry:
            return Plan(host=host, path=path, outcome=Outcome.UNCHANGED, original=original, entry=entry)
        content = original.encoded(format_.put(original.text, host.container, NAME, entry))
    except Refused as refusal:
        return _refused(host, path, refusal)
    return Plan(
        host=host,
        path=path,
        outcome=Outcome.CONNECTED if old is None else Outcome.UPDATED,
        original=original,
        content=content,
        entry=entry,
        # a version with an entry of ours is not pristine; without any backup it is the best there is
        backup=old is None or (not files.backups(path) and not _made_by_us(unhooked(original, host), host, old)),
    )


def plan_disconnect(host: Host, machine: Machine, scope: Scope) -> Plan:
    """How the host's file gets rid of our entry; never raises for what is wrong with a file."""
    path: Path | None = None
    try:
        path = host.file(machine, scope)
        original = files.read(path)
        if original.content is None:
            return Plan(host=host, path=path, outcome=Outcome.NOT_CONNECTED, original=original)
        format_ = _format(host.form)
        _there, old = format_.read(original.text, host.container, NAME)
        if old is None or not is_ours(old):
            return Plan(host=host, path=path, outcome=Outcome.NOT_CONNECTED, original=original)
        kept = files.backups(path)
        content = _before(original, host, old, kept)
    except Refused as refusal:
        return _refused(host, path, refusal)
    return Plan(
        host=host,
        path=path,
        outcome=Outcome.DISCONNECTED,
        original=original,
        content=content,
        backup=content is not None and not kept,
    )


def only_reads(host: Host, machine: Machine, scope: Scope) -> bool:
    """Whether the host is connected to read only; no for one whose file cannot be read."""
    try:
        original = files.read(host.file(machine, scope))
        _there, entry = _format(host.form).read(original.text, host.container, NAME)
    except Refused:
        return False
    return is_ours(entry) and entry_only_reads(entry)


def carry_out(plan: Plan, *, private: bool) -> Plan:
    """Do what was planned.

    Args:
        plan: The plan.
        private: Whether a new file is for this user only.

    Returns:
        The plan, or one with the outcome REFUSED.
    """
    original = plan.original
    if not plan.changes or original is None:
        return plan
    try:
        if plan.content is None:
            files.delete(original, folders=2 if plan.part is Part.RULES else 1)
            return plan
        if plan.backup:
            files.back_up(original)
        files.write(original, plan.content, private=private)
        if plan.outcome is Outcome.DISCONNECTED:
            files.forget(plan.content, original.path)
    except Refused as refusal:
        return _refused(plan.host, plan.path, refusal, plan.part)
    return plan


def pasted(host: Host, entry: Entry) -> str:
    """The entry as it stands in an otherwise empty file, for the person to paste."""
    return str(_format(host.form).put("", host.container, NAME, entry))


def _before(original: files.Original, host: Host, entry: Any, kept: Sequence[files.Original]) -> bytes | None:
    """The bytes without our entry; None where the file holds nothing else and was made by us."""
    format_ = _format(host.form)
    pristine = [backup for backup in kept if not _is_connected(backup, host)]
    for backup in pristine:
        if _connected(backup, host, entry) == original.content:
            return backup.content
    if not kept and _made_by_us(original, host, entry):
        return None
    had = bool(pristine) and _had_container(pristine[0], host)
    return original.encoded(format_.remove(original.text, host.container, NAME, with_container=not had))


def _made_by_us(original: files.Original, host: Host, entry: Any) -> bool:
    return _connected(files.Original(original.path, None), host, entry) == original.content


def _is_connected(backup: files.Original, host: Host) -> bool:
    """Whether a kept version has an entry of ours already, or cannot be read: it is no version to go back to."""
    try:
        return _format(host.form).read(backup.text, host.container, NAME)[1] is not None
    except Refused:
        return True


def _connected(original: files.Original, host: Host, entry: Any) -> bytes | None:
    """What connecting makes of a file; None where it would be refused."""
    try:
        return original.encoded(_format(host.form).put(original.text, host.container, NAME, entry))
    except Refused:
        return None


def _had_container(backup: files.Original, host: Host) -> bool:
    try:
        there, _old = _format(host.form).read(backup.text, host.container, NAME)
    except Refused:
        return True
    return bool(there)


def _format(form: Form) -> ModuleType:
    """The module that edits this language; two of them need a library that only ``perdure[local]`` brings."""
    try:
        match form:
            case Form.JSON:
                return jsonc
            case Form.TOML:
                from perdure.installer import toml_text

                return toml_text
            case Form.YAML:
                from perdure.installer import yaml_text

                return yaml_text
    except ModuleNotFoundError as error:
        raise Refused(f"{error.name} is not installed; run: pip install 'perdure[installer]'") from None


def _refused(host: Host, path: Path | None, refusal: Refused, part: Part = Part.SERVER) -> Plan:
    return Plan(host=host, path=path, outcome=Outcome.REFUSED, part=part, why=str(refusal))
