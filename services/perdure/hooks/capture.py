"""Which sentences of a session are worth keeping: candidates, scored and ranked.

Pure: turns come in, candidates go out. A sentence is kept for what it says by itself: a choice, a rule, a cause, a
state of the system. Questions, requests, plans in progress, guesses and talk are not facts. It prefers a miss to junk
(``tests/quality/test_capture.py`` measures both).
"""

from __future__ import annotations

import re

from perdure.hooks import signals
from perdure.hooks.fences import fingerprint, without_injected
from perdure.hooks.sentences import sentences_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable

THRESHOLD = 0.75
"""Score from which a sentence is a candidate."""
STRONG = 1.0
"""Score from which it is captured at once; a weaker one waits for the end of the session."""
SESSION_MAX = 5
"""Memories of one session."""
CHARS_MAX = 400
_CHARS_MIN = 18
_WIDE_CHARS_MIN = 8
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7ff]")
_SPECIFIC = re.compile(
    r"`[^`\n]+`|\b\w+[._/-]\w+\.\w+\b|\b\w+\.(?:py|ts|js|go|rs|toml|json|ya?ml|md|sql|sh|env|lock|cfg|ini|proto)\b|"
    r"\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b[A-Za-z]+_[A-Za-z_]+\b|\b[A-Z][A-Z0-9_]{2,}\b|(?<![\w.])/[\w.-]+/[\w./-]+|\b[a-z_]+\.[a-z_]+\b|\d"
)
_NAME = re.compile(
    r"(?<=[^\s.!?:] )[A-ZÄÖÜА-Я][\w.+#-]{2,}|"
    r"[A-Za-z][A-Za-z0-9.+#-]{2,}(?=[\u3040-\u9fff])|(?<=[\u3040-\u9fff])\s?[A-Za-z][A-Za-z0-9.+#-]{2,}"
)
_SECRET = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abprs]|AKIA|ASIA|AIza|eyJ|pdr)[-_]?[A-Za-z0-9_./+-]{12,}|-----BEGIN|"
    r"(?i:(?:password|passwort|passwd|contraseña|mot de passe|пароль|密码|パスワード|secret|token|api[_ -]?key)"
    r"\s*(?:is|ist|es|est|=|:|是|は|：)\s*\S{6,})|"
    r"://[^/\s:@]+:[^/\s@]+@|\b[A-Fa-f0-9]{32,}\b|\b[A-Za-z0-9+/]{40,}={0,2}\b"
)
_DANGLING = re.compile(
    r"^(?:it|this|that|these|those|they|he|she|there|but|and|or|so|also|which|das|dies|diese[rsn]?|es|aber|und|oder|eso|esto|pero|y|ça|cela|ceci|mais|et|это|этот|но|и|那|这|它|但是?|それ|これ|でも|しかし)\b",
    re.IGNORECASE,
)


class Candidate:
    """A sentence worth keeping.

    Attributes:
        text: The sentence.
        type: ``decision``, ``preference`` or ``fact``.
        score: How much speaks for it, ``THRESHOLD`` or more.
        role: Who said it, ``user`` or ``assistant``.
    """

    __slots__ = ("role", "score", "text", "type")

    def __init__(self, text: str, type_: str, score: float, role: str) -> None:
        """Hold the values."""
        self.text = text
        self.type = type_
        self.score = score
        self.role = role


def candidates(turns: Iterable[tuple[str, str]], known: Container[str] = ()) -> list[Candidate]:
    """The sentences of ``turns`` worth keeping, best first, each once.

    Args:
        turns: Role and text, in order.
        known: Fingerprints of sentences to leave out: what was injected or captured already.
    """
    found: dict[str, Candidate] = {}
    for role, text in turns:
        for sentence in sentences_of(without_injected(text)):
            score, type_ = weigh(sentence, role)
            mark = fingerprint(sentence) if score >= THRESHOLD else ""
            if mark and mark not in known and (mark not in found or score > found[mark].score):
                found[mark] = Candidate(sentence, type_, score, role)
    return sorted(found.values(), key=lambda candidate: -candidate.score)


def weigh(sentence: str, role: str = "user") -> tuple[float, str]:
    """How much speaks for keeping a sentence, and as what.

    Returns:
        A score (0 for what is certainly no fact) and ``decision``, ``preference`` or ``fact``.
    """
    wide = len(_WIDE.findall(sentence)) * 4 >= len(sentence)
    least = _WIDE_CHARS_MIN if wide else _CHARS_MIN
    if not least <= len(sentence) <= CHARS_MAX or (not wide and len(sentence.split()) < 4):
        return 0.0, "fact"
    if _is_none(sentence):
        return 0.0, "fact"
    parts = {
        "decision": 1.0 if signals.DECISION.search(sentence) else 0.0,
        "preference": 1.0 if signals.RULE.search(sentence) else 0.0,
        "cause": 0.8 if signals.CAUSE.search(sentence) else 0.0,
        "state": 0.7 if signals.STATE.search(sentence) else 0.0,
    }
    best = max(parts.values())
    if best == 0.0:
        return 0.0, "fact"
    # more than one kind of evidence is better than one, but never as good as two
    score = best + 0.3 * min(1.0, sum(parts.values()) - best)
    score += 0.35 if _SPECIFIC.search(sentence) else 0.0
    score += 0.2 if _NAME.search(sentence) else 0.0
    score += 0.05 if role == "user" else 0.0
    score -= 0.35 if _DANGLING.match(sentence) else 0.0
    score -= 0.8 if signals.EPHEMERAL.search(sentence) else 0.0
    kind = max(parts, key=lambda name: parts[name])
    return score, kind if kind in ("decision", "preference") else "fact"


def _is_none(sentence: str) -> bool:
    """Whether a sentence is certainly not a fact, or must not leave the machine."""
    if _SECRET.search(sentence) or signals.QUESTION.search(sentence) or signals.CHATTER.search(sentence):
        return True
    if sentence.endswith((":", "：")) or signals.UNDERWAY.search(sentence) or signals.UNSURE.search(sentence):
        return True
    return bool(signals.REQUEST.search(sentence)) and not signals.STANDING.search(sentence)
