"""A loaded provider with everything around it: cache, batches, windows, the mean.

Knows what a caller may ask and what it gets; knows neither gRPC nor where the vectors come from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Final

import numpy as np

from perdure.domain.vectors import Matrix, Space, Thresholds, Vector, unit
from perdure.embedding.batching import Batcher, Caller, Lane, Work
from perdure.embedding.cache import VectorCache, cache_key
from perdure.embedding.metrics import EmbeddingMetrics
from perdure.embedding.providers import Provider
from perdure.embedding.texts import TEXTS_MAX, Embedded, Kind, Windows, clean, windows
from perdure.errors import DeadlineExceeded, InvalidArgument, PerdureError, Reason, Unavailable

BACKGROUND_CALL_S: Final = 30.0
"""Longest time of one call for background work, whose callers may have gone since it was begun."""


class Engine:
    """Embeds texts of many callers with one provider. Owns the provider, the cache and the lanes.

    Args:
        provider: The loaded model.
        cache: Vectors already known.
        metrics: Told of everything.
        batch: Texts in one micro-batch at most, 1 to 256; the provider's own limit holds as well.
        space: The provider's space, with thresholds of its own where they were derived; None is the provider's.
    """

    def __init__(
        self,
        provider: Provider,
        cache: VectorCache,
        metrics: EmbeddingMetrics,
        *,
        batch: int = 16,
        space: Space | None = None,
    ) -> None:
        self._provider = provider
        self._cache = cache
        self._metrics = metrics
        self._space = space or provider.space
        self._closing = False
        most = min(batch, provider.limits.batch_texts)
        self._batcher = Batcher(self._compute, batch=dict.fromkeys(Lane, most), observer=metrics)

    @property
    def space(self) -> Space:
        """The space of its vectors."""
        return self._space

    def embed(
        self,
        texts: Sequence[str],
        kind: Kind,
        *,
        background: bool,
        timeout_s: float,
        alive: Callable[[], bool] = lambda: True,
    ) -> tuple[Embedded, ...]:
        """Vectors of ``texts`` in their order.

        Args:
            texts: 1 to 256 texts.
            kind: Their side of a search.
            background: True for work nobody waits for.
            timeout_s: How long the caller waits.
            alive: False once the caller is gone.

        Raises:
            InvalidArgument: no text, too many, an empty one or one the provider cannot take (details: index).
            DeadlineExceeded: not done within ``timeout_s``; what was begun is kept for the next time.
            Unavailable: the provider is away.
            LimitExceeded: too many texts wait.
        """
        if not 1 <= len(texts) <= TEXTS_MAX:
            raise InvalidArgument(
                f"A request holds 1 to {TEXTS_MAX} texts.", reason=Reason.OUT_OF_RANGE, details={"texts": len(texts)}
            )
        caller = Caller(time.monotonic() + timeout_s, alive)
        lane = Lane.of(kind, background=background)
        cleaned = [_cleaned(text, index) for index, text in enumerate(texts)]
        waiting: list[Embedded | Work] = []
        for text in cleaned:
            key = cache_key(self._space.fingerprint, kind, text)
            found = self._cache.get(key)
            self._metrics.looked_up(hit=found is not None)
            waiting.append(found or self._submit(key, kind, text, lane, caller))
        return tuple(
            each if isinstance(each, Embedded) else self._result(each, index, lane, caller)
            for index, each in enumerate(waiting)
        )

    def close(self) -> None:
        """Ends the lanes, closes cache and provider; a long text is left between two windows."""
        self._closing = True
        self._batcher.close()
        self._cache.close()
        self._provider.close()

    def _submit(self, key: bytes, kind: Kind, text: str, lane: Lane, caller: Caller) -> Work:
        if lane is Lane.SAVE and self._is_hopeless(text, kind, caller):
            # begun in the background it holds up no other save, and its vector is there when it is asked for again
            lane = Lane.BACKGROUND
        return self._batcher.submit(key, kind, text, lane=lane, caller=caller)

    def _is_hopeless(self, text: str, kind: Kind, caller: Caller) -> bool:
        """True where the text costs more time than its caller has; a text has fewer tokens than characters."""
        token_s, left_s = self._provider.limits.token_s, caller.left_s()
        return len(text) * token_s > left_s and self._provider.tokens(text, kind) * token_s > left_s

    def _result(self, work: Work, index: int, lane: Lane, caller: Caller) -> Embedded:
        while True:
            try:
                return work.future.result(timeout=max(0.0, caller.until - time.monotonic()))
            except FutureTimeout as error:
                late = DeadlineExceeded(
                    "The text was not embedded in time.", reason=Reason.DEADLINE, details={"index": index}
                )
                raise late from error
            except DeadlineExceeded:
                if caller.left_s() <= 0:
                    raise
                # those it was computed for gave up just as this caller joined them
                work = self._batcher.submit(work.key, work.kind, work.text, lane=lane, caller=caller)
            except InvalidArgument as error:
                details = {**error.details, "index": index}
                raise InvalidArgument(error.message, reason=error.reason, details=details) from error

    def _left_s(self, works: Sequence[Work]) -> float:
        """Seconds that the works are worth; what was begun in the background is finished, for whoever asks again."""
        if self._closing:
            return 0.0
        if all(work.lane is Lane.BACKGROUND for work in works):
            return BACKGROUND_CALL_S
        return max(work.left_s() for work in works)

    def _compute(self, works: Sequence[Work]) -> list[Embedded | PerdureError]:
        try:
            embedded = compute(
                self._provider, works[0].kind, [work.text for work in works], lambda: self._left_s(works)
            )
        except PerdureError as error:
            return [error] * len(works)
        self._cache.put([(work.key, each) for work, each in zip(works, embedded, strict=True)])
        return list(embedded)


def compute(provider: Provider, kind: Kind, texts: Sequence[str], left_s: Callable[[], float]) -> list[Embedded]:
    """Final vectors of clean texts: in windows, averaged, centred, unit.

    Args:
        provider: Computes the windows.
        kind: The texts' side.
        texts: Clean texts.
        left_s: Seconds that somebody still waits for any of them; asked before each call.

    Raises:
        DeadlineExceeded: nobody waits any more.
        PerdureError: see ``Provider.embed``.
    """
    limits = provider.limits
    cut = [windows(text, lambda piece: provider.tokens(piece, kind), limits.text_tokens) for text in texts]
    pieces = [piece for each in cut for piece in each.pieces]
    tokens = [count for each in cut for count in each.tokens]
    rows = np.empty((len(pieces), provider.space.dimension), dtype=np.float32)
    start = 0
    while start < len(pieces):
        stop = start + 1
        while (
            stop < len(pieces)
            and stop - start < limits.batch_texts
            and sum(tokens[start : stop + 1]) <= limits.batch_tokens
        ):
            stop += 1
        time_left_s = left_s()
        if time_left_s <= 0:
            raise DeadlineExceeded("Nobody waited for these texts any more.", reason=Reason.DEADLINE)
        rows[start:stop] = unit(provider.embed(pieces[start:stop], kind, timeout_s=time_left_s))
        start = stop
    return _averaged(rows, cut, provider.mean)


def with_thresholds(space: Space, thresholds: Thresholds) -> Space:
    """``space`` with other thresholds; its fingerprint stays."""
    return Space(
        provider=space.provider,
        model=space.model,
        dimension=space.dimension,
        pooling=space.pooling,
        query_prefix=space.query_prefix,
        document_prefix=space.document_prefix,
        model_sha256=space.model_sha256,
        mean_sha256=space.mean_sha256,
        layout=space.layout,
        thresholds=thresholds,
    )


def _averaged(rows: Matrix, cut: Sequence[Windows], mean: Vector | None) -> list[Embedded]:
    """One vector a text: its windows weighted by their tokens, the mean taken away, unit."""
    embedded: list[Embedded] = []
    start = 0
    for each in cut:
        stop = start + len(each.pieces)
        weights = np.asarray(each.tokens, dtype=np.float32)
        vector = rows[start] if stop - start == 1 else unit(weights @ rows[start:stop])
        if mean is not None:
            vector = unit(vector - mean)
        vector = np.ascontiguousarray(vector, dtype=np.float32)
        if not vector.any():
            raise Unavailable("The model answered a zero vector.", reason=Reason.EMBEDDER_AWAY)
        vector.setflags(write=False)
        embedded.append(Embedded(vector, each.truncated, len(each.pieces)))
        start = stop
    return embedded


def _cleaned(text: str, index: int) -> str:
    try:
        return clean(text)
    except InvalidArgument as error:
        error.details["index"] = index
        raise
