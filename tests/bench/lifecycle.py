"""Looking after memories: how long it takes, what it costs savers, what is found before and after, what is lost."""

from __future__ import annotations

import resource
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from bench.report import Report, median_ms, percentile_ms
from bench.searching import Client, space_of
from perdure.domain.memory import Filter, Memory, Status
from perdure.domain.namespace import DEFAULT_NAMESPACE, Scope
from perdure.domain.recall.answer import Question
from perdure.domain.vectors import Matrix
from perdure.ports import Job, JobKind, JobState
from perdure.store import open_lifecycle_store
from perdure.system import RandomIds, SystemClock
from perdure.usecases.clean import Clean
from perdure.usecases.consolidate import Consolidate
from perdure.usecases.maintain import Maintain
from perdure.usecases.search import Search
from perdure.usecases.use_log import UseLog
from support.aged import aged
from support.aged_store import aged_facts, fact, topic_vectors, write
from support.fake_embedder import DIMENSION, FakeEmbedder
from support.memory_world import caller
from support.stack import Stack, running, wait_until

HERE = Scope(DEFAULT_NAMESPACE)


def clean(report: Report, count: int, *, at_most_s: float) -> None:
    """A whole clean: a tenth has faded, one in a hundred has a twin; one project and type."""
    now = datetime.now(UTC)
    memories = [
        aged(
            f"Entry number {number} of the ledger.", idle_days=900 if number % 10 == 0 else 3, now=now, project="bench"
        )
        for number in range(count)
    ]
    vectors = topic_vectors(count, 500, 384, spread=0.8)
    name = f"clean of {count // 1000}k"
    with tempfile.TemporaryDirectory() as folder:
        embedder, seconds, counts, grown = _run(Path(folder), memories, vectors, "clean")
    report.add(f"{name}: time", seconds, "s", at_most=at_most_s)
    report.add(f"{name}: archived", counts["archived_decayed"], "", at_least=count / 10)
    report.add(f"{name}: texts embedded", len(embedder.asked), "", at_most=0)
    report.add(f"{name}: memory grown by at most", grown / 2**20, "MiB")


def consolidate(report: Report, count: int = 10_000, topics: int = 50) -> None:
    """Aged memories of few topics become fewer; every fact is still there, and found."""
    now = datetime.now(UTC)
    memories = list(aged_facts(count, topics, now=now))
    vectors = topic_vectors(count, topics, DIMENSION)
    asked = range(0, count, count // 200)
    name = f"consolidate {count // 1000}k of {topics} topics"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write(path / "store.db", memories, vectors, FakeEmbedder().space().fingerprint)
        before = _recall(path, asked, topics)
        embedder, seconds, counts, grown = _run(path, [], vectors[:0], "consolidate")
        after = _recall(path, asked, topics)
        lost = _lost(path, count, topics)
    report.add(f"{name}: time", seconds, "s", at_most=20)
    report.add(f"{name}: memories taken in", counts["memories_consolidated"], "")
    report.add(f"{name}: new memories", counts["new_memories_created"], "")
    report.add(f"{name}: texts embedded", len(embedder.asked), "", at_most=0)
    report.add(f"{name}: distinct facts lost from search", lost, "", at_most=0)
    report.add(f"{name}: evidence recall@5 before", before, "")
    report.add(f"{name}: evidence recall@5 after", after, "", at_least=before - 0.01)
    report.add(f"{name}: memory grown by at most", grown / 2**20, "MiB")


def saving_meanwhile(report: Report, count: int = 10_000) -> None:
    """Saves at rest beside saves while the worker consolidates and cleans, in one run."""
    with running(holdable=True, PERDURE_EMBEDDING_PROVIDER="test") as stack:
        space, dimension = space_of(stack)
        now = datetime.now(UTC)
        client = Client(stack)
        for number in range(30):
            client.save(f"Warming save number {number} about nothing.")
        # with the worker down, the run that the writing makes due waits; that is what rest is compared with
        stack.hold("worker")
        vectors = topic_vectors(count, 50, dimension)
        write(stack.home / "perdure.db", list(aged_facts(count, 50, now=now)), vectors, space)
        idle = _saves(client, "idle", 400)
        stack.release("worker")
        wait_until(lambda: _consolidated(stack) > 0, within_s=60, what="the run")
        busy: list[float] = []
        while _consolidated(stack) < count and len(busy) < 2500:
            busy += _saves(client, f"busy{len(busy)}", 20)
        report.note(f"{len(busy)} saves while {_consolidated(stack)} memories were consolidated")
    report.add("save at rest: p50", median_ms(idle), "ms")
    report.add("save at rest: p95", percentile_ms(idle, 0.95), "ms")
    report.add("save while maintained: p50 / at rest", median_ms(busy) / median_ms(idle), "x", at_most=1.3)
    ratio = percentile_ms(busy, 0.95) / percentile_ms(idle, 0.95)
    report.add("save while maintained: p95 / at rest", ratio, "x", at_most=1.3)


def _run(
    folder: Path, memories: list[Memory], vectors: Matrix, task: str
) -> tuple[FakeEmbedder, float, dict[str, int], int]:
    """Embedder, seconds, counts and how much the process grew, of one run as the worker does it."""
    embedder = FakeEmbedder()
    if memories:
        write(folder / "store.db", memories, vectors, embedder.space().fingerprint)
    store = open_lifecycle_store(f"sqlite:///{folder / 'store.db'}", resident_bytes=0)
    clock, ids = SystemClock(), RandomIds()
    try:
        run = Job(
            id=ids.job(),
            kind=JobKind.MAINTAIN,
            state=JobState.RUNNING,
            created_at=clock.now(),
            parameters={"namespace": DEFAULT_NAMESPACE, "tasks": task},
            turn=f"maintain {DEFAULT_NAMESPACE}",
        )
        with store.work() as unit:
            unit.add_job(run)
        maintain = Maintain(store, clock, embedder, Consolidate(store, clock, ids), Clean(store, clock))
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        maintain(run, lambda *_, **__: None)
        seconds = time.perf_counter() - start
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size) * 1024
        with store.survey(HERE) as reader:
            found = reader.run(run.id)
        assert found is not None
        return embedder, seconds, dict(found.counts), grown
    finally:
        store.close()


def _recall(folder: Path, asked: range, topics: int) -> float:
    """Share of questions whose fact is among the first five memories found, in full."""
    store = open_lifecycle_store(f"sqlite:///{folder / 'store.db'}")
    hits = 0
    try:
        with ThreadPoolExecutor(1) as pool:
            search = Search(store, FakeEmbedder(), UseLog(), SystemClock(), pool, query_wait_s=2.0)
            for number in asked:
                said = fact(number % topics, number)
                words = said.rstrip(".").split()
                question = f"Which table of the {words[1]} {words[2]} service has the mark {words[-1]}?"
                answer = search(caller(), Question(query=question, depth=2, limit=5, shown_only=True))
                hits += any(said in hit.memory.statement.content for hit in answer.recall)
    finally:
        store.close()
    return hits / len(asked)


def _lost(folder: Path, count: int, topics: int) -> int:
    """Facts that no active memory says any more."""
    store = open_lifecycle_store(f"sqlite:///{folder / 'store.db'}", resident_bytes=0)
    try:
        said: list[str] = []
        after = None
        with store.survey(HERE) as reader:
            while True:
                page = reader.page(Filter(statuses=(Status.ACTIVE,)), after=after, limit=500)
                said += [memory.statement.content for memory in page.memories]
                after = page.next
                if after is None:
                    break
    finally:
        store.close()
    text = "\n".join(said)
    return sum(fact(number % topics, number) not in text for number in range(count))


def _saves(client: Client, label: str, count: int) -> list[float]:
    taken = []
    for number in range(count):
        content = f"{label} save {number}: the {label}{number * 7919 % 10007} gauge reads w{number * 104729 % 99991}."
        start = time.perf_counter()
        client.save(content)
        taken.append(time.perf_counter() - start)
    return taken


def _consolidated(stack: Stack) -> int:
    runs = stack.call("GET", "/maintenance/runs").json["runs"]
    return sum(int(run["counts"].get("memories_consolidated", 0)) for run in runs)
