"""The text that stands for a memory in the vector space.

A change to what ``embedded_text`` writes is a change of the embedding space: raise ``LAYOUT_VERSION`` with it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from perdure.domain.memory import GLOBAL_PROJECT, Statement

LAYOUT_VERSION: int = 1


def embedded_text(statement: Statement, created_at: datetime) -> str:
    """What the embedding model reads of a memory: labelled lines, those without a value left out.

    The day (UTC) and the project stand first, so that a text read in windows or cut at the model's limit keeps them; of
    files only the names, as a folder shared by all tells nothing apart. The type is left out: it is a filter.

    Args:
        statement: A checked statement.
        created_at: When it was first said, aware.
    """
    day = created_at.astimezone(UTC).date().isoformat()
    where = f" {statement.project}:" if statement.project != GLOBAL_PROJECT else ""
    lines = [f"[{day}]{where} {statement.content}"]
    if statement.problem:
        lines.append(f"Problem: {statement.problem}")
    if statement.solution:
        lines.append(f"Solution: {statement.solution}")
    if statement.concepts:
        lines.append(f"Concepts: {', '.join(statement.concepts)}")
    if statement.files:
        lines.append(f"Files: {', '.join(_file_name(path) for path in statement.files)}")
    if statement.tags:
        lines.append(f"Tags: {', '.join(statement.tags)}")
    if statement.key:
        lines.append(f"Key: {statement.key}")
    return "\n".join(lines)


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
