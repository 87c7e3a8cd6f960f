"""Decision records: a folder of Markdown files in Nygard's form, MADR's, or near either.

The decision and its consequences are the memory, what it answers its ``problem``. Accepted ones are core; rejected
and deprecated ones are archived; superseded ones are linked to what replaced them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from perdure.domain.memory import MemoryType, Status, Tier
from perdure.importing.draft import Draft, Item, Kind, Remark, Unreadable, identity, key_of, moment, words
from perdure.importing.files import markdown_files
from perdure.importing.here import Here
from perdure.importing.notes import Note, note_of
from perdure.importing.text import Section, parts_of, sections_of
from perdure.project import project_of

NAME = "adr"
CONFIDENCE = 0.85
"""Of an accepted record: people debated it."""
_FOLDERS = (
    "docs/adr", "docs/adrs", "docs/ADR", "doc/adr", "adr", "adrs", "docs/decisions", "docs/architecture/decisions",
    "docs/architecture-decisions", "architecture/decisions",
)  # fmt: skip
_NOT_RECORDS = frozenset({"readme", "index", "template", "adr-template", "0000-template"})
_NUMBER = re.compile(r"^(?:adr[-_ ]?)?0*(\d+)(?=\D|$)", re.IGNORECASE)
_TITLE_NUMBER = re.compile(r"^(?:adr[-_ ]?)?\d+[.:)]?\s*[-–—:]?\s*", re.IGNORECASE)
_DATE = re.compile(r"^\W*date\W+(\d{4}[-/]\d\d?[-/]\d\d?)", re.IGNORECASE | re.MULTILINE)
_STATUS = re.compile(r"^\W*status\b\W+(\w.*)$", re.IGNORECASE | re.MULTILINE)
_POINTS_AT = re.compile(r"(?:adr[-_ ]?|\[|\()0*(\d+)|\b0*(\d{3,4})\b", re.IGNORECASE)
_REPLACED_BY = re.compile(r"\b(?:superseded|replaced) by\b", re.IGNORECASE)
_REPLACES = re.compile(r"\b(?:supersedes|replaces)\b", re.IGNORECASE)
_ACCEPTED = ("accept", "approved", "adopted", "decided", "implemented", "final")
_PROBLEM = ("context", "problem")
_DECISION = ("decision", "outcome", "resolution")


@dataclass(frozen=True, slots=True)
class _Record:
    name: str
    number: str
    note: Note
    title: str
    said: str  # what the record says of its status, in lower case
    sections: tuple[Section, ...]


def places(here: Here) -> list[Path]:
    """The project's folders where records usually are."""
    root = Path(project_of(str(here.folder)).root)
    found: dict[Path, Path] = {}
    for name in _FOLDERS:
        if (root / name).is_dir():
            found.setdefault((root / name).resolve(), root / name)
    return list(found.values())


def read(path: Path, _here: Here) -> Iterator[Item]:
    """The records of a folder, or of one file.

    Raises:
        Unreadable: there is no Markdown.
    """
    files = markdown_files(path) if path.is_dir() else [path]
    if not files:
        raise Unreadable(f"{path} holds no Markdown file.")
    folder = path if path.is_dir() else path.parent
    project = project_of(str(folder)).name
    records: list[_Record] = []
    for file in files:
        name = file.relative_to(folder).as_posix()
        if file.stem.casefold() in _NOT_RECORDS:
            yield Remark(Kind.LEFT_OUT, name, "it is an index or a template")
            continue
        try:
            records.append(_record(file, name))
        except Unreadable as fault:
            yield Remark(Kind.LOST, name, str(fault))
        except ValueError as fault:
            yield Remark(Kind.LOST, name, str(fault))
    ids = {record.number: _id(project, record) for record in records if record.number}
    replaced = _replaced(records, project, ids)
    for record in records:
        yield from _items(record, project, tuple(replaced.get(_id(project, record), ())))


def _record(file: Path, name: str) -> _Record:
    note = note_of(file)
    sections = tuple(sections_of(note.body))
    title = note.told("title") or next((s.path[0] for s in sections if s.path), "")
    status = next((s.body for s in sections if _last(s) == "status"), "") or note.told("status")
    if not status:
        found = _STATUS.search(note.body)
        status = found[1] if found else ""
    decides = any(word in _last(section) for section in sections for word in _DECISION)
    if not title or not (status or decides):
        raise ValueError("it is no decision record: it has no title, or neither a status nor a decision")
    number = _NUMBER.match(file.stem)
    return _Record(name, number[1] if number else "", note, title, " ".join(status.split()).casefold(), sections)


def _items(record: _Record, project: str, older: tuple[str, ...]) -> Iterator[Item]:
    title = _TITLE_NUMBER.sub("", record.title).strip() or record.title
    problem = [s.body for s in record.sections if any(w in _last(s) for w in _PROBLEM) and not _decides(s)]
    rest = [s for s in record.sections if s.body not in problem and _last(s) != "status"]
    rest.sort(key=lambda section: not _decides(section))  # what was decided comes first
    blocks = [_block(section) for section in rest]
    parts = parts_of("\n\n".join([title, *(block for block in blocks if block)]))
    status = _status(record.said)
    accepted = status is Status.ACTIVE and any(word in record.said for word in _ACCEPTED)
    dated = _DATE.search(record.note.body)
    created = moment(record.note.told("date")) or (moment(_iso(dated[1])) if dated else None) or record.note.created_at
    if len(parts) > 1:
        yield Remark(Kind.CHANGED, record.name, f"it is too long for one memory; it became {len(parts)}")
    for number, part in enumerate(parts, 1):
        yield Draft(
            id=_id(project, record) if number == 1 else identity(NAME, project, record.name, number),
            place=record.name,
            host=NAME,
            content=part,
            type=MemoryType.DECISION,
            project=project,
            key=key_of(f"adr/{record.name}" if number == 1 else f"adr/{record.name}#{number}"),
            problem=parts_of("\n\n".join(problem))[0] if problem and number == 1 else None,
            files=(record.name,),
            tags=words(
                ["adr", *words(record.note.head.get("tags")), *([] if accepted else [record.said.split(" ")[0]])]
            ),
            confidence=CONFIDENCE if accepted else 0.5,
            importance=0.7,
            tier=Tier.CORE if accepted else Tier.REGULAR,
            status=status,
            created_at=created,
            updated_at=max(created, record.note.updated_at),
            supersedes=older if number == 1 else (),
        )


def _replaced(records: list[_Record], project: str, ids: dict[str, str]) -> dict[str, list[str]]:
    """The ids of what each record supersedes, whichever of the two says so."""
    found: dict[str, list[str]] = {}
    for record in records:
        own = _id(project, record)
        text = "\n".join(section.body for section in record.sections if _last(section) == "status") or record.said
        for line in text.splitlines():
            newer = _REPLACED_BY.search(line)
            older = None if newer else _REPLACES.search(line)
            at = newer or older
            for points in _POINTS_AT.finditer(line[at.end() :]) if at else ():
                other = ids.get(str(int(points[1] or points[2])))
                if other and other != own:
                    replacing, replaced = (other, own) if newer else (own, other)
                    found.setdefault(replacing, [])
                    if replaced not in found[replacing]:
                        found[replacing].append(replaced)
    return found


def _status(said: str) -> Status:
    if "superseded" in said or "replaced by" in said:
        return Status.SUPERSEDED
    if "rejected" in said or "deprecated" in said or "withdrawn" in said:
        return Status.ARCHIVED
    return Status.ACTIVE


def _id(project: str, record: _Record) -> str:
    return identity(NAME, project, record.name)


def _last(section: Section) -> str:
    return section.path[-1].casefold() if section.path else ""


def _decides(section: Section) -> bool:
    return any(word in title.casefold() for title in section.path[1:] or section.path for word in _DECISION)


def _block(section: Section) -> str:
    """A section below its own heading; what stands right under the title loses its lines of date and status."""
    if len(section.path) > 1:
        return f"{section.path[-1]}:\n{section.body}"
    return _STATUS.sub("", _DATE.sub("", section.body)).strip()


def _iso(text: str) -> str:
    year, month, day = re.split("[-/]", text)
    return f"{year}-{month:0>2}-{day:0>2}"
