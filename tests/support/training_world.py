"""Training over a real SQLite file and fakes: procedures go in, the worker's runs are calls."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from perdure.domain.adapter.training import Recipe
from perdure.domain.experience.learning import ItemKind, Procedure, TrainingReport, UsedQuery
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId
from perdure.domain.experience.skill import Skill, SkillId
from perdure.domain.memory import MemoryId
from perdure.domain.namespace import Actor, Caller
from perdure.domain.recall.answer import Answer, Question
from perdure.ports import Job, JobKind
from perdure.store.sqlite import SqliteStore
from perdure.usecases.embed_procedures import EmbedProcedures
from perdure.usecases.flush_uses import FlushQuestions
from perdure.usecases.get import Get
from perdure.usecases.question_log import QuestionLog
from perdure.usecases.rollback_model import RollbackModel
from perdure.usecases.run_job import RunJob, Runner
from perdure.usecases.search import Search
from perdure.usecases.search_procedures import Learning
from perdure.usecases.start_job import StartJob
from perdure.usecases.start_training import StartTraining
from perdure.usecases.tick import Tick
from perdure.usecases.train import Train
from perdure.usecases.use_log import UseLog
from support.aged import aged
from support.clocks import FakeClock, SequentialIds
from support.fake_embedder import FakeEmbedder, vector_of
from support.memory_world import caller

QUICK = Recipe(rank=8, passes=6, noise=0.0)


class TrainingWorld:
    """The use cases of learning."""

    def __init__(self, path: Path, *, models: bool = True) -> None:
        self.clock = FakeClock()
        self.ids = SequentialIds()
        self.embedder = FakeEmbedder()
        self.store = SqliteStore(path, create=True, resident_bytes=0, resident_min_rows=256, clock=self.clock)
        self.me = caller()
        self.pool = ThreadPoolExecutor(1)
        self.questions = QuestionLog()
        self.start = StartTraining(self.store, self.clock, self.ids, self.embedder)
        self.rollback = RollbackModel(self.store)
        self.get = Get(self.store, UseLog(), self.clock, self.questions)
        self.flush = FlushQuestions(self.store, self.questions)
        self.tick = Tick(self.store, StartJob(self.store, self.clock, self.ids), self.clock)
        self.ask = Search(
            self.store,
            self.embedder,
            UseLog(),
            self.clock,
            self.pool,
            query_wait_s=2.0,
            learning=Learning.of(self.store, models=models, questions=self.questions),
        )
        self.worker = self.a_worker("worker 1")

    def a_worker(self, owner: str) -> RunJob:
        """Another worker process, as far as leases see it."""
        runners: dict[JobKind, Runner] = {
            JobKind.TRAIN: Train(self.store, self.embedder, self.clock, recipe=QUICK),
            JobKind.EMBED_PROCEDURES: EmbedProcedures(self.store, self.embedder),
        }
        return RunJob(self.store, self.clock, owner, runners)

    @property
    def space(self) -> str:
        return self.embedder.space().fingerprint

    def teach(self, id_: str, name: str, *sentences: str, program: str = "ledger.exe") -> Procedure:
        """Stores a skill with that text."""
        head = f"Task: {name} ({program})"
        text = "\n".join((head, *(f"{place}. {said}" for place, said in enumerate(sentences, start=1))))
        procedure = Procedure(
            kind=ItemKind.SKILL,
            id=id_,
            name=name,
            text=text,
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            updated_at=self.clock.now(),
        )
        with self.store.experience(self.me.scope, Actor(name="test")) as unit:
            before = unit.skill(SkillId(id_))
            version = before.version + 1 if before else 1
            skill = Skill(id=SkillId(id_), name=name, program=program, created_at=self.clock.now(), version=version)
            unit.put_skill(skill, procedure)
        return procedure

    def teach_many(self, count: int, first: int = 0) -> None:
        """Skills of which each has words of its own."""
        for number in range(first, first + count):
            self.teach(
                f"skill{number}",
                f"Send thing{number} to place{number}",
                f"Click “Open{number}” in “Window{number}”.",
                f"Set “Field{number}” to <value{number}> in “Window{number}”.",
                f"Click “Send{number}” in “Window{number}”. Ask before doing this.",
            )

    def remember(self, contents: Sequence[str]) -> list[MemoryId]:
        """Stores memories with their vectors."""
        ids = []
        with self.store.write(self.me.scope, Actor(name="test")) as unit:
            for content in contents:
                memory = aged(content, idle_days=0, now=self.clock.now())
                unit.add(memory, vector=vector_of(content), space=self.space)
                ids.append(memory.id)
        return ids

    def ended(self, id_: str, status: RunStatus, count: int) -> None:
        """Stores runs of a skill that ended so."""
        with self.store.experience(self.me.scope, Actor(name="test")) as unit:
            for _ in range(count):
                run = SkillRun(
                    id=SkillRunId(self.ids.job()),
                    skill_id=SkillId(id_),
                    skill_version=1,
                    skill_name=id_,
                    trigger=RunTrigger.MANUAL,
                    status=RunStatus.RUNNING,
                    started_at=self.clock.now(),
                    heard_at=self.clock.now(),
                )
                unit.put_run(run)
                unit.change_run(replace(run, status=status, ended_at=self.clock.now()))

    def work(self) -> list[Job]:
        """Runs every unfinished job of learning, as a worker would; the finished ones."""
        kinds = (JobKind.TRAIN, JobKind.EMBED_PROCEDURES)
        with self.store.work() as unit:
            stalled = [job for job in unit.stalled_jobs(self.clock.now()) if job.kind in kinds]
        return [job for one in stalled if (job := self.worker(one.id)) is not None]

    def train(self, *, curate: bool = False, who: Caller | None = None) -> TrainingReport:
        """A training from its request to its end."""
        me = who or self.me
        asked = self.start(me, curate=curate)
        if not asked.job:
            return asked
        self.work()
        self.clock.advance(seconds=1)
        return self.start.report(me, asked.job)

    def search(self, query: str, *, procedures: bool = False, limit: int = 5) -> Answer:
        """What a caller who may see experience gets."""
        return self.ask(self.me, Question(query=query, procedures=procedures, limit=limit))

    def used(self) -> tuple[UsedQuery, ...]:
        """Used questions in the store."""
        with self.store.experience_view(self.me.scope) as reader:
            return reader.used_queries(self.space, 100)


@contextmanager
def training_world(path: Path, *, models: bool = True) -> Iterator[TrainingWorld]:
    """A world that is closed afterwards."""
    world = TrainingWorld(path, models=models)
    try:
        yield world
    finally:
        world.pool.shutdown()
        world.store.close()
