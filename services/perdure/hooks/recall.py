"""What is put before the model: a digest when a session starts, and the few memories that bear on a prompt.

Worded as facts, never as orders, and fenced as data. Silent unless there is something to say.
"""

from __future__ import annotations

import re

from perdure.hooks.fences import NOTICE, fenced, fingerprint, new_word, without_injected
from perdure.hooks.project import GLOBAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import Any

    from perdure.hooks.gateway import Gateway

HITS_MAX = 3
TOKENS_MAX = 1000
DIGEST_MAX = 6
FLOOR = 0.54
"""Evidence from which a hit is shown: its cosine plus ``WORD_WEIGHT`` for each word that it shares with the prompt,
three at most. Measured on the 437 questions of ``tests/quality/data/{en,zh,ja}.jsonl`` over their 269 memories, with
the default embedding space, to which it belongs: silent on 30 of 30 questions that nothing answers; where it spoke, and
with both kinds of question equally frequent, right in 84 %. The cosine alone at 0.38 was silent on 77 %, right in 40 %.
"""
WORD_WEIGHT = 0.12
WORDS_MAX = 3
FLOOR_WITHOUT_VECTORS = 0.5
"""Relevance from which a hit with three shared words is shown while the embedder is away."""
_ASKED_FOR = 5
"""A few more than shown: some are of other projects or were shown before."""
_LISTED = 40
_QUERY_CHARS_MAX = 1000
_MEMORY_CHARS_MAX = 700
_DIGEST_CHARS_MAX = 240
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_WORD = re.compile(r"\w{2,}")
_IDENTIFIER = re.compile(r"\w[._/-]\w|[a-z][A-Z]|\d")
_STEM_CHARS = 6
_EMPTY = frozenset(
    [
        "the",
        "and",
        "for",
        "with",
        "that",
        "this",
        "what",
        "which",
        "when",
        "where",
        "who",
        "how",
        "why",
        "does",
        "did",
        "was",
        "were",
        "are",
        "is",
        "has",
        "have",
        "had",
        "from",
        "into",
        "about",
        "our",
        "your",
        "their",
        "its",
        "can",
        "could",
        "should",
        "would",
        "will",
        "not",
        "you",
        "use",
        "used",
        "using",
        "get",
        "any",
        "all",
        "one",
        "out",
        "there",
        "they",
        "them",
        "his",
        "her",
        "she",
        "him",
        "but",
        "der",
        "die",
        "das",
        "und",
        "ist",
        "nicht",
        "ein",
        "eine",
        "wie",
        "was",
        "los",
        "las",
        "una",
        "que",
        "con",
        "por",
        "para",
        "como",
        "les",
        "des",
        "une",
        "est",
        "pas",
        "dans",
        "pour",
        "qui",
        "что",
        "как",
        "это",
        "для",
        "или",
        "где",
    ]
)
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
    """What to search for, or nothing where a prompt is a command, an answer or too little to go by."""
    text = " ".join(without_injected(prompt).split())[:_QUERY_CHARS_MAX]
    if text.startswith(("/", "!", "#")):
        return ""
    words = _WORD.findall(text)
    enough = len(words) >= 3 or len(_WIDE.findall(text)) >= 4 or (words and _IDENTIFIER.search(text) is not None)
    return text if enough else ""


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


def above_floor(hit: dict[str, Any], prompt: str, *, floor: float = FLOOR) -> bool:
    """Whether a hit is near enough to ``prompt`` to be shown unasked."""
    parts, memory = hit.get("parts"), hit.get("memory")
    cosine = parts.get("similarity") if isinstance(parts, dict) else None
    content = str(memory.get("content", "")) if isinstance(memory, dict) else ""
    shared = min(len(_words(prompt) & _words(content)), WORDS_MAX)
    if isinstance(cosine, int | float):
        return cosine + WORD_WEIGHT * shared >= floor
    fused = hit.get("score")
    return shared == WORDS_MAX and isinstance(fused, int | float) and fused >= FLOOR_WITHOUT_VECTORS


def _words(text: str) -> set[str]:
    """Beginnings of the words that say something, so that their endings do not matter, and pairs of wide characters."""
    folded = text.casefold()
    found = {word[:_STEM_CHARS] for word in re.findall(r"[^\W\u3040-\u9fff]{3,}", folded) if word not in _EMPTY}
    for run in re.findall("[\u3040-\u9fff]{2,}", folded):
        found |= {run[at : at + 2] for at in range(len(run) - 1)}
    return found


def recalled(hits: list[dict[str, Any]], *, prompt: str, project: str, session: str, shown: Container[str]) -> Shown:
    """The text for a prompt: at most three memories and 1,000 tokens.

    Args:
        hits: From ``find``.
        prompt: What is in it already is not said again.
        project: Only its memories, and those that belong to no project, are shown.
        session: Memories that this session made are in its context already.
        shown: Ids that this session has seen.
    """
    said = fingerprint_text(prompt)
    chosen: list[dict[str, Any]] = []
    for hit in hits:
        memory = hit["memory"]
        origin = memory.get("origin")
        own = isinstance(origin, dict) and session and origin.get("session") == session
        content = str(memory.get("content", ""))
        foreign = memory.get("project") not in (project, GLOBAL)
        if (
            own
            or foreign
            or memory.get("id") in shown
            or not above_floor(hit, prompt)
            or fingerprint_text(content) in said
        ):
            continue
        chosen.append(memory)
    head = "Perdure, the long-term memory of this machine's tools, holds this about the prompt."
    return _block(head, chosen[:HITS_MAX], _MEMORY_CHARS_MAX)


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
