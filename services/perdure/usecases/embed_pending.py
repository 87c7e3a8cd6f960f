"""Give waiting memories their vectors, then resolve them as their saves would have.

The queue is in the store: a worker that dies loses nothing, and a memory leaves the queue in the transaction that
stores its vector. While the embedder is away, each memory waits a little longer before the next try.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from perdure.domain.layout import embedded_text
from perdure.domain.memory import Memory
from perdure.domain.namespace import Actor, Scope
from perdure.errors import DeadlineExceeded, NotFound, PerdureError, Unavailable
from perdure.ports import Clock, Embedder, Job, Pending, Store
from perdure.usecases.embed_in_time import Embedded
from perdure.usecases.resolve import ATTEMPTS_MAX, Resolver, Settlement, Wanted
from perdure.usecases.run_job import Report
from perdure.usecases.yielding import Yielding

BATCH = 16
EMBED_TIMEOUT_S = 60.0
RETRY_FIRST_S = 5.0
RETRY_MAX_S = 300.0

_ACTOR = Actor(name="embed_pending", kind="job")


class EmbedPending:
    """Runner of ``JobKind.EMBED_PENDING``."""

    def __init__(self, store: Store, embedder: Embedder, resolver: Resolver, clock: Clock) -> None:
        self._store = store
        self._embedder = embedder
        self._resolver = resolver
        self._clock = clock
        # a short rest after each transaction: whoever waits for the writer, an import above all, gets in between
        self._yielding = Yielding(lambda: 0)

    def __call__(self, job: Job, report: Report) -> str:
        """Work the queue until nothing is due; a sentence with what was done."""
        del job  # takes no parameters
        done = postponed = 0
        while batch := self._due():
            embedded, late = self._work(batch)
            done += embedded
            postponed += late
            with self._store.work() as unit:
                left = unit.pending_count()
            report(done, done + left)
            if late and not embedded:
                break  # the embedder is away; the next tick after the pause starts anew
        return f"{done} memories embedded" + (f", {postponed} wait for another try" if postponed else "")

    def _due(self) -> tuple[Pending, ...]:
        with self._store.work() as unit:
            return unit.pending(BATCH, self._clock.now())

    def _work(self, batch: Sequence[Pending]) -> tuple[int, int]:
        """How many memories of the batch were settled, and how many have to wait."""
        memories = [(item, memory) for item in batch if (memory := self._read(item)) is not None]
        texts = [embedded_text(memory.statement, memory.created_at) for _, memory in memories]
        vectors: dict[str, Embedded] = {}
        try:
            vectors = self._embed(texts)
        except (Unavailable, DeadlineExceeded):
            for item in batch:
                self._postpone(item)
            return 0, len(batch)
        except PerdureError:
            pass  # one of the texts cannot be embedded; each is tried alone below
        late = 0
        for (item, memory), text in zip(memories, texts, strict=True):
            try:
                settled = self._settle(item, memory, {text: vectors.get(text) or self._embed([text])[text]})
            except PerdureError:
                settled = False  # moved on, busy, or a bad text: later again, and nobody waits behind it
            if not settled:
                self._postpone(item)
                late += 1
        gone = len(batch) - len(memories)
        return len(memories) - late + gone, late

    def _read(self, item: Pending) -> Memory | None:
        try:
            with self._store.read(Scope(item.namespace)) as reader:
                return reader.get(item.memory)
        except NotFound:
            return None

    def _embed(self, texts: Sequence[str]) -> dict[str, Embedded]:
        if not texts:
            return {}
        answer = self._embedder.documents(texts, timeout_s=EMBED_TIMEOUT_S, background=True)
        return {
            text: Embedded(answer.vectors[place], answer.space, answer.truncated[place])
            for place, text in enumerate(texts)
        }

    def _settle(self, item: Pending, memory: Memory, vectors: dict[str, Embedded | None]) -> bool:
        """True where the memory needs no further try now."""
        for attempt in range(ATTEMPTS_MAX):
            with self._yielding, self._store.write(Scope(item.namespace), _ACTOR) as unit:
                answer = self._resolver.stored(
                    unit,
                    memory.id,
                    vectors,
                    now=self._clock.now(),
                    actor=_ACTOR,
                    last=attempt == ATTEMPTS_MAX - 1,
                )
            if not isinstance(answer, Wanted):
                return answer is not Settlement.GONE
            vectors |= self._embed([answer.text])
        return False

    def _postpone(self, item: Pending) -> None:
        pause_s = min(RETRY_FIRST_S * 2**item.attempts, RETRY_MAX_S)
        with self._store.work() as unit:
            unit.postpone(item.namespace, item.memory, self._clock.now() + timedelta(seconds=pause_s))
