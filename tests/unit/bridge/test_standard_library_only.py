import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[3] / "services" / "perdure" / "bridge"
MODULES = sorted(PACKAGE.glob("*.py"))


def imported(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
@pytest.mark.requirement("BRIDGE-01")
def test_a_module_imports_the_standard_library_and_the_bridge_only(module: Path) -> None:
    foreign = {
        name
        for name in imported(ast.parse(module.read_text(encoding="utf-8")))
        if not name.startswith(("perdure.bridge", "perdure.project", "perdure.regular_file"))
        and name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert foreign == set()


@pytest.mark.requirement("BRIDGE-01")
def test_a_started_bridge_has_loaded_nothing_else() -> None:
    program = """
import json, sys
before = set(sys.modules)
import perdure.bridge.main
loaded = set(sys.modules) - before
allowed = sys.stdlib_module_names
print(json.dumps([n for n in loaded if n not in ("perdure", "perdure.project") and not n.startswith("perdure.bridge")
                  and n.partition(".")[0] not in allowed]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(PACKAGE.parents[1])},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == []


def test_modules_that_are_slow_to_import_are_left_alone() -> None:
    slow = {"dataclasses", "subprocess", "asyncio", "logging"}
    program = f"import sys, perdure.bridge.main; print(sorted({slow!r} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(PACKAGE.parents[1])},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.strip() == b"[]"
