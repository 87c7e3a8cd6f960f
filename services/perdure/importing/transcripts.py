"""Transcripts of Claude Code and Codex: what was decided in them, each sentence with the day it was said.

The same rules as the hooks' capture: turns of the person and the assistant only, sentences that stand by themselves,
the best few of a session, never what was put in from a memory. It prefers a miss to junk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from perdure.domain.memory import GLOBAL_PROJECT, MemoryType
from perdure.hooks.capture import Candidate, candidates
from perdure.hooks.fences import fingerprint
from perdure.hooks.transcripts import LINE_BYTES_MAX, turn_of
from perdure.importing.draft import Draft, Item, Kind, Remark, identity, moment
from perdure.importing.files import changed_at
from perdure.importing.here import Here
from perdure.project import project_of
from perdure.regular_file import opened

NAME = "transcripts"


@dataclass(frozen=True, slots=True)
class _Said:
    candidate: Candidate
    at: datetime
    project: str
    session: str
    place: str


def places(here: Here) -> list[Path]:
    """Every session of Claude Code and of Codex; subagents' are not sessions of the person's."""
    claude = here.directory("CLAUDE_CONFIG_DIR", ".claude") / "projects"
    codex = here.directory("CODEX_HOME", ".codex")
    kept = [file for name in ("sessions", "archived_sessions") for file in (codex / name).rglob("*.jsonl")]
    return sorted([*claude.glob("*/*.jsonl"), *kept])


def read(paths: Sequence[Path], here: Here, tick: Callable[[int, int], None]) -> Iterator[Item]:
    """The best sentences of each session, newest sessions first, each sentence once with its earliest day."""
    files = _files(paths)
    files.sort(key=lambda file: file.stat().st_mtime, reverse=True)
    taken: dict[tuple[str, str], _Said] = {}
    more = 0
    for number, file in enumerate(files):
        if len(taken) >= here.limit:
            # older sessions are not even read: weighing years of talk takes minutes
            unread = len(files) - number
            yield Remark(Kind.LEFT_OUT, "older sessions", f"{unread} of them, after {here.limit} memories: see --limit")
            break
        tick(number, len(files))
        try:
            found, broken = _session(file)
        except OSError as error:
            yield Remark(Kind.LOST, file.name, f"it cannot be read: {error.strerror}")
            continue
        if broken:
            yield Remark(Kind.NOTE, file.name, f"{broken} lines are no JSON and were skipped")
        best = sorted(found, key=lambda said: -said.candidate.score)
        more += max(0, len(best) - here.cap)
        for said in sorted(best[: here.cap], key=lambda said: said.at):
            mark = (said.project, fingerprint(said.candidate.text))
            if mark in taken:
                taken[mark] = min(taken[mark], said, key=lambda one: one.at)
            elif len(taken) < here.limit:
                taken[mark] = said
            else:
                more += 1
    tick(len(files), len(files))
    for (project, words), said in taken.items():
        yield _draft(project, words, said)
    if more:
        yield Remark(
            Kind.LEFT_OUT,
            "sessions that were read",
            f"{more} more sentences, beyond {here.cap} of a session or {here.limit} in all: see --cap and --limit",
        )


def _files(paths: Sequence[Path]) -> list[Path]:
    found: dict[Path, None] = {}
    for path in paths:
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]:
            if "subagents" not in file.parts:
                found.setdefault(file)
    return list(found)


def _session(file: Path) -> tuple[list[_Said], int]:
    """What one session says that is worth keeping, and how many of its lines are no JSON."""
    found: dict[str, _Said] = {}
    projects: dict[str, str] = {}
    cwd = ""
    session = file.stem
    at = changed_at(file)
    unread = 0
    with opened(file) as lines:
        for line in lines:
            if len(line) > LINE_BYTES_MAX or not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                unread += 1
                continue
            if not isinstance(row, dict):
                continue
            cwd = _cwd(row) or cwd
            session = _session_id(row) or session
            turn = turn_of(row)
            if turn is None:
                continue
            at = moment(row.get("timestamp")) or at
            if cwd not in projects:
                projects[cwd] = _project(cwd)
            for candidate in candidates([turn]):
                mark = fingerprint(candidate.text)
                if mark not in found or candidate.score > found[mark].candidate.score:
                    first = found[mark].at if mark in found else at
                    found[mark] = _Said(candidate, first, projects[cwd], session, file.name)
    return list(found.values()), unread


def _project(cwd: str) -> str:
    try:
        return project_of(cwd).name if cwd else GLOBAL_PROJECT
    except (OSError, ValueError):  # no folder can have such a name
        return GLOBAL_PROJECT


def _cwd(row: dict[str, Any]) -> str:
    payload = row.get("payload")
    given = row.get("cwd") or (payload.get("cwd") if isinstance(payload, dict) else None)
    return given if isinstance(given, str) else ""


def _session_id(row: dict[str, Any]) -> str:
    payload = row.get("payload")
    if row.get("type") == "session_meta" and isinstance(payload, dict):
        given = payload.get("id")
    else:
        given = row.get("sessionId")
    return given if isinstance(given, str) else ""


def _draft(project: str, mark: str, said: _Said) -> Draft:
    return Draft(
        id=identity(NAME, project, mark),
        place=said.place,
        host=NAME,
        content=said.candidate.text,
        type=MemoryType(said.candidate.type),
        project=project,
        tags=("transcript",),
        created_at=said.at,
        updated_at=said.at,
        agent=said.candidate.role,
        session=said.session,
    )
