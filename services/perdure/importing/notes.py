"""A Markdown file of anybody's as memories: its front matter, its sections, its times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from perdure.domain.compaction.stub import is_stub
from perdure.domain.memory import KEY_CHARS_MAX, MemoryType
from perdure.hooks.front_matter import split
from perdure.importing.draft import Draft, Item, Kind, Remark, identity, key_of, moment, share, words
from perdure.importing.files import changed_at, text_of
from perdure.importing.text import SECTION_CHARS, own_words, parts_of, sections_of, slug, unused

_CREATED = ("created", "created_at", "date", "creation_date")
_UPDATED = ("modified", "updated", "updated_at", "last_modified", "lastmod")


@dataclass(frozen=True, slots=True)
class Note:
    """One file: what its head says, and its text."""

    path: Path
    head: Mapping[str, str | list[str]]
    body: str
    created_at: datetime
    updated_at: datetime

    def told(self, *names: str) -> str:
        """The first of these fields of the head that is a text; empty where none is."""
        return next((value for name in names if isinstance(value := self.head.get(name), str)), "")


def note_of(path: Path) -> Note:
    """The file at ``path``.

    Raises:
        Unreadable: it cannot be read, is too large or not UTF-8.
    """
    head, body = split(text_of(path))
    written = changed_at(path)
    updated = _time(head, _UPDATED) or written
    created = _time(head, _CREATED) or min(updated, written)
    return Note(path, head, own_words(body).strip(), created, max(created, updated))


def type_of(told: str, default: MemoryType = MemoryType.FACT) -> MemoryType:
    """A type by the word a note uses for it."""
    known = {
        "fact": MemoryType.FACT, "reference": MemoryType.FACT, "decision": MemoryType.DECISION,
        "adr": MemoryType.DECISION, "preference": MemoryType.PREFERENCE, "feedback": MemoryType.PREFERENCE,
        "rule": MemoryType.PREFERENCE, "convention": MemoryType.PREFERENCE, "task": MemoryType.TASK,
        "todo": MemoryType.TASK, "context": MemoryType.CONTEXT, "project": MemoryType.CONTEXT,
    }  # fmt: skip
    return known.get(told.strip().casefold(), default)


def memories_of(
    note: Note, name: str, *, source: str, prefix: str, project: str, kind: MemoryType, whole: bool = False
) -> Iterator[Item]:
    """A note as one memory, or as one a section where it is long.

    Args:
        note: The file.
        name: Its path below the folder that is moved in, with forward slashes.
        source: The source's name.
        prefix: What its keys begin with.
        project: Where the memories belong.
        kind: What they are, unless the head says a type.
        whole: One memory whatever the length, as far as one can hold it.
    """
    if not note.body or is_stub(note.body):
        reason = "a stub: its text was moved into a memory before" if note.body else "it has no text"
        yield Remark(Kind.LEFT_OUT, name, reason)
        return
    title = note.told("title", "name")
    one = whole or len(note.body) <= SECTION_CHARS
    pieces = [("", note.body)] if one else [(slug(s.title), s.text) for s in sections_of(note.body)]
    importance = share(note.told("importance"))
    used: dict[str, int] = {}
    for mark, text in pieces:
        heading = f"{title}\n\n" if title and title.casefold() not in text[:200].casefold() else ""
        for part in parts_of(heading + text):
            key = _key(f"{prefix}/{name}", mark, used)
            yield Draft(
                id=identity(source, project, key),
                place=name,
                host=source,
                content=part,
                type=type_of(note.told("type"), kind),
                project=project,
                key=key_of(key),
                concepts=(title,) if title else (),
                files=(name,),
                tags=words(note.head.get("tags")),
                importance=0.5 if importance is None else importance,
                created_at=note.created_at,
                updated_at=note.updated_at,
            )


def _key(name: str, mark: str, used: dict[str, int]) -> str:
    """A key for a piece of a file that no other piece has; the end of a long name tells more than its beginning."""
    key = unused(f"{name}#{mark}" if mark else name, used)
    return key if len(key) <= KEY_CHARS_MAX else f"…{key[-KEY_CHARS_MAX + 1 :]}"


def _time(head: Mapping[str, str | list[str]], names: tuple[str, ...]) -> datetime | None:
    return next((found for name in names if (found := moment(head.get(name))) is not None), None)
