"""Secrets in command lines: options, variables, headers, and the short forms of well-known programs.

Beside ``domain.secrets``, which finds what looks like a secret, this finds what stands where one is given, however weak
it is ("--password x"). Knows lists of arguments and lines of shell; runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from perdure.domain import secrets
from perdure.domain.experience.secret_labels import is_secret_label
from perdure.domain.experience.secret_markup import in_markup

KIND = "password"
"""What a secret is called that is known by its place."""

MARK = f"[redacted:{KIND}]"

_MYSQL = ("mysql", "mysqldump", "mysqladmin", "mysqlimport", "mycli", "mariadb", "mariadb-dump", "mariadb-admin")
_PACKERS = ("7z", "7za", "7zz", "rar", "unrar")
_ATTACHED = {
    "-p": frozenset((*_MYSQL, *_PACKERS, "sshpass")),
    "-P": frozenset({"zip", "unzip"}),
    "-a": frozenset({"redis-cli", "valkey-cli"}),
}
_LOGIN = frozenset({"docker", "podman", "nerdctl", "buildah", "skopeo", "az", "helm", "oras"})
"""Programs whose "-p" is a password after "login", and a port before."""
_SEPARATE = {
    "-p": frozenset({"sshpass", "twine", "mongo", "mongosh", "mongodump", *_LOGIN}),
    "-P": frozenset({"zip", "unzip", "sqlcmd", "bcp"}),
    "-a": frozenset({"redis-cli", "valkey-cli"}),
    "-w": frozenset({"ldapsearch", "ldapmodify", "ldapadd", "ldapdelete"}),
}
_USER = {"-u": frozenset({"curl", "http", "https"}), "-U": frozenset({"smbclient", "curl"})}
_TOKEN = re.compile(r"""(?:"(?:\\.|[^"\\]){0,500}"|'[^']{0,500}'|\\.|[^\s"'\\;|&()<>])+|[;|&()<>]""")
_SEPARATORS = frozenset(";|&()<>")
_OPTION = re.compile(r"(?P<name>--?[A-Za-z][\w.-]*|/[A-Za-z][\w-]{3,})(?P<sep>[=:])(?P<value>.+)\Z", re.DOTALL)
_NAME = re.compile(r"(?:--?|/)(?P<name>[A-Za-z][\w.-]*)\Z")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.+)\Z", re.DOTALL)
_NO_SECRET_VARIABLES = frozenset({"PWD", "OLDPWD"})
_HEADER = re.compile(
    r"(?i)\b(?P<name>(?:proxy-)?authorization|x-[\w-]*(?:key|token|secret|auth)[\w-]*|api-key|apikey|set-cookie|cookie)"
    r"\s*:\s*(?P<scheme>(?:bearer|basic|digest|token)\s+)?(?P<value>[^\s\"'\r\n][^\"'\r\n]*)"
)
_FIELD = re.compile(
    r"""(?P<quote>\\?["'])(?P<name>[\w .-]{2,60})(?P=quote)\s*:\s*"""
    r"""(?P<open>\\?["'])(?P<value>[^"'\\\r\n]{1,400})(?P=open)"""
)
_HINT = re.compile(r"(?i)pass|pw|secret|token|key|auth|cred|cvv|pin|otp|mfa|2fa|senha|clave|kennwort|(?:^|\s)-[pawu]")
_TEXT_MIN = 12
_MAY_PLACE = frozenset("-=:/")
"""A text shorter than that and without these holds nothing that shows itself; most labels are such."""
_STRONG_MIN = 6
_VARIABLE_VALUE = re.compile(
    r"^\$[A-Za-z_{(]|^%\w+%\Z|^<.*>\Z|^\{\{|^(?:PASSWORD|PASSWD|TOKEN|SECRET|KEY|VALUE|STRING|string)\Z"
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """Text without its secrets; ``kinds`` each once; ``values`` are what was taken out, for the search elsewhere."""

    text: str
    kinds: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


def clean_text(text: str, *, prose: bool = False) -> Cleaned:
    """``text`` with a mark in the place of each secret that shows itself, be it by its form or by its place.

    Args:
        text: Any text.
        prose: It tells people something, so a plain word after the name of an option is no secret ("--token flag").
    """
    if len(text) < _TEXT_MIN and _MAY_PLACE.isdisjoint(text):
        return Cleaned(text)
    kinds: list[str] = []
    values: list[str] = []
    pieces: list[str] = []
    at = 0
    for item in secrets.find(text):
        kinds.append(item.kind)
        values.append(text[item.start : item.end])
        pieces += (text[at : item.start], f"[redacted:{item.kind}]")
        at = item.end
    clean = "".join((*pieces, text[at:]))
    for start, end, sure in reversed(_placed(clean)):
        value = clean[start:end]
        if not _is_given(value) or (prose and not sure and value.isalpha()):
            continue
        values.append(value)
        kinds.append(KIND)
        clean = f"{clean[:start]}{MARK}{clean[end:]}"
    return Cleaned(clean, tuple(dict.fromkeys(kinds)), tuple(values))


def clean_arguments(program: str, arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """A program's arguments without secrets, the kinds of those, and the values that were taken out."""
    cleaned = list(arguments)
    kinds: list[str] = []
    values: list[str] = []
    for at, (start, end) in _arguments_with_secrets(program, arguments):
        value = arguments[at][start:end]
        if _is_given(value):
            cleaned[at] = f"{arguments[at][:start]}{MARK}{arguments[at][end:]}"
            kinds.append(KIND)
            values.append(value)
    for at, argument in enumerate(cleaned):
        found = clean_text(argument)
        cleaned[at] = found.text
        kinds.extend(found.kinds)
        values.extend(found.values)
    return tuple(cleaned), tuple(dict.fromkeys(kinds)), tuple(values)


def _is_given(value: str) -> bool:
    """Whether a value is one: no mark, no variable, no name of what is to be put there."""
    return bool(value) and not value.startswith("[redacted:") and not _VARIABLE_VALUE.search(value)


def program_name(program: str) -> str:
    """The last part of a program's path, in lower case, without ".exe"."""
    return re.split(r"[/\\]", program.strip().strip("\"'"))[-1].lower().removesuffix(".exe")


def _placed(text: str) -> list[tuple[int, int, bool]]:
    """Spans of what stands in the place of a secret, in order, none overlapping; whether prose has no such place."""
    spans: list[tuple[int, int, bool]] = []
    if "-" in text or "=" in text or "/" in text:
        spans.extend((*span, False) for span in _in_shell(text))
    if ":" in text:
        spans.extend((*match.span("value"), True) for match in _HEADER.finditer(text))
        spans.extend((*match.span("value"), True) for match in _FIELD.finditer(text) if is_secret_label(match["name"]))
    markup = in_markup(text)
    # what is an attribute or an element's text there is no word of a shell, with its quotes and what follows
    spans = [span for span in spans if all(span[1] <= start or end <= span[0] for start, end in markup)]
    spans.extend((*span, True) for span in markup)
    kept: list[tuple[int, int, bool]] = []
    for span in sorted(spans):
        if not kept or span[0] >= kept[-1][1]:
            kept.append(span)
    return kept


def _in_shell(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for line_start, line in _lines(text):
        if not _HINT.search(line):
            continue
        program, tokens = "", list[tuple[int, str]]()
        for match in [*_TOKEN.finditer(line), None]:
            if match is not None and match[0] not in _SEPARATORS:
                if not program and not _VARIABLE.match(match[0]) and match[0] not in ("sudo", "env", "time", "nohup"):
                    program = match[0]
                tokens.append((line_start + match.start(), match[0]))
                continue
            for at, (start, end) in _arguments_with_secrets(program, [token for _, token in tokens]):
                spans.append((tokens[at][0] + start, tokens[at][0] + end))
            program, tokens = "", []
    return spans


def _lines(text: str) -> list[tuple[int, str]]:
    found, at = [], 0
    for line in text.splitlines(keepends=True):
        found.append((at, line))
        at += len(line)
    return found


def _arguments_with_secrets(program: str, arguments: Sequence[str]) -> list[tuple[int, tuple[int, int]]]:
    """Which arguments hold a secret, and where in each."""
    name = program_name(program)
    found: list[tuple[int, tuple[int, int]]] = []
    for at, argument in enumerate(arguments):
        span = _within(name, argument)
        if span is not None:
            found.append((at, span))
        elif at + 1 < len(arguments) and _wants_secret(name, argument, arguments):
            following = arguments[at + 1]
            if following and not re.match(r"--?[A-Za-z][\w-]*(?:=|\Z)", following):
                found.append((at + 1, _inner(following)))
        elif at + 1 < len(arguments) and name in _USER.get(argument, ()):
            password = arguments[at + 1].find(":")
            if password > 0:
                start, end = _inner(arguments[at + 1])
                found.append((at + 1, (max(start, password + 1), end)))
    return found


def _within(program: str, argument: str) -> tuple[int, int] | None:
    """Where ``argument`` alone holds a secret."""
    option = _OPTION.match(argument)
    if option is not None:
        return _quoted(option) if is_secret_label(option["name"].lstrip("-/")) else None
    variable = _VARIABLE.match(argument)
    if variable is not None and variable["name"] not in _NO_SECRET_VARIABLES and is_secret_label(variable["name"]):
        return _quoted(variable)
    flag, value = argument[:2], argument[2:]
    if not value or argument.startswith("--"):
        return None
    if program in _ATTACHED.get(flag, ()):
        return (2, len(argument))
    if flag == "-p" and _looks_strong(value):
        return (2, len(argument))
    return None


def _wants_secret(program: str, argument: str, arguments: Sequence[str]) -> bool:
    named = _NAME.match(argument)
    if named is not None and len(named["name"]) > 1 and is_secret_label(named["name"]):
        return True
    return program in _SEPARATE.get(argument, ()) and (program not in _LOGIN or "login" in arguments)


def _looks_strong(value: str) -> bool:
    """Whether what follows "-p" is no port, path or word."""
    kinds = (any(map(str.isalpha, value)), any(map(str.isdigit, value)), any(char in "!@#$%^&*?~+" for char in value))
    return len(value) >= _STRONG_MIN and sum(kinds) >= 2 and not re.search(r"[/\\:.=]", value)


def _quoted(match: re.Match[str]) -> tuple[int, int]:
    start, end = match.span("value")
    inner = _inner(match["value"])
    return start + inner[0], min(end, start + inner[1])


def _inner(text: str) -> tuple[int, int]:
    """Where ``text`` is within its quotes."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return 1, len(text) - 1
    return 0, len(text)
