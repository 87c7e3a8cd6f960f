"""Builds the maintenance service from its settings."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

from perdure.domain.namespace import Caller
from perdure.domain.recall.answer import Answer, Question
from perdure.jobs.app import make_app
from perdure.jobs.queue import CeleryQueue
from perdure.maintenance.dispatcher import Dispatcher
from perdure.maintenance.experience_servicer import SERVICE as EXPERIENCE_SERVICE
from perdure.maintenance.experience_servicer import ExperienceServicer, ExperienceVerbs
from perdure.maintenance.servicer import SERVICE, LifecycleVerbs, MaintenanceServicer
from perdure.observability.metrics import Metrics, expose
from perdure.observability.tracing import make_tracer
from perdure.ports import Clock, Embedder, ExperienceStore
from perdure.rpc.experience.v1.experience_pb2_grpc import add_ExperienceServiceServicer_to_server
from perdure.rpc.maintenance.v1.maintenance_pb2_grpc import add_MaintenanceServiceServicer_to_server
from perdure.settings import Settings
from perdure.store import open_experience_store
from perdure.store.files import FileScreenshots
from perdure.system import RandomIds, SystemClock
from perdure.usecases.admit import Admit
from perdure.usecases.compact import Compact
from perdure.usecases.dispatch import Dispatch
from perdure.usecases.erase_many import EraseMany
from perdure.usecases.experience_episodes import Episodes
from perdure.usecases.experience_overview import ExperienceOverview
from perdure.usecases.experience_runs import Runs
from perdure.usecases.experience_skills import Skills
from perdure.usecases.experience_transfer import ExperienceTransfer
from perdure.usecases.foresee import Foresee
from perdure.usecases.read_runs import ReadRuns
from perdure.usecases.render_memory_md import RenderMemoryMd
from perdure.usecases.restore_content import RestoreContent
from perdure.usecases.rollback_model import RollbackModel
from perdure.usecases.search import Search
from perdure.usecases.search_procedures import Learning
from perdure.usecases.start_job import StartJob
from perdure.usecases.start_run import StartRun
from perdure.usecases.start_training import StartTraining
from perdure.usecases.undo_run import UndoRun
from perdure.usecases.usage import ReadUsage, RecordUsage
from perdure.usecases.use_log import UseLog
from perdure.usecases.watch_jobs import WatchJobs
from perdure.wire.clients import EmbeddingClient
from perdure.wire.server import RpcServer

METRICS_OFFSET = 2
PROBE_THREADS = 2


@dataclass(frozen=True, slots=True)
class Parts:
    """The server, the dispatcher beside it, and how both end."""

    server: RpcServer
    dispatcher: Dispatcher
    close: Callable[[], None]


def build(settings: Settings) -> Parts:
    """Open the store and build the service; neither server nor dispatcher is started."""
    closing = ExitStack()
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    clock = SystemClock(settings.clock_offset_s)
    # jobs are bookkeeping: no vectors are kept in memory here
    store = open_experience_store(settings.store, resident_bytes=0, clock=clock)
    closing.callback(store.close)
    app = make_app(settings.broker_url, visibility_timeout_s=settings.visibility_timeout_s)
    dispatcher = Dispatcher(Dispatch(store, CeleryQueue(app), clock))
    closing.callback(dispatcher.stop)
    metrics = Metrics("maintenance")
    server = RpcServer(
        name="maintenance",
        listen=settings.listen("maintenance"),
        threads=settings.grpc_threads,
        internal_token=settings.internal_token.get_secret_value(),
        metrics=metrics,
        tracer=make_tracer(settings.otlp_endpoint, "maintenance"),
    )
    embedder = EmbeddingClient(settings.target("embedding"), internal_token=settings.internal_token.get_secret_value())
    closing.callback(embedder.close)
    pool = ThreadPoolExecutor(PROBE_THREADS, thread_name_prefix="probe-vector")
    closing.callback(pool.shutdown, wait=False, cancel_futures=True)
    servicer = MaintenanceServicer(
        StartJob(store, clock, RandomIds()), WatchJobs(store), _lifecycle(settings, store, embedder, clock, pool)
    )
    server.mount(add_MaintenanceServiceServicer_to_server, servicer, SERVICE)
    experience = ExperienceServicer(_experience(settings, store, embedder, clock), clock)
    server.mount(add_ExperienceServiceServicer_to_server, experience, EXPERIENCE_SERVICE)
    exposition = expose(metrics, port_base=settings.metrics_port_base, offset=METRICS_OFFSET)
    if exposition is not None:
        closing.callback(exposition.close)
    return Parts(server, dispatcher, closing.close)


def _experience(settings: Settings, store: ExperienceStore, embedder: Embedder, clock: Clock) -> ExperienceVerbs:
    ids = RandomIds()
    files = FileScreenshots(settings.home / "episodes")
    return ExperienceVerbs(
        episodes=Episodes(store, files, clock, ids),
        skills=Skills(store, clock, ids),
        runs=Runs(store, clock, ids),
        overview=ExperienceOverview(store, files, clock),
        transfer=ExperienceTransfer(store, clock),
        train=StartTraining(store, clock, ids, embedder),
        rollback=RollbackModel(store),
        record_usage=RecordUsage(store, clock),
        read_usage=ReadUsage(store, clock),
    )


def _lifecycle(
    settings: Settings, store: ExperienceStore, embedder: Embedder, clock: Clock, pool: Executor
) -> LifecycleVerbs:
    query_wait_s = settings.query_vector_wait_ms / 1000
    learning = Learning.of(store, models=settings.private_model)

    def ask(caller: Caller, question: Question) -> Answer:
        # the log is thrown away: a probe is no use of a memory
        search = Search(store, embedder, UseLog(), clock, pool, query_wait_s=query_wait_s, learning=learning)
        return search(caller, question)

    return LifecycleVerbs(
        start=StartRun(store, clock, RandomIds()),
        runs=ReadRuns(store),
        undo=UndoRun(store, clock),
        foresee=Foresee(store, clock),
        compact=Compact(store, ask, clock),
        restore_content=RestoreContent(store, Admit(settings.secrets), clock),
        memory_md=RenderMemoryMd(store, clock),
        erase=EraseMany(store, clock),
    )
