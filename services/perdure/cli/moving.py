"""``import --from``: read a source, show what comes of it, send it through the gateway's import.

Knows what a person sees; the sources are ``perdure.importing``'s. The gateway decides what is new, so that it works
against one far away and a second run changes nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.cli.terminal import note, one_line, progress, say, say_json
from perdure.importing.draft import Draft, Kind, Remark, Unreadable
from perdure.importing.here import SESSION_CAP, TRANSCRIPTS_LIMIT, Here
from perdure.importing.sources import BY_NAME, Source

NDJSON = "application/x-ndjson"
UPLOAD_TIMEOUT_S = 3600.0
PREVIEW = 10
_SHOWN = 10
_PREVIEW_CHARS = 100


@dataclass(frozen=True, slots=True)
class Found:
    """What a source holds: drafts ready to be sent, and what is to be said of the rest."""

    source: Source
    places: tuple[Path, ...]
    drafts: list[Draft] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)

    def of(self, kind: Kind) -> list[Remark]:
        """The remarks of one kind."""
        return [remark for remark in self.remarks if remark.kind is kind]


def here(*, cap: int = SESSION_CAP, limit: int = TRANSCRIPTS_LIMIT) -> Here:
    """This person on this machine, in the current folder."""
    return Here(home=Path.home(), folder=Path.cwd(), environment=dict(os.environ), cap=cap, limit=limit)


def look(source: Source, paths: Sequence[Path], where: Here, *, project: str | None = None) -> Found:
    """Read a source, at ``paths`` or where it usually is; nothing is sent.

    Raises:
        Failure: there is none, or nothing of it can be read.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise Failure(f"There is no {missing[0]}.", Exit.NOT_FOUND)
    places = tuple(paths) or tuple(source.places(where))
    if not places and not source.usual:
        raise Failure(f"Say which folder or file: perdure import --from {source.name} PATH", Exit.USAGE)
    if not places:
        raise Failure(
            f"Nothing of {source.title} was found; looked for {source.usual}. Say where it is: "
            f"perdure import --from {source.name} PATH",
            Exit.NOT_FOUND,
        )
    found = Found(source, places)
    with progress("Reading") as draw:
        try:
            # a single place says nothing about how far it is, so what it holds is counted
            single = len(places) == 1
            draw(0, 0)
            for number, item in enumerate(source.read(places, where, _untold if single else draw), 1):
                if single:
                    draw(number, 0)
                if isinstance(item, Remark):
                    found.remarks.append(item)
                else:
                    found.drafts.append(replace(item, project=project) if project else item)
        except Unreadable as fault:
            raise Failure(str(fault)) from fault
    return found


def _untold(_done: int, _total: int) -> None:
    pass


def send(found: Found, *, dry_run: bool = False) -> dict[str, Any]:
    """Send the drafts; the report of the gateway, its problems by their places in the source."""
    gateway = Gateway(Place(), timeout_s=UPLOAD_TIMEOUT_S)
    now = datetime.now(UTC)
    report: dict[str, Any] = {"read": 0, "created": 0, "unchanged": 0, "merged": 0, "failed": 0, "dry_run": dry_run}
    if found.drafts:
        with progress("Importing") as draw:

            def lines() -> Iterator[bytes]:
                for number, draft in enumerate(found.drafts, 1):
                    yield json.dumps(draft.line(now)).encode("ascii") + b"\n"
                    draw(number, len(found.drafts))

            query = [("dry_run", "true" if dry_run else None)]
            report = gateway.upload("/memories/import", lines(), query=query, content_type=NDJSON)
    problems = [
        {"place": _place(found, int(problem.get("line") or 0)), "reason": problem.get("message", "")}
        for problem in report.get("problems") or []
    ]
    return {**{name: report.get(name, 0) for name in ("read", "created", "unchanged", "merged", "failed")},
            "dry_run": bool(report.get("dry_run")), "problems": problems}  # fmt: skip


def _place(found: Found, line: int) -> str:
    return found.drafts[line - 1].place if 0 < line <= len(found.drafts) else f"line {line}"


def move_in(
    name: str,
    paths: Sequence[str],
    *,
    project: str | None,
    cap: int | None,
    limit: int | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """The command: read, send, report."""
    source = BY_NAME[name]
    where = here(cap=cap or SESSION_CAP, limit=limit or TRANSCRIPTS_LIMIT)
    _say_while_waiting(f"Reading {source.title} …")
    found = look(source, [Path(path).expanduser() for path in paths], where, project=project)
    if found.drafts:
        _say_while_waiting(f"{'Checking' if dry_run else 'Importing'} {counted(len(found.drafts))} …")
    report = send(found, dry_run=dry_run)
    if as_json:
        say_json(_json(found, report, dry_run=dry_run))
    else:
        show(found, report, dry_run=dry_run)
    return Exit.ERROR if report["failed"] or found.of(Kind.LOST) else Exit.OK


def _say_while_waiting(text: str) -> None:
    """What takes long, where no terminal shows a bar."""
    if not sys.stderr.isatty():
        note(text)


def _json(found: Found, report: dict[str, Any], *, dry_run: bool) -> dict[str, Any]:
    answer = {"source": found.source.name, "places": [str(path) for path in found.places], **report}
    for name, kind in (
        ("not_understood", Kind.LOST),
        ("changed", Kind.CHANGED),
        ("left_out", Kind.LEFT_OUT),
        ("notes", Kind.NOTE),
    ):
        answer[name] = [{"place": remark.place, "reason": remark.reason} for remark in found.of(kind)]
    if dry_run:
        answer["preview"] = [_preview(draft) for draft in found.drafts[:PREVIEW]]
    return answer


def show(found: Found, report: dict[str, Any], *, dry_run: bool = False) -> None:
    """What came of it: counts on stdout, remarks on stderr."""
    if dry_run:
        for draft in found.drafts[:PREVIEW]:
            line = _preview(draft)
            say(f"  {line['created_at'][:10]:10}  {line['project']} [{line['type']}] {line['content']}")
        if len(found.drafts) > PREVIEW:
            say(f"  and {len(found.drafts) - PREVIEW} more")
    did = "Would take in" if dry_run else "Took in"
    counts = ", ".join(f"{report[name]} {name}" for name in ("created", "unchanged", "merged", "failed"))
    say(f"{did} {counted(report['read'])} of {found.source.title}: {counts}")
    _list("not taken in", [(problem["place"], problem["reason"]) for problem in report["problems"]], report["failed"])
    for kind in (Kind.LOST, Kind.CHANGED, Kind.LEFT_OUT, Kind.NOTE):
        remarks = found.of(kind)
        _list(kind.value, [(remark.place, remark.reason) for remark in remarks], len(remarks))


def counted(number: int) -> str:
    """Such as "1 memory" or "3 memories"."""
    return f"{number} {'memory' if number == 1 else 'memories'}"


def _list(title: str, lines: Sequence[tuple[str, str]], total: int) -> None:
    for place, reason in lines[:_SHOWN]:
        note(f"{title}: {one_line(place)}: {one_line(reason)}")
    if total > min(len(lines), _SHOWN):
        note(f"{title}: {total - min(len(lines), _SHOWN)} more; see --json")


def _preview(draft: Draft) -> dict[str, str]:
    """A draft on one line, secrets blanked: a preview must not show what a save would hide."""
    from perdure.domain.secrets import redact

    text, _kinds = redact(one_line(draft.content))
    return {
        "project": one_line(draft.project),
        "type": draft.type.value,
        "content": text if len(text) <= _PREVIEW_CHARS else f"{text[: _PREVIEW_CHARS - 1]}…",
        "created_at": draft.created_at.isoformat() if draft.created_at else "",
        "place": draft.place,
    }
