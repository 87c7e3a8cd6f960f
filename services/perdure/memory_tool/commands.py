"""The six commands of the memory tool over any ``Documents``: what they do and what they say.

The answers are those of the SDK's own backend, word for word, since that is what models were made to read; where ours
differs on purpose stands in docs/how-to/anthropic-memory-tool.md. Refuses to know the SDK, HTTP and memories.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from perdure.memory_tool.documents import Document, Documents, MovedOn, Refused, Written
from perdure.memory_tool.paths import ROOT, ancestors, normal, parent

NUMBER_CHARS = 6
CONTEXT_LINES = 2
LEVELS = 2
ROUNDS_MAX = 4
_DIRECTORY_SIZE = "4K"


class Kind(enum.Enum):
    """What is at a path."""

    FILE = "file"
    DIRECTORY = "directory"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Place:
    """What is at a path and above it.

    Attributes:
        path: The path.
        kind: What is there.
        document: The file, or the directory's own document where it has one.
        missing: Directories above it that are not there, the topmost first.
        blocked: A name above it is a file.
    """

    path: str
    kind: Kind
    document: Document | None
    missing: tuple[str, ...] = ()
    blocked: bool = False


class Commands:
    """The commands on the documents of one caller.

    Every method returns the text for the model. Raises ``Refused`` with the text of an error. One that meets a change
    somebody else makes at that moment begins anew, a few times.
    """

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def view(self, path: str, view_range: Sequence[int] | None = None) -> str:
        """The lines of a file, or the names in a directory and in those below it."""
        place = self._place(normal(path))
        if place.kind is Kind.NOTHING:
            raise _no_path(path)
        if place.kind is Kind.DIRECTORY:
            return self._listing(path, place.path)
        lines = _text(place).split("\n")
        first = 1
        if view_range and len(view_range) == 2:
            start, end = max(1, view_range[0]), view_range[1]
            lines, first = lines[start - 1 : len(lines) if end == -1 else end], start
        return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first)}"

    def create(self, path: str, file_text: str) -> str:
        """A new file, and the directories above it."""
        target = normal(path)
        if target != ROOT:
            self._make_directories(parent(target))
        place = self._place(target)
        if place.kind is not Kind.NOTHING:
            raise Refused(f"File {path} already exists")
        if place.blocked:
            raise _not_a_directory(path)
        written = self._documents.create(target, file_text)
        return f"File created successfully at: {path}{_remark(written)}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """The file with the one place of ``old_str`` replaced."""
        return self._again(path, lambda: self._str_replace(path, old_str, new_str))

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """The file with a text after line ``insert_line`` (0: before the first)."""
        return self._again(path, lambda: self._insert(path, insert_line, insert_text))

    def delete(self, path: str) -> str:
        """A file, or a directory and all that is in it, taken away."""
        target = normal(path)
        if target == ROOT:
            raise Refused(f"Cannot delete the {ROOT} directory itself")
        place = self._place(target)
        if place.kind is Kind.NOTHING:
            raise Refused(f"The path {path} does not exist")
        if place.kind is Kind.DIRECTORY:
            for document in self._documents.under(target):
                self._documents.delete(document)
        if place.document is not None:
            self._documents.delete(place.document)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """A file or directory under another path; directories above that are made."""
        return self._again(old_path, lambda: self._rename(old_path, new_path))

    def clear(self) -> str:
        """Everything under ``/memories`` taken away."""
        for document in self._documents.under(ROOT):
            self._documents.delete(document)
        return "All memory cleared"

    # -- one round of a command ----------------------------------------------------------------------------------------

    def _again(self, path: str, command: Callable[[], str]) -> str:
        for _ in range(ROUNDS_MAX):
            try:
                return command()
            except MovedOn:
                continue
        raise Refused(f"The file {path} is being changed by somebody else; view it and try again.")

    def _str_replace(self, path: str, old_str: str, new_str: str) -> str:
        document = self._file(path)
        text = document.text
        at = text.find(old_str)
        if at < 0:
            raise Refused(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
        if text.count(old_str) > 1:
            lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in _places(text, old_str))
            raise Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        written = self._documents.edit(document, text[:at] + new_str + text[at + len(old_str) :])
        changed = text.count("\n", 0, at)
        after = written.text.split("\n")
        start = max(0, min(changed, len(after) - 1) - CONTEXT_LINES)
        snippet = _numbered(after[start : changed + CONTEXT_LINES + 1], start + 1)
        return (
            "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
            f"{snippet}{_remark(written)}"
        )

    def _insert(self, path: str, insert_line: int, insert_text: str) -> str:
        document = self._file(path)
        lines = document.text.removesuffix("\n").split("\n") if document.text else []
        if not 0 <= insert_line <= len(lines):
            raise Refused(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(insert_line, insert_text.rstrip("\n"))
        text = "\n".join(lines)
        written = self._documents.edit(document, text if text.endswith("\n") else f"{text}\n")
        return f"The file {path} has been edited.{_remark(written)}"

    def _rename(self, old_path: str, new_path: str) -> str:
        old, new = normal(old_path), normal(new_path)
        if old == ROOT:
            raise Refused(f"Cannot rename the {ROOT} directory itself")
        if self._place(new).kind is not Kind.NOTHING:
            raise Refused(f"The destination {new_path} already exists")
        self._make_directories(parent(new))
        source = self._place(old)
        if source.missing and not source.blocked:
            raise Refused(f"The path {old_path} does not exist")
        if source.blocked or self._place(new).blocked:
            raise _not_a_directory(old_path if source.blocked else new_path)
        if source.kind is Kind.NOTHING:
            raise Refused(f"The path {old_path} does not exist")
        if source.kind is Kind.FILE:
            self._documents.move(_document(source), new)
            return f"Successfully renamed {old_path} to {new_path}"
        if new.startswith(f"{old}/"):
            raise Refused(f"The directory {old_path} cannot be moved into itself")
        # the deepest first: a reader that comes between finds what is not moved yet where it was
        for document in sorted(self._documents.under(old), key=lambda item: -item.path.count("/")):
            self._documents.move(document, new + document.path[len(old) :])
        if source.document is not None:
            self._documents.move(source.document, f"{new}/")
        return f"Successfully renamed {old_path} to {new_path}"

    # -- what is there -------------------------------------------------------------------------------------------------

    def _place(self, path: str) -> Place:
        if path == ROOT:
            return Place(ROOT, Kind.DIRECTORY, None)
        above = ancestors(path)
        found = self._documents.find([form for name in (*above, path) for form in (name, f"{name}/")])
        blocked = any(name in found for name in above)
        if path in found:
            return Place(path, Kind.FILE, found[path], blocked=blocked)
        if f"{path}/" in found:
            return Place(path, Kind.DIRECTORY, found[f"{path}/"], blocked=blocked)
        missing = tuple(name for name in above if name not in found and f"{name}/" not in found)
        # a directory that nobody made by this tool is known by what is in it
        known = [document.path for document in self._documents.under(missing[0] if missing else path)]
        missing = tuple(name for name in missing if not _holds(name, known))
        if not missing and not blocked and _holds(path, known):
            return Place(path, Kind.DIRECTORY, None)
        return Place(path, Kind.NOTHING, None, missing, blocked)

    def _file(self, path: str) -> Document:
        place = self._place(normal(path))
        if place.kind is Kind.NOTHING:
            raise _no_path(path)
        if place.kind is Kind.DIRECTORY:
            raise Refused(f"The path {path} is not a file.")
        return _document(place)

    def _make_directories(self, path: str) -> None:
        """Make ``path`` and what is missing above it; a file at ``path`` itself is left for the caller to find."""
        place = self._place(path)
        if place.kind is not Kind.NOTHING:
            return
        if place.blocked:
            raise _not_a_directory(path)
        for directory in (*place.missing, path):
            self._documents.create(f"{directory}/", "")

    def _listing(self, shown: str, directory: str) -> str:
        sizes: dict[tuple[str, ...], str] = {}
        for document in self._documents.under(directory):
            names = document.path[len(directory) + 1 :].rstrip("/").split("/")
            for depth in range(1, len(names)):
                sizes.setdefault((*names[:depth], ""), _DIRECTORY_SIZE)
            if document.path.endswith("/"):
                sizes.setdefault((*names, ""), _DIRECTORY_SIZE)
            else:
                sizes[tuple(names)] = _size(len(document.text.encode("utf-8", "surrogatepass")))
        lines = [f"{_DIRECTORY_SIZE}\t{shown}"]
        for entry in sorted(sizes, key=_order):
            real = _order(entry)
            if len(real) <= LEVELS and not any(name.startswith(".") for name in real):
                lines.append(f"{sizes[entry]}\t{shown}/{'/'.join(entry)}")
        return (
            f"Here're the files and directories up to 2 levels deep in {shown}, excluding hidden items:\n"
            + "\n".join(lines)
        )


def _holds(directory: str, paths: Sequence[str]) -> bool:
    return any(path.startswith(f"{directory}/") for path in paths)


def _order(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names without a directory's mark: sorted by name in each directory, what is in one right after it."""
    return names[:-1] if names[-1] == "" else names


def _text(place: Place) -> str:
    return _document(place).text


def _document(place: Place) -> Document:
    if place.document is None:
        raise Refused(f"The file {place.path} no longer exists (may have been deleted or renamed concurrently).")
    return place.document


def _places(text: str, part: str) -> list[int]:
    """Where ``part`` begins in ``text``, overlapping ones too; the empty text is everywhere."""
    places = []
    at = text.find(part)
    while at != -1:
        places.append(at)
        at = text.find(part, at + 1)
    return places


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{NUMBER_CHARS}}\t{line}" for number, line in enumerate(lines, first))


def _size(count: int) -> str:
    """Bytes as people read them: whole, or with one decimal, in the largest unit that is not more than the number."""
    if count == 0:
        return "0B"
    step = min((count.bit_length() - 1) // 10, 3)
    value = count / 1024**step
    return f"{int(value)}{'BKMG'[step]}" if value == int(value) else f"{value:.1f}{'BKMG'[step]}"


def _remark(written: Written) -> str:
    """What the model must know where the file does not say what it wrote."""
    if not written.blanked:
        return ""
    kinds = ", ".join(written.blanked)
    return (
        f"\nPerdure blanked what looks like a secret ({kinds}): the file says [redacted:…] in its place. "
        "Secrets do not belong in memory."
    )


def _no_path(path: str) -> Refused:
    return Refused(f"The path {path} does not exist. Please provide a valid path.")


def _not_a_directory(path: str) -> Refused:
    return Refused(f"A directory in the path {path} is a file")
