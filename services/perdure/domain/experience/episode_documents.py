"""Episodes as JSON: Builderforce's names, milliseconds since 1970, fields that nobody knows kept as they came.

Source: schema ``evermind.experience/1``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import assert_never

from perdure.domain.experience import reading
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
from perdure.domain.text import one_line
from perdure.errors import Reason

STEPS_MAX = 2000
"""Steps of one episode."""

ARGS_MAX = 200
"""Arguments of the program."""

STEP_ID_CHARS_MAX = 200
LABEL_CHARS_MAX = 2000
"""Of a name, class or title of an element, of a program, of a tool."""

KINDS = ("click", "setValue", "keys", "tool")

_SCREENSHOT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}\Z")
_AT_MS_MAX = 10 * 366 * 24 * 3600 * 1000

_TEXTS = (
    ("automationId", "automation_id"),
    ("controlType", "control_type"),
    ("className", "class_name"),
    ("windowTitle", "window_title"),
    ("processName", "process_name"),
)
_EPISODE = ("id", "name", "program", "args", "startedAt", "endedAt", "steps")
_POSITION = ("relX", "relY")


def episode_from_json(document: Mapping[str, Json], *, now: datetime, path: str = "episode") -> Episode:
    """The episode in ``document``. Its id is "" where the document has none; times left open are ``now``.

    Raises:
        InvalidArgument: it is malformed or beyond a limit; ``details["field"]`` says where
            ("episode.steps[3].action.target.name").
    """
    found = reading.document(document, path)
    started_at = reading.optional_moment(found.get("startedAt"), f"{path}.startedAt")
    id_ = found.get("id")
    return Episode(
        id=EpisodeId("" if id_ is None else reading.identifier(id_, f"{path}.id")),
        name=title(found.get("name"), f"{path}.name"),
        program=reading.text(found.get("program"), f"{path}.program", most=LABEL_CHARS_MAX),
        args=arguments(found.get("args"), f"{path}.args"),
        started_at=now if started_at is None else started_at,
        ended_at=reading.optional_moment(found.get("endedAt"), f"{path}.endedAt"),
        steps=_steps(found.get("steps"), f"{path}.steps"),
        redacted=texts(found.get("redacted"), f"{path}.redacted"),
        extra=reading.rest(found, _EPISODE, ("redacted",)),
    )


def episode_to_json(episode: Episode) -> dict[str, Json]:
    """The document of ``episode``."""
    document: dict[str, Json] = {
        **episode.extra,
        "id": episode.id,
        "name": episode.name,
        "program": episode.program,
        "args": list(episode.args),
        "startedAt": reading.milliseconds(episode.started_at),
        "endedAt": reading.optional_milliseconds(episode.ended_at),
        "steps": [_step_to_json(step) for step in episode.steps],
    }
    if episode.redacted:
        document["redacted"] = list(episode.redacted)
    return document


def check_new(episode: Episode, path: str = "episode") -> None:
    """Pass where ``episode`` is within the limits of what is recorded; one that was stored may have grown since.

    Raises:
        InvalidArgument: it is larger than 2 MiB, or a string of it than 32 KiB (TOO_LARGE).
    """
    reading.document(episode_to_json(episode), path, growth=1)


def action_to_json(action: Action) -> dict[str, Json]:
    """The document of a step's ``action``."""
    document: dict[str, Json]
    match action:
        case Click():
            document = {"kind": "click", "target": element_to_json(action.target)}
        case SetValue():
            document = {"kind": "setValue", "target": element_to_json(action.target), "value": action.value}
            if action.secret:
                document["secret"] = True
        case Keys():
            document = {"kind": "keys", "keys": action.keys}
            if action.target is not None:
                document["target"] = element_to_json(action.target)
            if action.secret:
                document["secret"] = True
        case ToolCall():
            document = {"kind": "tool", "name": action.name, "arguments": dict(action.arguments)}
            if action.result is not None:
                document["result"] = action.result
            if action.secrets:
                document["secrets"] = list(action.secrets)
        case _:
            assert_never(action)
    return {**action.extra, **document}


def action_from_json(value: Json, path: str) -> Action:
    """The action in ``value``.

    Raises:
        InvalidArgument: it is malformed, or of a kind that nobody knows.
    """
    found = reading.mapping(value, path)
    kind = reading.text(found.get("kind"), f"{path}.kind")
    match kind:
        case "click":
            return Click(
                target=element_from_json(found.get("target"), f"{path}.target"),
                extra=reading.rest(found, ("kind", "target")),
            )
        case "setValue":
            return SetValue(
                target=element_from_json(found.get("target"), f"{path}.target"),
                value=reading.text(found.get("value"), f"{path}.value", empty=True),
                secret=_secret(found, path),
                extra=reading.rest(found, ("kind", "target", "value"), ("secret",)),
            )
        case "keys":
            return _keys_from_json(found, path)
        case "tool":
            result = found.get("result")
            return ToolCall(
                name=reading.text(found.get("name"), f"{path}.name", most=LABEL_CHARS_MAX),
                arguments=reading.mapping(found.get("arguments", {}), f"{path}.arguments"),
                result=None if result is None else reading.text(result, f"{path}.result", empty=True),
                secrets=texts(found.get("secrets"), f"{path}.secrets"),
                extra=_without_blank_result(reading.rest(found, ("kind", "name", "arguments"), ("result", "secrets"))),
            )
        case _:
            raise reading.invalid(f"{path}.kind", f"'{path}.kind' has to be one of {', '.join(KINDS)}.")


def element_to_json(element: Element) -> dict[str, Json]:
    """The document of ``element``; what it leaves open is left out."""
    document: dict[str, Json] = {**element.extra, "name": element.name}
    for name, attribute in _TEXTS:
        value: str = getattr(element, attribute)
        if value:
            document[name] = value
    if element.rel_x is not None:
        document["relX"] = element.rel_x
    if element.rel_y is not None:
        document["relY"] = element.rel_y
    return document


def element_from_json(value: Json, path: str) -> Element:
    """The element in ``value``.

    Raises:
        InvalidArgument: it is malformed.
    """
    found = reading.mapping(value, path)
    name = found.get("name")
    if name is None:
        raise reading.missing(f"{path}.name")
    labels = {
        attribute: reading.optional_text(found.get(field), f"{path}.{field}", most=LABEL_CHARS_MAX)
        for field, attribute in _TEXTS
    }
    x, y = (
        None if found.get(field) is None else reading.number(found[field], f"{path}.{field}") for field in _POSITION
    )
    return Element(
        name=reading.text(name, f"{path}.name", most=LABEL_CHARS_MAX, empty=True),
        rel_x=x,
        rel_y=y,
        extra=reading.rest(found, ("name",), (*(field for field, _ in _TEXTS), *_POSITION)),
        **labels,
    )


def title(value: Json, path: str) -> str:
    """``value`` as the name that a person gave: one line, not blank.

    Raises:
        InvalidArgument: it is none.
    """
    name = one_line(reading.text(value, path, most=reading.NAME_CHARS_MAX))
    if not name:
        raise reading.missing(path)
    return name


def texts(value: Json, path: str) -> tuple[str, ...]:
    """``value`` as strings; none where it is absent.

    Raises:
        InvalidArgument: it is something else.
    """
    found = [] if value is None else reading.items(value, path)
    return tuple(reading.text(entry, f"{path}[{at}]", empty=True) for at, entry in enumerate(found))


def arguments(value: Json, path: str) -> tuple[str, ...]:
    """``value`` as a program's arguments; numbers become strings.

    Raises:
        InvalidArgument: it is something else.
    """
    found = [] if value is None else reading.items(value, path, ARGS_MAX)
    return tuple(_argument(entry, f"{path}[{at}]") for at, entry in enumerate(found))


def screenshot_name(value: Json, path: str) -> str | None:
    """``value`` as the name of a picture's file; None where it is absent.

    Raises:
        InvalidArgument: it is no such name: a path, for one.
    """
    if value is None or value == "":
        return None
    name = reading.text(value, path)
    if not _SCREENSHOT.match(name):
        raise reading.invalid(
            path, f"'{path}' has to have 1 to 128 of the characters A-Z a-z 0-9 . _ -, and no dot first."
        )
    return name


def step_id(value: Json, path: str) -> str:
    """``value`` as a step's id.

    Raises:
        InvalidArgument: it is none.
    """
    return reading.text(value, path, most=STEP_ID_CHARS_MAX)


def _steps(value: Json, path: str) -> tuple[RecordedStep, ...]:
    steps: list[RecordedStep] = []
    ids: set[str] = set()
    for at, entry in enumerate(reading.items(value, path, STEPS_MAX)):
        step = _step_from_json(entry, f"{path}[{at}]")
        if step.id in ids:
            raise reading.invalid(f"{path}[{at}].id", f"'{path}[{at}].id' is that of an earlier step.")
        ids.add(step.id)
        steps.append(step)
    return tuple(steps)


def _step_from_json(value: Json, path: str) -> RecordedStep:
    found = reading.mapping(value, path)
    at_ms = found.get("atMs")
    return RecordedStep(
        id=step_id(found.get("id"), f"{path}.id"),
        at_ms=0 if at_ms is None else int(_not_negative(reading.number(at_ms, f"{path}.atMs"), f"{path}.atMs")),
        action=action_from_json(found.get("action"), f"{path}.action"),
        screenshot=screenshot_name(found.get("screenshot"), f"{path}.screenshot"),
        extra=reading.rest(found, ("id", "atMs", "action"), ("screenshot",)),
    )


def _step_to_json(step: RecordedStep) -> Json:
    document: dict[str, Json] = {
        **step.extra,
        "id": step.id,
        "atMs": step.at_ms,
        "action": action_to_json(step.action),
    }
    if step.screenshot is not None:
        document["screenshot"] = step.screenshot
    return document


def _keys_from_json(found: dict[str, Json], path: str) -> Keys:
    secret = _secret(found, path)
    target = found.get("target")
    keys = reading.text(found.get("keys"), f"{path}.keys", empty=True)
    # one blank is the space key; none at all are keys that were blanked
    if not keys and not secret:
        raise reading.missing(f"{path}.keys")
    return Keys(
        keys=keys,
        target=None if target is None else element_from_json(target, f"{path}.target"),
        secret=secret,
        extra=reading.rest(found, ("kind", "keys"), ("target", "secret")),
    )


def _secret(found: Mapping[str, Json], path: str) -> bool:
    """Whether the recorder says that this is a secret: by anything that is true to it, so that no doubt keeps one."""
    value = found.get("secret")
    if isinstance(value, str):
        return value.strip().lower() not in ("", "false", "no", "0")
    if isinstance(value, dict | list):
        raise reading.invalid(f"{path}.secret", f"'{path}.secret' has to be true or false.")
    return bool(value)


def _argument(value: Json, path: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return reading.text(value, path, empty=True)


def _not_negative(value: float, path: str) -> float:
    if not 0 <= value <= _AT_MS_MAX:
        raise reading.invalid(path, f"'{path}' has to be milliseconds since the episode began.", Reason.OUT_OF_RANGE)
    return value


def _without_blank_result(extra: dict[str, Json]) -> dict[str, Json]:
    """An empty result is a result, so it is written as one."""
    return {name: value for name, value in extra.items() if name != "result" or value is None}
