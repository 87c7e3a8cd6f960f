"""Counts and times of what the service does, for Prometheus: outcomes of saves, parts of searches.

Wraps use cases; knows no text, id or tenant.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.namespace import Caller
from perdure.domain.recall.answer import Answer, Question
from perdure.domain.saving import Draft, Failure, SaveResult
from perdure.observability.metrics import Metrics
from perdure.usecases.save import Save
from perdure.usecases.save_many import SaveMany
from perdure.usecases.search import Search


class Measures:
    """The service's own metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._saves = metrics.counter("saves_total", "Statements resolved, by what became of them.", ("outcome",))
        self._unembedded = metrics.counter("saves_unembedded_total", "Statements stored before their vector was made.")
        self._searches = metrics.counter(
            "searches_total",
            "Searches, by why vectors were not compared (empty: they were).",
            ("skipped", "found"),
        )
        self._part_s = metrics.histogram("search_part_seconds", "Time of a search's parts.", ("part",))

    def saved(self, result: SaveResult | Failure) -> None:
        """Counts one statement."""
        if isinstance(result, Failure):
            self._saves.labels("failed").inc()
            return
        self._saves.labels(result.outcome.value).inc()
        if not result.embedded:
            self._unembedded.inc()

    def searched(self, answer: Answer) -> None:
        """Counts and times one search."""
        found = "yes" if answer.recognition or answer.recall else "no"
        self._searches.labels(answer.dense_skipped.value, found).inc()
        for part, duration_ms in answer.timings_ms.items():
            self._part_s.labels(part).observe(duration_ms / 1000)


class MeasuredSave:
    """A save that is counted."""

    def __init__(self, save: Save, measures: Measures) -> None:
        self._save = save
        self._measures = measures

    def __call__(self, caller: Caller, draft: Draft, *, idempotency_key: str | None = None) -> SaveResult:
        """As ``Save``."""
        result = self._save(caller, draft, idempotency_key=idempotency_key)
        self._measures.saved(result)
        return result


class MeasuredSaveMany:
    """A batch that is counted."""

    def __init__(self, save_many: SaveMany, measures: Measures) -> None:
        self._save_many = save_many
        self._measures = measures

    def __call__(
        self, caller: Caller, drafts: Sequence[Draft | Failure], *, idempotency_key: str | None = None
    ) -> tuple[SaveResult | Failure, ...]:
        """As ``SaveMany``."""
        results = self._save_many(caller, drafts, idempotency_key=idempotency_key)
        for result in results:
            self._measures.saved(result)
        return results


class MeasuredSearch:
    """A search that is counted and timed."""

    def __init__(self, search: Search, measures: Measures) -> None:
        self._search = search
        self._measures = measures

    def __call__(self, caller: Caller, question: Question) -> Answer:
        """As ``Search``."""
        answer = self._search(caller, question)
        self._measures.searched(answer)
        return answer
