"""Sixty procedures in our own words, what people ask when they need one, and five hundred memories in the way.

The memories speak of the same programs, screens and tasks and tell how none is done; they are made from a seed, and the
English set's stand among them.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime

from perdure.domain.experience.episode import Element
from perdure.domain.experience.skill import (
    DoClick,
    DoKeys,
    DoSetValue,
    DoToolCall,
    FromParam,
    Literal,
    Skill,
    SkillAction,
    SkillId,
    SkillParam,
    SkillStep,
)
from quality.datasets import DATA, load_recall_set

MEMORIES = 500
SEED = 20261201
AT = datetime(2026, 11, 30, tzinfo=UTC)

_PEOPLE = ("Ada", "Bruno", "Chen", "Dana", "Emil", "Farida", "Goran", "Hana", "Ines", "Jonas")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "the last day of March", "the second of May")
_TEAMS = ("finance", "the office in Graz", "operations", "support", "the founders", "the night shift")
_SAYINGS = (
    "On {day} {person} had to {task} twice, because {program} lost the first try.",
    "We decided that only {team} may {task}.",
    "{person} knows {program} best; ask before its settings are changed.",
    "The screen {window} of {program} shows yesterday's figures until nine in the morning.",
    "{person} thinks it takes too long to {task}; {team} will look at it by {day}.",
    "{program} was down on {day}, so nobody could {task}.",
)


@dataclass(frozen=True)
class Sample:
    """A procedure and its questions: ``asked`` measure, ``dev`` is what constants are chosen on.

    ``steps``: ``click X``, ``set X``, ``keys X`` or ``tool X``; with ``!`` in front it needs an approval.
    """

    id: str
    name: str
    program: str
    window: str
    steps: tuple[str, ...]
    dev: tuple[str, ...]
    asked: tuple[str, ...]


def load_procedures() -> tuple[Sample, ...]:
    """All of them, in the file's order."""
    lines = (DATA / "procedures.jsonl").read_text("utf-8").splitlines()
    return tuple(
        Sample(
            id=raw["id"],
            name=raw["name"],
            program=raw["program"],
            window=raw["window"],
            steps=tuple(raw["steps"]),
            dev=tuple(raw["dev"]),
            asked=tuple(raw["ask"]),
        )
        for raw in map(json.loads, lines)
    )


def bystanders(samples: tuple[Sample, ...]) -> tuple[str, ...]:
    """``MEMORIES`` statements about the same world, none of which says how a task is done."""
    picks = random.Random(SEED)
    texts = [memory.content for memory in load_recall_set("en").memories]
    said = set(texts)
    while len(texts) < MEMORIES:
        sample = picks.choice(samples)
        text = picks.choice(_SAYINGS).format(
            person=picks.choice(_PEOPLE),
            day=picks.choice(_DAYS),
            team=picks.choice(_TEAMS),
            task=sample.name[0].lower() + sample.name[1:],
            program=sample.program.removesuffix(".exe"),
            window=sample.window,
        )
        if text not in said:
            said.add(text)
            texts.append(text)
    return tuple(texts)


def skill_of(sample: Sample) -> Skill:
    """The sample as compiling would make it; values come from parameters."""
    params = []
    steps = []
    for number, said in enumerate(sample.steps, start=1):
        verb, _, what = said.removeprefix("!").partition(" ")
        target = Element(name=what, window_title=sample.window)
        action: SkillAction
        if verb == "set":
            name = what.lower().replace(" ", "_")
            params.append(SkillParam(name=name, label=what))
            action = DoSetValue(target=target, value=FromParam(name))
        elif verb == "keys":
            action = DoKeys(keys=Literal(what), target=Element(name=sample.window))
        else:
            action = DoToolCall(name=what) if verb == "tool" else DoClick(target=target)
        steps.append(SkillStep(id=f"s{number}", action=action, requires_approval=said.startswith("!")))
    return Skill(
        id=SkillId(sample.id),
        name=sample.name,
        program=sample.program,
        created_at=AT,
        params=tuple(params),
        steps=tuple(steps),
    )
