"""How much a memory is believed for the way it came to be."""

from __future__ import annotations

from typing import assert_never

from perdure.domain.memory import Provenance, Tier

CORE_CONFIDENCE = 0.85
"""A memory believed at least this much is core, whoever said it."""


def default_confidence(provenance: Provenance) -> float:
    """The confidence a memory starts with when nobody names one, in [0, 1]."""
    match provenance:
        case Provenance.SAVE | Provenance.IMPORT:
            return 0.5
        case Provenance.CHECKPOINT | Provenance.CONSOLIDATION:
            return 0.65
        case Provenance.DEBATE:
            return 0.85
        case Provenance.HUMAN:
            return 0.95
        case _:
            assert_never(provenance)


def tier_for(provenance: Provenance, confidence: float) -> Tier:
    """``core`` for what a person or a debate confirmed or what is believed at 0.85 or more, else ``regular``."""
    if provenance in (Provenance.DEBATE, Provenance.HUMAN) or confidence >= CORE_CONFIDENCE:
        return Tier.CORE
    return Tier.REGULAR
