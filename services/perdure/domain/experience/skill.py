"""A procedure compiled from a demonstration, and when it is to run. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType

from perdure.domain.experience.episode import Element, EpisodeId, Json

SkillId = NewType("SkillId", str)


@dataclass(frozen=True, slots=True)
class FromParam:
    """A value that whoever runs the skill brings along, by the parameter's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that is always the same."""

    value: Json


Value = FromParam | Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class DoClick:
    """Press an element."""

    target: Element


@dataclass(frozen=True, slots=True, kw_only=True)
class DoSetValue:
    """Type a value into an element."""

    target: Element
    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class DoKeys:
    """Press keys; a secret's come from a parameter."""

    keys: Value
    target: Element | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DoToolCall:
    """Call a tool, with one value an argument."""

    name: str
    arguments: Mapping[str, Value] = field(default_factory=dict)


SkillAction = DoClick | DoSetValue | DoKeys | DoToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillParam:
    """What a run needs to be told. ``default`` is None for a secret, always."""

    name: str
    label: str
    default: Json = None
    secret: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillStep:
    """One step. ``requires_approval``: it cannot be taken back, so a person says yes first."""

    id: str
    action: SkillAction
    requires_approval: bool = False
    screenshot: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EveryMinutes:
    """Every ``minutes``, 1 to 10080."""

    minutes: int


@dataclass(frozen=True, slots=True)
class Daily:
    """Every day at ``hour``:``minute`` of the IANA time zone ``zone``; None is the asker's own offset."""

    hour: int
    minute: int
    zone: str | None = None


@dataclass(frozen=True, slots=True)
class Cron:
    """When the five fields of ``expression`` say so, in the IANA time zone ``zone``."""

    expression: str
    zone: str = "UTC"


Schedule = EveryMinutes | Daily | Cron


@dataclass(frozen=True, slots=True, kw_only=True)
class Routine:
    """A skill's schedule. ``values`` never hold a secret.

    ``since``: when it was set; what was due before is not made up for. ``lease_holder`` runs it until ``lease_until``.
    """

    schedule: Schedule
    values: Mapping[str, str] = field(default_factory=dict)
    enabled: bool = True
    since: datetime | None = None
    last_run_at: datetime | None = None
    due_at: datetime | None = None
    lease_holder: str | None = None
    lease_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A procedure. ``version`` counts from 1; compiling its episode again makes the next one of the same skill."""

    id: SkillId
    name: str
    program: str
    created_at: datetime
    version: int = 1
    compiled_at: datetime | None = None
    args: tuple[str, ...] = ()
    params: tuple[SkillParam, ...] = ()
    steps: tuple[SkillStep, ...] = ()
    source_episode: EpisodeId | None = None
    routine: Routine | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What a person changes while compiling.

    ``name`` None keeps the episode's. ``removed`` and ``fixed``: ids of steps left out, and of steps whose values stay
    literal (also ``<step id>.<argument>`` of a tool call). ``approvals`` and ``param_names`` by step id (or the same).
    """

    name: str | None = None
    removed: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    approvals: Mapping[str, bool] = field(default_factory=dict)
    param_names: Mapping[str, str] = field(default_factory=dict)
