"""``python -m support.maintain_process STORE``: consolidates the default namespace as a worker does, to be killed."""

from __future__ import annotations

import sys

from perdure.domain.namespace import DEFAULT_NAMESPACE
from perdure.ports import Job, JobKind, JobState
from perdure.store import open_lifecycle_store
from perdure.system import RandomIds, SystemClock
from perdure.usecases.clean import Clean
from perdure.usecases.consolidate import Consolidate
from perdure.usecases.maintain import Maintain
from support.fake_embedder import FakeEmbedder


def main(path: str) -> None:
    """One run, from its job to its end."""
    store = open_lifecycle_store(f"sqlite:///{path}", resident_bytes=0)
    clock, ids = SystemClock(), RandomIds()
    job = Job(
        id=ids.job(),
        kind=JobKind.MAINTAIN,
        state=JobState.RUNNING,
        created_at=clock.now(),
        parameters={"namespace": DEFAULT_NAMESPACE, "tasks": "consolidate,clean"},
        subject=ids.job(),
        turn=f"maintain {DEFAULT_NAMESPACE}",
    )
    with store.work() as unit:
        unit.add_job(job)
    Maintain(store, clock, FakeEmbedder(), Consolidate(store, clock, ids), Clean(store, clock))(
        job, lambda *_, **__: None
    )
    store.close()


if __name__ == "__main__":
    main(sys.argv[1])
