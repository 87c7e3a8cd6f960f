"""Whether two statements that lie close together say the same.

A vector does not see the difference between Postgres 14 and Postgres 16, nor between "is" and "is not". This compares
the words: numbers, versions, dates, names, negation, opposites. It knows English, German, Chinese and Japanese; in
other languages it sees numbers and identifiers. It prefers doubt to a wrong merge (which hides a difference) and to a
wrong change (which hides a true statement): ``SAME`` needs the same words in the same order, but for details added at
the end; ``CHANGED`` needs one sentence in which a value was exchanged.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from difflib import SequenceMatcher

from perdure.domain.memory import Statement
from perdure.domain.phrasing import Kind, Token, antonyms, enumerates, is_past, is_relation, is_verb, limits, tokens
from perdure.domain.text import normalised, respells_code

FRAME_RATIO_MIN = 0.5
"""Share of words two statements have in common before an exchanged value makes the one a change of the other."""

_EXCHANGES_MAX = 3

TOKENS_MAX = 250
"""Longer texts are the same only word for word or with something added: an alignment costs the square of the length,
and one exchanged value says little about a page."""


class Verdict(enum.StrEnum):
    """How two statements relate. ``UNSURE`` is an honest answer and costs a link."""

    SAME = "same"
    CHANGED = "changed"
    UNSURE = "unsure"


def compare(old: Statement, new: Statement) -> Verdict:
    """Whether ``new`` says what ``old`` says, or says otherwise about the same thing.

    ``SAME``: nothing of either is lost by keeping the fuller text. ``CHANGED``: they cannot both hold. A problem or a
    solution that only one of them has is a detail.
    """
    content = _texts(old.content, new.content)
    if content is Verdict.UNSURE:
        return content
    for before, after in ((old.problem, new.problem), (old.solution, new.solution)):
        if before and after and _texts(before, after) is not Verdict.SAME:
            return Verdict.UNSURE
    return content


def _texts(old: str, new: str) -> Verdict:
    if normalised(old) == normalised(new):
        return Verdict.SAME
    verdict = _words(tokens(old), tokens(new))
    return Verdict.UNSURE if verdict is Verdict.SAME and respells_code(old, new) else verdict


def _words(before: Sequence[Token], after: Sequence[Token]) -> Verdict:
    if not before or not after:
        return Verdict.UNSURE
    forms_before, forms_after = [token.form for token in before], [token.form for token in after]
    long = max(len(before), len(after)) > TOKENS_MAX
    if forms_before == forms_after or (not long and _is_turned(before, after)):
        return Verdict.SAME
    if _is_prefix(forms_before, forms_after):
        return _judge_detail(before, after)
    if _is_prefix(forms_after, forms_before) and after and before[len(after)].opens_clause:
        return _judge_detail(after, before)
    return Verdict.UNSURE if long else _judge_exchange(before, after)


def _is_prefix(short: Sequence[str], long: Sequence[str]) -> bool:
    return len(short) < len(long) and list(long[: len(short)]) == list(short)


def _is_turned(before: Sequence[Token], after: Sequence[Token]) -> bool:
    """Whether the halves of one sentence changed places ("use ruff for linting", "for linting, use ruff").

    Any other order may turn the meaning round ("Anna reports to Bob"), and so may this one around a negation.
    """
    if len(before) != len(after) or len(before) < 3 or any(token.kind is Kind.NEGATION for token in before):
        return False
    first, second = [token.form for token in before], [token.form for token in after]
    return any(first[at:] + first[:at] == second for at in range(1, len(first)))


def _judge_detail(short: Sequence[Token], long: Sequence[Token]) -> Verdict:
    """The one is the other with something added at its end."""
    last, extra = short[-1], long[len(short) :]
    if any(token.kind in (Kind.NEGATION, Kind.SYMBOL) for token in extra):
        return Verdict.CHANGED if _is_flip(extra) else _loose_detail(extra)
    if any(token.kind is Kind.POLAR or limits(token) for token in extra) and not extra[0].opens_clause:
        return Verdict.UNSURE
    continues = last.kind in (Kind.NUMBER, Kind.NAME) and not extra[0].opens_clause and not is_relation(extra[0])
    if continues or any(limits(token) for token in extra) or len(extra) > max(6, 2 * len(short)):
        return Verdict.UNSURE
    return Verdict.SAME


def _loose_detail(extra: Sequence[Token]) -> Verdict:
    """A negation in a clause of its own negates that clause, not what stands before it."""
    return Verdict.SAME if extra[0].opens_clause and len(extra) > 2 and not any(map(limits, extra)) else Verdict.UNSURE


def _is_flip(extra: Sequence[Token]) -> bool:
    return all(token.kind is Kind.NEGATION or token.fills for token in extra)


def _judge_exchange(before: Sequence[Token], after: Sequence[Token]) -> Verdict:
    matcher = SequenceMatcher(None, [token.form for token in before], [token.form for token in after], autojunk=False)
    if matcher.ratio() < FRAME_RATIO_MIN:
        return Verdict.UNSURE
    exchanges = 0
    for kind, a_from, a_to, b_from, b_to in matcher.get_opcodes():
        if kind == "equal":
            continue
        exchanges += 1
        if not _excludes(before, a_from, a_to, after[b_from:b_to]):
            return Verdict.UNSURE
    return Verdict.CHANGED if 0 < exchanges <= _EXCHANGES_MAX else Verdict.UNSURE


def _excludes(before: Sequence[Token], start: int, end: int, new: Sequence[Token]) -> bool:
    """Whether the words ``before[start:end]`` and ``new`` in their place exclude each other."""
    old = before[start:end]
    if _negations(old) % 2 != _negations(new) % 2 and _is_flip(old) and _is_flip(new):
        return True
    if len(old) == len(new) == 1 and antonyms(old[0].form, new[0].form):
        return True
    if not old or not new:
        return False
    if all(token.kind is Kind.NUMBER for token in (*old, *new)):
        return _is_value(before, start)
    names = all(token.kind is Kind.NAME for token in (*old, *new)) and len(old) <= 2 and len(new) <= 2
    return names and _is_only_one(before, start, end)


def _negations(part: Sequence[Token]) -> int:
    return sum(token.kind is Kind.NEGATION for token in part)


def _is_value(before: Sequence[Token], at: int) -> bool:
    """Whether the number at ``at`` is said of something, and does not tell which thing is meant.

    "Room 4 has a projector" and "Room 5 has a projector" both hold, as do two events on two days.
    """
    lead = before[:at]
    if is_past(before) or not lead or all(is_relation(token) for token in lead):
        return False
    if before[at].after_copula:
        return True
    if enumerates(lead):
        return False
    tied = is_verb(lead[0]) or any(is_relation(token) or token.after_copula for token in lead[1:])
    return tied or (len(lead) >= 2 and any(token.kind is Kind.WIDE for token in lead))


def _is_only_one(before: Sequence[Token], start: int, end: int) -> bool:
    """Whether the name at ``start`` is the only one the statement can have there.

    "The broker is Redis" names the broker, and "flags are stored in Unleash" the place; "we use Redis" leaves room for
    others.
    """
    lead = before[:start]
    if not lead or is_past(before):
        return False
    if any(token.kind is Kind.WIDE for token in lead):
        return (
            before[start].after_copula
            and all(token.kind is Kind.WIDE for token in before[end:])
            and len(before) - end < 5
        )
    stated = before[start].after_copula or (len(lead) > 1 and is_relation(lead[-1]) and lead[-2].after_copula)
    return stated and end == len(before)
