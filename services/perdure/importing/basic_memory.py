"""Basic Memory's notes: Markdown with observations (``- [category] text #tag (context)``) and relations.

Each observation becomes a memory of its own, named for its note; what else a note says becomes one, or one a section.
Notes that relate to each other are linked as related.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from perdure.domain.memory import GLOBAL_PROJECT, MemoryType
from perdure.importing.draft import Draft, Item, Kind, Remark, Unreadable, identity, words
from perdure.importing.files import json_of, markdown_files
from perdure.importing.here import Here
from perdure.importing.notes import Note, memories_of, note_of, type_of
from perdure.importing.text import parts_of, sections_of

NAME = "basic-memory"
MAIN = "main"
_OBSERVATION = re.compile(r"^\s*[-*]\s+\[([^\]\[()\n]{2,60})\](?!\()\s+(\S.*)$")
_RELATION = re.compile(r"^\s*[-*]\s+(?:([^\[\]\n]{1,80}?)\s+)?\[\[([^\]\n]+)\]\](.*)$")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_BOXES = frozenset({"x", "-", " ", "/"})


@dataclass(frozen=True, slots=True)
class _Parsed:
    name: str
    note: Note
    title: str
    rest: str
    observations: tuple[tuple[str, str], ...]
    relations: tuple[tuple[str, str], ...]


def places(here: Here) -> list[Path]:
    """The folders of its projects, by its settings, else its default folder."""
    return [folder for folder in _projects(here).values() if folder.is_dir()] or [
        folder for folder in (here.home / "basic-memory",) if folder.is_dir()
    ]


def read(path: Path, here: Here) -> Iterator[Item]:
    """The notes of a project's folder.

    Raises:
        Unreadable: there is no Markdown.
    """
    files = markdown_files(path) if path.is_dir() else [path]
    if not files:
        raise Unreadable(f"{path} holds no Markdown file.")
    folder = path if path.is_dir() else path.parent
    named = {where.resolve(): name for name, where in _projects(here).items()}
    project = named.get(folder.resolve(), MAIN if folder == here.home / "basic-memory" else folder.name)
    project = GLOBAL_PROJECT if project == MAIN else project
    parsed: list[_Parsed] = []
    for file in files:
        name = file.relative_to(folder).as_posix()
        try:
            parsed.append(_parsed(note_of(file), name))
        except Unreadable as fault:
            yield Remark(Kind.LOST, name, str(fault))
    heads = _heads(parsed, project)
    for one in parsed:
        yield from _items(one, project, heads)


def _projects(here: Here) -> dict[str, Path]:
    try:
        value = json_of(here.home / ".basic-memory" / "config.json")
    except Unreadable:
        return {}
    listed = value.get("projects") if isinstance(value, dict) else None
    found: dict[str, Path] = {}
    for name, where in listed.items() if isinstance(listed, dict) else ():
        place: Any = where.get("path") if isinstance(where, dict) else where
        if isinstance(place, str) and place:
            found[str(name)] = Path(place).expanduser()
    return found


def _parsed(note: Note, name: str) -> _Parsed:
    title = note.told("title") or Path(name).stem
    observations: list[tuple[str, str]] = []
    relations: list[tuple[str, str]] = []
    rest: list[str] = []
    fence = False
    for line in note.body.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fence = not fence
        relation = None if fence else _RELATION.match(line)
        observation = None if fence or relation else _OBSERVATION.match(line)
        if relation is not None and not relation[3].strip(" ()"):
            relations.append(((relation[1] or "relates_to").strip(), relation[2].strip()))
        elif observation is not None and observation[1].strip().casefold() not in _BOXES:
            observations.append((observation[1].strip(), observation[2].strip()))
        else:
            rest.append(line)
    # headings that stood over nothing but these lines say nothing by themselves
    text = "\n\n".join(_under(section.path, section.body, title) for section in sections_of("\n".join(rest)))
    return _Parsed(name, note, title, text.strip(), tuple(observations), tuple(relations))


def _under(path: tuple[str, ...], body: str, title: str) -> str:
    below = path[1:] if path and path[0].casefold() == title.casefold() else path
    return f"{'#' * (len(below) + 1)} {below[-1]}\n\n{body}" if below else body


def _heads(parsed: list[_Parsed], project: str) -> dict[str, str]:
    """The id of the memory that stands for each note, by the names by which relations call it."""
    found: dict[str, str] = {}
    for one in parsed:
        stand_in = next((item for item in _items(one, project, {}) if isinstance(item, Draft)), None)
        if stand_in is not None:
            for name in (one.title, one.note.told("permalink"), one.name.removesuffix(".md"), Path(one.name).stem):
                found.setdefault(name.casefold(), stand_in.id)
    return found


def _items(one: _Parsed, project: str, heads: dict[str, str]) -> Iterator[Item]:
    note = one.note
    targets = [target.partition("|")[0].strip() for _, target in one.relations]
    related = tuple(dict.fromkeys(heads[t.casefold()] for t in targets if t.casefold() in heads))
    lines = [f"{kind.replace('_', ' ')} {target.partition('|')[0].strip()}" for kind, target in one.relations]
    body = "\n\n".join(part for part in (one.rest, f"{one.title} " + "; ".join(lines) + "." if lines else "") if part)
    first = True
    if body or not one.observations:
        whole = Note(note.path, {**note.head, "title": one.title}, body, note.created_at, note.updated_at)
        kind = type_of(note.told("type"), MemoryType.CONTEXT)
        for item in memories_of(whole, one.name, source=NAME, prefix="note", project=project, kind=kind):
            if isinstance(item, Draft):
                item = replace(item, concepts=words([one.title, *targets]), related=related if first else ())
                first = False
            yield item
    for category, said in one.observations:
        for part in parts_of(said):
            yield Draft(
                id=identity(NAME, project, one.name, category, part),
                place=one.name,
                host=NAME,
                content=f"{one.title}: {part}",
                type=type_of(category),
                project=project,
                concepts=(one.title,),
                files=(one.name,),
                tags=words([category, *_TAG.findall(said), *words(note.head.get("tags"))]),
                created_at=note.created_at,
                updated_at=note.updated_at,
                related=related if first else (),
            )
            first = False
