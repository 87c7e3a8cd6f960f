"""What cannot be taken back, so that a person says yes first.

Knows labels in thirteen languages, keys, and calls of tools; judges by words alone. Rather asks once too often: a
missed gate is worse. "Cancel" alone gates nothing: it leads out of things; "Cancel subscription" gates.
"Post", "Order" and "Book" gate as a button's whole name, not in "Post code", "Sort order" or "Bookmark". Typing a value
never gates: it is the button after it that does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from perdure.domain.experience.episode import Action, Click, Element, Keys, RecordedStep, SetValue, ToolCall
from perdure.domain.experience.gate_commands import is_dangerous_call, is_dangerous_command
from perdure.domain.experience.gate_words import (
    AFFIXES,
    ALWAYS,
    CJK_ALWAYS,
    CJK_LOOKALIKES,
    CJK_YES,
    CONJUNCTIONS,
    FIRST,
    HARMLESS_FIRST,
    LOOKALIKES,
    THINGS,
    WITH,
    YES,
)
from perdure.domain.experience.keystrokes import Chord, chords, typed
from perdure.domain.experience.label_words import has_cjk, plain, words

_SPLIT = re.compile(r"[/|,;+]|&(?!\w)|\s[-\u2013\u2014>]\s|\.\s")
_DELETE_PREFIXED = re.compile(
    r"(?:^|[^A-Za-z])(?:btn|cmd|mnu|lnk|mi|tsb|tsmi|action|act|menu|button|icon|tool)_?-?(?:del|rm)(?![a-z])", re.I
)
_OBJECT_WITHIN = 4
"""Words after a verb among which its object is looked for."""

_EDITS = frozenset(
    {"edit", "textbox", "textfield", "textarea", "searchbox", "combobox", "spinner", "slider", "scrollbar", "thumb"}
    | {"tab", "tabitem", "header", "headeritem", "columnheader", "titlebar", "statusbar", "tooltip", "progressbar"}
    | {"separator", "passwordbox", "richtextbox", "richedit", "document", "editor", "input"}
)
_TEXTS = frozenset(
    {"edit", "textbox", "textfield", "textarea", "searchbox", "combobox", "spinner", "passwordbox", "richtextbox"}
    | {"richedit", "document", "editor", "input"}
)
"""Controls into which one types."""


def is_irreversible(label: str) -> bool:
    """Whether pressing what bears ``label`` cannot be taken back.

    Args:
        label: A name as people read it, or an identifier such as ``btnDelete``; any language, any case.
    """
    return _says_irreversible(label, nouns=True)


def steps_need_approval(steps: Sequence[RecordedStep]) -> tuple[bool, ...]:
    """For each step whether it cannot be taken back, also by what was done before it.

    "Enter" after a command was typed, key by key or at once, runs that command.
    """
    needed: list[bool] = []
    line = ""
    for step in steps:
        action = step.action
        match action:
            case SetValue(value=value):
                line = value
            case Keys(keys=keys):
                text = typed(keys)
                enters = any(chord.key == "enter" for chord in chords(keys))
                if enters and line and is_dangerous_command(line):
                    needed.append(True)
                    line = ""
                    continue
                line = line + text if text else "" if enters else line
            case _:
                line = ""
        needed.append(step_needs_approval(action))
    return tuple(needed)


def step_needs_approval(action: Action) -> bool:
    """Whether ``action`` cannot be taken back."""
    match action:
        case Click(target=target):
            return _control(target) not in _EDITS and _names_irreversible(target)
        case SetValue():
            return False
        case Keys():
            return _keys_need_approval(action)
        case ToolCall():
            return _is_irreversible_tool(action.name) or is_dangerous_call(action.name, action.arguments)
        case _:
            assert_never(action)


# ------------------------------------------------------------------ labels


def _says_irreversible(label: str, *, nouns: bool) -> bool:
    if has_cjk(label) and _is_irreversible_cjk(label):
        return True
    if _DELETE_PREFIXED.search(label):
        return True
    return any(_is_irreversible_part(part, nouns=nouns) for part in _parts(label))


def _names_irreversible(element: Element) -> bool:
    """By what people read; by the identifier where that says more; "Yes" by the question in the window's title."""
    if element.name.strip() and is_irreversible(element.name):
        return True
    if _is_yes(element.label) and _says_irreversible(element.window_title, nouns=False):
        return True
    return bool(element.automation_id) and is_irreversible(element.automation_id) and not _is_lookalike(element.name)


def _is_yes(label: str) -> bool:
    """Whether a label only agrees to what its window asks."""
    found = [word for word in words(label) if word not in AFFIXES]
    return "".join(label.split()) in CJK_YES or (bool(found) and all(word in YES for word in found))


def _is_lookalike(name: str) -> bool:
    """Whether a name says in so many words that nothing is done: "Cancel" beside the identifier "deleteCancel"."""
    found = [word for word in words(name) if word not in AFFIXES]
    return bool(found) and found[0] in HARMLESS_FIRST


def _parts(label: str) -> list[tuple[str, ...]]:
    """The label's words, in parts that each say something of their own: "Save & Send"."""
    parts: list[tuple[str, ...]] = []
    for piece in _SPLIT.split(plain(label)):
        current: list[str] = []
        for word in words(piece):
            if word in CONJUNCTIONS and current:
                parts.append(tuple(current))
                current = []
            else:
                current.append(word)
        parts.append(tuple(current))
    return [part for part in parts if part]


def _is_irreversible_part(part: tuple[str, ...], *, nouns: bool) -> bool:
    part = _without(part, LOOKALIKES)
    core = [word for word in part if word not in AFFIXES and not word.isdigit()] or [
        word for word in part if not word.isdigit()
    ]
    if not core:
        return False
    if core[0] in _UNDOING:
        return False
    if any(_has_object(core, at) for at in range(len(core))):
        return True
    if core[0] in HARMLESS_FIRST:
        return False
    return any(word in ALWAYS for word in core) or (nouns and _is_noun_as_verb(core))


_UNDOING = frozenset({"undo", "dont", "don", "not", "never", "nicht", "rückgängig", "deshacer", "desfazer", "undelete"})


def _has_object(core: Sequence[str], at: int) -> bool:
    objects = WITH.get(core[at])
    if objects is None:
        return False
    if core[at] == "check" and len(core) > at + 2:
        return False  # "check out" is the whole of it
    return any(
        word in objects and not _is_named_thing(core, at + 1 + place)
        for place, word in enumerate(core[at + 1 : at + 1 + _OBJECT_WITHIN])
    )


def _is_named_thing(core: Sequence[str], at: int) -> bool:
    """Whether the object only names something else: "Cancel order settings"."""
    return at + 1 < len(core) and core[at + 1] in THINGS - _STILL_OBJECTS


_STILL_OBJECTS = frozenset({"id", "line", "lines", "item", "items", "now", "number", "column", "key", "version", "by"})


def _is_noun_as_verb(core: Sequence[str]) -> bool:
    nouns = FIRST.get(core[0])
    if nouns is None:
        return False
    return len(core) == 1 or (core[1] not in nouns and core[1] not in THINGS)


def _without(part: tuple[str, ...], phrases: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    for phrase in phrases:
        if phrase[0] not in part:
            continue
        for at in range(len(part) - len(phrase) + 1):
            if part[at : at + len(phrase)] == phrase:
                return _without(part[:at] + part[at + len(phrase) :], phrases)
    return part


def _is_irreversible_cjk(label: str) -> bool:
    text = "".join(plain(label).lower().split())
    for lookalike in _CJK_LOOKALIKES:
        text = text.replace(lookalike, " ")
    return any(word in text for word in _CJK_ALWAYS)


def _run_together(table: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted({word.replace("_", "").lower() for word in table}, key=len, reverse=True))


_CJK_ALWAYS = _run_together(CJK_ALWAYS)
_CJK_LOOKALIKES = _run_together(CJK_LOOKALIKES)


# ------------------------------------------------------------------ keys


def _keys_need_approval(action: Keys) -> bool:
    pressed = chords(action.keys)
    if not pressed:
        return is_dangerous_command(action.keys)
    return any(_chord_needs_approval(chord, action.target) for chord in pressed)


def _chord_needs_approval(chord: Chord, target: Element | None) -> bool:
    into_text = target is not None and _control(target) in _TEXTS
    if chord.key == "delete":
        # in a text it takes a letter; anywhere else, with shift everywhere, a thing
        return not into_text or "shift" in chord.modifiers
    if chord.key == "backspace":
        return "meta" in chord.modifiers and not into_text
    if chord.key == "enter" and not chord.modifiers.isdisjoint({"ctrl", "meta"}):
        return True  # sends, in mail and chats
    if chord.key in ("enter", "space"):
        if target is None or (chord.key == "space" and into_text):
            return False
        return _names_irreversible(target)
    return False


def _control(element: Element) -> str:
    """What the control is, in lower case and in one word ("TabItem", "Tab Item", "ControlType.TabItem")."""
    kind = element.control_type.rsplit(".", 1)[-1]
    return "".join(char for char in kind.lower() if char.isalnum())


# ------------------------------------------------------------------ tools

_READING = frozenset(
    {"get", "list", "read", "search", "find", "fetch", "view", "describe", "show", "check", "count", "query", "lookup"}
    | {"preview", "validate", "dry", "status", "history", "is", "has", "can", "explain", "watch", "poll"}
)
_MAKING = frozenset({"create", "make", "process", "new", "start", "initiate", "submit", "execute", "add", "issue"})
_MADE = frozenset(
    {
        "payment",
        "payments",
        "charge",
        "charges",
        "order",
        "orders",
        "transfer",
        "transfers",
        "refund",
        "refunds",
        "payout",
    }
    | {"payouts", "booking", "reservation", "subscription", "deployment", "release", "withdrawal", "purchase", "tweet"}
    | {"trade", "bid", "donation", "transaction"}
)
_TOOL_VERBS = frozenset(
    {"post", "order", "book", "transfer", "purchase", "checkout", "merge", "push", "tweet", "reply", "email", "drop"}
    | {"reset", "kill", "release", "charge", "sign", "forward", "invite", "trade", "cancel", "rm", "unlink", "format"}
    | {"overwrite", "shutdown", "terminate", "publish", "ban", "block", "fire", "close"}
)


def _is_irreversible_tool(name: str) -> bool:
    """Whether a tool does what cannot be taken back, by its name: ``send_email``, ``gmail.drafts.send``."""
    found = words(name)
    for at, word in enumerate(found):
        if word in _READING:
            return False
        after = found[at + 1 : at + 2]
        if word in ALWAYS:
            return True
        if word in _TOOL_VERBS and not (after and after[0] in THINGS):
            return True
        if word in _MAKING and not _MADE.isdisjoint(found[at + 1 : at + 3]):
            return True
        if word in _MADE and after and after[0] in _MAKING:
            return True
    return is_irreversible(name) if has_cjk(name) else False
