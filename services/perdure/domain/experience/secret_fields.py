"""Which elements take secrets, and which steps typed one, key after key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import assert_never

from perdure.domain.experience.episode import Click, Element, Keys, RecordedStep, SetValue, ToolCall
from perdure.domain.experience.keystrokes import chords, typed
from perdure.domain.experience.secret_labels import is_password_control, is_secret_label

_LABELS = frozenset({"placeholder", "arialabel", "label", "helptext", "labeledby", "labelledby", "hint", "tooltip"})


def is_secret_field(element: Element) -> bool:
    """Whether what is typed into ``element`` is nobody's business."""
    if is_password_control(element.control_type, element.class_name, element.extra.items()):
        return True
    labels = [element.name, element.automation_id]
    labels += [value for name, value in element.extra.items() if bare_name(name) in _LABELS and isinstance(value, str)]
    if not any(label.strip() for label in labels):
        labels = [element.window_title]
    return any(map(is_secret_label, labels))


def bare_name(name: str) -> str:
    """A field's name in lower case without what divides its words."""
    return re.sub(r"[\W_]+", "", name).lower()


def typed_secrets(steps: Sequence[RecordedStep]) -> frozenset[int]:
    """Which steps are keys typed into a secret field: into their own target, or into that of the steps before."""
    found: set[int] = set()
    focus = False
    for at, step in enumerate(steps):
        action = step.action
        match action:
            case Click(target=target) | SetValue(target=target):
                focus = is_secret_field(target) or (isinstance(action, SetValue) and action.secret)
            case Keys(keys=keys, target=given):
                if given is not None:
                    focus = is_secret_field(given)
                rubs_out = at - 1 in found and any(chord.key == "backspace" for chord in chords(keys))
                if action.secret or (focus and (rubs_out or typed(keys) is not None)):
                    found.add(at)
                elif focus and given is None and _leaves(keys):
                    focus = False
            case ToolCall():
                focus = False
            case _:
                assert_never(action)
    return frozenset(found)


def _leaves(keys: str) -> bool:
    """Whether the keys move on to another field."""
    return bool(re.search(r"(?i)tab|enter|return|esc|eingabe|entr[ée]e|intro|invio", keys))


def runs_of(steps: Sequence[RecordedStep]) -> list[list[tuple[int, str]]]:
    """What was typed key after key into one place: for each such run its characters, each with its step's place.

    What was rubbed out again is not among them.
    """
    runs: list[list[tuple[int, str]]] = []
    current: list[tuple[int, str]] = []
    into: Element | None = None
    for at, step in enumerate(steps):
        action = step.action
        keys = action.keys if isinstance(action, Keys) else ""
        rubs_out = bool(keys) and any(chord.key == "backspace" for chord in chords(keys))
        text = None if rubs_out or not keys else typed(keys)
        if isinstance(action, Keys) and current and action.target in (None, into) and (rubs_out or text):
            if rubs_out:
                current.pop()
        elif isinstance(action, Keys) and text:
            runs.append(current)
            current, into = [], action.target
        else:
            runs.append(current)
            current = []
        current.extend((at, char) for char in text or "")
    return [run for run in (*runs, current) if run]


def spelled(steps: Sequence[RecordedStep], known: frozenset[str]) -> frozenset[int]:
    """Steps whose keys together spell a known secret."""
    found: set[int] = set()
    for run in runs_of(steps):
        text = "".join(char for _, char in run)
        for value in known:
            for match in re.finditer(re.escape(value), text):
                found.update(at for at, _ in run[match.start() : match.end()])
    return frozenset(found)


def joined(steps: Sequence[RecordedStep]) -> tuple[RecordedStep, ...]:
    """Steps, those of blank keys one after another into the same place as one."""
    kept: list[RecordedStep] = []
    for step in steps:
        before = kept[-1].action if kept else None
        action = step.action
        if (
            isinstance(action, Keys)
            and action.secret
            and isinstance(before, Keys)
            and before.secret
            and action.target in (None, before.target)
        ):
            continue
        kept.append(step)
    return tuple(kept)
