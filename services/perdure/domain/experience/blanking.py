"""A demonstration without its secrets, before anything of it is written.

A secret is known by the recorder's flag, by what its field, option or argument is called, by the control that hides it,
by its form (``domain.secrets``), or because the same value was a secret elsewhere in the episode. A value that was
typed is blanked and its step marked secret; in other text, be it encoded or escaped, and in names of tools and of
arguments a mark stands in its place; an id that holds one is refused. Keys typed into such a field become one blank
step, so that not even their number stays. Pictures are not looked into.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from perdure.domain.experience.commands import KIND, MARK, clean_arguments, clean_text
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
from perdure.domain.experience.keystrokes import typed
from perdure.domain.experience.secret_fields import bare_name, is_secret_field, joined, runs_of, typed_secrets
from perdure.domain.experience.secret_labels import MARKS, is_secret_label, is_secret_name
from perdure.domain.experience.secret_values import Elsewhere, renamed

FLAGGED = "secret"
"""The kind of what the recorder itself called a secret."""

_VALUES = frozenset(
    {"value", "text", "content", "contents", "input", "data", "keys", "typed", "string"}
    | {"newvalue", "oldvalue", "currentvalue", "valuetext"}
)
_DESCRIBING = [
    "element",
    "name",
    "label",
    "field",
    "target",
    "selector",
    "locator",
    "placeholder",
    "id",
    "key",
    "title",
    "ref",
    "description",
    "arialabel",
    "variable",
    "option",
    "property",
    "attribute",
    "header",
]


def blanked(episode: Episode, path: str = "episode") -> Episode:
    """``episode`` without secrets; ``redacted`` names their kinds, those it had before included. Idempotent.

    Raises:
        InvalidArgument: an id or a picture's name holds one of them (FIELD_INVALID); ``details["field"]`` begins with
            ``path``.
    """
    work = _Blanking()
    first = work.episode(episode)
    again = Elsewhere(work.values)
    again.refuse_ids(first, path)
    clean = again.episode(first)
    kinds = dict.fromkeys((*clean.redacted, *work.kinds, *again.kinds))
    return replace(clean, steps=joined(clean.steps), redacted=tuple(kinds))


def is_blank(value: Json) -> bool:
    """Whether a secret stood anywhere in ``value``."""
    if isinstance(value, dict):
        return any(map(is_blank, value.values()))
    if isinstance(value, list):
        return any(map(is_blank, value))
    return isinstance(value, str) and MARKS.search(value) is not None


# ------------------------------------------------------------------ the first pass: each secret in its place


@dataclass(slots=True)
class _Blanking:
    """Blanks what shows itself to be a secret, and remembers the values."""

    kinds: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    # most texts of an episode come again: windows, buttons
    _harmless: set[str] = field(default_factory=set)

    def episode(self, episode: Episode) -> Episode:
        args, kinds, values = clean_arguments(episode.program, episode.args)
        self._found(kinds, values)
        return replace(
            episode,
            name=self._prose(episode.name),
            program=self._prose(episode.program),
            args=args,
            steps=self._steps(episode.steps),
            redacted=tuple(map(self._prose, episode.redacted)),
            extra=self._mapping(episode.extra),
        )

    def _steps(self, steps: Sequence[RecordedStep]) -> tuple[RecordedStep, ...]:
        secret = typed_secrets(steps)
        for run in runs_of(steps):
            text = "".join(char for _, char in run)
            if all(at in secret for at, _ in run):
                self.values.append(text)
            elif len({at for at, _ in run}) > 1:
                # typed key by key, it shows itself only as a whole; the second pass finds the keys
                self.values.extend(clean_text(text).values)
        return tuple(
            replace(step, action=self._action(step.action, at in secret), extra=self._mapping(step.extra))
            for at, step in enumerate(steps)
        )

    def _action(self, action: Action, typed_secret: bool) -> Action:
        match action:
            case Click(target=target):
                return replace(
                    action, target=self._element(target), extra=self._mapping(action.extra, is_secret_field(target))
                )
            case SetValue():
                return self._set_value(action)
            case Keys():
                return self._keys(action, typed_secret)
            case ToolCall():
                return self._tool_call(action)
            case _:
                assert_never(action)

    def _set_value(self, action: SetValue) -> SetValue:
        recognised = is_secret_field(action.target)
        target = self._element(action.target, action.secret)
        if action.secret or recognised:
            self._found((FLAGGED if action.secret and not recognised else KIND,), (action.value,))
            return replace(action, target=target, value="", secret=True, extra=self._mapping(action.extra, True))
        clean = clean_text(action.value)
        extra = self._mapping(action.extra)
        if not clean.kinds:
            return replace(action, target=target, extra=extra)
        self._found(clean.kinds, clean.values)
        if MARKS.sub("", clean.text).strip():
            return replace(action, target=target, value=clean.text, extra=extra)
        return replace(action, target=target, value="", secret=True, extra=self._mapping(action.extra, True))

    def _keys(self, action: Keys, typed_secret: bool) -> Keys:
        target = None if action.target is None else self._element(action.target, action.secret)
        if typed_secret or action.secret:
            if action.keys:
                self._found((FLAGGED if action.secret else KIND,), (typed(action.keys) or "",))
            return replace(action, target=target, keys="", secret=True, extra=self._mapping(action.extra, True))
        clean = clean_text(action.keys)
        extra = self._mapping(action.extra)
        if not clean.kinds:
            return replace(action, target=target, extra=extra)
        self._found(clean.kinds, clean.values)
        return replace(action, target=target, keys="", secret=True, extra=extra)

    def _tool_call(self, action: ToolCall) -> ToolCall:
        names = renamed((*action.arguments, *action.secrets), self._prose)
        secrets = dict.fromkeys(names[name] for name in action.secrets)
        arguments: dict[str, Json] = {}
        told = _described_secrets(action.arguments)
        for name, value in action.arguments.items():
            secret = name in action.secrets or name in told or is_secret_label(name)
            if secret and _holds(value):
                arguments[names[name]] = self._blank(value, "")
                secrets[names[name]] = None
            else:
                arguments[names[name]] = self._json(value)
        result = action.result
        return replace(
            action,
            name=self._prose(action.name),
            arguments=arguments,
            result=None if result is None else self._prose(result),
            secrets=tuple(secrets),
            extra=self._mapping(action.extra),
        )

    def _element(self, element: Element, secret: bool = False) -> Element:
        hidden = secret or is_secret_field(element)
        return replace(
            element,
            name=self._prose(element.name),
            automation_id=self._prose(element.automation_id),
            class_name=self._prose(element.class_name),
            control_type=self._prose(element.control_type),
            window_title=self._prose(element.window_title),
            process_name=self._prose(element.process_name),
            extra=self._mapping(element.extra, hidden),
        )

    def _mapping(self, found: Mapping[str, Json], secret: bool = False) -> dict[str, Json]:
        """The fields without secrets; where they belong to a ``secret``, without what may be its value."""
        told = _described_secrets(found)
        names = renamed(found, self._prose)
        clean: dict[str, Json] = {}
        for name, value in found.items():
            hidden = (secret and bare_name(name) in _VALUES) or name in told or is_secret_label(name)
            clean[names[name]] = self._blank(value) if hidden and _holds(value) else self._json(value)
        return clean

    def _json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list):
            return self._list(value)
        return value

    def _list(self, values: list[Json]) -> list[Json]:
        if values and all(isinstance(value, str) for value in values):
            texts = [str(value) for value in values]
            program = texts[0] if not texts[0].startswith("-") else ""
            args, kinds, found = clean_arguments(program, texts)
            self._found(kinds, found)
            return list(args)
        return [self._json(value) for value in values]

    def _blank(self, value: Json, mark: str = MARK) -> Json:
        """``mark`` in the place of each string and number in ``value``."""
        if isinstance(value, dict):
            names = renamed(value, self._prose)
            return {names[name]: self._blank(entry, mark) for name, entry in value.items()}
        if isinstance(value, list):
            return [self._blank(entry, mark) for entry in value]
        if isinstance(value, bool) or value is None or value in ("", mark):
            return value
        self._found((KIND,), (str(value),))
        return mark

    def _prose(self, text: str) -> str:
        if text in self._harmless:
            return text
        clean = clean_text(text, prose=True)
        if not clean.kinds:
            self._harmless.add(text)
        self._found(clean.kinds, clean.values)
        return clean.text

    def _text(self, text: str) -> str:
        clean = clean_text(text)
        self._found(clean.kinds, clean.values)
        return clean.text

    def _found(self, kinds: Iterable[str], values: Iterable[str]) -> None:
        self.kinds.extend(kinds)
        self.values.extend(values)


# ------------------------------------------------------------------ names


def _described_secrets(found: Mapping[str, Json]) -> frozenset[str]:
    """Fields that hold a secret because a field beside them says so: {"element": "Password", "text": …}."""
    if not any(
        isinstance(value, str) and is_secret_name(value)
        for name, value in found.items()
        if bare_name(name) in _DESCRIBING
    ):
        return frozenset()
    return frozenset(name for name in found if bare_name(name) in _VALUES)


def _holds(value: Json) -> bool:
    """Whether there is anything to blank: true and false are no secrets."""
    return value is not None and not isinstance(value, bool)
