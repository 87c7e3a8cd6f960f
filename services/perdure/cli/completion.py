"""``completion``: the script that lets a shell complete our commands."""

from __future__ import annotations

import click

from perdure.cli.terminal import say


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion_command(shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
    bash:  eval "$(perdure completion bash)"   in ~/.bashrc
    zsh:   eval "$(perdure completion zsh)"    in ~/.zshrc
    fish:  perdure completion fish > ~/.config/fish/completions/perdure.fish
    """
    from click.shell_completion import get_completion_class

    from perdure.cli.main import root

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"{shell} is not known.")
    say(kind(root, {}, "perdure", "_PERDURE_COMPLETE").source())
