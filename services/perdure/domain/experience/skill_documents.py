"""Skills, their routines and a review's edits as JSON.

Builderforce's names where it has the thing; ``version``, ``compiledAt``, tool calls, time zones, cron, leases and
``since`` are Perdure's.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import assert_never

from perdure.domain.experience import reading
from perdure.domain.experience.cron import parse_cron
from perdure.domain.experience.episode import EpisodeId, Json
from perdure.domain.experience.episode_documents import (
    KINDS,
    LABEL_CHARS_MAX,
    STEPS_MAX,
    arguments,
    element_from_json,
    element_to_json,
    screenshot_name,
    step_id,
    texts,
    title,
)
from perdure.domain.experience.skill import (
    Cron,
    Daily,
    DoClick,
    DoKeys,
    DoSetValue,
    DoToolCall,
    Edits,
    EveryMinutes,
    FromParam,
    Literal,
    Routine,
    Schedule,
    Skill,
    SkillAction,
    SkillId,
    SkillParam,
    SkillStep,
    Value,
)
from perdure.domain.experience.zones import is_zone
from perdure.errors import Reason

PARAMS_MAX = 2 * STEPS_MAX
MINUTES_MAX = 10_080
"""A week. Source: Builderforce's ``skill_schedule``."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SKILL = ("id", "name", "program", "version", "args", "params", "steps", "sourceEpisode", "createdAt")
_EDITS = ("name", "removed", "fixed", "approvals", "paramNames")
_ROUTINE = ("schedule", "values", "enabled", "since", "lastRunAt", "dueAt", "leaseHolder", "leaseUntil")


def skill_from_json(document: Mapping[str, Json], *, now: datetime | None = None, path: str = "skill") -> Skill:
    """The skill in ``document``, its routine included; ``createdAt`` is ``now`` where it is left open.

    Raises:
        InvalidArgument: it is malformed; ``details["field"]`` says where.
    """
    found = reading.document(document, path)
    created_at = reading.optional_moment(found.get("createdAt"), f"{path}.createdAt")
    source = found.get("sourceEpisode")
    routine = found.get("routine")
    skill = Skill(
        id=SkillId(reading.identifier(found.get("id"), f"{path}.id")),
        name=title(found.get("name"), f"{path}.name"),
        program=reading.text(found.get("program"), f"{path}.program", most=LABEL_CHARS_MAX),
        created_at=created_at or now or _EPOCH,
        version=reading.whole(found.get("version", 1), f"{path}.version", 1, 10**9),
        compiled_at=reading.optional_moment(found.get("compiledAt"), f"{path}.compiledAt"),
        args=arguments(found.get("args"), f"{path}.args"),
        params=_params(found.get("params"), f"{path}.params"),
        steps=_steps(found.get("steps"), f"{path}.steps"),
        source_episode=None if not source else EpisodeId(reading.identifier(source, f"{path}.sourceEpisode")),
        routine=None if routine is None else routine_from_json(reading.mapping(routine, f"{path}.routine")),
        extra=reading.rest(found, _SKILL, ("compiledAt", "routine")),
    )
    _check_names(skill, path)
    return skill


def skill_to_json(skill: Skill) -> dict[str, Json]:
    """The document of ``skill``, its routine included."""
    document: dict[str, Json] = {
        **skill.extra,
        "id": skill.id,
        "name": skill.name,
        "program": skill.program,
        "version": skill.version,
        "args": list(skill.args),
        "params": [
            {"name": one.name, "label": one.label, "default": one.default, "secret": one.secret} for one in skill.params
        ],
        "steps": [_step_to_json(step) for step in skill.steps],
        "sourceEpisode": skill.source_episode,
        "createdAt": reading.milliseconds(skill.created_at),
    }
    if skill.compiled_at is not None:
        document["compiledAt"] = reading.milliseconds(skill.compiled_at)
    if skill.routine is not None:
        document["routine"] = routine_to_json(skill.routine)
    return document


def edits_from_json(document: Mapping[str, Json], *, path: str = "edits") -> Edits:
    """The edits in ``document``; each field may be absent.

    Raises:
        InvalidArgument: it is malformed, or has a field that nobody knows.
    """
    found = reading.document(document, path)
    reading.only(found, _EDITS, path)
    name = found.get("name")
    approvals = reading.mapping(found.get("approvals") or {}, f"{path}.approvals")
    names = reading.mapping(found.get("paramNames") or {}, f"{path}.paramNames")
    return Edits(
        name=None if name is None else title(name, f"{path}.name"),
        removed=texts(found.get("removed"), f"{path}.removed"),
        fixed=texts(found.get("fixed"), f"{path}.fixed"),
        approvals={step: reading.flag(value, f"{path}.approvals") for step, value in approvals.items()},
        param_names={
            step: reading.text(value, f"{path}.paramNames", most=reading.NAME_CHARS_MAX)
            for step, value in names.items()
        },
    )


def routine_from_json(document: Mapping[str, Json], *, path: str = "routine") -> Routine:
    """The routine in ``document``.

    Raises:
        InvalidArgument: it is malformed, or has a field that nobody knows.
    """
    found = reading.document(document, path)
    reading.only(found, _ROUTINE, path)
    values = reading.mapping(found.get("values") or {}, f"{path}.values")
    return Routine(
        schedule=schedule_from_json(reading.mapping(found.get("schedule"), f"{path}.schedule"), f"{path}.schedule"),
        values={name: reading.text(value, f"{path}.values", empty=True) for name, value in values.items()},
        enabled=reading.flag(found.get("enabled"), f"{path}.enabled", default=True),
        since=reading.optional_moment(found.get("since"), f"{path}.since"),
        last_run_at=reading.optional_moment(found.get("lastRunAt"), f"{path}.lastRunAt"),
        due_at=reading.optional_moment(found.get("dueAt"), f"{path}.dueAt"),
        lease_holder=reading.optional_text(found.get("leaseHolder"), f"{path}.leaseHolder", most=200) or None,
        lease_until=reading.optional_moment(found.get("leaseUntil"), f"{path}.leaseUntil"),
    )


def routine_to_json(routine: Routine) -> dict[str, Json]:
    """The document of ``routine``."""
    document: dict[str, Json] = {
        "schedule": schedule_to_json(routine.schedule),
        "values": dict(routine.values),
        "enabled": routine.enabled,
        "lastRunAt": reading.optional_milliseconds(routine.last_run_at),
    }
    for name, at in (("since", routine.since), ("dueAt", routine.due_at), ("leaseUntil", routine.lease_until)):
        if at is not None:
            document[name] = reading.milliseconds(at)
    if routine.lease_holder is not None:
        document["leaseHolder"] = routine.lease_holder
    return document


def schedule_from_json(document: Mapping[str, Json], path: str = "schedule") -> Schedule:
    """The schedule in ``document``.

    Raises:
        InvalidArgument: it is malformed: a zone that nobody knows, a cron expression that never comes true.
    """
    every = reading.text(document.get("every"), f"{path}.every")
    match every:
        case "minutes":
            reading.only(document, ("every", "minutes"), path)
            return EveryMinutes(reading.whole(document.get("minutes"), f"{path}.minutes", 1, MINUTES_MAX))
        case "day":
            reading.only(document, ("every", "hour", "minute", "zone"), path)
            zone = document.get("zone")
            return Daily(
                reading.whole(document.get("hour"), f"{path}.hour", 0, 23),
                reading.whole(document.get("minute"), f"{path}.minute", 0, 59),
                None if zone is None else _zone(zone, f"{path}.zone"),
            )
        case "cron":
            reading.only(document, ("every", "expression", "zone"), path)
            expression = " ".join(reading.text(document.get("expression"), f"{path}.expression", most=200).split())
            problem = parse_cron(expression)
            if isinstance(problem, str):
                raise reading.invalid(f"{path}.expression", f"'{path}.expression': {problem}")
            zone = document.get("zone")
            return Cron(expression, "UTC" if zone is None else _zone(zone, f"{path}.zone"))
        case _:
            raise reading.invalid(f"{path}.every", f"'{path}.every' has to be one of minutes, day, cron.")


def schedule_to_json(schedule: Schedule) -> dict[str, Json]:
    """The document of ``schedule``."""
    match schedule:
        case EveryMinutes():
            return {"every": "minutes", "minutes": schedule.minutes}
        case Daily():
            document: dict[str, Json] = {"every": "day", "hour": schedule.hour, "minute": schedule.minute}
            return document if schedule.zone is None else {**document, "zone": schedule.zone}
        case Cron():
            return {"every": "cron", "expression": schedule.expression, "zone": schedule.zone}
        case _:
            assert_never(schedule)


def _zone(value: Json, path: str) -> str:
    name = reading.text(value, path, most=100)
    if not is_zone(name):
        raise reading.invalid(path, f"'{path}' has to be a time zone of the IANA database, such as Europe/Berlin.")
    return name


def _params(value: Json, path: str) -> tuple[SkillParam, ...]:
    found = [] if value is None else reading.items(value, path, PARAMS_MAX)
    params: list[SkillParam] = []
    names: set[str] = set()
    for at, entry in enumerate(found):
        here = f"{path}[{at}]"
        one = reading.mapping(entry, here)
        secret = reading.flag(one.get("secret"), f"{here}.secret")
        name = reading.text(one.get("name"), f"{here}.name", most=reading.NAME_CHARS_MAX)
        if name in names:
            raise reading.invalid(f"{here}.name", f"'{here}.name' is that of an earlier parameter.")
        names.add(name)
        params.append(
            SkillParam(
                name=name,
                label=reading.optional_text(one.get("label"), f"{here}.label", most=LABEL_CHARS_MAX) or name,
                default=None if secret else one.get("default"),
                secret=secret,
            )
        )
    return tuple(params)


def _steps(value: Json, path: str) -> tuple[SkillStep, ...]:
    steps: list[SkillStep] = []
    ids: set[str] = set()
    for at, entry in enumerate(reading.items(value, path, STEPS_MAX)):
        here = f"{path}[{at}]"
        found = reading.mapping(entry, here)
        id_ = step_id(found.get("id"), f"{here}.id")
        if id_ in ids:
            raise reading.invalid(f"{here}.id", f"'{here}.id' is that of an earlier step.")
        ids.add(id_)
        action, unknown = _action(found.get("action"), f"{here}.action")
        extra = reading.rest(found, ("id", "action", "requiresApproval"), ("screenshot",))
        steps.append(
            SkillStep(
                id=id_,
                action=action,
                requires_approval=reading.flag(found.get("requiresApproval"), f"{here}.requiresApproval"),
                screenshot=screenshot_name(found.get("screenshot"), f"{here}.screenshot"),
                # an action has no place of its own for what nobody knows of it
                extra={**extra, "action": unknown} if unknown else extra,
            )
        )
    return tuple(steps)


def _step_to_json(step: SkillStep) -> Json:
    unknown = step.extra.get("action", {})
    action = _action_to_json(step.action)
    document: dict[str, Json] = {
        **step.extra,
        "id": step.id,
        "action": {**unknown, **action} if isinstance(unknown, dict) else action,
        "requiresApproval": step.requires_approval,
    }
    if step.screenshot is not None:
        document["screenshot"] = step.screenshot
    return document


def _action(value: Json, path: str) -> tuple[SkillAction, dict[str, Json]]:
    """An action, and what is not known of it."""
    found = reading.mapping(value, path)
    kind = reading.text(found.get("kind"), f"{path}.kind")
    match kind:
        case "click":
            target = element_from_json(found.get("target"), f"{path}.target")
            return DoClick(target=target), reading.rest(found, ("kind", "target"))
        case "setValue":
            target = element_from_json(found.get("target"), f"{path}.target")
            text = _value(found.get("value"), f"{path}.value")
            return DoSetValue(target=target, value=text), reading.rest(found, ("kind", "target", "value"))
        case "keys":
            given = found.get("target")
            keys = DoKeys(
                keys=_value(found.get("keys"), f"{path}.keys"),
                target=None if given is None else element_from_json(given, f"{path}.target"),
            )
            return keys, reading.rest(found, ("kind", "keys"), ("target",))
        case "tool":
            values = reading.mapping(found.get("arguments", {}), f"{path}.arguments")
            call = DoToolCall(
                name=reading.text(found.get("name"), f"{path}.name", most=LABEL_CHARS_MAX),
                arguments={name: _argument(entry, f"{path}.arguments") for name, entry in values.items()},
            )
            return call, reading.rest(found, ("kind", "name", "arguments"))
        case _:
            raise reading.invalid(f"{path}.kind", f"'{path}.kind' has to be one of {', '.join(KINDS)}.")


def _action_to_json(action: SkillAction) -> dict[str, Json]:
    match action:
        case DoClick():
            return {"kind": "click", "target": element_to_json(action.target)}
        case DoSetValue():
            value = _value_to_json(action.value)
            return {"kind": "setValue", "target": element_to_json(action.target), "value": value}
        case DoKeys():
            # Builderforce has plain keys here
            plain = isinstance(action.keys, Literal) and isinstance(action.keys.value, str)
            keys = action.keys.value if plain and isinstance(action.keys, Literal) else _value_to_json(action.keys)
            document: dict[str, Json] = {"kind": "keys", "keys": keys}
            return document if action.target is None else {**document, "target": element_to_json(action.target)}
        case DoToolCall():
            values: dict[str, Json] = {name: _value_to_json(value) for name, value in action.arguments.items()}
            return {"kind": "tool", "name": action.name, "arguments": values}
        case _:
            assert_never(action)


def _value(value: Json, path: str) -> Value:
    if isinstance(value, str):
        return Literal(value)
    found = reading.mapping(value, path)
    source = reading.text(found.get("from"), f"{path}.from")
    if source == "param":
        return FromParam(reading.text(found.get("name"), f"{path}.name", most=reading.NAME_CHARS_MAX))
    if source == "literal":
        if "value" in found:
            return Literal(found["value"])
        return Literal(reading.text(found.get("text"), f"{path}.text", empty=True))
    raise reading.invalid(f"{path}.from", f"'{path}.from' has to be one of param, literal.", Reason.FIELD_INVALID)


def _argument(value: Json, path: str) -> Value:
    """As ``_value``; what does not say where it is from is meant as it stands."""
    return _value(value, path) if isinstance(value, dict) and "from" in value else Literal(value)


def _value_to_json(value: Value) -> Json:
    match value:
        case FromParam():
            return {"from": "param", "name": value.name}
        case Literal(value=str() as text):
            return {"from": "literal", "text": text}
        case Literal():
            return {"from": "literal", "value": value.value}
        case _:
            assert_never(value)


def _check_names(skill: Skill, path: str) -> None:
    """Pass where every value that a run brings along is a parameter of the skill.

    Raises:
        InvalidArgument: one is not.
    """
    names = {param.name for param in skill.params}
    for at, step in enumerate(skill.steps):
        for value in values_of(step.action):
            if isinstance(value, FromParam) and value.name not in names:
                raise reading.invalid(
                    f"{path}.steps[{at}].action", f"'{path}.steps[{at}].action' wants a parameter that the skill lacks."
                )


def values_of(action: SkillAction) -> tuple[Value, ...]:
    """The values of ``action``, in order."""
    match action:
        case DoClick():
            return ()
        case DoSetValue():
            return (action.value,)
        case DoKeys():
            return (action.keys,)
        case DoToolCall():
            return tuple(action.arguments.values())
        case _:
            assert_never(action)
