"""Arguments that are text: they may begin with a dash, come in several words, or from standard input.

Knows command lines; knows no command.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from perdure.cli.failure import Exit, Failure

_OPTION_LIKE = re.compile(r"(--[A-Za-z][A-Za-z0-9-]*(=.*)?|-[A-Za-z])\Z", re.DOTALL)
_COMMAND = TypeVar("_COMMAND", bound=Callable[..., Any])


class TextCommand(click.Command):
    """A command whose arguments are text.

    ``perdure add "- we use pnpm"`` saves a text that begins with a dash. A word that looks like an option and is
    none (``--porject``) is still refused; after ``--`` everything is text.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put options first and text after ``--``, then parse as click does."""
        options, text = self._sorted(ctx, args)
        return super().parse_args(ctx, [*options, "--", *text])

    def _sorted(self, ctx: click.Context, args: Sequence[str]) -> tuple[list[str], list[str]]:
        takes_value: dict[str, bool] = {}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option):
                for name in (*parameter.opts, *parameter.secondary_opts):
                    takes_value[name] = not (parameter.is_flag or parameter.count)
        options: list[str] = []
        text: list[str] = []
        position = 0
        while position < len(args):
            word = args[position]
            position += 1
            if word == "--":
                text.extend(args[position:])
                break
            name = word.partition("=")[0]
            if word in takes_value:
                options.append(word)
                if takes_value[word] and position < len(args):
                    options.append(args[position])
                    position += 1
            elif _is_option(word, name, takes_value):
                options.append(word)
            else:
                text.append(word)
        return options, text


def _is_option(word: str, name: str, known: dict[str, bool]) -> bool:
    """Whether a word is ``--name=value``, looks like an option, or is a short one with its value (``-n5``)."""
    if (name.startswith("--") and name in known) or _OPTION_LIKE.match(word):
        return True
    # a text such as "-no tabs" is none
    return len(word) > 2 and word[0] == "-" and word[:2] in known and not any(map(str.isspace, word))


def joined(words: Sequence[str], what: str) -> str:
    """The text of an argument.

    Args:
        words: The argument's words; the single word ``-`` reads standard input to its end.
        what: What the text is, for the message.

    Raises:
        Failure: there is none, or standard input is empty.
    """
    if list(words) == ["-"]:
        raw = sys.stdin.buffer.read()
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff").rstrip("\r\n")
    else:
        text = " ".join(words)
    if not text.strip():
        raise Failure(f"Give {what}, or - to read it from standard input.", Exit.USAGE)
    return text


def split_list(values: Sequence[str] | str | None) -> list[str] | None:
    """Items of options that take a comma-separated list and may be given more than once; None where not given."""
    if values is None or values == ():
        return None
    given = [values] if isinstance(values, str) else values
    return [item for value in given for part in value.split(",") if (item := part.strip())]


def json_option(command: _COMMAND) -> _COMMAND:
    """The option that every command with an answer has."""
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(command)


def project_option(help_text: str) -> Callable[[_COMMAND], _COMMAND]:
    """``-p/--project``."""
    return click.option("-p", "--project", metavar="NAME", help=help_text)


def place_options(help_text: str, everywhere: str) -> Callable[[_COMMAND], _COMMAND]:
    """``-p/--project`` and ``-g/--global``, for a command that means this folder's project where it is given neither.

    Args:
        help_text: What the project is for.
        everywhere: What ``--global`` means here.
    """

    def decorated(command: _COMMAND) -> _COMMAND:
        flag = click.option("-g", "--global", "everywhere", is_flag=True, help=everywhere)
        return project_option(f"{help_text}; this folder's by default.")(flag(command))

    return decorated


def chosen_project(project: str | None, everywhere: bool) -> str:
    """The project that a command is about: the one named, ``_global``, or that of the folder it was called in.

    Raises:
        Failure: both were given.
    """
    if project and everywhere:
        raise Failure("Give --project or --global, not both.", Exit.USAGE)
    if everywhere:
        return GLOBAL_PROJECT
    if project:
        return project
    return folders_project()


def folders_project() -> str:
    """The project of the folder that the command was called in; one line on stderr where its file is not usable."""
    import os

    from perdure.cli.terminal import note, one_line
    from perdure.project import project_of

    try:
        found = project_of(os.getcwd())  # noqa: PTH109 - pathlib says the same, later
    except OSError:
        return GLOBAL_PROJECT  # the folder is gone
    if found.fault:
        note(f"warning: {one_line(found.fault)} This folder's project is {one_line(found.name)}.")
    return found.name


GLOBAL_PROJECT = "_global"
TYPES = ("fact", "decision", "preference", "task", "context")
PROVENANCES = ("save", "checkpoint", "debate", "human")
STATUSES = ("active", "archived", "superseded", "consolidated")
TIERS = ("regular", "core")
SOURCES = (
    "nan-forget", "builderforce", "claude", "transcripts", "mem0", "mcp-memory", "basic-memory", "markdown", "adr",
)  # fmt: skip
"""The gateway's and the importers' words, written out so that a search need not import them; a test compares."""


def type_option(*, default: str | None = None, many: bool = False) -> Callable[[_COMMAND], _COMMAND]:
    """``-t/--type``."""
    return click.option(
        "-t", "--type", "type_", type=click.Choice(TYPES), default=default, multiple=many, help="Kind of memory."
    )
