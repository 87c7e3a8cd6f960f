"""The block of ``MEMORY.md`` that is ours, and how it gets into a file that is somebody else's.

What stands outside the two markers is never touched, not by a byte. The block names memories of one project only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from perdure.domain.memory import GLOBAL_PROJECT, Memory
from perdure.errors import FailedPrecondition, Reason

BEGIN = "<!-- perdure:begin (written by perdure; edits inside are lost) -->"
END = "<!-- perdure:end -->"
LINES = 5

_BEGIN = re.compile(r"<!-- perdure:begin\b[^\n]*?-->")
_COMMENT_EDGE = re.compile(r"<!-*|-*->|<!")


def block(project: str, memories: Sequence[Memory]) -> str:
    """The block for a project's top memories, markers included, its lines parted by line feeds.

    Args:
        project: The project all of them belong to.
        memories: Best first; at most ``LINES`` are named.
    """
    name = "every project" if project == GLOBAL_PROJECT else _plain(project)
    lines = [BEGIN, f"## Memory: {name}", ""]
    lines.extend(
        f"- [{memory.statement.type.value}] {_plain(memory.summary)} (perdure:{memory.id})"
        for memory in memories[:LINES]
    )
    if not memories:
        lines.append("No memories of this project yet.")
    lines.append(END)
    return "\n".join(lines)


def merge(text: str, new_block: str) -> str:
    """``text`` with ``new_block`` in place of the one it holds, or after everything else where it holds none.

    The block takes on the line ends of ``text``.

    Raises:
        FailedPrecondition: the markers in ``text`` do not pair up, so what is ours cannot be told from what is not.
    """
    ends = "\r\n" if "\r\n" in text else "\n"
    written = new_block.replace("\n", ends)
    begins = list(_BEGIN.finditer(text))
    closes = [at.start() for at in re.finditer(re.escape(END), text)]
    if not begins and not closes:
        if not text:
            return written + ends
        gap = "" if text.endswith(ends * 2) else ends if text.endswith("\n") else ends * 2
        return text + gap + written + ends
    if len(begins) != 1 or len(closes) != 1 or closes[0] < begins[0].end():
        raise FailedPrecondition(
            "The file's perdure markers do not pair up; set the begin and end marker right, or take both out.",
            reason=Reason.FIELD_INVALID,
            details={"begin_markers": len(begins), "end_markers": len(closes)},
        )
    return text[: begins[0].start()] + written + text[closes[0] + len(END) :]


def _plain(text: str) -> str:
    """One line that can neither close the block nor open a comment."""
    return _COMMENT_EDGE.sub(" ", " ".join(text.split())).strip()
