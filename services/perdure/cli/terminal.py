"""What a person sees: lines, tables, colour, progress. All of it plain where the output is not a terminal.

Knows nothing of memories. Text from elsewhere is stripped of control characters before it reaches a terminal, which
would obey them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

# C0 without tab and newline, DEL, C1, and the marks that turn the direction of text around
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BAR_CELLS = 28
_REDRAW_S = 0.1


def coloured() -> bool:
    """Whether stdout is a terminal that wants colour (NO_COLOR honoured)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, **style: Any) -> str:
    """``text`` in a style of ``click.style`` where colour is wanted, else as it is."""
    return click.style(text, **style) if coloured() else text


def clean(text: object) -> str:
    """``text`` without characters that command a terminal."""
    return _CONTROL.sub("", str(text))


def one_line(text: object) -> str:
    """``text`` on one line."""
    return " ".join(clean(text).split())


def say(text: str = "") -> None:
    """One or more lines on stdout."""
    click.echo(text)


def note(text: str) -> None:
    """A remark on stderr, so that stdout holds the answer alone."""
    click.echo(text, err=True)


def say_json(value: object) -> None:
    """The exact answer, indented for a terminal and on one line for a program."""
    if sys.stdout.isatty():
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        # ASCII: a lone surrogate or an odd locale must not break a program's input
        click.echo(json.dumps(value))


def table(titles: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Rows under titles on a terminal; lines with tabs, without titles, elsewhere."""
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(one_line(cell) for cell in row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for title in titles:
        # an id is there to be copied, and a time in pieces is hard to read
        drawn.add_column(title, overflow="fold", no_wrap=title in ("id", "when"))
    for row in rows:
        drawn.add_row(*(Text(one_line(cell)) for cell in row))
    Console(no_color=not coloured(), highlight=False).print(drawn)


def ask(question: str) -> bool:
    """A yes or no from the person; no where there is no terminal to ask on."""
    if not sys.stdin.isatty():
        return False
    return click.confirm(question, default=False, err=True)


@contextmanager
def progress(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr for long work, on a terminal only; call it with (done, total), total 0 while unknown."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    drawn_at = 0.0
    width = 0

    def draw(done: int, total: int) -> None:
        nonlocal drawn_at, width
        now = time.monotonic()
        if now - drawn_at < _REDRAW_S and done != total:
            return
        drawn_at = now
        if total > 0:
            full = min(_BAR_CELLS, _BAR_CELLS * done // total)
            line = f"{label} [{'#' * full}{'.' * (_BAR_CELLS - full)}] {done}/{total}"
        else:
            line = f"{label} {done}"
        sys.stderr.write("\r" + line + " " * max(0, width - len(line)))
        sys.stderr.flush()
        width = len(line)

    try:
        yield draw
    finally:
        if width:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()


def when(text: object) -> str:
    """An ISO time as date and minute in local time; as it is where it is no time."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(str(text)).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return clean(text)
