"""Rows of figures, printed as a table and kept as JSON."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Row:
    """One figure: what was measured, its value and unit, the target of the issue (text), and whether it was met."""

    name: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None


@dataclass
class Report:
    """Everything one run measured."""

    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(
        self, name: str, value: float, unit: str, *, at_most: float | None = None, at_least: float | None = None
    ) -> None:
        """Add a figure and print it at once."""
        target, met = "", None
        if at_most is not None:
            target, met = f"<= {at_most:g}", value <= at_most
        if at_least is not None:
            target, met = f">= {at_least:g}", value >= at_least
        row = Row(name, value, unit, target, met)
        self.rows.append(row)
        print(line(row), flush=True)

    def note(self, text: str) -> None:
        """Add a remark that belongs to the figures."""
        self.notes.append(text)
        print(f"  {text}", flush=True)

    def write(self, path: Path) -> None:
        """Write all of it as JSON, with the machine and the time."""
        path.parent.mkdir(parents=True, exist_ok=True)
        facts = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "python": platform.python_version(),
            "system": platform.system(),
            "machine": platform.machine(),
            "cores": os.cpu_count(),
        }
        path.write_text(json.dumps({"run": facts, **asdict(self)}, indent=2) + "\n", encoding="utf-8")

    def summary(self) -> str:
        """How many targets were met."""
        judged = [row for row in self.rows if row.met is not None]
        missed = [row.name for row in judged if not row.met]
        text = f"{len(judged) - len(missed)} of {len(judged)} targets met"
        return text + (f"; missed: {', '.join(missed)}" if missed else "")


def line(row: Row) -> str:
    """One row of the table."""
    mark = {None: " ", True: "+", False: "-"}[row.met]
    return f"{mark} {row.name:<64} {row.value:>12,.3f} {row.unit:<8} {row.target}"


def median_ms(seconds: Sequence[float]) -> float:
    """Median of ``seconds`` in milliseconds."""
    return 1000 * statistics.median(seconds)


def percentile_ms(seconds: Sequence[float], share: float) -> float:
    """The value below which ``share`` of ``seconds`` lie, in milliseconds."""
    ordered = sorted(seconds)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def timed(call: Callable[[], Any]) -> float:
    """Seconds one call took."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
