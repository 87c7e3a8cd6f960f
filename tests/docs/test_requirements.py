"""Every requirement has a test, and every test cites requirements that exist."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from requirements import REQUIREMENTS

TESTS = Path(__file__).resolve().parents[1]


def cited() -> Iterator[tuple[str, str]]:
    """Ids with the tests that cite them."""
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
                continue
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.requirement":
                    where = f"{path.relative_to(TESTS)}::{node.name}"
                    assert decorator.args, f"{where} cites nothing"
                    for argument in decorator.args:
                        yield str(ast.literal_eval(argument)), where


def test_every_requirement_has_a_test() -> None:
    assert REQUIREMENTS.keys() - {name for name, _ in cited()} == set()


def test_every_cited_requirement_exists() -> None:
    assert {where: name for name, where in cited() if name not in REQUIREMENTS} == {}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_a_requirement_names_its_source_in_one_sentence(name: str) -> None:
    source, sentence = REQUIREMENTS[name]
    assert source.startswith("issue ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
