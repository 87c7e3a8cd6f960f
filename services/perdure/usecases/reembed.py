"""Give every memory a vector in the embedder's present space, beside the old ones, then switch to it.

Resumable: what has a vector already is skipped, so a job that was killed goes on where it stopped. Searches use the
old space until the switch where the embedder still answers in it, and words alone where it does not.
"""

from __future__ import annotations

from collections.abc import Sequence

from perdure.domain.layout import embedded_text
from perdure.domain.memory import Memory, MemoryId
from perdure.domain.namespace import Actor, NamespaceName, Scope
from perdure.errors import Conflict, FailedPrecondition, NotFound
from perdure.ports import Embedder, Job, Pending, Store
from perdure.usecases.run_job import Report

BATCH = 16
EMBED_TIMEOUT_S = 120.0
ROUNDS_MAX = 20
"""Passes over the store; saves made meanwhile bring new work, a later pass finds it."""

_ACTOR = Actor(name="reembed", kind="job")


class Reembed:
    """Runner of ``JobKind.REEMBED``."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder

    def __call__(self, job: Job, report: Report) -> str:
        """Embed what is missing and switch; a sentence with the space.

        Raises:
            Unavailable: the embedder went away; running the job again goes on from there.
        """
        del job  # the space is the embedder's present one
        space = self._embedder.space().fingerprint
        with self._store.work() as unit:
            total = unit.count_without_vector(space)
        done = 0
        for _ in range(ROUNDS_MAX):
            after: MemoryId | None = None
            while batch := self._missing(space, after):
                done += self._embed(batch, space)
                after = batch[-1].memory
                report(done, max(total, done), f"embedding into {space}")
            try:
                with self._store.work() as unit:
                    unit.switch_space(space)
            except FailedPrecondition:
                continue
            return f"{done} memories embedded; searches use {space}"
        raise FailedPrecondition("Memories kept arriving without a vector; run the job again.")

    def _missing(self, space: str, after: MemoryId | None) -> tuple[Pending, ...]:
        with self._store.work() as unit:
            return unit.without_vector(space, BATCH, after)

    def _embed(self, batch: Sequence[Pending], space: str) -> int:
        memories: list[Memory] = []
        for item in batch:
            with self._store.read(Scope(item.namespace)) as reader:
                memory = reader.get(item.memory)
            if memory is not None:
                memories.append(memory)
        if not memories:
            return 0
        texts = [embedded_text(memory.statement, memory.created_at) for memory in memories]
        answer = self._embedder.documents(texts, timeout_s=EMBED_TIMEOUT_S, background=True)
        if answer.space.fingerprint != space:
            raise Conflict("The embedder changed its space meanwhile; run the job again.")
        stored = 0
        for memory, vector in zip(memories, answer.vectors, strict=True):
            stored += self._store_vector(memory, vector, space)
        return stored

    def _store_vector(self, memory: Memory, vector: object, space: str) -> bool:
        name: NamespaceName = memory.namespace
        try:
            with self._store.write(Scope(name), _ACTOR) as unit:
                kept = unit.get(memory.id)
                if kept is None or kept.statement != memory.statement:
                    return False  # purged or edited since: the next pass, or the queue, has it
                unit.set_vector(memory.id, vector, space)  # type: ignore[arg-type]  # a row of the answer's matrix
        except NotFound:
            return False
        return True
