from __future__ import annotations

import ast
from pathlib import Path

import click
import pytest

from perdure.cli import main

LISTED = [
    "up",
    "down",
    "status",
    "logs",
    "add",
    "search",
    "get",
    "list",
    "update",
    "archive",
    "restore",
    "purge",
    "checkpoint",
    "sync",
    "stats",
    "history",
    "export",
    "import",
    "prompt",
    "health",
    "doctor",
    "token",
    "namespace",
    "reembed",
    "db",
]


def command(name: str) -> click.Command:
    found = main.root.get_command(click.Context(main.root), name)
    assert found is not None
    return found


def leaves(name: str) -> list[click.Command]:
    found = command(name)
    return list(found.commands.values()) if isinstance(found, click.Group) else [found]


@pytest.mark.requirement("SKEL-01")
def test_every_command_of_the_issue_is_there() -> None:
    assert set(LISTED) <= set(main.COMMANDS)


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_loads_and_says_what_it_does(name: str) -> None:
    for leaf in leaves(name):
        assert leaf.help
        assert leaf.get_short_help_str(200)


NO_JSON = {"up", "logs", "export", "prompt", "completion", "setup"}
"""Commands whose output is a stream of its own: log lines, JSON Lines, a text, a script, a conversation."""


@pytest.mark.parametrize("name", sorted(set(main.COMMANDS) - NO_JSON))
@pytest.mark.requirement("CLI-02")
def test_every_command_with_an_answer_has_it_in_json(name: str) -> None:
    for leaf in leaves(name):
        options = {option for parameter in leaf.params for option in parameter.opts}
        assert "--json" in options or leaf.name in NO_JSON, leaf.name


def test_nothing_heavy_is_imported_at_the_top_of_a_module() -> None:
    heavy = {"rich", "grpc", "pydantic", "pydantic_settings", "numpy", "honcho", "apsw"}
    exempt = {"supervisor.py", "starting.py", "examinations.py"}  # imported inside commands only
    folder = Path(main.__file__).parent
    for path in folder.glob("*.py"):
        if path.name in exempt:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names.append(node.module or "")
            tops = {name.split(".")[0] for name in names}
            assert not tops & heavy, path.name
            assert not {f"{name.rpartition('.')[2]}.py" for name in names} & exempt, path.name
