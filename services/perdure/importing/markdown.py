"""A folder of Markdown: what Perdure exported, read back as it was; anybody's notes, as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perdure.domain.memory import MemoryType
from perdure.importing.draft import Item, Kind, Remark, Unreadable
from perdure.importing.exported import is_document, read_document
from perdure.importing.files import changed_at, markdown_files, text_of
from perdure.importing.here import Here
from perdure.importing.notes import memories_of, note_of
from perdure.project import project_of

NAME = "markdown"


def places(_here: Here) -> list[Path]:
    """None: which folder is asked for."""
    return []


def read(path: Path, _here: Here) -> Iterator[Item]:
    """The notes of a folder, or of one file.

    Raises:
        Unreadable: there is no Markdown.
    """
    files = markdown_files(path) if path.is_dir() else [path]
    if not files:
        raise Unreadable(f"{path} holds no Markdown file.")
    folder = path if path.is_dir() else path.parent
    project = project_of(str(folder)).name
    for file in files:
        name = file.relative_to(folder).as_posix()
        try:
            yield from _file(file, name, project)
        except Unreadable as fault:
            yield Remark(Kind.LOST, name, str(fault))


def _file(file: Path, name: str, project: str) -> Iterator[Item]:
    text = text_of(file)
    if is_document(text):
        try:
            yield read_document(text, name, changed_at(file))
        except ValueError as fault:
            yield Remark(Kind.LOST, name, f"{fault}; it was an export of Perdure's")
        return
    note = note_of(file)
    yield from memories_of(
        note,
        name,
        source=NAME,
        prefix="note",
        project=note.told("project") or project,
        kind=MemoryType.FACT,
    )
