"""Thousands of aged memories about few topics, written straight into a store, each with a fact of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import numpy as np

from perdure.domain.memory import Memory
from perdure.domain.namespace import DEFAULT_NAMESPACE, Actor, Scope
from perdure.domain.vectors import Matrix, unit
from perdure.store import open_lifecycle_store
from support.aged import aged

_WORDS = [
    "amber",
    "basil",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "hazel",
    "inlet",
    "jetty",
    "knoll",
    "larch",
    "maple",
    "north",
    "ocean",
    "pearl",
    "quartz",
    "ridge",
    "slate",
    "tidal",
    "umber",
    "vista",
    "willow",
    "xenon",
    "yarrow",
    "zephyr",
    "anchor",
    "beacon",
    "cobalt",
    "dynamo",
    "engine",
    "falcon",
    "garnet",
    "harbor",
    "indigo",
]


def fact(topic: int, number: int) -> str:
    """A sentence of a topic with a word of its own."""
    first, second = _WORDS[topic % len(_WORDS)], _WORDS[(topic * 7 + 3) % len(_WORDS)]
    other = _WORDS[number % len(_WORDS)]
    return f"The {first} {second} service keeps its {other} table under the mark fx{topic:03d}n{number:05d}."


def aged_facts(
    count: int, topics: int, *, now: datetime, idle_days: float = 120.0, project: str = "bench"
) -> Iterator[Memory]:
    """``count`` memories, spread evenly over the topics."""
    for number in range(count):
        topic = number % topics
        yield aged(
            fact(topic, number), idle_days=idle_days + number % 30, now=now, project=project, tags=(f"topic{topic}",)
        )


def topic_vectors(count: int, topics: int, dimension: int, *, spread: float = 0.4, seed: int = 5) -> Matrix:
    """Unit vectors around one centre a topic: cosines within a topic lie near 1 / (1 + spread²) = 0.86."""
    random = np.random.default_rng(seed)
    centres = unit(random.standard_normal((topics, dimension)))
    noise = random.standard_normal((count, dimension)) / np.sqrt(dimension)
    return unit(centres[np.arange(count) % topics] + spread * noise)


def write(path: Path, memories: Sequence[Memory], vectors: Matrix, space: str) -> None:
    """Stores them in transactions of 1,000."""
    store = open_lifecycle_store(f"sqlite:///{path}", resident_bytes=0)
    try:
        for start in range(0, len(memories), 1000):
            with store.write(Scope(DEFAULT_NAMESPACE), Actor(name="fill")) as unit_:
                for place, memory in enumerate(memories[start : start + 1000], start):
                    unit_.add(memory, vector=vectors[place], space=space)
    finally:
        store.close()
