"""A recorded demonstration: what somebody did, step by step. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType

EpisodeId = NewType("EpisodeId", str)

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""A value of JSON; inside a frozen value it is never changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """Something on a screen. ``rel_x``, ``rel_y``: from the window's top-left corner, where a replay finds no better.

    ``control_type`` as the recorder says it ('Button', 'Edit', 'MenuItem', …). ``extra`` here and below: fields that
    Perdure does not know, kept as they came.
    """

    name: str
    automation_id: str = ""
    control_type: str = ""
    class_name: str = ""
    window_title: str = ""
    process_name: str = ""
    rel_x: float | None = None
    rel_y: float | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What a person would call it."""
        return self.name or self.automation_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """A press on an element."""

    target: Element
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetValue:
    """A value typed into an element; blank where it is a ``secret``."""

    target: Element
    value: str
    secret: bool = False
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """Keys pressed; blank where they are a ``secret``."""

    keys: str
    target: Element | None = None
    secret: bool = False
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool that an agent called. ``secrets``: names of arguments whose values were blanked."""

    name: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    result: str | None = None
    secrets: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


Action = Click | SetValue | Keys | ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """One step. ``at_ms``: milliseconds since the episode began, >= 0. ``screenshot``: a file's name in the episode."""

    id: str
    at_ms: int
    action: Action
    screenshot: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A demonstration in ``program``. Times are aware UTC. ``redacted``: kinds of secrets that were blanked."""

    id: EpisodeId
    name: str
    program: str
    started_at: datetime
    args: tuple[str, ...] = ()
    ended_at: datetime | None = None
    steps: tuple[RecordedStep, ...] = ()
    redacted: tuple[str, ...] = ()
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Screenshot:
    """A picture of an episode: its name, content hash (sha256, hex), media type and size."""

    name: str
    sha256: str
    media_type: str
    bytes: int
