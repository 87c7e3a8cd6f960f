"""What a private model is worth: tasks asked for in other words, before and after a training, and LoCoMo beside it.

The product's own training and search over a real store with the real embedder; only the queue and the wire are left
out. The questions that measure are never trained on, and none of their wordings is; constants were chosen on others
(``dev``).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perdure.domain.experience.learning import Adaptation
from perdure.domain.experience.wording import procedure_of
from perdure.domain.memory import MemoryId
from perdure.domain.namespace import Caller, NamespaceName, Scope
from perdure.domain.recall.answer import Question
from perdure.ports import Job, JobKind, JobState
from perdure.store import open_experience_store
from perdure.usecases.embed_procedures import EmbedProcedures
from perdure.usecases.search import Search
from perdure.usecases.search_procedures import Learning
from perdure.usecases.train import Train
from perdure.usecases.use_log import UseLog
from quality.datasets import load_locomo, locomo_path
from quality.procedures import Sample, bystanders, load_procedures, skill_of
from quality.searcher import ACTOR, NOW, Item, Searcher, VectorCache
from support.clocks import SequentialIds

GAIN = 0.10
LOSS = 0.01
AT = 5


class _Clock:
    def now(self) -> Any:
        return NOW


@dataclass(frozen=True)
class Case:
    """A question and what should be among the first found: memories by the data set's id, or procedures."""

    query: str
    expects: frozenset[str]
    category: str = ""


class Classroom(Searcher):
    """A store whose namespaces have memories and procedures, the training, and the search on both."""

    def __init__(self, folder: Path, cache: VectorCache) -> None:
        super().__init__(folder, cache)
        self._experience = open_experience_store(f"sqlite:///{folder / 'quality.db'}")
        self._threads = ThreadPoolExecutor(2)
        self._embedder.away = False
        # which sentences are asked and what is held out goes by ids: with these every run is the same
        self._ids = SequentialIds()
        learning = Learning.of(self._experience, models=True)
        self._ask = Search(
            self._experience, self._embedder, UseLog(), _Clock(), self._threads, query_wait_s=60.0, learning=learning
        )

    def teach(self, group: str, samples: Sequence[Sample]) -> None:
        """Store the samples as skills."""
        with self._experience.experience(Scope(NamespaceName(group.lower())), ACTOR) as unit:
            for sample in samples:
                skill = skill_of(sample)
                unit.put_skill(skill, procedure_of(skill))
        # their vectors, as the embed step after a compile makes them: before the first training they are found too
        embed = EmbedProcedures(self._experience, self._embedder)
        with self._experience.experience_view(Scope(NamespaceName(group.lower()))) as reader:
            procedures = reader.procedures()
        list(embed.embed(Scope(NamespaceName(group.lower())), self._embedder.space().fingerprint, procedures))

    def train(self, group: str) -> tuple[str, Adaptation | None, float]:
        """One training as the worker runs it: the closing sentence, what was kept, seconds."""
        namespace = group.lower()
        job = Job(
            id=f"train {namespace}",
            kind=JobKind.TRAIN,
            state=JobState.RUNNING,
            created_at=NOW,
            parameters={"namespace": namespace},
        )
        start = time.perf_counter()
        outcome = Train(self._experience, self._embedder, _Clock())(job, lambda *_, **__: None)
        seconds = time.perf_counter() - start
        with self._experience.experience_view(Scope(NamespaceName(namespace))) as reader:
            lineage = reader.adaptations()
        return outcome.message, lineage[-1] if lineage else None, seconds

    def recall(self, group: str, cases: Collection[Case], k: int, *, procedures: bool) -> float:
        """Mean share of what is expected among the ``k`` best, memories and procedures in one order."""
        shares = []
        for case in cases:
            answer = self._ask(_caller(group), Question(query=case.query, limit=k, procedures=procedures))
            found = {one.id for one in answer.procedures} if procedures else self._named(answer.recall)
            shares.append(len(case.expects & found) / len(case.expects))
        return sum(shares) / len(shares)

    def _named(self, hits: Any) -> set[str]:
        return {self._names[MemoryId(hit.memory.id)] for hit in hits}

    def close(self) -> None:
        """Let go of both stores."""
        self._threads.shutdown()
        self._experience.close()
        super().close()


def procedures(cache: VectorCache) -> dict[str, Any]:
    """Tasks in other words among sixty procedures and five hundred memories."""
    samples = load_procedures()
    items = [Item(f"bystander-{number}", text) for number, text in enumerate(bystanders(samples))]
    dev = [Case(query, frozenset({sample.id})) for sample in samples for query in sample.dev]
    asked = [Case(query, frozenset({sample.id})) for sample in samples for query in sample.asked]
    print(f"\nprocedures ({len(samples)} skills, {len(items)} memories in the way, fused, in one order)")
    figures: dict[str, Any] = {"n": len(asked), "n_dev": len(dev)}
    with _classroom(cache) as room:
        room.fill("tasks", items)
        room.teach("tasks", samples)
        figures["before"], figures["dev_before"] = (
            room.recall("tasks", cases, AT, procedures=True) for cases in (asked, dev)
        )
        message, _, seconds = room.train("tasks")
        figures["after"], figures["dev_after"] = (
            room.recall("tasks", cases, AT, procedures=True) for cases in (asked, dev)
        )
    print(f"  training ({seconds:.1f} s, vectors kept): {message}")
    for label, name in (("asked, never trained or tuned on", ""), ("dev, constants chosen on", "dev_")):
        print(f"  {label:<34}R@{AT} before {figures[name + 'before']:.3f}  after {figures[name + 'after']:.3f}")
    gain = figures["after"] - figures["before"]
    figures["verdicts"] = [(f"procedures: R@{AT} rose by {gain:.3f} >= {GAIN}", gain >= GAIN)]
    return figures


def locomo_with_model(cache: VectorCache) -> dict[str, Any] | None:
    """LoCoMo's questions in namespaces that learned the sixty procedures; memories alone are asked for."""
    conversations = load_locomo()
    if conversations is None:
        print(f"\nlocomo-model: skipped, {locomo_path().name} is not here")
        return None
    samples = load_procedures()
    sums = {(k, when): 0.0 for k in (5, 10) for when in ("before", "after")}
    count = kept = 0
    with _classroom(cache) as room:
        for conversation in conversations:
            group = f"model-{conversation.sample_id}"
            room.fill(group, [Item(turn.dialog_id, turn.document) for turn in conversation.turns])
            room.teach(group, samples)
            cases = [
                Case(question.query, frozenset(question.evidence))
                for question in conversation.questions
                if question.category in (1, 2, 3, 4)
            ]
            for k in (5, 10):
                sums[k, "before"] += len(cases) * room.recall(group, cases, k, procedures=False)
            message, adaptation, _ = room.train(group)
            kept += adaptation is not None
            for k in (5, 10):
                sums[k, "after"] += len(cases) * room.recall(group, cases, k, procedures=False)
            count += len(cases)
            print(f"  {conversation.sample_id}: {message}", flush=True)
    print(f"\nlocomo with a private model of sixty procedures ({count} questions, fused; kept in {kept} namespaces)")
    figures: dict[str, Any] = {"n": count, "kept": kept, "verdicts": []}
    for k in (5, 10):
        before, after = sums[k, "before"] / count, sums[k, "after"] / count
        figures[f"R@{k}"] = {"before": round(before, 4), "after": round(after, 4)}
        print(f"  R@{k} before {before:.3f}  after {after:.3f}")
        text = f"locomo with a model: R@{k} {after:.3f} not below {before:.3f} by more than {LOSS}"
        figures["verdicts"].append((text, after >= before - LOSS))
    return figures


@contextmanager
def _classroom(cache: VectorCache) -> Iterator[Classroom]:
    """A classroom in a folder of its own, both gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="pdq-") as folder:
        room = Classroom(Path(folder), cache)
        try:
            yield room
        finally:
            room.close()


def _caller(group: str) -> Caller:
    return Caller(namespace=NamespaceName(group.lower()), actor="quality", scopes=frozenset({"read", "experience"}))
