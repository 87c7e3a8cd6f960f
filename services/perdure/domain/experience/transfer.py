"""Experience on its way in or out, a document at a time. Values only."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from perdure.domain.experience.episode import Json


class PartKind(enum.StrEnum):
    """What a document is. ``head``: schema, ledger and adaptations; it comes first."""

    HEAD = "head"
    EPISODE = "episode"
    SKILL = "skill"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Part:
    """One document of ``evermind.experience/1``."""

    kind: PartKind
    document: Mapping[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperienceImport:
    """What an import did, by kind, and a sentence for each document that was left out."""

    created: Mapping[str, int] = field(default_factory=dict)
    unchanged: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
