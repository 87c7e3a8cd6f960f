from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.hooks import json_text

SERVICES = Path(__file__).parents[3] / "services"
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(VALUES)
def test_what_is_written_is_what_json_writes(value: object) -> None:
    assert json_text.written(value) == json.dumps(value)


@given(VALUES, st.booleans(), st.sampled_from(["", " ", "\r\n\t "]))
def test_what_is_read_is_what_json_reads(value: object, ascii_only: bool, space: str) -> None:
    text = space + json.dumps(value, ensure_ascii=ascii_only, indent=1) + space
    assert json_text.read(text) == json.loads(text)
    if "\\ud" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert json_text.read(text.encode()) == json.loads(text)


@pytest.mark.parametrize("bad", ["", "{", "[1,]", "nul", "1 2", "{'a': 1}", '"\n"', '{"a"}', b"\xff"])
def test_what_is_no_json_is_a_value_error_also_where_nobody_imported_json(bad: str | bytes) -> None:
    with pytest.raises(ValueError):
        json_text.read(bad)
    program = f"from perdure.hooks import json_text\ntry: json_text.read({bad!r})\nexcept ValueError: print('refused')"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={"PYTHONPATH": str(SERVICES)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == [b"refused"]


def test_nesting_without_end_is_a_recursion_error() -> None:
    with pytest.raises(RecursionError):
        json_text.read("[" * 100_000)


@pytest.mark.parametrize("value", [{1: "a"}, {"a": object()}, b"bytes", float("nan"), float("-inf")])
def test_what_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        json_text.written(value)
