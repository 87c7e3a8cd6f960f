"""A question and its answer. Values only; the rules are in the modules beside this one."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from perdure.domain.experience.learning import ItemKind
from perdure.domain.memory import Filter, Memory

DEPTH_DEFAULT = 2
LIMIT_DEFAULT = 5
LIMIT_MAX = 50
QUERY_CHARS_MAX = 4000


class Arm(enum.StrEnum):
    """Which source found a hit."""

    DENSE = "dense"
    LEXICAL = "lexical"
    BOTH = "both"
    ASSOCIATION = "association"


class DenseSkip(enum.StrEnum):
    """Why the dense arm did not run; NONE where it ran."""

    NONE = ""
    EMBEDDER_AWAY = "embedder_away"
    SPACE_CHANGED = "space_changed"
    NO_VECTORS = "no_vectors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked. ``project`` None starts in the whole namespace; ``depth`` 1 to 3; ``limit`` 1 to 50.

    ``procedures``: skills and episodes may answer too.
    """

    query: str
    project: str | None = None
    depth: int = DEPTH_DEFAULT
    limit: int = LIMIT_DEFAULT
    filter: Filter = field(default_factory=Filter)
    strict_project: bool = False
    shown_only: bool = False
    explain: bool = False
    procedures: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParts:
    """Why a hit scored as it did: ``score`` is relevance times the four factors after it.

    ``similarity`` is None where the memory has no comparable vector; ``lexical_rank`` counts from 1, 0 where words
    did not find it.
    """

    similarity: float | None
    bm25: float
    lexical_rank: int
    relevance: float
    decay_weight: float
    frequency_boost: float
    confidence_boost: float
    importance_boost: float

    @property
    def score(self) -> float:
        """The final sort key, >= 0."""
        return self.relevance * self.decay_weight * self.frequency_boost * self.confidence_boost * self.importance_boost


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One memory found. ``widened``: it is of another project than the one asked for."""

    memory: Memory
    score: float
    arm: Arm
    parts: ScoreParts
    widened: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcedureHit:
    """A procedure found: a skill, or an episode without one (``kind``).

    ``place``: where it stands among all that was found, memories and procedures together, from 1. ``score`` compares
    with memories' scores. ``similarity`` is the cosine of its nearest chunk, None where it has no vector.
    """

    kind: ItemKind
    id: str
    name: str
    text: str
    score: float
    place: int
    similarity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What was found, and how; ``stage`` is the deepest stage that ran (1 recognition, 2 recall, 3 association).

    ``model``: version of the private model that corrected the question, None where none did. ``procedures``: best
    first, of the ``limit`` best of all that was found.
    """

    stage: int
    recognition: tuple[Hit, ...] = ()
    recall: tuple[Hit, ...] = ()
    associations: tuple[Hit, ...] = ()
    dense_ran: bool = False
    lexical_ran: bool = False
    dense_skipped: DenseSkip = DenseSkip.NONE
    unembedded: int = 0
    model: str | None = None
    procedures: tuple[ProcedureHit, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What a session needs to know when it starts.

    ``embedder``: ready, loading, failing or space_changed.
    """

    active: int
    projects: Mapping[str, int]
    recent: tuple[Memory, ...]
    embedder: str
    unembedded: int
