from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "services" / "perdure" / "hooks"
MODULES = sorted(PACKAGE.glob("*.py"))
SLOW = {"pathlib", "dataclasses", "subprocess", "asyncio", "logging", "http.client", "urllib.request", "ssl", "typing"}


COSTLY = {"collections", "contextlib", "enum", "functools", "json", "re", "socket", "types", "unicodedata"}
"""Importing these takes longer than everything that a plain prompt needs."""
AT_A_PROMPT = ("main", "place", "gateway", "recall", "sessions", "spool", "fences", "json_text")


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.requirement("HOOK-01")
@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_a_module_imports_the_standard_library_and_the_hooks_only(module: Path) -> None:
    foreign = {
        name
        for name in imported(ast.parse(module.read_text(encoding="utf-8")))
        if not name.startswith(("perdure.hooks", "perdure.project", "perdure.regular_file"))
        and name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert foreign == set()


@pytest.mark.requirement("HOOK-01")
def test_a_hook_starts_no_process() -> None:
    for module in MODULES:
        tree = ast.parse(module.read_text(encoding="utf-8"))
        assert not imported(tree) & {"subprocess", "multiprocessing", "pty", "concurrent.futures"}, module.name
        called = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not called & {"system", "popen", "fork", "posix_spawn", "spawnv", "execv", "startfile"}, module.name


@pytest.mark.requirement("HOOK-01")
def test_everything_loaded_is_of_the_standard_library_and_nothing_of_it_is_slow() -> None:
    names = [f"perdure.hooks.{module.stem}" for module in MODULES if module.stem not in ("__init__", "__main__")]
    program = f"""
import json, sys
before = set(sys.modules)
import {", ".join(names)}
print(json.dumps(sorted(set(sys.modules) - before)))
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(PACKAGE.parents[1])},
        capture_output=True,
        check=True,
        timeout=60,
    )
    loaded = json.loads(done.stdout)
    assert {n for n in loaded if n.partition(".")[0] not in sys.stdlib_module_names and n != "perdure"} == {
        n for n in loaded if n.startswith(("perdure.hooks", "perdure.project", "perdure.regular_file"))
    }
    assert not SLOW & set(loaded)


@pytest.mark.requirement("HOOK-LATENCY-01")
def test_a_prompt_imports_nothing_that_costs_more_than_the_hook_itself() -> None:
    names = ", ".join(f"perdure.hooks.{name}" for name in AT_A_PROMPT)
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import {names}, sys; print(*sys.modules)"],
        env={"PYTHONPATH": str(PACKAGE.parents[1])},
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    assert not COSTLY & set(done.stdout.split())
