"""Which of what is known is learned, which chooses the model, and which decides whether it is kept.

By a hash of what it is, so the same thing falls into the same part in every training: what decides today was not
learned yesterday.
"""

from __future__ import annotations

import enum
import hashlib

CHOOSING_PER_CENT = 10
DECIDING_PER_CENT = 15


class Part(enum.StrEnum):
    """``learned``: the model is fitted to it. ``choosing``: it ends the fitting. ``deciding``: it is only asked."""

    LEARNED = "learned"
    CHOOSING = "choosing"
    DECIDING = "deciding"


def part_of(name: str) -> Part:
    """The part that whatever is called ``name`` falls into, always the same."""
    place = int.from_bytes(hashlib.sha256(f"part {name}".encode("utf-8", "replace")).digest()[:4], "big") % 100
    if place < DECIDING_PER_CENT:
        return Part.DECIDING
    return Part.CHOOSING if place < DECIDING_PER_CENT + CHOOSING_PER_CENT else Part.LEARNED


def order_of(name: str) -> str:
    """A sort key that mixes things up, always the same way."""
    return hashlib.sha256(f"order {name}".encode("utf-8", "replace")).hexdigest()
