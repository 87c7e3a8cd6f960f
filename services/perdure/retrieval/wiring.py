"""Builds the retrieval service from its settings."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import timedelta

from perdure.domain.namespace import DEFAULT_NAMESPACE
from perdure.errors import AlreadyExists
from perdure.observability.metrics import Metrics, expose
from perdure.observability.tracing import make_tracer
from perdure.ports import Clock, Embedder, ExperienceStore, Ids, Store
from perdure.retrieval.access import SERVICE as ACCESS_SERVICE
from perdure.retrieval.access import AccessServicer, AccessVerbs
from perdure.retrieval.flusher import UseFlusher
from perdure.retrieval.measured import MeasuredSave, MeasuredSaveMany, MeasuredSearch, Measures
from perdure.retrieval.memories import SERVICE as MEMORY_SERVICE
from perdure.retrieval.memories import MemoryServicer, MemoryVerbs
from perdure.rpc.retrieval.v1.access_pb2_grpc import add_AccessServiceServicer_to_server
from perdure.rpc.retrieval.v1.memory_pb2_grpc import add_MemoryServiceServicer_to_server
from perdure.settings import Settings
from perdure.store import open_experience_store, open_store
from perdure.system import RandomIds, SystemClock
from perdure.usecases.admit import Admit
from perdure.usecases.archive import Archive
from perdure.usecases.authenticate import Authenticate
from perdure.usecases.checkpoint import SaveCheckpoint
from perdure.usecases.embed_in_time import EmbedInTime
from perdure.usecases.export_memories import ExportMemories
from perdure.usecases.flush_uses import FlushQuestions, FlushUses
from perdure.usecases.get import Get
from perdure.usecases.history import ReadHistory
from perdure.usecases.import_memories import ImportMemories
from perdure.usecases.list_memories import ListMemories
from perdure.usecases.manage_namespaces import ManageNamespaces
from perdure.usecases.manage_tokens import ManageTokens
from perdure.usecases.purge import Purge
from perdure.usecases.question_log import QuestionLog
from perdure.usecases.resolve import Resolver
from perdure.usecases.restore import Restore
from perdure.usecases.save import Save
from perdure.usecases.save_many import SaveMany
from perdure.usecases.search import Search
from perdure.usecases.search_procedures import Learning
from perdure.usecases.stats import CountMemories
from perdure.usecases.sync import Sync
from perdure.usecases.update import Update
from perdure.usecases.use_log import UseLog
from perdure.wire.clients import EmbeddingClient
from perdure.wire.server import RpcServer

METRICS_OFFSET = 1


@dataclass(frozen=True, slots=True)
class Parts:
    """The server, what runs beside it, and how all of it ends."""

    server: RpcServer
    flusher: UseFlusher
    metrics: Metrics
    close: Callable[[], None]


def build(settings: Settings) -> Parts:
    """Open the store and build the service; neither server nor flusher is started."""
    closing = ExitStack()
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    clock = SystemClock(settings.clock_offset_s)
    store, experience = _open(settings, clock)
    closing.callback(store.close)
    _ensure_default(store, clock)
    token = settings.internal_token.get_secret_value()
    embedder = EmbeddingClient(settings.target("embedding"), internal_token=token)
    closing.callback(embedder.close)
    pool = ThreadPoolExecutor(settings.grpc_threads, thread_name_prefix="query-vector")
    closing.callback(pool.shutdown, wait=False, cancel_futures=True)
    uses = UseLog()
    questions = QuestionLog()
    flush_uses = FlushUses(store, uses)
    flush_questions = FlushQuestions(experience, questions) if experience else None
    flusher = UseFlusher(lambda: flush_uses() + (flush_questions() if flush_questions else 0))
    closing.callback(flusher.stop)
    registry = Metrics("retrieval")
    server = RpcServer(
        name="retrieval",
        listen=settings.listen("retrieval"),
        threads=settings.grpc_threads,
        internal_token=token,
        metrics=registry,
        tracer=make_tracer(settings.otlp_endpoint, "retrieval"),
    )
    ids = RandomIds()
    learning = Learning.of(experience, models=settings.private_model, questions=questions) if experience else None
    memories = MemoryServicer(
        _memories(settings, store, embedder, uses, clock, ids, pool, Measures(registry), learning)
    )
    server.mount(add_MemoryServiceServicer_to_server, memories, MEMORY_SERVICE)
    access = AccessServicer(
        AccessVerbs(
            authenticate=Authenticate(store, clock),
            namespaces=ManageNamespaces(store, clock),
            tokens=ManageTokens(store, clock, ids),
        )
    )
    server.mount(add_AccessServiceServicer_to_server, access, ACCESS_SERVICE)
    exposition = expose(registry, port_base=settings.metrics_port_base, offset=METRICS_OFFSET)
    if exposition is not None:
        closing.callback(exposition.close)
    return Parts(server, flusher, registry, closing.close)


def _memories(
    settings: Settings,
    store: Store,
    embedder: Embedder,
    uses: UseLog,
    clock: Clock,
    ids: Ids,
    pool: ThreadPoolExecutor,
    measures: Measures,
    learning: Learning | None,
) -> MemoryVerbs:
    admit = Admit(settings.secrets)
    embed = EmbedInTime(embedder, settings.save_vector_wait_ms / 1000)
    resolver = Resolver(ids)
    lifetime = timedelta(hours=settings.idempotency_hours)
    save = MeasuredSave(Save(store, admit, embed, resolver, clock, replay_lifetime=lifetime), measures)
    save_many = SaveMany(store, admit, embed, resolver, clock, replay_lifetime=lifetime)
    query_wait_s = settings.query_vector_wait_ms / 1000
    return MemoryVerbs(
        save=save,
        save_many=MeasuredSaveMany(save_many, measures),
        checkpoint=SaveCheckpoint(save),
        get=Get(store, uses, clock, learning.questions if learning else None),
        update=Update(store, admit, embed, clock),
        archive=Archive(store, clock),
        restore=Restore(store, clock),
        purge=Purge(store, clock),
        list=ListMemories(store, clock),
        search=MeasuredSearch(
            Search(store, embedder, uses, clock, pool, query_wait_s=query_wait_s, learning=learning), measures
        ),
        sync=Sync(store, embedder, uses, clock),
        stats=CountMemories(store),
        history=ReadHistory(store),
        export=ExportMemories(store),
        import_=ImportMemories(store, admit, clock, ids),
    )


def _open(settings: Settings, clock: Clock) -> tuple[Store, ExperienceStore | None]:
    """The store, and the same again where it keeps experience."""
    if settings.store == "memory:":
        return open_store(settings.store, clock=clock), None
    store = open_experience_store(
        settings.store,
        resident_bytes=settings.resident_bytes,
        resident_min_rows=settings.resident_min_rows,
        clock=clock,
    )
    return store, store


def _ensure_default(store: Store, clock: Clock) -> None:
    """The namespace of whoever calls without a token on their own machine."""
    with store.access() as unit:
        known = unit.namespace(DEFAULT_NAMESPACE) is not None
    if not known:
        with suppress(AlreadyExists), store.access() as unit:
            unit.create_namespace(DEFAULT_NAMESPACE, clock.now())
