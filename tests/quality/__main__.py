"""``make quality``: recall measured through the product's own search, as tables by category and by arm.

A real store, the real embedder, the use case that every surface calls; only the wire is left out. Vectors are kept
under ``quality-results/`` so that a second run is quick. ``make quality QUALITY="locomo zh"`` runs some sets.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "services")]

from quality import learning, recalling  # noqa: E402 - the path comes first
from quality.datasets import load_locomo, load_recall_set, locomo_path  # noqa: E402 - the path comes first
from quality.searcher import ARMS, Item, Searcher, VectorCache  # noqa: E402 - the path comes first

K = (5, 10)
CATEGORY_NAMES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
RESULTS = ROOT / "quality-results"


@dataclass(frozen=True)
class Asked:
    """A question, what should be found, and the row of the table it counts in."""

    query: str
    expects: frozenset[str]
    category: str


@dataclass(frozen=True)
class Target:
    """What the issue asks of the fused arm over all questions."""

    at: int
    recall: float


def measure(
    title: str, groups: Sequence[tuple[str, Sequence[Item], Sequence[Asked]]], cache: VectorCache
) -> dict[str, Any]:
    """Ask every question of every group with every arm; print a table; the figures by arm, category and k."""
    found: dict[str, dict[str, dict[int, list[float]]]] = {arm: defaultdict(lambda: {k: [] for k in K}) for arm in ARMS}
    misses: list[str] = []
    with tempfile.TemporaryDirectory(prefix="pdq-") as folder:
        searcher = Searcher(Path(folder), cache)
        try:
            for name, items, asked in groups:
                searcher.fill(name, items)
                for question in asked:
                    for arm in ARMS:
                        ranked = searcher.search(name, question.query, arm=arm, limit=max(K))
                        for k in K:
                            share = len(question.expects & set(ranked[:k])) / len(question.expects)
                            found[arm][question.category][k].append(share)
                            found[arm]["all"][k].append(share)
        finally:
            searcher.close()
    del misses
    return table(title, found)


def table(title: str, found: Mapping[str, Mapping[str, Mapping[int, Sequence[float]]]]) -> dict[str, Any]:
    """Print the table; the same figures as nested plain values."""
    categories = sorted({category for arm in found.values() for category in arm if category != "all"})
    figures: dict[str, Any] = {}
    print(f"\n{title}")
    print(f"  {'category':<14}{'n':>6}" + "".join(f"{arm + ' R@' + str(k):>16}" for arm in ARMS for k in K))
    for category in [*categories, "all"] if len(categories) > 1 else ["all"]:
        number = len(found[ARMS[0]][category][K[0]])
        cells = ""
        for arm in ARMS:
            for k in K:
                values = found[arm][category][k]
                mean = sum(values) / len(values)
                figures.setdefault(category, {"n": number}).setdefault(arm, {})[f"R@{k}"] = round(mean, 4)
                cells += f"{mean:>16.3f}"
        print(f"  {category:<14}{number:>6}{cells}", flush=True)
    return figures


def locomo(cache: VectorCache) -> dict[str, Any] | None:
    """LoCoMo at turn level, inside one conversation, categories 1 to 4."""
    conversations = load_locomo()
    if conversations is None:
        print(f"\nlocomo: skipped, the data is not here ({locomo_path().name}; licence: non-commercial, never shipped)")
        return None
    groups = []
    for conversation in conversations:
        items = [Item(turn.dialog_id, turn.document) for turn in conversation.turns]
        asked = [
            Asked(question.query, frozenset(question.evidence), CATEGORY_NAMES[question.category])
            for question in conversation.questions
            if question.category in CATEGORY_NAMES
        ]
        groups.append((f"locomo-{conversation.sample_id}", items, asked))
    return measure("locomo (five conversations, turn level, inside one conversation)", groups, cache)


def own_set(language: str) -> Callable[[VectorCache], dict[str, Any] | None]:
    """One of the sets in our own words."""

    def run(cache: VectorCache) -> dict[str, Any] | None:
        data = load_recall_set(language)  # type: ignore[arg-type]  # a literal of that type
        items = [Item.of(memory) for memory in data.memories]
        asked = [Asked(q.query, frozenset(q.expects), language) for q in data.answerable]
        figures = measure(f"{language} (own words, {len(items)} memories)", [(language, items, asked)], cache)
        if data.negatives:
            with tempfile.TemporaryDirectory(prefix="pdq-") as folder:
                searcher = Searcher(Path(folder), cache)
                try:
                    searcher.fill(language, items)
                    silent = sum(not searcher.search(language, q.query, arm="fused", limit=5) for q in data.negatives)
                finally:
                    searcher.close()
            print(f"  questions without an answer: {silent} of {len(data.negatives)} answered with an honest no match")
            figures["no_match"] = {"n": len(data.negatives), "silent": silent}
        return figures

    return run


def hook(cache: VectorCache) -> dict[str, Any]:
    """What the hook shows at prompts, and when it keeps silent."""
    figures = recalling.measured(cache)
    print("\nhook (500 memories of 9 projects; prompts to coding agents, half with nothing to recall)")
    print(recalling.table(figures), flush=True)
    return {name: asdict(each) for name, each in figures.items()}


SETS: dict[str, Callable[[VectorCache], dict[str, Any] | None]] = {
    "locomo": locomo,
    "zh": own_set("zh"),
    "ja": own_set("ja"),
    "en": own_set("en"),
    "hook": hook,
    "procedures": learning.procedures,
    "locomo-model": learning.locomo_with_model,
}
TARGETS = {"locomo": (Target(10, 0.68), Target(5, 0.58)), "zh": (Target(5, 0.9),), "ja": (Target(5, 0.9),)}


def verdicts(name: str, figures: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Which of the issue's targets were met."""
    answers = list(figures.get("verdicts", ()))
    if name == "hook":
        held, whole = figures["held"], figures["all"]
        for part, row in (("held back", held), ("all", whole)):
            precision, silence, tokens = row["precision"], row["silence"], row["tokens"]
            answers += [
                (
                    f"hook, {part}: precision {precision:.3f} >= {recalling.PRECISION_MIN}",
                    precision >= recalling.PRECISION_MIN,
                ),
                (f"hook, {part}: silence {silence:.3f} >= {recalling.SILENCE_MIN}", silence >= recalling.SILENCE_MIN),
                (f"hook, {part}: tokens {tokens} <= {recalling.TOKENS_MAX}", tokens <= recalling.TOKENS_MAX),
            ]
    for target in TARGETS.get(name, ()):
        value = figures["all"]["fused"][f"R@{target.at}"]
        answers.append((f"{name}: fused R@{target.at} {value:.3f} >= {target.recall}", value >= target.recall))
    if name == "locomo":
        for category, row in figures.items():
            for k in K:
                fused, words = row["fused"][f"R@{k}"], row["words"][f"R@{k}"]
                text = f"locomo, {category}: fused R@{k} {fused:.3f} not below words alone {words:.3f}"
                answers.append((text, fused >= words))
    return answers


def main(names: list[str]) -> int:
    """Run the named sets, or all; 1 where a target was missed, 2 for an unknown name."""
    unknown = [name for name in names if name not in SETS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(SETS)}", file=sys.stderr)
        return 2
    RESULTS.mkdir(exist_ok=True)
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    kept: dict[str, Any] = {"at": started, "sets": {}}
    missed = 0
    with VectorCache(RESULTS / "vectors") as cache:
        for name in names or list(SETS):
            figures = SETS[name](cache)
            if figures is None:
                continue
            kept["sets"][name] = figures
            for text, met in verdicts(name, figures):
                missed += not met
                print(f"  {'met   ' if met else 'MISSED'} {text}")
    (RESULTS / "latest.json").write_text(json.dumps(kept, indent=2) + "\n", encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
