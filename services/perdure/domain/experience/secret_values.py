"""Secrets that are known by their value: what was one in one place is blanked wherever else an episode has it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from perdure.domain.experience.commands import KIND, MARK
from perdure.domain.experience.episode import Action, Click, Element, Episode, Json, Keys, SetValue, ToolCall
from perdure.domain.experience.secret_fields import spelled

_EQUAL_MIN = 4
"""Secrets at least so long are blanked where they are a whole string elsewhere; shorter ones may be anything."""

_INSIDE_MIN = 6
"""Secrets at least so long are blanked inside other text as well, where they stand as a word; a number from 4 on."""

MARKS = re.compile(r"\[redacted:[a-z0-9_]+\]")


class Elsewhere:
    """Blanks values that were secrets in one place wherever else they stand."""

    def __init__(self, values: Iterable[str]) -> None:
        known = {stripped for value in values if len(stripped := value.strip()) >= _EQUAL_MIN}
        known = {value for value in known if not MARKS.search(value)}
        self.kinds: list[str] = []
        self._equal = frozenset(known)
        inside = sorted((value for value in known if _may_be_inside(value)), key=len, reverse=True)
        # ASCII: in Chinese no blank divides a value from what is said of it
        self._inside = tuple(re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.ASCII) for value in inside)
        self._texts = tuple(inside)

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
                arguments = {name: self._json(value) for name, value in action.arguments.items()}
                result = None if action.result is None else self._text(action.result)
                return replace(action, arguments=arguments, result=result, extra=extra)
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
        return {self._text(name): self._json(value) for name, value in found.items()}

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
        if not text:
            return text
        if text.strip() in self._equal:
            self.kinds.append(KIND)
            return MARK
        for value, pattern in zip(self._texts, self._inside, strict=True):
            if value in text:
                clean = pattern.sub(MARK, text)
                if clean != text:
                    self.kinds.append(KIND)
                    text = clean
        return text


def _may_be_inside(value: str) -> bool:
    return len(value) >= _INSIDE_MIN or value.isdigit()
