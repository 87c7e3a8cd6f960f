"""Builds what the worker's tasks need, once in each worker process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from perdure.domain.adapter.training import Recipe
from perdure.ports import Job, JobKind
from perdure.settings import Settings
from perdure.store import open_experience_store
from perdure.system import RandomIds, SystemClock
from perdure.usecases.clean import Clean
from perdure.usecases.consolidate import Consolidate
from perdure.usecases.embed_pending import EmbedPending
from perdure.usecases.embed_procedures import EmbedProcedures
from perdure.usecases.experience_runs import Runs
from perdure.usecases.experience_skills import Skills
from perdure.usecases.expire_replays import ExpireReplays
from perdure.usecases.maintain import Maintain
from perdure.usecases.reembed import Reembed
from perdure.usecases.resolve import Resolver
from perdure.usecases.run_job import RunJob
from perdure.usecases.start_job import StartJob
from perdure.usecases.tick import Tick
from perdure.usecases.train import Train
from perdure.wire.clients import EmbeddingClient
from perdure.worker.quiet import quietly
from perdure.worker.summaries import ChatSummariser


@dataclass(frozen=True, slots=True)
class Parts:
    """What the tasks call."""

    run_job: Callable[[str], Job | None]
    tick: Callable[[], tuple[JobKind, ...]]
    close: Callable[[], None]


def build(settings: Settings, *, owner: str, group: str) -> Parts:
    """Open the store and the channel to the embedder.

    Args:
        settings: The process's settings.
        owner: Name of this worker process in job leases; unique while it lives.
        group: Beginning of the names of all processes of this worker.
    """
    closing = ExitStack()
    # a job reads each vector once, so no matrix is kept
    clock = SystemClock(settings.clock_offset_s)
    store = open_experience_store(settings.store, resident_bytes=0, clock=clock)
    closing.callback(store.close)
    embedder = EmbeddingClient(settings.target("embedding"), internal_token=settings.internal_token.get_secret_value())
    closing.callback(embedder.close)
    run_job = RunJob(
        store,
        clock,
        owner,
        {
            JobKind.EMBED_PENDING: EmbedPending(store, embedder, Resolver(RandomIds()), clock),
            JobKind.REEMBED: Reembed(store, embedder),
            JobKind.EXPIRE_IDEMPOTENCY: ExpireReplays(store, clock),
            JobKind.MAINTAIN: Maintain(
                store,
                clock,
                embedder,
                Consolidate(
                    store,
                    clock,
                    RandomIds(),
                    members_min=settings.consolidate_members_min,
                    similarity=settings.consolidate_similarity or None,
                    summarise=_summariser(settings),
                    summaries_per_day=settings.summary_per_day,
                ),
                Clean(store, clock),
                quietly=quietly,
            ),
            JobKind.TRAIN: Train(
                store, embedder, clock, recipe=Recipe(rank=settings.private_model_rank), quietly=quietly
            ),
            JobKind.EMBED_PROCEDURES: EmbedProcedures(store, embedder),
        },
        group=group,
        long_at_once=max(1, settings.worker_concurrency - 1),
    )
    watches = (Runs(store, clock, RandomIds()).mark_stale, Skills(store, clock, RandomIds()).mark_due)
    tick = Tick(store, StartJob(store, clock, RandomIds()), clock, watches)
    return Parts(run_job=run_job, tick=tick, close=closing.close)


def _summariser(settings: Settings) -> ChatSummariser | None:
    if not settings.summary_url:
        return None
    return ChatSummariser(
        settings.summary_url,
        settings.summary_model,
        settings.summary_api_key.get_secret_value(),
        timeout_s=settings.summary_timeout_s,
    )
