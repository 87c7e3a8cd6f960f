"""Secrets that are known by their value: what was one in one place is blanked wherever else an episode has it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from perdure.domain.experience.commands import KIND, MARK
from perdure.domain.experience.episode import Action, Click, Element, Episode, Json, Keys, SetValue, ToolCall
from perdure.domain.experience.secret_fields import spelled
from perdure.domain.experience.secret_forms import forms_of, is_strong
from perdure.domain.experience.secret_labels import MARKS
from perdure.errors import InvalidArgument, Reason

_EQUAL_MIN = 4
"""Secrets at least so long are blanked where they are a whole string elsewhere; shorter ones may be anything."""

_INSIDE_MIN = 6
"""Secrets at least so long are blanked inside other text as well, where they stand as a word; a number from 4 on."""

_GRAM = 4
_MANY = 400
"""With more forms than that a text is first asked which of them it can hold at all."""


class Elsewhere:
    """Blanks values that were secrets in one place wherever else they stand."""

    def __init__(self, values: Iterable[str]) -> None:
        known = {stripped for value in values if len(stripped := value.strip()) >= _EQUAL_MIN}
        known = {value for value in known if not MARKS.search(value)}
        self.kinds: list[str] = []
        self._equal = frozenset(known)
        forms = {form for value in known if _may_be_inside(value) for form in forms_of(value)}
        self._forms = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._grams: dict[str, list[int]] = {}
        if len(self._forms) > _MANY:
            for at, form in enumerate(self._forms):
                self._grams.setdefault(form[:_GRAM], []).append(at)
        self._harmless: set[str] = set()

    def refuse_ids(self, episode: Episode, path: str) -> None:
        """Pass where no id and no picture's name of ``episode`` holds one of the values: they stay as they are.

        Raises:
            InvalidArgument: one does (FIELD_INVALID); ``details["field"]`` says which, nothing says the value.
        """
        if self._holds(episode.id):
            raise _id_holds_secret(f"{path}.id")
        for at, step in enumerate(episode.steps):
            if self._holds(step.id):
                raise _id_holds_secret(f"{path}.steps[{at}].id")
            if step.screenshot is not None and self._holds(step.screenshot):
                raise _id_holds_secret(f"{path}.steps[{at}].screenshot")

    def episode(self, episode: Episode) -> Episode:
        """``episode`` without the values; ``kinds`` then says whether there were any."""
        if not self._equal:
            return episode
        by_key = spelled(episode.steps, self._equal)
        if by_key:
            self.kinds.append(KIND)
        return replace(
            episode,
            name=self._text(episode.name),
            program=self._text(episode.program),
            args=tuple(map(self._text, episode.args)),
            steps=tuple(
                replace(step, action=self._action(step.action, at in by_key), extra=self._mapping(step.extra))
                for at, step in enumerate(episode.steps)
            ),
            redacted=tuple(map(self._text, episode.redacted)),
            extra=self._mapping(episode.extra),
        )

    def _action(self, action: Action, by_key: bool) -> Action:
        extra = self._mapping(action.extra)
        match action:
            case Click():
                return replace(action, target=self._element(action.target), extra=extra)
            case SetValue():
                value = self._text(action.value)
                secret = action.secret or (value != action.value and not MARKS.sub("", value).strip())
                target = self._element(action.target)
                return replace(action, target=target, value="" if secret else value, secret=secret, extra=extra)
            case Keys():
                into = None if action.target is None else self._element(action.target)
                secret = action.secret or by_key or self._text(action.keys) != action.keys
                return replace(action, target=into, keys="" if secret else action.keys, secret=secret, extra=extra)
            case ToolCall():
                names = renamed((*action.arguments, *action.secrets), self._text)
                arguments = {names[name]: self._json(value) for name, value in action.arguments.items()}
                result = None if action.result is None else self._text(action.result)
                return replace(
                    action,
                    name=self._text(action.name),
                    arguments=arguments,
                    result=result,
                    secrets=tuple(names[name] for name in action.secrets),
                    extra=extra,
                )
            case _:
                assert_never(action)

    def _element(self, element: Element) -> Element:
        return replace(
            element,
            name=self._text(element.name),
            automation_id=self._text(element.automation_id),
            class_name=self._text(element.class_name),
            control_type=self._text(element.control_type),
            window_title=self._text(element.window_title),
            process_name=self._text(element.process_name),
            extra=self._mapping(element.extra),
        )

    def _mapping(self, found: Mapping[str, Json]) -> dict[str, Json]:
        names = renamed(found, self._text)
        return {names[name]: self._json(value) for name, value in found.items()}

    def _json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return self._mapping(value)
        if isinstance(value, list):
            return [self._json(entry) for entry in value]
        if isinstance(value, int | float) and not isinstance(value, bool) and str(value) in self._equal:
            self.kinds.append(KIND)
            return MARK
        return value

    def _text(self, text: str) -> str:
        if not text or text in self._harmless:
            return text
        if text.strip() in self._equal:
            self.kinds.append(KIND)
            return MARK
        clean = text
        for form in self._may_hold(text):
            if form in clean:
                clean = self._pattern(form).sub(MARK, clean)
        if clean == text:
            self._harmless.add(text)
        else:
            self.kinds.append(KIND)
        return clean

    def _holds(self, text: str) -> bool:
        return text.strip() in self._equal or any(
            form in text and self._pattern(form).search(text) for form in self._may_hold(text)
        )

    def _may_hold(self, text: str) -> tuple[str, ...]:
        """The forms that ``text`` can hold, the longest first."""
        if not self._grams:
            return self._forms
        grams = {text[at : at + _GRAM] for at in range(len(text) - _GRAM + 1)}
        places = sorted(place for gram in grams & self._grams.keys() for place in self._grams[gram])
        return tuple(self._forms[place] for place in places)

    def _pattern(self, form: str) -> re.Pattern[str]:
        found = self._patterns.get(form)
        if found is None:
            exact = re.escape(form)
            # ASCII: in Chinese no blank divides a value from what is said of it
            found = re.compile(exact if is_strong(form) else rf"(?<!\w){exact}(?!\w)", re.ASCII)
            self._patterns[form] = found
        return found


def renamed(names: Iterable[str], clean: Callable[[str], str]) -> dict[str, str]:
    """What each of ``names`` is called once it is ``clean``; no two the same: a second mark has a number after it."""
    after = {name: clean(name) for name in names}
    taken = {name for name, now in after.items() if now == name}
    for name, base in after.items():
        if base == name:
            continue
        now, number = base, 1
        while now in taken:
            number += 1
            now = f"{base} {number}"
        taken.add(now)
        after[name] = now
    return after


def _id_holds_secret(field: str) -> InvalidArgument:
    return InvalidArgument(
        f"'{field}' is an id that holds what was typed as a secret; give it another.",
        reason=Reason.FIELD_INVALID,
        details={"field": field},
    )


def _may_be_inside(value: str) -> bool:
    return len(value) >= _INSIDE_MIN or value.isdigit()
