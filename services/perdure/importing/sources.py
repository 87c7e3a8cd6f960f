"""The sources one can move in from, one table: name, title, where each usually is, and its reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from perdure.importing import (
    adr,
    basic_memory,
    builderforce,
    claude,
    markdown,
    mcp_memory,
    mem0,
    nan_forget,
    transcripts,
)
from perdure.importing.draft import Item, Kind, Remark, Unreadable
from perdure.importing.here import Here

Tick = Callable[[int, int], None]
Reader = Callable[[Sequence[Path], Here, Tick], Iterator[Item]]


@dataclass(frozen=True, slots=True)
class Source:
    """One product or kind of file.

    Attributes:
        name: What ``--from`` takes.
        title: What people call it.
        usual: Where it usually is, for the sentence that nothing was found; empty where it has no place of its own.
        places: What of it is on this machine.
        read: Its drafts and remarks.
        by_setup: ``perdure setup --yes`` takes it in: a person or an agent saved it as a memory on purpose.
    """

    name: str
    title: str
    usual: str
    places: Callable[[Here], list[Path]]
    read: Reader
    by_setup: bool = False


def _each(read_one: Callable[[Path, Here], Iterator[Item]]) -> Reader:
    """A reader of many places from a reader of one; a place that cannot be read is told of and stops no other."""

    def read(paths: Sequence[Path], here: Here, tick: Tick) -> Iterator[Item]:
        for number, path in enumerate(paths):
            tick(number, len(paths))
            try:
                yield from read_one(path, here)
            except Unreadable as fault:
                yield Remark(Kind.LOST, path.name, str(fault))
            except OSError as error:
                yield Remark(Kind.LOST, path.name, f"{path} cannot be read: {error.strerror}.")
        tick(len(paths), len(paths))

    return read


SOURCES = (
    Source(nan_forget.NAME, "NaN Forget", "~/.nan-forget/memories.db", nan_forget.places, _each(nan_forget.read), True),
    Source(
        builderforce.NAME,
        "Builderforce Memory",
        "~/.builderforce-memory/memory.json",
        builderforce.places,
        _each(builderforce.read),
        True,
    ),
    Source(
        claude.NAME,
        "Claude Code's memory",
        "~/.claude/projects/*/memory and CLAUDE.md",
        claude.places,
        _each(claude.read),
        True,
    ),
    Source(
        transcripts.NAME,
        "transcripts of Claude Code and Codex",
        "~/.claude/projects and ~/.codex/sessions",
        transcripts.places,
        transcripts.read,
    ),
    Source(mem0.NAME, "mem0", "~/.mem0/history.db", mem0.places, _each(mem0.read)),
    Source(
        mcp_memory.NAME,
        "an MCP memory server",
        "the file that MEMORY_FILE_PATH names, and mcp-memory-service's database",
        mcp_memory.places,
        _each(mcp_memory.read),
    ),
    Source(basic_memory.NAME, "Basic Memory", "~/basic-memory", basic_memory.places, _each(basic_memory.read)),
    Source(markdown.NAME, "Markdown files", "", markdown.places, _each(markdown.read)),
    Source(adr.NAME, "decision records", "docs/adr and the like, below the project", adr.places, _each(adr.read)),
)
BY_NAME = {source.name: source for source in SOURCES}
