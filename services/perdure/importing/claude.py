"""Claude Code's own memory: the topic files of its auto-memory folders, their ``MEMORY.md``, and ``CLAUDE.md``.

A topic file gets the key that the hooks give it, so that what a hook stored already is the same memory here.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from perdure.domain.compaction.stub import is_stub
from perdure.domain.memory import GLOBAL_PROJECT, MemoryType
from perdure.hooks import signals
from perdure.hooks.front_matter import split
from perdure.hooks.memory_files import memories_of as topic_memories
from perdure.importing.draft import Draft, Item, Kind, Remark, Unreadable, identity, moment, words
from perdure.importing.files import changed_at, json_of, markdown_files, text_of
from perdure.importing.here import Here
from perdure.importing.text import own_words, parts_of, sections_of, slug, unused
from perdure.project import project_of
from perdure.regular_file import opened

NAME = "claude"
INDEX = "MEMORY.md"
RULES = ("CLAUDE.md", "CLAUDE.local.md")
_MEMORY = "memory"
_TRANSCRIPT_BYTES = 256 * 1024
"""How much of a transcript is read for the folder it was held in."""
_LINKED = re.compile(r"\]\(([^)\s]+\.md)\)|`([^`\s]+\.md)`", re.IGNORECASE)
_STEPS_MAX = 20_000


def places(here: Here) -> list[Path]:
    """Every auto-memory folder, the person's ``CLAUDE.md``, and those of the project they stand in."""
    top = here.directory("CLAUDE_CONFIG_DIR", ".claude")
    folders = sorted(path for path in (top / "projects").glob(f"*/{_MEMORY}") if markdown_files(path))
    folders += [path for path in _moved(top) if path not in folders and markdown_files(path)]
    root = Path(project_of(str(here.folder)).root)
    rules = [top / RULES[0]]
    if root != here.home:
        rules += [root / name for name in RULES] + [root / ".claude" / RULES[0]]
    return folders + list(dict.fromkeys(path for path in rules if path.is_file()))


def _moved(top: Path) -> list[Path]:
    """The folder to which the person's settings moved auto memory, if they did."""
    try:
        settings = json_of(top / "settings.json")
    except Unreadable:
        return []
    named = settings.get("autoMemoryDirectory") if isinstance(settings, dict) else None
    return [Path(named).expanduser()] if isinstance(named, str) and Path(named).expanduser().is_dir() else []


def read(path: Path, here: Here) -> Iterator[Item]:
    """The memories of one such folder or file; of a folder with projects in it, those of all.

    Raises:
        Unreadable: there is nothing of the kind.
    """
    if path.is_file():
        yield from _index_or_rules(path, here)
        return
    folders = [path] if path.name == _MEMORY else sorted(path.glob(f"projects/*/{_MEMORY}"))
    folders = folders or sorted(path.glob(f"*/{_MEMORY}"))
    if not folders and not markdown_files(path):
        raise Unreadable(f"{path} holds no memory folder and no Markdown file.")
    for folder in folders or [path]:
        yield from _folder(folder, here)


# ------------------------------------------------------------ auto memory


def _folder(folder: Path, here: Here) -> Iterator[Item]:
    project, guessed = _project(folder, here)
    if guessed:
        yield Remark(
            Kind.NOTE, folder.parent.name, f"the folder of this project is gone; its name was taken to be {project}"
        )
    names = {path.relative_to(folder).as_posix() for path in markdown_files(folder)}
    for name in sorted(names):
        path = folder / name
        place = f"{folder.parent.name}/{name}"
        try:
            if name == INDEX:
                yield from _index(path, place, names, project)
            else:
                yield from _topic(path, name, place, project)
        except Unreadable as fault:
            yield Remark(Kind.LOST, place, str(fault))


def _topic(path: Path, name: str, place: str, project: str) -> Iterator[Item]:
    text = text_of(path)
    head, body = split(text)
    if head.get("persisted") == "true" or is_stub(body):
        yield Remark(Kind.LEFT_OUT, place, "a stub: its text was moved into a memory before")
        return
    found = topic_memories(str(path), name, own_words(text), project=project, host=NAME, session="")
    if not found:
        yield Remark(Kind.LEFT_OUT, place, "it has no text")
    written = changed_at(path)
    updated = moment(head.get("modified")) or moment(head.get("updated")) or written
    created = moment(head.get("created")) or moment(head.get("date")) or min(updated, written)
    for memory in found:
        yield Draft(
            id=identity(NAME, project, memory["key"]),
            place=place,
            host=NAME,
            content=memory["content"],
            type=MemoryType(memory["type"]),
            project=project,
            key=memory["key"],
            concepts=tuple(memory["concepts"]),
            files=tuple(memory["files"]),
            tags=tuple(memory["tags"]),
            created_at=created,
            updated_at=max(created, updated),
        )


def _index(path: Path, place: str, names: set[str], project: str) -> Iterator[Item]:
    """What an index says itself: lines that point at topic files, and blocks that are ours, left out."""
    kept = [line for line in own_words(text_of(path)).splitlines() if not _points_at(line, names)]
    yield from _sections(path, place, "\n".join(kept), f"memory/{INDEX}", project, MemoryType.CONTEXT)


def _points_at(line: str, names: set[str]) -> bool:
    return any((match[1] or match[2]).removeprefix("./") in names for match in _LINKED.finditer(line))


# ------------------------------------------------------------ CLAUDE.md


def _index_or_rules(path: Path, here: Here) -> Iterator[Item]:
    if path.parent.name == _MEMORY:
        project, _ = _project(path.parent, here)
        yield from _topic(path, path.name, path.name, project)
        return
    top = here.directory("CLAUDE_CONFIG_DIR", ".claude")
    folder = path.parent.parent if path.parent.name == ".claude" else path.parent
    project = GLOBAL_PROJECT if path.parent == top else project_of(str(folder)).name
    yield from _sections(path, path.name, own_words(split(text_of(path))[1]), path.name, project, MemoryType.CONTEXT)


def _sections(path: Path, place: str, text: str, key: str, project: str, kind: MemoryType) -> Iterator[Item]:
    written = changed_at(path)
    used: dict[str, int] = {}
    for section in sections_of(text):
        told = MemoryType.PREFERENCE if signals.RULE.search(section.body) else kind
        for part in parts_of(section.text):
            mark = unused(f"{key}#{slug(section.title) or 'top'}", used)
            yield Draft(
                id=identity(NAME, project, mark),
                place=place,
                host=NAME,
                content=part,
                type=told,
                project=project,
                key=mark,
                files=(path.name,),
                tags=words(["claude-md" if path.name in RULES else "memory-file"]),
                created_at=written,
                updated_at=written,
            )
    if not used:
        yield Remark(Kind.LEFT_OUT, place, "it says nothing that its topic files or a managed block do not")


# ------------------------------------------------------------ whose folder it is


def _project(folder: Path, here: Here) -> tuple[str, bool]:
    """The project of an auto-memory folder, and whether its name is a guess."""
    cwd = _cwd(folder.parent)
    if cwd and Path(cwd).is_dir():
        return project_of(cwd).name, False
    dashed = folder.parent.name
    if not dashed.startswith("-") and ":" not in dashed and "--" not in dashed:
        return (Path(cwd).name, True) if cwd else (project_of(str(folder.parent)).name, True)
    found = _undashed(dashed)
    if found is not None:
        return project_of(str(found)).name, False
    if cwd:
        return Path(cwd.replace("\\", "/")).name or GLOBAL_PROJECT, True
    home = re.sub(r"[^A-Za-z0-9]", "-", str(here.home))
    return dashed.removeprefix(home).strip("-") or GLOBAL_PROJECT, True


def _cwd(folder: Path) -> str:
    """The working directory that the transcripts beside the memory name."""
    for path in sorted(folder.glob("*.jsonl"), reverse=True)[:5]:
        try:
            with opened(path) as file:
                lines = file.read(_TRANSCRIPT_BYTES).split(b"\n")
        except OSError:
            continue
        for line in lines:
            try:
                row = json.loads(line) if b'"cwd"' in line else None
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict) and isinstance(row.get("cwd"), str) and row["cwd"]:
                return str(row["cwd"])
    return ""


def _undashed(dashed: str) -> Path | None:
    """The folder whose path has this form with dashes, if it is still there; the form alone does not tell."""
    steps = 0
    stack = [(Path(os.sep), "")]
    while stack:
        folder, form = stack.pop()
        if form == dashed:
            return folder
        try:
            children = [child for child in os.scandir(folder) if child.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for child in children:
            steps += 1
            if steps > _STEPS_MAX:
                return None
            longer = f"{form}-{re.sub(r'[^A-Za-z0-9]', '-', child.name)}"
            if dashed == longer or dashed.startswith(longer + "-"):
                stack.append((Path(child.path), longer))
    return None
