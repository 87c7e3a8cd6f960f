"""A planned change as a diff that can be shown: the person's own values are masked, since they hold tokens.

Pure. Keys, structure and our entry stay readable; every other string becomes an ellipsis.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from perdure.installer import files, jsonc
from perdure.installer.connection import Part, Plan
from perdure.installer.hosts import Form

_MASK = "…"
_ASSIGNED = re.compile(r"^(?P<key>\s*(?:-\s+)?[^\s=:#\[][^=:#]*?(?P<sign>\s*=\s*|:\s+))(?P<value>\S.*?)(?P<end>\s*)$")
_CONTEXT_LINES = 2


def diff(plan: Plan) -> str:
    """A unified diff of what would be written; empty where nothing would."""
    if not plan.changes or plan.original is None:
        return ""
    if plan.part in {Part.RULES, Part.COMMANDS}:
        # prose, with nothing in it to hide
        before, after = ((text or b"").decode("utf-8", "replace") for text in (plan.original.content, plan.content))
    else:
        ours = frozenset(_strings(plan.entry or {}))
        before = _masked(files.decoded(plan.original.content or b""), plan.host.form, ours)
        after = _masked(files.decoded(plan.content or b""), plan.host.form, ours)
    old = "/dev/null" if plan.original.content is None else str(plan.path)
    new = "/dev/null" if plan.content is None else str(plan.path)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old, new, lineterm="", n=_CONTEXT_LINES)
    return "\n".join(lines)


def _masked(text: str, form: Form, ours: frozenset[str]) -> str:
    """The same number of lines with foreign values hidden, and comments too."""
    if form is Form.JSON:
        parts, position = [], 0
        for start, end, value in jsonc.hidden(text):
            parts += [text[position:start], text[start:end] if value in ours else _hidden(text[start:end])]
            position = end
        return "".join((*parts, text[position:]))
    return "\n".join(_masked_line(line, ours) for line in text.splitlines())


def _masked_line(line: str, ours: frozenset[str]) -> str:
    bare = line.strip()
    if not bare or bare.startswith("[") or bare.endswith(":"):
        return line
    match = _ASSIGNED.match(line)
    values = re.findall(r'"((?:[^"\\]|\\.)*)"', match["value"] if match else bare)
    if match and (match["value"] in {"true", "false", "[]", "{}"} or (values and set(values) <= ours)):
        return line
    return f"{match['key']}{_MASK}" if match else _MASK


def _hidden(token: str) -> str:
    """A string or comment of as many lines, with nothing of it left."""
    if token.startswith('"'):
        return f'"{_MASK}"'
    return "\n".join(f"// {_MASK}" for _line in token.split("\n"))


def _strings(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for inner in value.values():
                yield from _strings(inner)
        case list():
            for inner in value:
                yield from _strings(inner)
