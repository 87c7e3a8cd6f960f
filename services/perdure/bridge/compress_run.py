"""One call of ``perdure compress`` or ``memory_compress``: plan, keep, replace, and what to say of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perdure.bridge import compress_files
from perdure.bridge.compress import Left, Memories, Shrink, plan, still_held

REASONS = {
    "not_stored": "its whole text is in no memory",
    "not_smaller": "a stub would not be smaller",
    "already_compressed": "it is a stub already",
    "empty": "it has no text",
    "link": "it is a link, or in a folder that is one",
    "not_text": "it is no text file, or too large",
    "unreadable": "it cannot be read",
    "changed": "it was changed meanwhile",
}


@dataclass(slots=True)
class Report:
    """What was done, or would be.

    Attributes:
        dry_run: Nothing was written.
        run: By which ``--undo`` takes it back; empty where nothing was written.
        shrunk: Files that are stubs now, or would be.
        left: Files that stay as they are.
        stopped: Why not all was done; empty where it was.
    """

    dry_run: bool
    run: str = ""
    shrunk: list[Shrink] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    stopped: str = ""

    @property
    def bytes_saved(self) -> int:
        """How much smaller the files are together."""
        return sum(item.bytes_saved for item in self.shrunk)

    def as_json(self) -> dict[str, Any]:
        """The report for a program."""
        return {
            "dry_run": self.dry_run,
            "run": self.run or None,
            "compressed": [
                {"file": item.found.path, "memories": list(item.held_by), "bytes_saved": item.bytes_saved}
                for item in self.shrunk
            ],
            "left": [{"file": item.path, "reason": item.why} for item in self.left],
            "bytes_saved": self.bytes_saved,
            "stopped": self.stopped or None,
        }

    def sentences(self) -> list[str]:
        """The report for a person or a model, a line each."""
        would = "would become" if self.dry_run else "became"
        lines = [f"{item.found.path}: {would} a stub, {item.bytes_saved} bytes less" for item in self.shrunk]
        lines += [f"{item.path}: left as it is, {REASONS.get(item.why, item.why)}" for item in self.left]
        if self.stopped:
            lines.append(f"Stopped: {self.stopped}")
        count = len(self.shrunk)
        noun = "memory file" if count == 1 else "memory files"
        verb = "would be" if self.dry_run else "is" if count == 1 else "are"
        lines.append(f"{count} {noun} {verb} compressed, {self.bytes_saved} bytes saved; {len(self.left)} left.")
        if self.run:
            lines.append(f"`perdure compress --undo {self.run}` puts them back.")
        return lines


def compress(folders: Iterable[Path], home: Path, memories: Memories, *, dry_run: bool) -> Report:
    """Make stubs of the memory files whose whole text memory holds.

    Args:
        folders: Each Claude Code's ``projects``.
        home: ``PERDURE_HOME``, where the files are kept.
        memories: What is asked of memory; asked again right before a file is replaced.
        dry_run: Say what would be done, and write nothing.

    Raises:
        Unanswered: memory did not answer before anything was written.
    """
    found = [
        Left(*item) if isinstance(item, tuple) else item
        for folder in folders
        for item in compress_files.memory_files(folder)
    ]
    shrinks, left = plan(found, memories)
    if dry_run:
        return Report(True, shrunk=shrinks, left=left)
    run = compress_files.Run(home)
    report = Report(False, left=left)
    for shrink in shrinks:
        if not still_held(shrink, memories):
            report.left.append(Left(shrink.found.path, "not_stored"))
            continue
        now = compress_files.read(Path(shrink.found.path))
        if not isinstance(now, compress_files.Found) or now.content != shrink.found.content:
            report.left.append(Left(shrink.found.path, compress_files.CHANGED))
            continue
        try:
            run.replace(shrink.found, shrink.stub)
        except compress_files.Unkept as fault:
            report.stopped = str(fault)
            break
        report.shrunk.append(shrink)
        report.run = run.name
    return report
