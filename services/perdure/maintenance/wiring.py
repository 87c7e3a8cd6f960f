"""Builds the maintenance service from its settings."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from perdure.jobs.app import make_app
from perdure.jobs.queue import CeleryQueue
from perdure.maintenance.dispatcher import Dispatcher
from perdure.maintenance.servicer import SERVICE, MaintenanceServicer
from perdure.observability.metrics import Metrics, expose
from perdure.observability.tracing import make_tracer
from perdure.rpc.maintenance.v1.maintenance_pb2_grpc import add_MaintenanceServiceServicer_to_server
from perdure.settings import Settings
from perdure.store import open_store
from perdure.system import RandomIds, SystemClock
from perdure.usecases.dispatch import Dispatch
from perdure.usecases.start_job import StartJob
from perdure.usecases.watch_jobs import WatchJobs
from perdure.wire.server import RpcServer

METRICS_OFFSET = 2


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
    store = open_store(settings.store, resident_bytes=0)
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
    servicer = MaintenanceServicer(StartJob(store, clock, RandomIds()), WatchJobs(store))
    server.mount(add_MaintenanceServiceServicer_to_server, servicer, SERVICE)
    exposition = expose(metrics, port_base=settings.metrics_port_base, offset=METRICS_OFFSET)
    if exposition is not None:
        closing.callback(exposition.close)
    return Parts(server, dispatcher, closing.close)
