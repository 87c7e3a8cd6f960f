"""Maintenance over a real SQLite file and fakes: what the worker does, one call at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from perdure.domain.memory import Memory, MemoryId
from perdure.domain.namespace import Actor, Caller
from perdure.domain.runs import Run, Task
from perdure.domain.vectors import Matrix
from perdure.ports import Job, JobKind
from perdure.store.sqlite import SqliteStore
from perdure.usecases.clean import Clean
from perdure.usecases.consolidate import Consolidate
from perdure.usecases.maintain import Maintain
from perdure.usecases.purge import Purge
from perdure.usecases.read_runs import ReadRuns
from perdure.usecases.run_job import RunJob
from perdure.usecases.start_job import StartJob
from perdure.usecases.start_run import StartRun
from perdure.usecases.tick import Tick
from perdure.usecases.undo_run import UndoRun
from support.clocks import FakeClock, SequentialIds
from support.fake_embedder import FakeEmbedder, vector_of
from support.memory_world import caller

BOTH = (Task.CONSOLIDATE, Task.CLEAN)
MAINTAIN = (JobKind.MAINTAIN,)


class MaintenanceWorld:
    """The use cases of maintenance."""

    def __init__(self, path: Path) -> None:
        self.clock = FakeClock()
        self.ids = SequentialIds()
        self.embedder = FakeEmbedder()
        self.path = path
        self.store = SqliteStore(path, create=True, resident_bytes=0, resident_min_rows=256, clock=self.clock)
        self.me = caller()
        self.start = StartRun(self.store, self.clock, self.ids)
        self.runs = ReadRuns(self.store)
        self.undo = UndoRun(self.store, self.clock)
        self.purge = Purge(self.store, self.clock)
        self.tick = Tick(self.store, StartJob(self.store, self.clock, self.ids), self.clock)
        self.worker = self.a_worker("worker 1")

    def a_worker(self, owner: str) -> RunJob:
        """Another worker process, as far as leases see it."""
        maintain = Maintain(
            self.store,
            self.clock,
            self.embedder,
            Consolidate(self.store, self.clock, self.ids),
            Clean(self.store, self.clock),
        )
        return RunJob(self.store, self.clock, owner, dict.fromkeys(MAINTAIN, maintain))

    @property
    def space(self) -> str:
        return self.embedder.space().fingerprint

    def put(self, memories: Sequence[Memory], vectors: Matrix | None = None, *, who: Caller | None = None) -> None:
        """Stores memories as they are, in one transaction."""
        me = who or self.me
        with self.store.write(me.scope, Actor(name="test")) as unit:
            for row, memory in enumerate(memories):
                vector = vector_of(memory.statement.content) if vectors is None else vectors[row]
                unit.add(replace(memory, namespace=me.namespace), vector=vector, space=self.space)

    def all(self, *, who: Caller | None = None) -> dict[MemoryId, Memory]:
        """Every memory of a namespace."""
        with self.store.survey((who or self.me).scope) as reader:
            ids = [MemoryId(row[0]) for row in reader._db.execute("SELECT id FROM memory")]  # type: ignore[attr-defined]
            return reader.get_many(ids)

    def get(self, memory: MemoryId) -> Memory:
        """One memory."""
        return self.all()[memory]

    def work(self) -> list[Job]:
        """Runs every unfinished job of maintenance, as a worker would; the finished ones."""
        with self.store.work() as unit:
            stalled = [job for job in unit.stalled_jobs(self.clock.now()) if job.kind in MAINTAIN]
        return [job for one in stalled if (job := self.worker(one.id)) is not None]

    def run(self, *tasks: Task, dry_run: bool = False, project: str | None = None) -> Run:
        """A run from its request to its end."""
        asked = self.start(self.me, tasks or BOTH, dry_run=dry_run, project=project)
        self.work()
        return self.runs.get(self.me, asked.id)[0]


@contextmanager
def maintenance_world(path: Path) -> Iterator[MaintenanceWorld]:
    """A world that is closed afterwards."""
    world = MaintenanceWorld(path)
    try:
        yield world
    finally:
        world.store.close()
