"""What a training learns from, and what curation leaves out of it.

Pure: procedures come in as text, figures of their runs as numbers; vectors and models are ``domain.adapter``'s.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from perdure.domain.experience.learning import ItemKind, LeftOut, Procedure
from perdure.domain.experience.run import RunStatus

CHUNK_TOKENS = 400
"""Tokens of a chunk at most, as estimated; the smallest window of the models Perdure knows holds 512."""

HEAD_CHARS_MAX = 200
"""Of a procedure's first line, which stands at the head of each of its chunks."""

QUESTION_TEXTS_MAX = 600
"""Questions embedded for one training: some 20 s of a processor with the embedded model."""

QUESTIONS_MAX = 8
"""Questions of one procedure at most; of many procedures each has fewer, its name at least."""

PROCEDURES_MAX = 1000
"""Procedures of one training: all that are pending, then the newest of those learned before."""

STEP_WEIGHT = 0.1
"""What a single sentence counts beside the task's name: several procedures often share one."""

RUNS_MIN = 3
"""Ended runs of a skill from which on it can mostly fail."""

SHINGLE_WORDS = 3
NEAR_COPY = 0.8
"""Share of common runs of three words from which on one text is a near-copy of another."""

RECENT_MAX = 200
"""Procedures learned last that a new one is compared with. Source: issue 5."""

_NUMBERED = re.compile(r"^\s*\d+[.)]\s+")
_GATE = re.compile(r"\s*Ask before doing this\.\s*$")
_HEAD = re.compile(r"^Task:\s*(?P<name>.*?)\s*(?:\((?P<program>[^()]*)\))?\s*$")
_WORD = re.compile(r"[^\W_]+")
_ASCII_NAME = re.compile(r"[A-Z][a-z]+ ")


@dataclass(frozen=True, slots=True)
class Asking:
    """A question a procedure answers, in chunk ``chunk`` (None: in any), and how much it counts."""

    text: str
    chunk: int | None
    weight: float


def chunks(text: str) -> tuple[str, ...]:
    """A procedure's text in pieces that a model reads whole; each begins with the text's first line.

    Cut between sentences, a longer sentence between words; nothing of the text is left out.
    """
    if _tokens(text) <= CHUNK_TOKENS:
        return (text,)
    head, _, body = text.partition("\n")
    head = head[:HEAD_CHARS_MAX]
    room = CHUNK_TOKENS - _tokens(head) - 1
    pieces: list[str] = []
    if len(head) < len(text.partition("\n")[0]):
        body = text  # a first line that long is cut like any other
    lines: list[str] = []
    for line in (part for whole in body.split("\n") for part in _parts(whole, room)):
        if lines and _tokens("\n".join((*lines, line))) > room:
            pieces.append("\n".join((head, *lines)))
            lines = []
        lines.append(line)
    if lines:
        pieces.append("\n".join((head, *lines)))
    return tuple(pieces)


def askings(procedure: Procedure, most: int) -> tuple[Asking, ...]:
    """What somebody may ask who needs this procedure: its name in variants first, then its sentences; ``most`` at most.

    Args:
        procedure: Its text begins with the task's name, its sentences are numbered.
        most: How many, >= 1.
    """
    pieces = chunks(procedure.text)
    head = _HEAD.match(procedure.text.partition("\n")[0])
    name = procedure.name.strip() or (head["name"] if head else "")
    program = ((head["program"] or "") if head else "").removesuffix(".exe")
    texts: dict[str, Asking] = {}

    def add(text: str, chunk: int | None, weight: float) -> None:
        if _WORD.search(text) and text not in texts:
            texts[text] = Asking(text, chunk, weight)

    add(name, None, 1.0)
    if _ASCII_NAME.match(name):
        add(f"How do I {name[0].lower()}{name[1:]}?", None, 1.0)
    if program:
        add(f"{name} ({program})", None, 1.0)
    for place, piece in enumerate(pieces):
        for line in piece.split("\n")[1:]:
            add(_GATE.sub("", _NUMBERED.sub("", line)).strip(), place, STEP_WEIGHT)
    return tuple(texts.values())[:most]


def questions_each(procedures: int) -> int:
    """How many questions of each of so many procedures are asked."""
    return max(1, min(QUESTIONS_MAX, QUESTION_TEXTS_MAX // max(1, procedures)))


def chosen(procedures: Sequence[Procedure], left_out: Iterable[LeftOut]) -> tuple[Procedure, ...]:
    """What is taught: all that are pending, then those learned before, newest first, ``PROCEDURES_MAX`` in all."""
    out = {(one.kind, one.id) for one in left_out}
    kept = [one for one in procedures if (one.kind, one.id) not in out]
    pending = [one for one in kept if one.learned_in is None]
    before = sorted((one for one in kept if one.learned_in is not None), key=_newest_first)
    return tuple((*pending, *before)[:PROCEDURES_MAX])


def curated(
    procedures: Sequence[Procedure], tally: Iterable[tuple[str, int, RunStatus, int, float]]
) -> tuple[LeftOut, ...]:
    """Pending procedures that had better not be learned, each with its reason; they are looked at again next time.

    Args:
        procedures: All of the namespace.
        tally: Ended runs: skill, version, status, how many, cost.
    """
    failing = _mostly_failing(tally)
    learned = sorted((one for one in procedures if one.learned_in is not None), key=_newest_first)[:RECENT_MAX]
    known = [(one, _shingles(one.text)) for one in learned]
    left: list[LeftOut] = []
    for one in sorted((one for one in procedures if one.learned_in is None), key=lambda one: (one.updated_at, one.id)):
        if one.kind is ItemKind.SKILL and one.id in failing:
            left.append(LeftOut(kind=one.kind, id=one.id, name=one.name, reason="mostly_fails"))
            continue
        shingles = _shingles(one.text)
        # what it was itself before an edit is no other procedure
        others = (other for other, theirs in known if other.id != one.id and _alike(shingles, theirs) >= NEAR_COPY)
        like = next(others, None)
        if like is not None:
            left.append(LeftOut(kind=one.kind, id=one.id, name=one.name, reason="near_copy", like=like.id))
            continue
        known.append((one, shingles))
    return tuple(left)


def _mostly_failing(tally: Iterable[tuple[str, int, RunStatus, int, float]]) -> frozenset[str]:
    """Skills of whose runs, of three at least, more than half failed; a denied run says nothing of the procedure."""
    ended: dict[str, int] = {}
    failed: dict[str, int] = {}
    for skill, _, status, count, _ in tally:
        if status in (RunStatus.SUCCEEDED, RunStatus.FAILED, RunStatus.STOPPED):
            ended[skill] = ended.get(skill, 0) + count
        if status is RunStatus.FAILED:
            failed[skill] = failed.get(skill, 0) + count
    return frozenset(skill for skill, count in ended.items() if count >= RUNS_MIN and 2 * failed.get(skill, 0) > count)


def _newest_first(procedure: Procedure) -> tuple[int, float, str]:
    return (-(procedure.learned_in or 0), -procedure.updated_at.timestamp(), procedure.id)


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = [word for line in text.split("\n") for word in _WORD.findall(_NUMBERED.sub("", line).casefold())]
    return frozenset(tuple(words[at : at + SHINGLE_WORDS]) for at in range(max(1, len(words) - SHINGLE_WORDS + 1)))


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    return len(one & other) / len(one | other)


def _tokens(text: str) -> int:
    """Tokens of ``text``; errs upwards, as no tokenizer is at hand here."""
    ascii_chars = sum(map(str.isascii, text))
    return 4 + (2 * ascii_chars + 4) // 5 + (len(text) - ascii_chars)


def _parts(line: str, room: int) -> list[str]:
    """A line in parts of ``room`` tokens at most, cut between words where there are any."""
    parts = []
    while _tokens(line) > room:
        end = room  # a token has at least one character
        while end < len(line) and _tokens(line[: end + 1]) <= room:
            end += 1
        blank = line.rfind(" ", end // 2, end)
        end = blank if blank > 0 else end
        while _tokens(line[:end]) > room:
            end -= 1
        parts.append(line[:end].strip())
        line = line[end:].strip()
    return [*parts, line] if line else parts
