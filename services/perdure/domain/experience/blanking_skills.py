"""A skill or a run from elsewhere without its secrets, before anything of it is written.

A skill that Perdure compiled has none, as its episode was blanked. One that comes in may: as a value that is always
typed, as a default, as a routine's value. It is looked at as the demonstration that it would give if it ran with its
defaults, and what is a secret there becomes a secret parameter here, so that the skill still runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import assert_never

from perdure.domain.experience.blanking import blanked
from perdure.domain.experience.commands import clean_text
from perdure.domain.experience.compiling import slug
from perdure.domain.experience.episode import (
    Action,
    Click,
    Element,
    Episode,
    EpisodeId,
    Json,
    Keys,
    RecordedStep,
    SetValue,
    ToolCall,
)
from perdure.domain.experience.run import SkillRun
from perdure.domain.experience.secret_labels import is_secret_label
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
    SkillStep,
    Value,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def blanked_skill(skill: Skill) -> Skill:
    """``skill`` without secrets in its steps, defaults, arguments, names and routine. Idempotent."""
    params = {one.name: _named_secret(one) for one in skill.params}
    shown = _shown(skill, params)
    clean = blanked(shown, "skill")
    back = _Back(params, dict(_mapping(clean.extra["params"])))
    after = {step.id: step.action for step in clean.steps}
    steps: list[SkillStep] = []
    for step, was in zip(skill.steps, shown.steps, strict=True):
        if step.id in after:
            steps.append(replace(step, action=back.action(step.action, was.action, after[step.id])))
        elif isinstance(step.action, DoKeys) and isinstance(step.action.keys, FromParam):
            steps.append(step)
        # else a key of a secret that was typed key by key: the step before asks for the whole of it
    extras = {step.id: step for step in clean.steps}
    routine = skill.routine
    if routine is not None:
        values = _mapping(clean.extra["values"])
        secret = {name for name, one in back.params.items() if one.secret}
        kept = {name: text for name, text in routine.values.items() if name not in secret and values.get(name) == text}
        routine = replace(routine, values=kept)
    return replace(
        skill,
        name=clean.name,
        program=clean.program,
        args=clean.args,
        params=tuple(back.params.values()),
        steps=tuple(_with_extra(step, extras.get(step.id)) for step in steps),
        routine=routine,
        extra=_mapping(clean.extra["skill"]),
    )


def blanked_run(run: SkillRun) -> SkillRun:
    """``run`` without what shows itself to be a secret in its error and the details of its trail. Idempotent."""
    return replace(
        run,
        error=blanked_note(run.error),
        steps=tuple(replace(line, detail=blanked_note(line.detail)) for line in run.steps),
    )


def blanked_note(text: str | None) -> str | None:
    """What a host says of a step or a run, without secrets."""
    return None if text is None else clean_text(text, prose=True).text


def blanked_members(found: Mapping[str, Json]) -> dict[str, Json]:
    """Members of a document that nobody knows, without secrets. Idempotent."""
    around = Episode(id=EpisodeId(""), name="none", program="none", started_at=_EPOCH, extra=found)
    return dict(blanked(around).extra)


# ------------------------------------------------------------------ the demonstration that a skill would give


def _shown(skill: Skill, params: Mapping[str, SkillParam]) -> Episode:
    used: set[str] = set()
    steps = tuple(_step(step, params, used) for step in skill.steps)
    return Episode(
        id=EpisodeId(skill.id),
        name=skill.name,
        program=skill.program,
        started_at=skill.created_at,
        args=skill.args,
        steps=steps,
        extra={
            "skill": dict(skill.extra),
            "params": {name: one.default for name, one in params.items() if name not in used},
            "values": dict(skill.routine.values) if skill.routine else {},
        },
    )


def _step(step: SkillStep, params: Mapping[str, SkillParam], used: set[str]) -> RecordedStep:
    def default(value: Value) -> Json:
        if isinstance(value, Literal):
            return value.value
        used.add(value.name)
        return params[value.name].default

    def secret(value: Value) -> bool:
        return isinstance(value, FromParam) and params[value.name].secret

    extra = dict(step.extra)
    unknown = _mapping(extra.pop("action", {}))
    shown: Action
    match step.action:
        case DoClick(target=target):
            shown = Click(target=target, extra=unknown)
        case DoSetValue(target=target, value=value):
            shown = SetValue(target=target, value=_text(default(value)), secret=secret(value), extra=unknown)
        case DoKeys(target=into, keys=keys):
            shown = Keys(keys=_text(default(keys)), target=into, secret=secret(keys), extra=unknown)
        case DoToolCall(name=name, arguments=arguments):
            shown = ToolCall(
                name=name,
                arguments={one: default(value) for one, value in arguments.items()},
                secrets=tuple(one for one, value in arguments.items() if secret(value)),
                extra=unknown,
            )
        case _:
            assert_never(step.action)
    return RecordedStep(id=step.id, at_ms=0, action=shown, extra=extra)


# ------------------------------------------------------------------ and back


@dataclass(slots=True)
class _Back:
    """Takes what is clean over into the skill; grows and blanks its parameters."""

    params: dict[str, SkillParam]
    unused: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, value in self.unused.items():
            param = self.params[name]
            if value != param.default:
                self.params[name] = replace(param, default=None, secret=True)

    def action(self, action: SkillAction, was: Action, clean: Action) -> SkillAction:
        """``action`` without what ``clean`` lacks of ``was``."""
        match action, was, clean:
            case DoClick(), _, Click():
                return replace(action, target=clean.target)
            case DoSetValue(), SetValue(), SetValue():
                label = clean.target.label
                return replace(
                    action,
                    target=clean.target,
                    value=self._value(action.value, label, was.value, clean.value, clean.secret),
                )
            case DoKeys(), Keys(), Keys():
                label = _label(clean.target)
                return replace(
                    action,
                    target=clean.target,
                    keys=self._value(action.keys, label, was.keys, clean.keys, clean.secret),
                )
            case DoToolCall(), ToolCall(), ToolCall():
                return replace(
                    action,
                    name=clean.name,
                    arguments={
                        now: self._value(value, now, was.arguments[name], clean.arguments[now], now in clean.secrets)
                        # blanking keeps their number and order, not their names
                        for (name, value), now in zip(action.arguments.items(), clean.arguments, strict=True)
                    },
                )
            case _:
                raise AssertionError("blanking keeps the kinds of steps")

    def _value(self, value: Value, label: str, was: Json, clean: Json, secret: bool) -> Value:
        if isinstance(value, FromParam):
            param = self.params[value.name]
            if secret:
                self.params[param.name] = replace(param, default=None, secret=True)
            elif clean != was:
                self.params[param.name] = replace(param, default=clean)
            return value
        if secret and was not in ("", None):
            return FromParam(self._new(label))
        return value if clean == was else Literal(clean)

    def _new(self, label: str) -> str:
        base = slug(label) or "secret"
        name, number = base, 1
        while name in self.params:
            number += 1
            name = f"{base}_{number}"
        self.params[name] = SkillParam(name=name, label=label or name, secret=True)
        return name


def _with_extra(step: SkillStep, clean: RecordedStep | None) -> SkillStep:
    if clean is None:
        return step
    extra = dict(clean.extra)
    if "action" in step.extra:
        extra["action"] = dict(clean.action.extra)
    return replace(step, extra=extra)


def _named_secret(param: SkillParam) -> SkillParam:
    label = clean_text(param.label, prose=True).text
    secret = param.secret or is_secret_label(param.name) or is_secret_label(label)
    return replace(param, label=label, default=None if secret else param.default, secret=secret)


def _label(element: Element | None) -> str:
    return "" if element is None else element.label


def _mapping(value: Json) -> dict[str, Json]:
    return dict(value) if isinstance(value, dict) else {}


def _text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
