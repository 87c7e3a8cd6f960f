"""Memories of any age, made by hand."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np

from perdure.domain.memory import Memory, MemoryType, Provenance, Statement, Status, Tier
from perdure.domain.namespace import DEFAULT_NAMESPACE
from perdure.domain.provenance import default_confidence, tier_for
from perdure.domain.summary import summarise
from perdure.domain.vectors import Matrix, Thresholds, unit
from support.clocks import BEGIN, SequentialIds

THRESHOLDS = Thresholds(twin=0.92, cluster=0.8, interference=0.95, floor=0.2)
_IDS = SequentialIds(10_000)


def aged(content: str, *, idle_days: float = 0.0, now: datetime = BEGIN, **fields: Any) -> Memory:
    """A memory last used ``idle_days`` ago; fields of ``Statement`` and of ``Memory`` alike."""
    own = {name: fields.pop(name) for name in list(fields) if name in Memory.__dataclass_fields__}
    if isinstance(kind := fields.get("type"), str):
        fields["type"] = MemoryType(kind)
    provenance = own.pop("provenance", Provenance.SAVE)
    confidence = own.pop("confidence", default_confidence(provenance))
    moment = now - timedelta(days=idle_days)
    facts: dict[str, Any] = {
        "id": _IDS.memory(),
        "namespace": DEFAULT_NAMESPACE,
        "summary": summarise(content),
        "tier": tier_for(provenance, confidence),
        "importance": 0.5,
        "status": Status.ACTIVE,
        "created_at": moment,
        "updated_at": moment,
        "last_accessed_at": moment,
    }
    return Memory(
        statement=Statement(content=content, **fields), provenance=provenance, confidence=confidence, **(facts | own)
    )


def near(count: int, *, topic: int = 0, spread: float = 0.2, dimension: int = 32, seed: int = 7) -> Matrix:
    """``count`` unit vectors around one axis: cosines among them lie near 1 / (1 + spread²)."""
    random = np.random.default_rng([seed, topic])
    centre = np.zeros(dimension)
    centre[topic % dimension] = 1.0
    noise = random.standard_normal((count, dimension)) / np.sqrt(dimension)
    return unit(centre + spread * noise)


CORE = Tier.CORE
