"""A skill from a demonstration, without a model: the same episode and edits make the same skill.

What was typed becomes a parameter with what was typed as its default, unless the review fixes it; a secret never has a
default and is never fixed. Of a tool call, texts among its arguments become parameters by their names; the rest stays
as it was. What cannot be taken back asks first, unless the review says otherwise. Source: Builderforce, ``trainOnce``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from perdure.domain.experience.blanking import is_blank
from perdure.domain.experience.commands import clean_text
from perdure.domain.experience.episode import (
    Action,
    Click,
    Element,
    Episode,
    Json,
    Keys,
    RecordedStep,
    SetValue,
    ToolCall,
)
from perdure.domain.experience.irreversible import steps_need_approval
from perdure.domain.experience.skill import (
    DoClick,
    DoKeys,
    DoSetValue,
    DoToolCall,
    Edits,
    FromParam,
    Literal,
    Routine,
    Skill,
    SkillAction,
    SkillId,
    SkillParam,
    SkillStep,
    Value,
)
from perdure.errors import InvalidArgument, Reason

SLUG_CHARS_MAX = 40
"""Source: Builderforce Memory."""

_NAMELESS = "value"


def compile_skill(
    episode: Episode,
    edits: Edits,
    *,
    id: SkillId,
    now: datetime,
    previous: Skill | None = None,
) -> Skill:
    """The skill that ``episode`` shows, as the review ``edits`` it.

    Args:
        episode: Blanked, as the store has it.
        edits: By ids of its steps; of a tool call's argument, by ``<step id>.<argument>``.
        id: Of a new skill; one that has a ``previous`` version keeps its own.
        now: When.
        previous: The version before, whose routine stays without values for parameters that are gone or secret now.

    Raises:
        InvalidArgument: an edit names a step that the episode lacks (STEP_UNKNOWN), or takes away all of them.
    """
    _check_edits(episode, edits)
    naming = _Naming(edits)
    steps = tuple(
        _step(step, edits, naming, gated)
        for step, gated in zip(episode.steps, steps_need_approval(episode.steps), strict=True)
        if step.id not in edits.removed
    )
    if not steps:
        raise InvalidArgument(
            "A skill has one step at least; the episode has none, or the edits remove all.",
            reason=Reason.FIELD_INVALID,
            details={"field": "edits.removed" if episode.steps else "episode.steps"},
        )
    params = tuple(naming.params)
    return Skill(
        id=previous.id if previous else id,
        name=clean_text(edits.name, prose=True).text if edits.name else episode.name,
        program=episode.program,
        created_at=previous.created_at if previous else now,
        version=previous.version + 1 if previous else 1,
        compiled_at=now,
        args=episode.args,
        params=params,
        steps=steps,
        source_episode=episode.id,
        routine=_fitting(previous.routine, params) if previous and previous.routine else None,
        extra=previous.extra if previous else {},
    )


def slug(label: str) -> str:
    """``label`` as a parameter's name: lower case, letters and digits of any script, "_" between words; "" for none.

    At most 40 characters.
    """
    spaced = "".join(char if char.isalnum() else " " for char in label.lower())
    return "_".join(spaced.split())[:SLUG_CHARS_MAX].rstrip("_")


def without_secrets(routine: Routine, params: tuple[SkillParam, ...]) -> Routine:
    """``routine`` without values for secret parameters, and without values that show themselves to be secrets.

    Raises:
        InvalidArgument: it has a value for a parameter that the skill lacks.
    """
    secret = {param.name: param.secret for param in params}
    for name in routine.values:
        if name not in secret:
            raise InvalidArgument(
                "The routine has a value for a parameter that the skill lacks; it has "
                f"{', '.join(sorted(secret)) or 'none'}.",
                reason=Reason.FIELD_UNKNOWN,
                details={"field": "routine.values"},
            )
    return _fitting(routine, params)


def diff(old: Skill, new: Skill) -> tuple[str, ...]:
    """What changed from ``old`` to ``new``, a line each: "+", "-" or "~", then what; none where nothing did."""
    lines: list[str] = []
    for what in ("name", "program"):
        before, after = getattr(old, what), getattr(new, what)
        if before != after:
            lines.append(f"~ {what}: {before} → {after}")
    if old.args != new.args:
        lines.append(f"~ arguments: {' '.join(old.args) or 'none'} → {' '.join(new.args) or 'none'}")
    lines += _differences(
        "parameter",
        {one.name: _param_text(one) for one in old.params},
        {one.name: _param_text(one) for one in new.params},
    )
    before_steps, after_steps = ({one.id: _step_text(one) for one in skill.steps} for skill in (old, new))
    lines += _differences("step", before_steps, after_steps)
    common = [id_ for id_ in before_steps if id_ in after_steps]
    if common != [id_ for id_ in after_steps if id_ in before_steps]:
        lines.append("~ steps: in another order")
    return tuple(lines)


# ------------------------------------------------------------------ steps


@dataclass(slots=True)
class _Naming:
    """Gives parameters their names; no two have the same."""

    edits: Edits
    params: list[SkillParam] = field(default_factory=list)

    def value(self, key: str, label: str, recorded: Json, secret: bool) -> Value:
        """What stands for a recorded value: itself where the review fixes it, else a parameter."""
        secret = secret or is_blank(recorded)
        if key in self.edits.fixed and not secret:
            return Literal(recorded)
        name = self._free(slug(self.edits.param_names.get(key, "")) or slug(label) or _NAMELESS)
        self.params.append(
            SkillParam(name=name, label=label or name, default=None if secret else recorded, secret=secret)
        )
        return FromParam(name)

    def _free(self, name: str) -> str:
        taken = {param.name for param in self.params}
        if name not in taken:
            return name
        number = 2
        while f"{name}_{number}" in taken:
            number += 1
        return f"{name}_{number}"


def _step(step: RecordedStep, edits: Edits, naming: _Naming, gated: bool) -> SkillStep:
    asked = edits.approvals.get(step.id)
    return SkillStep(
        id=step.id,
        action=_action(step.id, step.action, naming),
        requires_approval=gated if asked is None else asked,
        screenshot=step.screenshot,
        extra=step.extra,
    )


def _action(step_id: str, action: Action, naming: _Naming) -> SkillAction:
    match action:
        case Click():
            return DoClick(target=action.target)
        case SetValue(target=target):
            return DoSetValue(target=target, value=naming.value(step_id, target.label, action.value, action.secret))
        case Keys():
            label = action.target.label if action.target else ""
            keys: Value = naming.value(step_id, label, "", True) if action.secret else Literal(action.keys)
            return DoKeys(keys=keys, target=action.target)
        case ToolCall():
            return DoToolCall(
                name=action.name,
                arguments={
                    name: _argument(step_id, name, value, name in action.secrets, naming)
                    for name, value in action.arguments.items()
                },
            )
        case _:
            assert_never(action)


def _argument(step_id: str, name: str, value: Json, secret: bool, naming: _Naming) -> Value:
    if secret or isinstance(value, str) or is_blank(value):
        return naming.value(f"{step_id}.{name}", name, value, secret)
    return Literal(value)


def _check_edits(episode: Episode, edits: Edits) -> None:
    known = {step.id for step in episode.steps}
    for step in episode.steps:
        if isinstance(step.action, ToolCall):
            known.update(f"{step.id}.{name}" for name in step.action.arguments)
    for what, ids in (
        ("removed", edits.removed),
        ("fixed", edits.fixed),
        ("approvals", edits.approvals),
        ("paramNames", edits.param_names),
    ):
        if not known.issuperset(ids):
            raise InvalidArgument(
                f"'edits.{what}' names a step that the episode lacks.",
                reason=Reason.STEP_UNKNOWN,
                details={"field": f"edits.{what}"},
            )


def _fitting(routine: Routine, params: tuple[SkillParam, ...]) -> Routine:
    told = {param.name for param in params if not param.secret}
    kept = {name: value for name, value in routine.values.items() if name in told and not clean_text(value).kinds}
    return replace(routine, values=kept)


# ------------------------------------------------------------------ differences


def _differences(what: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    lines = [f"- {what} {name}: {text}" for name, text in old.items() if name not in new]
    lines += [f"+ {what} {name}: {text}" for name, text in new.items() if name not in old]
    lines += [f"~ {what} {name}: {old[name]} → {text}" for name, text in new.items() if old.get(name, text) != text]
    return lines


def _param_text(param: SkillParam) -> str:
    if param.secret:
        return f"{param.label}, secret"
    return f"{param.label}, {_shown(param.default)}"


def _step_text(step: SkillStep) -> str:
    return _action_text(step.action) + (" (asks first)" if step.requires_approval else "")


def _action_text(action: SkillAction) -> str:
    match action:
        case DoClick():
            return f"click {_element_text(action.target)}"
        case DoSetValue():
            return f"set {_element_text(action.target)} to {_value_text(action.value)}"
        case DoKeys():
            into = f" in {_element_text(action.target)}" if action.target else ""
            return f"press {_value_text(action.keys)}{into}"
        case DoToolCall():
            told = ", ".join(f"{name}={_value_text(value)}" for name, value in action.arguments.items())
            return f"call {action.name}({told})"
        case _:
            assert_never(action)


def _element_text(element: Element) -> str:
    where = f" in “{element.window_title}”" if element.window_title else ""
    return f"“{element.label}”{where}"


def _value_text(value: Value) -> str:
    return f"<{value.name}>" if isinstance(value, FromParam) else _shown(value.value)


def _shown(value: Json) -> str:
    return f"“{value}”" if isinstance(value, str) else str(value)
