"""Calls and command lines that cannot be taken back: ``rm -rf``, ``git push --force``, ``DROP TABLE``, HTTP's DELETE.

Judges by the text; runs nothing. A command that only shows what it would do is none, nor is one that is only quoted.
"""

# ruff: noqa: E501 - a pattern reads better on one line than in pieces

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from perdure.domain.experience.commands import program_name
from perdure.domain.experience.episode import Json
from perdure.domain.experience.label_words import words

_COMMAND_ARGUMENTS = frozenset(
    {
        "command",
        "commands",
        "cmd",
        "commandline",
        "script",
        "shell",
        "bash",
        "code",
        "query",
        "sql",
        "statement",
        "args",
    }
    | {"argv", "arguments", "input", "expression", "source", "snippet", "run", "exec", "program", "statements", "line"}
)
_METHODS = frozenset({"method", "verb", "httpmethod", "requestmethod", "http_method", "operation", "action"})
_POINTS = frozenset({"url", "uri", "path", "endpoint", "route", "href"})
_SHELLS = frozenset(
    {"shell", "bash", "sh", "terminal", "exec", "command", "powershell", "cmd", "sql", "zsh", "console"}
)
_PAID = re.compile(
    r"(?i)/(?:payments?|charges?|refunds?|transfers?|payouts?|orders?|checkout|purchases?|messages?|send|emails?|sms|"
    r"publish|deploy(?:ments)?|subscriptions?|withdrawals?|bookings?|merge|releases?)(?:[/?#]|$)"
)

_SEGMENT = re.compile(r"\|\||&&|[;|\n]|(?<!&)&(?!&)|\$\(|`")

_COMMAND_CHARS_MAX = 4000
"""Of one command that are looked at: patterns stay quick on any text."""
_QUOTED = re.compile(r"""'[^'\n]*(?:'|$)|"(?:\\.|[^"\\\n])*(?:"|\\?$)""", re.MULTILINE)
"""Also what is not closed, so that no text is read twice over."""
_PREFIX = re.compile(
    r"^(?:\s|\(|\{|!)*(?:(?:sudo|doas|nohup|time|env|exec|command|then|do|else|xargs|watch|timeout\s+\S+|nice|ionice)\s+"
    r"(?:-\S+\s+)*|[A-Za-z_]\w*=\S*\s+|(?:&|\.)\s+)*"
)
_TALKS = frozenset(
    [
        "grep",
        "rg",
        "ag",
        "ack",
        "cat",
        "bat",
        "echo",
        "printf",
        "less",
        "more",
        "head",
        "tail",
        "man",
        "help",
        "which",
        "type",
        "ls",
        "dir",
        "tree",
        "wc",
        "diff",
        "sort",
        "uniq",
        "cut",
        "tr",
        "jq",
        "yq",
        "test",
        "stat",
        "file",
        "locate",
        "alias",
        "history",
        "apropos",
        "tldr",
        "whatis",
        "write-host",
        "write-output",
        "get-help",
        "select-string",
    ]
)
_INTERPRETERS = frozenset(
    [
        "sh",
        "bash",
        "zsh",
        "fish",
        "dash",
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "sqlcmd",
        "mongosh",
        "mongo",
        "redis-cli",
        "xargs",
        "parallel",
    ]
)
_HARMLESS_FLAG = re.compile(
    r"(?:^|\s)(?:--dry-run(?:=\S+)?|--dryrun|--help|-h|--version|-WhatIf|--what-if|--check|--simulate)(?=\s|$)", re.I
)

_PROGRAMS: dict[str, re.Pattern[str] | None] = dict.fromkeys(
    [
        "rm",
        "rmdir",
        "unlink",
        "shred",
        "srm",
        "del",
        "erase",
        "rd",
        "remove-item",
        "ri",
        "wipefs",
        "mkfs",
        "dropdb",
        "dropuser",
        "userdel",
        "deluser",
        "groupdel",
        "shutdown",
        "reboot",
        "halt",
        "poweroff",
        "pkill",
        "killall",
        "sendmail",
        "mail",
        "mailx",
        "mutt",
        "swaks",
        "stop-computer",
        "restart-computer",
        "clear-content",
        "format-volume",
        "clear-disk",
        "remove-vm",
        "remove-aduser",
    ]
)
_PROGRAMS.update(
    {
        name: re.compile(pattern)
        for name, pattern in {
            "git": r"\bpush\b.*(?:\s--force\b|\s--force-with-lease\b|\s-[a-zA-Z]*f[a-zA-Z]*(?=\s|$)|\s--delete\b|\s-d\b|\s--mirror\b|"
            r"\s\+\S+|\s:\S+|\s--prune\b)|\breset\b.*\s--hard\b|\bclean\b(?!.*\s(?:-[a-zA-Z]*n|--dry-run)).*\s-[a-zA-Z]*f|"
            r"\bcheckout\b.*\s(?:--\s|\.(?=\s|$)|-f\b|--force\b)|\brestore\b|\bbranch\b.*\s(?:-D|--delete|-d)\b|\btag\b.*\s(?:-d|--delete)\b|"
            r"\bstash\s+(?:drop|clear)\b|\bfilter-(?:branch|repo)\b|\breflog\s+(?:expire|delete)\b|(?<![\w-])rm\b|\bupdate-ref\s+-d\b|"
            r"\bgc\b.*--prune=now|\bworktree\s+remove\b|\bremote\s+(?:rm|remove)\b|\bsubmodule\s+deinit\b",
            "gh": r"\bpr\s+(?:merge|close)\b|\b(?:repo|release|secret|gist|run|cache|label|issue|variable)\s+delete\b|\brelease\s+create\b|"
            r"\brepo\s+(?:archive|rename)\b|\bapi\b.*(?:-X|--method)\s*=?\s*DELETE\b|\bworkflow\s+run\b",
            "glab": r"\bmr\s+merge\b|\bdelete\b",
            "kubectl": r"\b(?:delete|drain|apply|replace|scale|rollout\s+(?:undo|restart)|cordon|evict)\b",
            "oc": r"\b(?:delete|drain|apply)\b",
            "helm": r"\b(?:uninstall|delete|upgrade|install|rollback)\b",
            "terraform": r"\b(?:apply|destroy|state\s+rm|taint|force-unlock)\b",
            "tofu": r"\b(?:apply|destroy)\b",
            "pulumi": r"\b(?:up|destroy)\b",
            "ansible-playbook": r"\S",
            "docker": r"(?<![\w-])(?:rm|rmi|prune|push|kill)\b|\bdown\b.*\s(?:-v|--volumes|--rmi)\b|\bvolume\s+rm\b",
            "podman": r"(?<![\w-])(?:rm|rmi|prune|push|kill)\b",
            "docker-compose": r"\bdown\b.*\s(?:-v|--volumes)\b|(?<![\w-])rm\b",
            "npm": r"\b(?:publish|unpublish|deprecate|uninstall)\b",
            "pnpm": r"\bpublish\b",
            "yarn": r"\bpublish\b",
            "bun": r"\bpublish\b",
            "twine": r"\bupload\b",
            "poetry": r"\bpublish\b",
            "uv": r"\bpublish\b",
            "cargo": r"\b(?:publish|yank)\b",
            "gem": r"\b(?:push|yank)\b",
            "mvn": r"\bdeploy\b",
            "aws": r"\b(?:rm|rb|delete-[\w-]+|terminate-[\w-]+|deregister-[\w-]+|send-[\w-]+|publish|create-stack|update-stack|deploy)\b|"
            r"\bsync\b.*--delete\b",
            "gcloud": r"\b(?:delete|deploy|destroy)\b",
            "gsutil": r"\b(?:rm|rb)\b|\brsync\b.*\s-d\b",
            "az": r"\b(?:delete|purge)\b",
            "heroku": r"\b(?:[\w:]*destroy|pg:reset|releases:rollback)\b",
            "fly": r"\b(?:deploy|destroy)\b",
            "flyctl": r"\b(?:deploy|destroy)\b",
            "vercel": r"\S*--prod\b|\b(?:deploy|rm|remove)\b",
            "netlify": r"\bdeploy\b",
            "firebase": r"\bdeploy\b|:delete\b",
            "serverless": r"\b(?:deploy|remove)\b",
            "sls": r"\b(?:deploy|remove)\b",
            "cdk": r"\b(?:deploy|destroy)\b",
            "wrangler": r"\b(?:deploy|publish|delete)\b",
            "apt": r"\b(?:remove|purge|autoremove)\b",
            "apt-get": r"\b(?:remove|purge|autoremove)\b",
            "yum": r"\b(?:remove|erase)\b",
            "dnf": r"\b(?:remove|erase)\b",
            "pacman": r"\s-R",
            "brew": r"\b(?:uninstall|remove|rm)\b",
            "pip": r"\buninstall\b",
            "snap": r"\bremove\b",
            "crontab": r"\s-[a-z]*r",
            "iptables": r"\s(?:-F|--flush)\b",
            "truncate": r"\s(?:-s|--size)",
            "dd": r"\bof=",
            "find": r"\s-delete\b|-exec\s+(?:rm|shred|unlink)\b|-ok\s+rm\b",
            "kill": r"\s-(?:9|KILL|SIGKILL)\b",
            "redis-cli": r"(?i)\b(?:flushall|flushdb|del|unlink)\b",
            "valkey-cli": r"(?i)\b(?:flushall|flushdb|del|unlink)\b",
            "curl": r"(?:-X|--request)\s*=?\s*[\"']?(?:DELETE)\b|(?:-X|--request)\s*=?\s*[\"']?POST\b.*/(?:payments?|charges?|refunds?|"
            r"transfers?|payouts?|orders?|messages?|send|deploy)\b",
            "http": r"\bDELETE\b",
            "httpie": r"\bDELETE\b",
            "wget": r"--method[= ]DELETE\b",
            "invoke-restmethod": r"(?i)-method\s+delete\b",
            "invoke-webrequest": r"(?i)-method\s+delete\b",
            "rsync": r"\s--delete",
            "systemctl": r"\b(?:poweroff|reboot|halt|mask)\b",
            "mysqladmin": r"\bdrop\b",
            "rake": r"\bdb:(?:drop|reset|purge)\b",
            "rails": r"\bdb:(?:drop|reset|purge)\b|\bdestroy\b",
            "format": r"^\s*[a-zA-Z]:",
            "diskpart": r"\S*",
            "diskutil": r"(?i)\berase",
            "zfs": r"\b(?:destroy|rollback)\b",
            "zpool": r"\bdestroy\b",
            "lvremove": r"\S",
            "perdure": r"\b(?:purge|forget-all)\b",
            "chmod": r"\s-R\s+0*777\s+/(?:\s|$)",
            "svn": r"\b(?:delete|commit|revert)\b",
            "hg": r"\b(?:strip|push)\b.*(?:-f|--force)?",
        }.items()
    }
)
_STOPS = frozenset({"reboot", "shutdown", "halt", "poweroff"})
_SQL = re.compile(
    r"(?is)(?:\A|[;)])\s*(?:--[^\n]*\n\s*)*(?:"
    r"drop\s+(?:table|database|schema|index|view|materialized|column|user|role|sequence|trigger|function|procedure|type|"
    r"keyspace|collection|extension|tablespace|policy)\b|truncate\b|delete\s+from\b|alter\s+\w+\s+\S+\s+drop\b|revoke\b|"
    r"update\s+\S+\s+set\b(?![^;]{0,4000}\bwhere\b)|purge\b)"
)
_CODE = re.compile(
    r"\bshutil\.rmtree\(|\bos\.(?:remove|unlink|rmdir|removedirs)\(|\.unlink\(|\bfs\.(?:rm|unlink|rmdir|rmSync|unlinkSync|rmdirSync)\b|"
    r"\brimraf\b|\.(?:drop|dropDatabase|deleteMany|deleteOne|remove_all|drop_all|drop_collection|delete_many)\(|"
    r"\brequests\.delete\(|\bhttpx\.delete\(|\.send_message\(|\bsmtplib\b|\bFile\.Delete\(|\bDirectory\.Delete\(|\bFileUtils\.rm"
)
_REDIRECT = re.compile(r">\s*/dev/(?:sd|nvme|disk|hd)\w*|:\s*>\s*\S|(?:^|\s)mkfs\.\w+")


def is_dangerous_call(name: str, arguments: Mapping[str, Json]) -> bool:
    """Whether a tool is told to do what cannot be taken back."""
    runs = not _SHELLS.isdisjoint(words(name))
    return any(_is_dangerous_mapping(found, runs) for found in _mappings(arguments))


def is_dangerous_command(text: str) -> bool:
    """Whether ``text``, of a shell, SQL or a few other languages, does what cannot be taken back."""
    statement = text.lstrip()
    if statement.startswith("/*"):
        statement = statement.partition("*/")[2]
    if _SQL.search(statement) or _CODE.search(text):
        return True
    return any(map(_is_dangerous_line, re.split(r"(?<!\\)\n", text)))


def _is_dangerous_mapping(found: Mapping[str, Json], runs: bool) -> bool:
    method = next((value for name, value in found.items() if name.lower() in _METHODS and isinstance(value, str)), "")
    if method.upper() == "DELETE":
        return True
    if method.upper() == "POST" and any(
        isinstance(value, str) and _PAID.search(value) for name, value in found.items() if name.lower() in _POINTS
    ):
        return True
    if method and not {"delete", "remove", "drop", "purge", "destroy", "send", "publish", "merge", "refund"}.isdisjoint(
        words(method)
    ):
        return True
    return any(
        is_dangerous_command(text)
        for name, value in found.items()
        if runs or "".join(words(name)) in _COMMAND_ARGUMENTS
        for text in _texts(value)
    )


def _mappings(value: Json | Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
    if isinstance(value, Mapping):
        yield value
        for entry in value.values():
            yield from _mappings(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _mappings(entry)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
        texts = [str(entry) for entry in value]
        # ["bash", "-c", "rm x"] as well as ["rm", "x"]
        yield " ".join(texts)
        yield texts[-1]


def _is_dangerous_line(line: str) -> bool:
    if _REDIRECT.search(_QUOTED.sub(" ", line)):
        return True
    if _inner_is_dangerous(line):
        return True
    bare = _QUOTED.sub(_as_one, line)
    whole = _SEGMENT.split(bare)
    segments = [_PREFIX.sub("", segment) for segment in whole]
    return any(
        _is_dangerous_segment(segment, segments[at + 1 :], handed="xargs" in whole[at] or "parallel" in whole[at])
        for at, segment in enumerate(segments)
    )


def _inner_is_dangerous(line: str) -> bool:
    """Whether what a shell or a database is handed in quotes does so: ``bash -c "rm x"``, ``psql -c 'DROP …'``."""
    program = program_name((_PREFIX.sub("", line).split() or [""])[0])
    if program not in _INTERPRETERS and program not in (
        "ssh",
        "python",
        "python3",
        "node",
        "su",
        "powershell",
        "pwsh",
        "cmd",
        "eval",
    ):
        return False
    return any(map(is_dangerous_command, _inside(line)))


def _is_closed(quoted: re.Match[str]) -> bool:
    return len(quoted[0]) > 1 and quoted[0][-1] == quoted[0][0]


def _as_one(quoted: re.Match[str]) -> str:
    """A quoted part without what would divide it."""
    return re.sub(r"[;|&`\n]", " ", quoted[0]) if _is_closed(quoted) else quoted[0]


def _without_sentence(quoted: re.Match[str]) -> str:
    return " " if _is_closed(quoted) and len(quoted[0].split()) > 1 else quoted[0]


def _inside(text: str) -> Iterator[str]:
    """What is in quotes."""
    return (match[0][1:-1] for match in _QUOTED.finditer(text) if _is_closed(match))


def _is_dangerous_segment(segment: str, following: list[str], *, handed: bool) -> bool:
    """One command; ``following`` are those it is piped to, ``handed``: it gets its arguments from the one before."""
    parts = segment.split(None, 1)
    if not parts:
        return False
    program, rest = program_name(parts[0]), " " + parts[1] if len(parts) > 1 else ""
    if program in _TALKS:
        # what is only said is harmless, unless it is said to somebody who does it
        piped = bool(following) and program_name((following[0].split() or [""])[0]) in _INTERPRETERS
        return piped and any(map(is_dangerous_command, _inside(segment)))
    if program not in _PROGRAMS or (_HARMLESS_FLAG.search(rest) and program not in _STOPS):
        return False
    pattern = _PROGRAMS[program]
    # a sentence in quotes is a message, not an option
    rest = _QUOTED.sub(_without_sentence, rest[:_COMMAND_CHARS_MAX])
    if pattern is None:
        return bool(rest.strip()) or handed or program in _STOPS
    return pattern.search(rest) is not None
