"""A skill or a demonstration in words: what search finds and training learns.

"Task: <name> (<program>)", then numbered sentences. Nothing that was typed is in it: where a value goes, its
parameter's label stands. Source: Builderforce Memory, its training corpus.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import assert_never

from perdure.domain.experience.commands import program_name
from perdure.domain.experience.episode import Click, Element, Episode, Keys, RecordedStep, SetValue, ToolCall
from perdure.domain.experience.irreversible import steps_need_approval
from perdure.domain.experience.keystrokes import chords
from perdure.domain.experience.learning import ItemKind, Procedure
from perdure.domain.experience.skill import (
    DoClick,
    DoKeys,
    DoSetValue,
    DoToolCall,
    FromParam,
    Literal,
    Skill,
    SkillAction,
    SkillParam,
    Value,
)
from perdure.domain.text import cut, one_line

LABEL_CHARS_MAX = 120
"""Of a label in a sentence; a longer one is content."""

LITERAL_CHARS_MAX = 120
ARGUMENTS_MAX = 8

GATE = "Ask before doing this."


def procedure_of(source: Skill | Episode) -> Procedure:
    """``source`` as text; of an episode, gates are as compiling would set them."""
    text = _skill_text(source) if isinstance(source, Skill) else _episode_text(source)
    return Procedure(
        kind=ItemKind.SKILL if isinstance(source, Skill) else ItemKind.EPISODE,
        id=source.id,
        name=source.name,
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        updated_at=_updated_at(source),
    )


def _updated_at(source: Skill | Episode) -> datetime:
    if isinstance(source, Skill):
        return source.compiled_at or source.created_at
    return source.ended_at or source.started_at


def _skill_text(skill: Skill) -> str:
    params = {param.name: param for param in skill.params}
    sentences = [
        f"{_sentence(step.action, params)}{f' {GATE}' if step.requires_approval else ''}" for step in skill.steps
    ]
    return _numbered(skill.name, skill.program, sentences)


def _sentence(action: SkillAction, params: dict[str, SkillParam]) -> str:
    match action:
        case DoClick(target=target):
            return f"Click {_place(target)}."
        case DoSetValue(target=target, value=value):
            if _is_secret(value, params):
                return f"Enter the secret for {_place(target)}."
            return f"Set {_place(target)} to {_told(value, params)}."
        case DoKeys(keys=keys, target=target):
            where = f" in {_place(target)}" if target else ""
            if _is_secret(keys, params):
                return f"Enter the secret{f' for {_place(target)}' if target else ''}."
            return f"Press {_pressed(str(keys.value)) if isinstance(keys, Literal) else _told(keys, params)}{where}."
        case DoToolCall(name=name, arguments=arguments):
            told = [
                f"{_label(argument)} {'the secret' if _is_secret(value, params) else _told(value, params)}"
                for argument, value in list(arguments.items())[:ARGUMENTS_MAX]
            ]
            return _call(name, told)
        case _:
            assert_never(action)


def _told(value: Value, params: dict[str, SkillParam]) -> str:
    if isinstance(value, FromParam):
        param = params.get(value.name)
        return f"<{_label(param.label if param else value.name)}>"
    if isinstance(value.value, dict | list):
        return "its usual value"
    return f"“{_short(str(value.value), LITERAL_CHARS_MAX)}”"


def _is_secret(value: Value, params: dict[str, SkillParam]) -> bool:
    return isinstance(value, FromParam) and value.name in params and params[value.name].secret


def _episode_text(episode: Episode) -> str:
    sentences = [
        f"{_shown(step)}{f' {GATE}' if gated else ''}"
        for step, gated in zip(episode.steps, steps_need_approval(episode.steps), strict=True)
    ]
    return _numbered(episode.name, episode.program, sentences)


def _shown(step: RecordedStep) -> str:
    match step.action:
        case Click(target=target):
            return f"Click {_place(target)}."
        case SetValue(target=target, secret=secret):
            if secret:
                return f"Enter the secret for {_place(target)}."
            return f"Set {_place(target)} to <{_label(target.label) or 'value'}>."
        case Keys(keys=keys, target=target, secret=secret):
            if secret:
                return f"Enter the secret{f' for {_place(target)}' if target else ''}."
            return f"Press {_pressed(keys)}{f' in {_place(target)}' if target else ''}."
        case ToolCall(name=name, arguments=arguments, secrets=secrets):
            told = [
                f"{_label(argument)} {'the secret' if argument in secrets else f'<{_label(argument)}>'}"
                for argument in list(arguments)[:ARGUMENTS_MAX]
            ]
            return _call(name, told)
        case _:
            assert_never(step.action)


def _call(name: str, told: list[str]) -> str:
    return f"Call {_label(name)} with {', '.join(told)}." if told else f"Call {_label(name)}."


def _numbered(name: str, program: str, sentences: list[str]) -> str:
    head = f"Task: {one_line(name)} ({one_line(program_name(program)) or one_line(program)})"
    return "\n".join((head, *(f"{number}. {sentence}" for number, sentence in enumerate(sentences, start=1))))


def _place(element: Element) -> str:
    window = _label(element.window_title)
    return f"“{_label(element.label)}”{f' in “{window}”' if window else ''}"


def _pressed(keys: str) -> str:
    """Keys by name; text is not repeated, it may be anything."""
    found = chords(keys)
    if found and not found[0].types:
        return _label(keys)
    return "a key" if found else "some keys"


def _label(text: str) -> str:
    return _short(text, LABEL_CHARS_MAX)


def _short(text: str, chars: int) -> str:
    line = one_line(text)
    return line if len(line) <= chars else cut(line, chars - 1) + "…"
