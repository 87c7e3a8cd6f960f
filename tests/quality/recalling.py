"""When the hook speaks, measured: real prompts over a store of 500 memories, through what the hook itself does.

The search's answer is turned into REST's JSON by the gateway's own code and given to ``hooks.recall`` as it would come
over the wire; which prompts are no question, which hits are shown and what the text weighs is the hook's doing. Only
the socket is left out. One prompt is one session: nothing was shown before.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perdure.domain.memory import GLOBAL_PROJECT
from perdure.domain.recall.answer import Question as Asked
from perdure.gateway import present
from perdure.hooks.recall import HITS_MAX, find, query_of, recalled, tokens_of
from quality.datasets import Prompt, RecallLanguage, load_coding_memories, load_prompts, load_recall_set
from quality.searcher import Item, Searcher, VectorCache

PRECISION_MIN = 0.8
SILENCE_MIN = 0.9
TOKENS_MAX = 1000
OTHER_SETS: tuple[RecallLanguage, ...] = ("en", "zh", "ja")
"""Sets that no constant of the hook was chosen on; memories of no project, questions instead of prompts."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the hook did at one prompt: ``shown`` and ``expects`` are ids of the data set."""

    prompt: str
    expects: frozenset[str]
    shown: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares over the outcomes of a part; ``quiet`` is how many prompts have nothing to recall.

    ``precision``: of the memories shown, those that bear on their prompt. ``right``: of the prompts at which it spoke,
    those with such a memory. ``silence``: of the prompts with nothing to recall, those left alone. ``recall``: of the
    memories that bear on a prompt, those shown, three at most can be, averaged over prompts.
    """

    prompts: int
    quiet: int
    shown: int
    precision: float
    right: float
    silence: float
    recall: float
    tokens: int

    @classmethod
    def of(cls, outcomes: Collection[Outcome]) -> Figures:
        """The figures; a share of nothing is 1."""
        spoken = [each for each in outcomes if each.shown]
        quiet = [each for each in outcomes if not each.expects]
        served = [each for each in outcomes if each.expects]
        return cls(
            prompts=len(outcomes),
            quiet=len(quiet),
            shown=sum(len(each.shown) for each in spoken),
            precision=_share(memory in each.expects for each in spoken for memory in each.shown),
            right=_share(bool(each.expects.intersection(each.shown)) for each in spoken),
            silence=_share(not each.shown for each in quiet),
            recall=_share(
                len(each.expects.intersection(each.shown)) / min(HITS_MAX, len(each.expects)) for each in served
            ),
            tokens=max((each.tokens for each in outcomes), default=0),
        )

    def row(self) -> str:
        """A line of the table."""
        silence = self.silence if self.quiet else "-"
        shares = "".join(
            f"{value:>11}" if isinstance(value, str) else f"{value:>11.3f}"
            for value in (self.precision, self.right, silence, self.recall)
        )
        return f"{self.prompts:>8}{self.quiet:>7}{self.shown:>7}{shares}{self.tokens:>8}"


HEADER = (
    f"{'prompts':>8}{'quiet':>7}{'shown':>7}{'precision':>11}{'right':>11}{'silence':>11}{'recall':>11}{'tokens':>8}"
)


class Desk:
    """The gateway as the hook knows it, over a store in this process."""

    def __init__(self, searcher: Searcher, group: str, *, arm: str = "fused") -> None:
        self._searcher = searcher
        self._group = group
        self._arm = arm

    def get(self, path: str, query: dict[str, str]) -> Any:
        """The answer to ``GET /memories/search``, after a trip through JSON."""
        assert path == "/memories/search", path
        asked = Asked(
            query=query["q"],
            project=query.get("project"),
            depth=int(query["depth"]),
            limit=int(query["limit"]),
            shown_only=query["shown_only"] == "true",
        )
        answer = self._searcher.answer(self._group, asked, arm=self._arm)
        return json.loads(json.dumps(present.search(answer)))


def outcomes(searcher: Searcher, group: str, prompts: Iterable[Prompt], *, arm: str = "fused") -> list[Outcome]:
    """What the hook does at each prompt."""
    desk: Any = Desk(searcher, group, arm=arm)
    done = []
    for prompt in prompts:
        query = query_of(prompt.text)
        hits = find(desk, query, prompt.project) if query else []
        said = recalled(hits, prompt=prompt.text, project=prompt.project, session="", shown=())
        shown = tuple(searcher.name_of(memory) for memory in said.ids)
        done.append(Outcome(prompt.text, frozenset(prompt.expects), shown, tokens_of(said.text)))
    return done


def measured(cache: VectorCache) -> dict[str, Figures]:
    """Figures by part of the labelled prompts, without vectors, and of the other sets."""
    prompts = load_prompts()
    with tempfile.TemporaryDirectory(prefix="pdq-") as folder:
        searcher = Searcher(Path(folder), cache)
        try:
            searcher.fill("coding", [Item.of(memory) for memory in load_coding_memories()])
            by_part = {
                part: outcomes(searcher, "coding", [prompt for prompt in prompts if prompt.part == part])
                for part in ("dev", "held")
            }
            figures = {part: Figures.of(done) for part, done in by_part.items()}
            figures["all"] = Figures.of([*by_part["dev"], *by_part["held"]])
            figures["words alone"] = Figures.of(outcomes(searcher, "coding", prompts, arm="words"))
            others = []
            for language in OTHER_SETS:
                done = _other(searcher, language)
                figures[language] = Figures.of(done)
                others += done
            figures["other sets"] = Figures.of(others)
        finally:
            searcher.close()
    return figures


def table(figures: dict[str, Figures]) -> str:
    """The figures as lines."""
    return "\n".join([f"  {'':<12}{HEADER}", *(f"  {name:<12}{each.row()}" for name, each in figures.items())])


def _other(searcher: Searcher, language: RecallLanguage) -> list[Outcome]:
    data = load_recall_set(language)
    searcher.fill(language, [replace(Item.of(memory), project=GLOBAL_PROJECT) for memory in data.memories])
    asked = [Prompt("held", language, GLOBAL_PROJECT, question.query, question.expects) for question in data.questions]
    return outcomes(searcher, language, asked)


def _share(values: Iterable[float]) -> float:
    found: Sequence[float] = [float(value) for value in values]
    return sum(found) / len(found) if found else 1.0
