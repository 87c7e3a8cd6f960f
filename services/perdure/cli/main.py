"""``perdure``: the command line's entry and its list of commands.

A command's module is imported when the command runs, so that a search does not pay for what ``up`` needs.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from perdure import __version__
from perdure.cli.failure import BY_CODE, Exit, Failure

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Memories": {
        "add": ("saving", "Save a memory."),
        "search": ("recalling", "Find memories by meaning and by words."),
        "get": ("recalling", "Show one memory in full."),
        "list": ("recalling", "List memories, newest first."),
        "update": ("saving", "Change a memory."),
        "archive": ("lifecycle", "Hide a memory; restore brings it back."),
        "restore": ("lifecycle", "Bring an archived memory back."),
        "purge": ("lifecycle", "Erase a memory everywhere, for good."),
        "history": ("recalling", "Show what a memory said before."),
        "checkpoint": ("saving", "Save what a finished task taught."),
        "sync": ("overview", "Show what a session needs to know when it starts."),
        "stats": ("overview", "Count memories by type and project."),
        "export": ("transfer", "Write every memory as JSON Lines or Markdown."),
        "import": ("transfer", "Take in memories: an export, or what another tool holds."),
        "prompt": ("overview", "Print the instructions for agents without MCP."),
    },
    "Lifecycle": {
        "consolidate": ("maintenance", "Make one memory of many aged ones about one thing."),
        "compact": ("maintenance", "The same, by NaN Forget's other word."),
        "clean": ("maintenance", "Archive what faded or ended."),
        "runs": ("maintenance", "List what maintenance did."),
        "undo": ("maintenance", "Put back what a run changed."),
        "why": ("maintenance", "Show what a memory weighs and what happens to it when."),
        "stub": ("maintenance", "Put one-line stubs for long memories."),
        "unstub": ("maintenance", "Take stubs away."),
        "memory-md": ("memory_md", "Keep the managed block in a MEMORY.md."),
    },
    "Experience": {
        "episode": ("experience", "Keep demonstrations of how something is done."),
        "skill": ("experience", "Make skills of demonstrations, and see how they do."),
        "run": ("skill_runs", "Run skills, and see what happened."),
        "routine": ("skill_runs", "Say when skills run; take what is due."),
        "model": ("learning", "Train the private model, or go back to the one before."),
        "experience": ("learning", "See, move and erase all of it."),
        "usage": ("learning", "Show tokens served and saved."),
    },
    "Tools": {
        "setup": ("welcome", "Start the services and connect the AI tools on this machine."),
        "connect": ("connecting", "Tell AI tools where Perdure is."),
        "disconnect": ("connecting", "Take Perdure out of AI tools again."),
        "rules": ("rules", "Tell AI tools when to recall and save, in the files they read."),
        "compress": ("compressing", "Make stubs of Claude Code's memory files that memory holds whole."),
    },
    "Services": {
        "up": ("processes", "Run the services; --detach runs them in the background."),
        "down": ("processes", "Stop the services of this home."),
        "status": ("processes", "Show the services, their pids and readiness."),
        "logs": ("processes", "Show what the services wrote."),
        "health": ("overview", "Ask the gateway how it and its parts are."),
        "doctor": ("doctor", "Find what is wrong, and the command that mends it."),
    },
    "Administration": {
        "token": ("access", "Make, list and revoke tokens."),
        "namespace": ("access", "Make and list namespaces."),
        "jobs": ("work", "List, show and cancel background jobs."),
        "reembed": ("work", "Embed every memory anew after the model changed."),
        "db": ("database", "Back up, check and repair the store."),
        "completion": ("completion", "Print the completion script of a shell."),
    },
}
COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}


class _PipeClosed(Exception):
    """Whoever read our output went away."""


class Root(click.Group):
    """The group whose commands are imported when they are needed."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a closed pipe is told apart from click's own exit with status 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise _PipeClosed from error

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Every command, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """The command of that name, imported now."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module = import_module(f"perdure.cli.{entry[0]}")
        command = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        if not isinstance(command, click.Command):
            raise TypeError(f"{cmd_name} is not a command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with our names to choose a suggestion from."""
        if not ctx.resilient_parsing and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.exceptions.NoSuchCommand(args[0], possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        """The help's list of commands, without importing them."""
        for title, group in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, text) for name, (_module, text) in group.items()])


@click.group(cls=Root, name="perdure", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="perdure", message="%(prog)s %(version)s")
def root() -> None:
    """Long-term memory for AI agents.

    Exit status: 0 done, 1 error, 2 wrong usage, 3 not found, 4 refused, 5 a service is away,
    6 a search matched nothing, 130 interrupted.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit status; see ``failure.Exit``.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        result = root.main(args=arguments, prog_name="perdure", standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else Exit.OK
    except click.exceptions.UsageError as error:
        return _usage(error)
    except Failure as error:
        error.show()
        return error.status
    except click.ClickException as error:
        Failure(error.format_message()).show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return Exit.INTERRUPTED
    except (BrokenPipeError, _PipeClosed):
        # the reader went away; whatever is still buffered has nowhere to go
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.PIPE_CLOSED
    except Exception as error:
        return _unforeseen(error)


def _usage(error: click.exceptions.UsageError) -> int:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message())
        return Exit.OK
    path = error.ctx.command_path if error.ctx else "perdure"
    Failure(f"{error.format_message()} See: {path} --help").show()
    return Exit.USAGE


def _unforeseen(error: Exception) -> int:
    from perdure.errors import PerdureError

    if os.environ.get("PERDURE_DEBUG"):
        raise error
    if isinstance(error, PerdureError):
        Failure(error.message).show()
        return BY_CODE.get(error.code.value, Exit.ERROR)
    Failure(f"{type(error).__name__}: {error} (set PERDURE_DEBUG=1 to see where)").show()
    return Exit.ERROR


def main() -> NoReturn:
    """The entry point of the ``perdure`` script."""
    sys.exit(run())


if __name__ == "__main__":
    main()
