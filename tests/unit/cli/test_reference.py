from __future__ import annotations

import re
from pathlib import Path

import click

from perdure.cli import main
from perdure.cli.failure import Exit

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")


def test_the_reference_names_every_command_and_no_other_option_than_there_is() -> None:
    options = {"--help", "--version"}
    for name in main.COMMANDS:
        assert re.search(rf"`{name}\b", PAGE), name
        command = main.root.get_command(click.Context(main.root), name)
        for leaf in command.commands.values() if isinstance(command, click.Group) else [command]:
            assert leaf is not None
            options |= {option for parameter in leaf.params for option in parameter.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", PAGE)) <= options | {"--json"}


def test_the_reference_names_every_exit_status() -> None:
    named = {int(match) for match in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert named == {code.value for code in Exit}
