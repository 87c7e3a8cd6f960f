"""A host's hooks: ``perdure-hook`` put beside the person's own in the lists of events, and taken out again.

What to write is ``perdure.hooks.specs``; here is how: an element at the end of each list, never a change of another.
Only the person's own files: a project's file would name a path of this machine to everybody in the project.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perdure.hooks.answers import hears
from perdure.hooks.hosts import kind_of
from perdure.hooks.specs import LAUNCH, SPECS
from perdure.installer import files, jsonc
from perdure.installer.connection import Outcome, Part, Plan
from perdure.installer.entry import NAME, is_ours
from perdure.installer.hosts import HOSTS, Form, Host
from perdure.installer.machine import Machine, Scope, System
from perdure.installer.refusal import Refused

_PROGRAM = "perdure-hook"
_MODULE = "perdure.hooks"
_FILE = "perdure/hooks/__main__.py"
_WORD = re.compile(r"""[^\s"']+""")
_MOVED = {"~/.claude/": "CLAUDE_CONFIG_DIR", "~/.codex/": "CODEX_HOME"}


@dataclass(frozen=True, slots=True)
class Runner:
    """How ``perdure-hook`` is started: an absolute program with its first arguments; ``readonly``: only to recall."""

    words: tuple[str, ...]
    system: System
    readonly: bool = False

    def line(self, arguments: Sequence[str]) -> str:
        """The command line for the host's shell."""
        words = [*self.words, *arguments]
        if self.system is System.WINDOWS:
            return " ".join(f'"{word}"' if re.search(r"[\s&()^%]", word) else word for word in words)
        return shlex.join(words)


def runner_of(
    python: Path, package: Path, variables: Mapping[str, str], system: System, *, readonly: bool = False
) -> Runner:
    """The quickest way to start the hook, as its own specification has it.

    Args:
        python: The interpreter, absolute.
        package: The folder of ``perdure``.
        variables: What the hook is to see besides the host's environment.
        system: Whose shell reads the line.
        readonly: Whether it recalls and stores nothing.
    """
    words = [word.replace("{python}", str(python)).replace("{package}", str(package)) for word in LAUNCH]
    given = [f"{name}={value}" for name, value in variables.items()]
    if given and system is System.WINDOWS:
        words = [*words, *given]  # no program there sets a variable for another; the hook reads them itself
    elif given:
        words = ["/usr/bin/env", *given, *words]
    return Runner((*words, "--readonly") if readonly else tuple(words), system, readonly)


def hooks_file(host: Host, machine: Machine) -> Path | None:
    """The person's file that holds the host's hooks; None where there is none."""
    if host.hooks is None:
        return None
    named = str(SPECS[host.hooks]["files"]["user"])
    for prefix, variable in _MOVED.items():
        if named.startswith(prefix):
            folder = machine.directory(variable, machine.home / prefix.removeprefix("~/").rstrip("/"))
            return folder / named.removeprefix(prefix)
    return machine.home / named.removeprefix("~/")


def hooks_note(host: Host) -> str:
    """What a person should know of this host's hooks; often nothing."""
    return "" if host.hooks is None else str(SPECS[host.hooks].get("note", ""))


def unread(plan: Plan) -> str:
    """Why the host will not read the file with our hooks, a sentence; empty where it will."""
    name = plan.host.hooks
    content = plan.content if plan.changes else plan.original and plan.original.content
    if plan.part is not Part.HOOKS or name is None or not content or not SPECS[name].get("strict"):
        return ""
    try:
        json.loads(files.decoded(content))
    except ValueError:
        return (
            f"It ignores the whole of {plan.path} while there are comments or trailing commas in it: neither your "
            "settings there nor the hooks count until they are gone."
        )
    return ""


def plan_hooks(host: Host, machine: Machine, runner: Runner) -> Plan | None:
    """How the host comes to run our hook; None where it has none. Never raises for what is wrong with a file."""
    path = hooks_file(host, machine)
    if host.hooks is None or path is None:
        return None
    try:
        original = files.read(path)
        wanted = _wanted(host.hooks, runner)
        if not wanted:
            return _nothing_left(plan_unhook(host, machine))
        found = _found(original.text, host.hooks)
        if found == wanted:
            return Plan(host=host, path=path, outcome=Outcome.UNCHANGED, part=Part.HOOKS, original=original)
        # from the text as it was before ours came, so that disconnecting finds the way back to it
        before = _before(original, host.hooks, found, files.backups(path)) if found else original.content
        text = files.decoded(before or b"")
        content = original.encoded(_put_in(text or _document(host.hooks), host.hooks, wanted))
    except Refused as refusal:
        return Plan(host=host, path=path, outcome=Outcome.REFUSED, part=Part.HOOKS, why=str(refusal))
    return Plan(
        host=host,
        path=path,
        outcome=Outcome.UPDATED if found else Outcome.CONNECTED,
        part=Part.HOOKS,
        original=original,
        content=content,
        entry=dict(wanted),
        # the version before the server's entry came in was kept then
        backup=not found and not _has_server(original, host, machine),
    )


def _nothing_left(plan: Plan | None) -> Plan | None:
    """The plan for a host whose hooks could only capture, where nothing is to be captured."""
    return None if plan is None or plan.outcome is Outcome.NOT_CONNECTED else plan


def plan_unhook(host: Host, machine: Machine) -> Plan | None:
    """How the host forgets our hook; None where it has none. Never raises for what is wrong with a file."""
    path = hooks_file(host, machine)
    if host.hooks is None or path is None:
        return None
    try:
        original = files.read(path)
        found = _found(original.text, host.hooks) if original.content is not None else {}
        if not found or _serves_another(host, machine):
            return Plan(host=host, path=path, outcome=Outcome.NOT_CONNECTED, part=Part.HOOKS, original=original)
        kept = files.backups(path)
        content = _before(original, host.hooks, found, kept)
    except Refused as refusal:
        return Plan(host=host, path=path, outcome=Outcome.REFUSED, part=Part.HOOKS, why=str(refusal))
    return Plan(
        host=host,
        path=path,
        outcome=Outcome.DISCONNECTED,
        part=Part.HOOKS,
        original=original,
        content=content,
        backup=content is not None and not kept and not _has_server(original, host, machine),
    )


def unhooked(original: files.Original, host: Host) -> files.Original:
    """The file as it would be without our hooks; as it is where they cannot be told from others."""
    if host.hooks is None or original.content is None or host.form is not Form.JSON:
        return original
    try:
        text = _taken_out(original.text, host.hooks, _found(original.text, host.hooks))
    except Refused:
        return original
    return files.Original(original.path, original.encoded(text))


def is_our_hook(element: object) -> bool:
    """Whether an element of an event's list runs ``perdure-hook`` and nothing else.

    Raises:
        Refused: it also runs something of somebody else's.
    """
    if not isinstance(element, Mapping):
        return False
    handlers = element.get("hooks")
    if isinstance(handlers, list):
        ours = [_runs_us(handler) for handler in handlers]
        if any(ours) and not all(ours):
            raise Refused("one of its hooks runs both perdure-hook and something else; take them apart")
        return bool(ours) and all(ours)
    action = element.get("action")
    return _runs_us(action if isinstance(action, Mapping) else element)


def _runs_us(handler: object) -> bool:
    if not isinstance(handler, Mapping):
        return False
    texts = [handler.get(key) for key in ("command", "bash", "powershell")]
    args = handler.get("args")
    texts += args if isinstance(args, list) else []
    words = [word for text in texts if isinstance(text, str) for word in _WORD.findall(text)]
    names = {re.split(r"[\\/]", word)[-1].lower().removesuffix(".exe") for word in words}
    # quoted paths with spaces come in pieces; the last one holds what tells ours
    return _PROGRAM in names or _MODULE in words or any(word.replace("\\", "/").endswith(_FILE) for word in words)


def _wanted(name: str, runner: Runner) -> dict[str, list[Any]]:
    """Our elements by the list that holds them; for a runner that only reads, of events that can bring context."""
    spec = SPECS[name]
    wanted: dict[str, list[Any]] = {}
    for row in spec["events"]:
        if runner.readonly and not hears(name, kind_of(row["event"])):
            continue
        handler = _filled(row["handler"], runner, runner.line(("--host", name, row["event"])))
        if spec["group"] is not None:
            matcher = {} if row.get("matcher") is None else {"matcher": row["matcher"]}
            handler = {**matcher, "hooks": [handler]}
        wanted.setdefault(spec.get("list", row["event"]), []).append(handler)
    return wanted


def _filled(handler: Mapping[str, Any], runner: Runner, line: str) -> dict[str, Any]:
    filled = {
        key: line if value == "{command}" else _filled(value, runner, line) if isinstance(value, Mapping) else value
        for key, value in handler.items()
    }
    if filled.get("command") == "{program}":
        if runner.system is not System.WINDOWS:
            # VS Code reads this file too and knows no `args`: it would start a bare interpreter
            return {key: value for key, value in {**filled, "command": line}.items() if key != "args"}
        filled["command"] = runner.words[0]
        filled["args"] = [*runner.words[1:], *filled.get("args", [])]
    return filled


def _found(text: str, name: str) -> dict[str, list[Any]]:
    """Our elements by the list that holds them, in every list that the file has."""
    container = tuple(SPECS[name]["path"])
    plain: Any
    if "list" in SPECS[name]:
        plain = {SPECS[name]["list"]: jsonc.elements(text, container, SPECS[name]["list"]) or []}
    else:
        plain = jsonc.read(text, container[:-1], container[-1])[1]
    if plain is None:
        return {}
    if not isinstance(plain, dict):
        raise Refused(f'"{container[-1]}" in it is not an object')
    found = {}
    for event, listed in plain.items():
        ours = [element for element in listed if is_our_hook(element)] if isinstance(listed, list) else []
        if ours:
            found[event] = ours
    return found


def _put_in(text: str, name: str, wanted: Mapping[str, Sequence[Any]]) -> str:
    container = tuple(SPECS[name]["path"])
    for event, ours in wanted.items():
        for element in ours:
            text = jsonc.append(text, container, event, element)
    return text


def _taken_out(text: str, name: str, found: Mapping[str, Sequence[Any]], pristine: str | None = None) -> str:
    """``text`` without our elements, nor the lists that are empty then and were not there in ``pristine``."""
    container = tuple(SPECS[name]["path"])
    had = jsonc.read(pristine, container, "")[0] if pristine else False
    for event, ours in reversed(list(found.items())):
        for element in ours:
            text = jsonc.drop(text, container, event, element)
        stays = pristine is not None and jsonc.elements(pristine, container, event) is not None
        if not jsonc.elements(text, container, event) and not stays:
            text = jsonc.remove(text, container, event, with_container=not had)
    return text


def _document(name: str) -> str:
    """What a new file begins as."""
    document = SPECS[name].get("document")
    return json.dumps(document, indent=2) + "\n" if document else ""


def _connected(text: str, name: str, found: Mapping[str, Sequence[Any]]) -> str | None:
    try:
        return _put_in(text or _document(name), name, found)
    except Refused:
        return None


def _before(
    original: files.Original, name: str, found: Mapping[str, Sequence[Any]], kept: Sequence[files.Original]
) -> bytes | None:
    """The bytes without our hooks; None where the file holds nothing else and was made by us."""
    kept = [backup for backup in kept if not _is_hooked(backup, name)]
    for backup in kept:
        text = _connected(files.decoded(backup.content or b""), name, found)
        if text is not None and backup.encoded(text) == original.content:
            return backup.content
    if not kept and _connected("", name, found) == original.text:
        return None
    pristine = files.decoded(kept[0].content or b"") if kept else None
    return original.encoded(_taken_out(original.text, name, found, pristine))


def _is_hooked(backup: files.Original, name: str) -> bool:
    """Whether a kept version has hooks of ours already, or cannot be read: it is no version to go back to."""
    try:
        return bool(_found(backup.text, name))
    except Refused:
        return True


def _serves_another(host: Host, machine: Machine) -> bool:
    """Whether a connected host shares this one's file of hooks: as VS Code does that of Copilot CLI."""
    for other in HOSTS:
        if other.id != host.id and other.hooks == host.hooks and other.form is Form.JSON:
            text = files.read(other.file(machine, Scope.USER)).text
            if is_ours(jsonc.read(text, other.container, NAME)[1]):
                return True
    return False


def _has_server(original: files.Original, host: Host, machine: Machine) -> bool:
    """Whether the same file holds our entry among its servers."""
    if host.form is not Form.JSON or files.read(host.file(machine, Scope.USER)).path != original.path:
        return False
    return is_ours(jsonc.read(original.text, host.container, NAME)[1])
