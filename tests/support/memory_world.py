"""Every use case of memories, wired over one store and fakes, as the retrieval service wires them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from perdure.domain.memory import MemoryType, Statement
from perdure.domain.namespace import DEFAULT_NAMESPACE, Caller, NamespaceName
from perdure.domain.recall.answer import Answer, Question
from perdure.domain.saving import Draft, SaveResult
from perdure.ports import Job, JobKind, JobState, Store
from perdure.usecases.admit import Admit
from perdure.usecases.archive import Archive
from perdure.usecases.checkpoint import SaveCheckpoint
from perdure.usecases.embed_in_time import EmbedInTime
from perdure.usecases.embed_pending import EmbedPending
from perdure.usecases.export_memories import ExportMemories
from perdure.usecases.flush_uses import FlushUses
from perdure.usecases.get import Get
from perdure.usecases.history import ReadHistory
from perdure.usecases.import_memories import ImportMemories
from perdure.usecases.list_memories import ListMemories
from perdure.usecases.purge import Purge
from perdure.usecases.resolve import Resolver
from perdure.usecases.restore import Restore
from perdure.usecases.save import Save
from perdure.usecases.save_many import SaveMany
from perdure.usecases.search import Search
from perdure.usecases.stats import CountMemories
from perdure.usecases.sync import Sync
from perdure.usecases.update import Update
from perdure.usecases.use_log import UseLog
from support.clocks import FakeClock, SequentialIds
from support.fake_embedder import FakeEmbedder

ALL = frozenset({"read", "write", "admin"})
LIFETIME = timedelta(hours=24)


def caller(namespace: str = "default", *, actor: str = "local", scopes: frozenset[str] = ALL) -> Caller:
    """A caller of that namespace."""
    return Caller(namespace=NamespaceName(namespace), actor=actor, scopes=scopes)


def draft(content: str, **fields: Any) -> Draft:
    """A draft; fields of ``Statement`` and of ``Draft`` alike."""
    own = {name: fields.pop(name) for name in list(fields) if name in Draft.__dataclass_fields__}
    if isinstance(type_ := fields.get("type"), str):
        fields["type"] = MemoryType(type_)
    return Draft(statement=Statement(content=content, **fields), **own)


class MemoryWorld:
    """The use cases and what they stand on; the default namespace exists."""

    def __init__(self, store: Store, clock: FakeClock, *, secrets: Any = "redact") -> None:
        self.store = store
        self.clock = clock
        self.ids = SequentialIds()
        self.embedder = FakeEmbedder()
        self.uses = UseLog()
        self.pool = ThreadPoolExecutor(max_workers=4)
        self.me = caller()
        with store.access() as unit:
            if unit.namespace(DEFAULT_NAMESPACE) is None:
                unit.create_namespace(DEFAULT_NAMESPACE, self.clock.now())
        admit, embed, resolver = Admit(secrets), EmbedInTime(self.embedder, 0.25), Resolver(self.ids)
        self.save = Save(store, admit, embed, resolver, self.clock, replay_lifetime=LIFETIME)
        self.save_many = SaveMany(store, admit, embed, resolver, self.clock, replay_lifetime=LIFETIME)
        self.checkpoint = SaveCheckpoint(self.save)
        self.get = Get(store, self.uses, self.clock)
        self.update = Update(store, admit, embed, self.clock)
        self.archive = Archive(store, self.clock)
        self.restore = Restore(store, self.clock)
        self.purge = Purge(store, self.clock)
        self.list = ListMemories(store, self.clock)
        self.search = Search(store, self.embedder, self.uses, self.clock, self.pool, query_wait_s=2.0)
        self.sync = Sync(store, self.embedder, self.uses, self.clock)
        self.stats = CountMemories(store)
        self.history = ReadHistory(store)
        self.export = ExportMemories(store)
        self.import_ = ImportMemories(store, admit, self.clock, self.ids)
        self.flush = FlushUses(store, self.uses)
        self._pending = EmbedPending(store, self.embedder, resolver, self.clock)

    def close(self) -> None:
        self.pool.shutdown()
        self.store.close()

    def namespace(self, name: str) -> Caller:
        """A caller of a new namespace."""
        with self.store.access() as unit:
            unit.create_namespace(NamespaceName(name), self.clock.now())
        return caller(name)

    def say(self, content: str, *, who: Caller | None = None, **fields: Any) -> SaveResult:
        """Saves a text."""
        return self.save(who or self.me, draft(content, **fields))

    def ask(self, query: str, *, who: Caller | None = None, **fields: Any) -> Answer:
        """Searches."""
        return self.search(who or self.me, Question(query=query, **fields))

    def found(self, query: str, **fields: Any) -> list[str]:
        """Contents of what a search recalls, best first."""
        answer = self.ask(query, **fields)
        return [hit.memory.statement.content for hit in answer.recall or answer.recognition]

    def drain(self) -> None:
        """Works the embedding queue once, as the worker does."""
        job = Job(id="drain", kind=JobKind.EMBED_PENDING, state=JobState.RUNNING, created_at=self.clock.now())
        self._pending(job, lambda *_args, **_more: None)


@contextmanager
def memory_world(store: Store, clock: FakeClock, **options: Any) -> Iterator[MemoryWorld]:
    """A world that is closed afterwards."""
    world = MemoryWorld(store, clock, **options)
    try:
        yield world
    finally:
        world.close()
