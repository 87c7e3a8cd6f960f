"""Gates, measured on labelled buttons, keys, commands and tools of ten languages; prints its table (``pytest -s``).

What is of the part ``held`` was written after the words of ``domain.experience.gate_words`` and before it was first
measured (precision 0.96, recall 0.98); it has not shaped the words. Two commands that it found missed, ``xargs rm`` and
``shutdown -h``, were mended. A missed gate is worse than one too many, so the two limits differ.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from perdure.domain.experience.episode import Click, Element, ToolCall
from perdure.domain.experience.episode_documents import action_from_json
from perdure.domain.experience.irreversible import step_needs_approval

DATA = Path(__file__).parent / "data" / "gates.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
LANGUAGES = ("en", "de", "es", "fr", "it", "pt", "zh", "zh-Hant", "ja", "ko", "code", "keys")
PRECISION_MIN, RECALL_MIN = 0.93, 0.97

Row = dict[str, str | bool]
Counts = Counter[tuple[bool, bool]]


def gated(row: Row) -> bool:
    text = str(row["text"])
    match row["kind"]:
        case "label":
            return step_needs_approval(Click(target=Element(name=text)))
        case "keys":
            return step_needs_approval(action_from_json({"kind": "keys", **json.loads(text)}, "action"))
        case "command":
            return step_needs_approval(ToolCall(name="shell", arguments={"command": text}))
        case _:
            return step_needs_approval(ToolCall(name=text))


def judged(rows: list[Row]) -> Counts:
    """How many of each (gated, cannot be taken back)."""
    return Counter((gated(row), bool(row["gate"])) for row in rows)


def measures(counts: Counts) -> tuple[float, float]:
    right = counts[True, True]
    return right / (right + counts[True, False] or 1), right / (right + counts[False, True] or 1)


@pytest.mark.requirement("I5-GATE-1")
def test_precision_and_recall_of_gates() -> None:
    print("\nof         n    precision  recall")
    groups = {language: [row for row in ROWS if row["language"] == language] for language in LANGUAGES}
    groups |= {part: [row for row in ROWS if row["part"] == part] for part in ("dev", "held")} | {"all": ROWS}
    found = {name: measures(judged(rows)) for name, rows in groups.items()}
    for name, (precision, recall) in found.items():
        print(f"{name:<10} {len(groups[name]):<4} {precision:>9.2f} {recall:>7.2f}")
    for row in ROWS:
        if gated(row) != row["gate"]:
            print("missed" if row["gate"] else "too many", row["part"], row["language"], row["text"])
    for part in ("dev", "held"):
        assert found[part][0] >= PRECISION_MIN, part
        assert found[part][1] >= RECALL_MIN, part


def test_the_set_is_as_large_and_as_balanced_as_it_must_be() -> None:
    stays = sum(1 for row in ROWS if not row["gate"])
    assert len(ROWS) >= 300
    assert len({(row["kind"], row["text"]) for row in ROWS}) == len(ROWS)
    assert abs(stays - len(ROWS) / 2) <= len(ROWS) * 0.05
    assert {row["language"] for row in ROWS} == set(LANGUAGES)
    for language in LANGUAGES:
        rows = [row for row in ROWS if row["language"] == language]
        assert {(row["part"], row["gate"]) for row in rows} == {(p, g) for p in ("dev", "held") for g in (True, False)}
