"""What compaction writes and what it leaves alone, and which stub a restored text belongs to."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from perdure.domain.compaction.stub import POINTER_CHARS, is_stub, points_at, stub_of
from perdure.domain.memory import Memory, MemoryId

STUB_CHARS_MAX = 2000


class Skip(enum.StrEnum):
    """Why a memory was not compacted."""

    NOT_FOUND = "not_found"
    ALREADY_COMPACTED = "already_compacted"
    NOT_SMALLER = "not_smaller"
    PROBE_FAILED = "probe_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """``stub`` takes the place of the memory's text in the context; the text itself stays in the store."""

    memory: Memory
    stub: str

    @property
    def bytes_saved(self) -> int:
        """UTF-8 bytes that the context no longer carries."""
        return len(self.memory.statement.content.encode()) - len(self.stub.encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionPlan:
    """Stubs to write, in order, and why the rest was skipped (by the name it was asked for)."""

    writes: tuple[Write, ...]
    skipped: tuple[tuple[str, Skip], ...]


def plan(
    asked: Sequence[str], found: Mapping[str, Memory], *, stub: str | None = None, chars: int = POINTER_CHARS
) -> CompactionPlan:
    """What to do about each memory that was asked for; the probe comes after it.

    Args:
        asked: Keys or ids, in order; repetitions count once.
        found: The active memories among them, by the name they were asked for.
        stub: The caller's own line for the context; only where one memory is asked for.
        chars: Most characters of a stub's first line.
    """
    writes: list[Write] = []
    skipped: list[tuple[str, Skip]] = []
    seen: set[MemoryId] = set()
    for name in dict.fromkeys(asked):
        memory = found.get(name)
        if memory is None or not memory.statement.content.strip():
            skipped.append((name, Skip.NOT_FOUND))
            continue
        if memory.id in seen or memory.stub is not None or is_stub(memory.statement.content):
            skipped.append((name, Skip.ALREADY_COMPACTED))
            continue
        seen.add(memory.id)
        line = stub_of(stub or memory.statement.content, memory.revision, chars=chars)
        if len(line) >= len(memory.statement.content):
            skipped.append((name, Skip.NOT_SMALLER))
            continue
        writes.append(Write(memory=memory, stub=line))
    return CompactionPlan(writes=tuple(writes), skipped=tuple(skipped))


def content_lost(memory: Memory) -> bool:
    """True for a memory whose text is a stub, and whose original is not here."""
    return is_stub(memory.statement.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """``content`` is the full text of ``memory``."""

    memory: Memory
    content: str


def match(texts: Iterable[tuple[str, str]], stubs: Sequence[Memory]) -> tuple[tuple[Restored, ...], tuple[str, ...]]:
    """Which restored text belongs to which content-lost memory; the names of those that belong to none.

    By key or id (``mem:`` before an id counts for nothing), else by the first line, where exactly one memory's stub
    quotes it.

    Args:
        texts: Name (key or id, may be empty) and full text.
        stubs: Content-lost memories.
    """
    by_name = {memory.id: memory for memory in stubs} | {
        memory.statement.key: memory for memory in stubs if memory.statement.key
    }
    left = {memory.id: memory for memory in stubs}
    restored: list[Restored] = []
    unmatched: list[str] = []
    for name, content in texts:
        if not content.strip() or is_stub(content):
            unmatched.append(name)
            continue
        bare = name.removeprefix("mem:")
        memory = by_name.get(name) or by_name.get(bare)
        if memory is None or memory.id not in left:
            quoted = [other for other in left.values() if points_at(other.statement.content, content)]
            memory = quoted[0] if len(quoted) == 1 else None
        if memory is None:
            unmatched.append(name)
            continue
        del left[memory.id]
        restored.append(Restored(memory=memory, content=content))
    return tuple(restored), tuple(unmatched)
