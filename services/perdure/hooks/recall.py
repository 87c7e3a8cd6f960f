"""What is put before the model: a digest when a session starts, and the few memories that bear on a prompt.

Worded as facts, never as orders, and fenced as data. Silent unless there is something to say.
"""

from __future__ import annotations

from math import log1p

from perdure.hooks.fences import NOTICE, fenced, fingerprint, new_word, without_injected
from perdure.project import GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from perdure.hooks.gateway import Gateway

HITS_MAX = 3
TOKENS_MAX = 1000
DIGEST_MAX = 6
FLOOR = 0.5
"""Evidence from which the best hit is shown: its cosine plus what the words are worth that it shares with the prompt.

This and the three constants below were chosen on the part ``dev`` of ``tests/quality/data/prompts.jsonl`` (147 prompts
over 500 memories) with the default embedding space, to which they belong; ``make quality QUALITY=hook`` prints what
they reach there, on the part that was held back, and on the questions of other sets.
"""
NEXT_FLOOR = 0.66
"""Evidence from which a second and a third hit are shown. Most prompts have one memory that bears on them: with one
floor for all, two of five second hits were of the same topic and no help (precision 0.70 instead of 0.85)."""
WORD_WEIGHT = 0.16
"""What shared words are worth, times the logarithm of one more than their number: 0.11 for one, 0.22 for three."""
WORDS_MAX = 5
"""More shared words than these count no more. Counted rather than weighed by rarity, because a hook must also speak
over a store of ten memories, where no word is rare; weighed by BM25 the held-back part gained nothing."""
WORDS_WITHOUT_VECTORS = 2
FLOOR_WITHOUT_VECTORS = 0.18
"""Shared words, and relevance, from which the best hit is shown while the embedder is away; on the same prompts."""
_ASKED_FOR = 5
"""A few more than shown: some are of other projects or were shown before."""
_LISTED = 40
_QUERY_CHARS_MAX = 1000
_TAIL_CHARS = 400
_MEMORY_CHARS_MAX = 700
_DIGEST_CHARS_MAX = 240
_STEM_CHARS = 6
# Texts are taken apart by hand: importing ``re`` costs more than all of this module's work.
_EMPTY_WORDS = (
    "the and for with that this what which when where who how why does did was were are is has have had from into "
    "about our your their its can could should would will not you use used using get any all one out there they "
    "them his her she him but der die das und ist nicht ein eine wie los las una que con por para como les des "
    "une est pas dans pour qui что как это для или где"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
_ORDER = {"decision": 2, "preference": 2, "fact": 1, "task": 1}


class Shown:
    """A text for the context and what it shows.

    Attributes:
        text: Empty for nothing to say.
        ids: Memories in it.
        hashes: Fingerprints of their sentences.
    """

    __slots__ = ("hashes", "ids", "text")

    def __init__(self, text: str = "", memories: tuple[dict[str, Any], ...] = ()) -> None:
        """Derive ids and fingerprints."""
        self.text = text
        self.ids = [str(memory.get("id", "")) for memory in memories]
        self.hashes = [fingerprint(part) for memory in memories for part in _parts(memory)]


def query_of(prompt: str) -> str:
    """What to search for, or nothing where a prompt is a command, an answer or too little to go by.

    Code blocks stay, because a pasted error says best what is wrong. Of a long prompt the beginning and the end: what
    is pasted stands before the question or behind it.
    """
    text = " ".join(without_injected(prompt, code=True).split())
    if len(text) > _QUERY_CHARS_MAX:
        text = f"{text[: _QUERY_CHARS_MAX - _TAIL_CHARS - 1]} {text[-_TAIL_CHARS:]}"
    if text.startswith(("/", "!", "#")):
        return ""
    runs = list(_runs(text))
    words = sum(len(run) >= 2 for run, _ in runs)
    wide = sum(len(run) for run, is_wide in runs if is_wide)
    return text if words >= 3 or wide >= 4 or (words and _has_identifier(text)) else ""


def find(gateway: Gateway, query: str, project: str) -> list[dict[str, Any]]:
    """Hits that may bear on ``query``, best first. What is found counts as shown, not as used.

    Raises:
        Away, Refused: the gateway did not answer.
    """
    asked = {"q": query, "depth": "2", "limit": str(_ASKED_FOR), "shown_only": "true"}
    if project != GLOBAL:
        asked["project"] = project
    answer = gateway.get("/memories/search", asked)
    hits = answer.get("recall") if isinstance(answer, dict) else None
    return [hit for hit in hits or [] if isinstance(hit, dict) and isinstance(hit.get("memory"), dict)]


def evidence(hit: dict[str, Any], words: frozenset[str]) -> float:
    """How much speaks for showing a hit unasked, comparable with ``FLOOR``.

    Args:
        hit: From ``find``.
        words: Of the prompt, from ``words_of``.
    """
    memory, parts = hit["memory"], hit.get("parts")
    said = " ".join(str(memory.get(name) or "") for name in ("content", "problem", "solution"))
    shared = min(len(words & words_of(said)), WORDS_MAX)
    cosine = parts.get("similarity") if isinstance(parts, dict) else None
    if isinstance(cosine, int | float):
        return cosine + WORD_WEIGHT * log1p(shared)
    fused = hit.get("score")
    enough = shared >= WORDS_WITHOUT_VECTORS and isinstance(fused, int | float) and fused >= FLOOR_WITHOUT_VECTORS
    return FLOOR if enough else 0.0


def words_of(text: str) -> frozenset[str]:
    """Beginnings of the words that say something, so that their endings do not matter, and pairs of wide characters."""
    found: set[str] = set()
    for run, is_wide in _runs(text.casefold()):
        if is_wide:
            found |= {run[at : at + 2] for at in range(len(run) - 1)}
        elif len(run) >= 3 and run not in _EMPTY:
            found.add(run[:_STEM_CHARS])
    return frozenset(found)


def _runs(text: str) -> list[tuple[str, bool]]:
    """Runs of letters and digits, and whether they are of a script that writes no spaces; such a script ends a run."""
    if text.isascii():
        plain = "".join([letter if letter.isalnum() or letter == "_" else " " for letter in text])
        return [(run, False) for run in plain.split()]
    found: list[tuple[str, bool]] = []
    start, kind = 0, 0
    for at, letter in enumerate(text + " "):
        now = 0 if not (letter.isalnum() or letter == "_") else 2 if _is_wide(letter) else 1
        if now != kind:
            if kind:
                found.append((text[start:at], kind == 2))
            start, kind = at, now
    return found


def _is_wide(letter: str) -> bool:
    return "\u3040" <= letter <= "\u30ff" or "\u3400" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3"


def _has_identifier(text: str) -> bool:
    """Whether something in ``text`` is no word of a language: a digit, ``aB``, ``a_b``, ``a.b``, ``a/b``, ``a-b``."""
    triples = list(zip(text, text[1:], text[2:] + " ", strict=False))
    return (
        any(letter.isdigit() for letter in text)
        or any(mark in "._/-" and before.isalnum() and after.isalnum() for before, mark, after in triples)
        or any("a" <= before <= "z" and "A" <= after <= "Z" for before, after, _ in triples)
    )


def recalled(hits: list[dict[str, Any]], *, prompt: str, project: str, session: str, shown: Container[str]) -> Shown:
    """The text for a prompt: at most three memories and 1,000 tokens.

    Args:
        hits: From ``find``.
        prompt: What is in it already is not said again.
        project: Only its memories, and those that belong to no project, are shown.
        session: Memories that this session made are in its context already.
        shown: Ids that this session has seen.
    """
    # what was searched for, not all of a long prompt, in which any memory's words may be found
    said, words = fingerprint_text(prompt), words_of(query_of(prompt))
    weighed: list[tuple[float, dict[str, Any]]] = []
    for hit in hits:
        memory = hit["memory"]
        origin = memory.get("origin")
        own = isinstance(origin, dict) and session and origin.get("session") == session
        foreign = memory.get("project") not in (project, GLOBAL)
        known = memory.get("id") in shown or fingerprint_text(str(memory.get("content", ""))) in said
        if not (own or foreign or known):
            weighed.append((evidence(hit, words), memory))
    weighed.sort(key=lambda pair: -pair[0])
    floors = [FLOOR] + [NEXT_FLOOR] * (HITS_MAX - 1)
    chosen = [memory for (weight, memory), floor in zip(weighed, floors, strict=False) if weight >= floor]
    head = "Perdure, the long-term memory of this machine's tools, holds this about the prompt."
    return _block(head, chosen, _MEMORY_CHARS_MAX)


def digest(gateway: Gateway, project: str, *, readonly: bool = False) -> Shown:
    """The text for a session's start; with ``readonly`` it names no tool that writes.

    Raises:
        Away, Refused: the gateway did not answer.
    """
    stats = gateway.get("/memories/stats", {})
    by_project = stats.get("by_project") if isinstance(stats, dict) else None
    by_project = by_project if isinstance(by_project, dict) else {}
    total = stats.get("active", 0) if isinstance(stats, dict) else 0
    here = by_project.get(project, 0)
    listed = gateway.get("/memories", {"project": project, "limit": str(_LISTED)}) if here else {}
    memories = listed.get("memories") if isinstance(listed, dict) else None
    best = sorted((m for m in memories or [] if isinstance(m, dict)), key=_weight, reverse=True)[:DIGEST_MAX]
    count = f"{here} active {'memory' if here == 1 else 'memories'} of project “{_named(project)}”, {total} in all"
    saves = "" if readonly else ", memory_save stores one"
    head = (
        f"Perdure, the long-term memory of this machine's tools, holds {count}. Its tool memory_search finds them by "
        f"meaning and by words, memory_get reads one in full by its id{saves}; the project's name there is "
        f"“{_named(project)}”."
    )
    return _block(head, best, _DIGEST_CHARS_MAX) if best else Shown(head)


def fingerprint_text(text: str) -> str:
    """``text`` without case, spaces and punctuation, for finding one text in another."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def tokens_of(text: str) -> int:
    """Tokens of ``text``, estimated on the high side: three ASCII characters or one other character a token."""
    ascii_chars = sum(1 for letter in text if letter < "\x80")
    return -(-ascii_chars // 3) + len(text) - ascii_chars


def _block(head: str, memories: list[dict[str, Any]], chars_max: int) -> Shown:
    """``head``, the notice and the memories between fences, as many as fit into the tokens."""
    word = new_word()
    kept: list[dict[str, Any]] = []
    text = ""
    for memory in memories:
        entries = [_entry(item, chars_max) for item in (*kept, memory)]
        longer = f"{head} {NOTICE}\n{fenced(word, entries)}"
        if tokens_of(longer) > TOKENS_MAX:
            continue
        kept.append(memory)
        text = longer
    return Shown(text, tuple(kept))


def _entry(memory: dict[str, Any], chars_max: int) -> str:
    content = " ".join(str(memory.get("content", "")).split())
    solution = memory.get("solution")
    if isinstance(solution, str) and solution.strip() and solution not in content:
        content = f"{content} Solution: {' '.join(solution.split())}"
    if len(content) > chars_max:
        content = content[:chars_max].rstrip() + " …"
    day = str(memory.get("updated_at") or memory.get("created_at") or "")[:10]
    return f"[{memory.get('type', 'fact')}, {day}, id {memory.get('id', '')}] {content}"


def _weight(memory: dict[str, Any]) -> tuple[float, str]:
    """What matters most first: trusted, important, of a lasting kind; among equals the newest."""

    def number(name: str) -> float:
        value = memory.get(name)
        return float(value) if isinstance(value, int | float) else 0.5

    core = 1.0 if memory.get("tier") == "core" else 0.0
    kind = _ORDER.get(str(memory.get("type")), 0)
    return core + number("importance") + 0.5 * number("confidence") + 0.2 * kind, str(memory.get("updated_at", ""))


def _parts(memory: dict[str, Any]) -> list[str]:
    from perdure.hooks.sentences import sentences_of

    content = str(memory.get("content", ""))
    return [content, *sentences_of(content)]


def _named(project: str) -> str:
    return "".join(letter for letter in project if letter.isprintable() and letter not in "<>“”|`")[:80]
