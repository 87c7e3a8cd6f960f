"""Episodes, skills, runs and models for tests of the store."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

import numpy as np

from perdure.domain.experience.episode import (
    Click,
    Element,
    Episode,
    EpisodeId,
    Keys,
    RecordedStep,
    Screenshot,
    SetValue,
    ToolCall,
)
from perdure.domain.experience.learning import Adaptation, Adapter, ItemKind, Procedure
from perdure.domain.experience.run import RunStatus, RunTrigger, SkillRun, SkillRunId, StepLog, StepOutcome
from perdure.domain.experience.skill import (
    Daily,
    DoClick,
    DoKeys,
    DoSetValue,
    DoToolCall,
    FromParam,
    Literal,
    Routine,
    Skill,
    SkillId,
    SkillParam,
    SkillStep,
)
from support.store_samples import SPACE

START = datetime.fromisoformat("2026-03-01T12:00:00.123456+00:00")
AMOUNT = Element(name="Amount", automation_id="amt", control_type="Edit", window_title="Pay", rel_x=1.5, rel_y=2.0)


def episode(id_: str = "e1", *, name: str = "Pay a bill", after_s: float = 0, said: str = "12.50") -> Episode:
    """A demonstration with a step of each kind."""
    return Episode(
        id=EpisodeId(id_),
        name=name,
        program="bank.exe",
        args=("--safe", "Grüße"),
        started_at=START + timedelta(seconds=after_s),
        ended_at=START + timedelta(seconds=after_s + 60),
        steps=(
            RecordedStep(id="s1", at_ms=0, action=SetValue(target=AMOUNT, value=said), screenshot="one.png"),
            RecordedStep(id="s2", at_ms=10, action=SetValue(target=Element(name="PIN"), value="", secret=True)),
            RecordedStep(id="s3", at_ms=20, action=Keys(keys="enter", target=AMOUNT)),
            RecordedStep(id="s4", at_ms=30, action=Click(target=Element(name="支付"))),
            RecordedStep(
                id="s5",
                at_ms=40,
                action=ToolCall(name="ledger_add", arguments={"sum": 12.5, "tags": ["a", None]}, result="done"),
            ),
        ),
    )


def skill(
    id_: str = "k1",
    *,
    version: int = 1,
    source: str | None = "e1",
    after_s: float = 0,
    name: str = "Pay a bill",
    routine: Routine | None = None,
) -> Skill:
    """A procedure with a step of each kind."""
    return Skill(
        id=SkillId(id_),
        name=name,
        program="bank.exe",
        created_at=START + timedelta(seconds=after_s),
        compiled_at=START + timedelta(seconds=after_s + version),
        version=version,
        args=("--safe",),
        params=(
            SkillParam(name="amount", label="Amount", default="12.50"),
            SkillParam(name="pin", label="PIN", secret=True),
        ),
        steps=(
            SkillStep(id="s1", action=DoSetValue(target=AMOUNT, value=FromParam("amount"))),
            SkillStep(id="s2", action=DoSetValue(target=Element(name="PIN"), value=FromParam("pin"))),
            SkillStep(id="s3", action=DoKeys(keys=Literal("enter"), target=AMOUNT)),
            SkillStep(id="s4", action=DoClick(target=Element(name="支付")), requires_approval=True),
            SkillStep(id="s5", action=DoToolCall(name="ledger_add", arguments={"sum": Literal(12.5)})),
        ),
        source_episode=None if source is None else EpisodeId(source),
        routine=routine,
    )


def routine(*, last_run_at: datetime | None = None, enabled: bool = True) -> Routine:
    """A daily schedule."""
    return Routine(
        schedule=Daily(7, 30, "Europe/Berlin"),
        values={"amount": "3"},
        enabled=enabled,
        since=START,
        last_run_at=last_run_at,
    )


def procedure(kind: ItemKind, id_: str, text: str | None = None) -> Procedure:
    """The item as text."""
    text = f"Task: {id_} (bank)\n1. Click “Pay”." if text is None else text
    return Procedure(
        kind=kind,
        id=id_,
        name=id_,
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        updated_at=START,
    )


def of_episode(id_: str = "e1", text: str | None = None) -> Procedure:
    """The episode as text."""
    return procedure(ItemKind.EPISODE, id_, text)


def of_skill(id_: str = "k1", text: str | None = None) -> Procedure:
    """The skill as text."""
    return procedure(ItemKind.SKILL, id_, text)


def run(
    id_: str = "r1",
    *,
    skill_id: str = "k1",
    version: int = 1,
    status: RunStatus = RunStatus.RUNNING,
    after_s: float = 0,
    cost: float | None = None,
    steps: tuple[StepLog, ...] = (),
) -> SkillRun:
    """A run; ended a minute after its start where its status is an end."""
    started_at = START + timedelta(seconds=after_s)
    return SkillRun(
        id=SkillRunId(id_),
        skill_id=SkillId(skill_id),
        skill_version=version,
        skill_name="Pay a bill",
        trigger=RunTrigger.MANUAL,
        status=status,
        started_at=started_at,
        heard_at=started_at,
        ended_at=started_at + timedelta(seconds=60) if status.ended else None,
        cost=cost,
        steps=steps,
    )


def line(
    idx: int = 0, step_id: str = "s1", outcome: StepOutcome = StepOutcome.OK, detail: str | None = None
) -> StepLog:
    """A line of a trail."""
    return StepLog(
        idx=idx, step_id=step_id, outcome=outcome, at=START + timedelta(seconds=idx), detail=detail, actor="host-1"
    )


def picture(name: str = "one.png", content: bytes = b"picture") -> Screenshot:
    """What is known of a picture."""
    return Screenshot(name=name, sha256=hashlib.sha256(content).hexdigest(), media_type="image/png", bytes=len(content))


def adapter(number: int, *, space: str = SPACE, rank: int = 2, dimension: int = 16) -> Adapter:
    """A private model of its own numbers for each number."""
    rng = np.random.default_rng(number)
    return Adapter(
        version=f"{space}+exp{number}",
        number=number,
        space=space,
        down=rng.normal(size=(rank, dimension)).astype(np.float32),
        up=rng.normal(size=(dimension, rank)).astype(np.float32),
    )


def adaptation(number: int, learned: tuple[str, ...] = (), *, space: str = SPACE) -> Adaptation:
    """A training that was kept."""
    return Adaptation(
        number=number,
        version=f"{space}+exp{number}",
        at=START + timedelta(seconds=number),
        learned=learned,
        passes=3,
        loss=0.25,
        pairs=40,
        recall_before=0.5,
        recall_after=0.75,
        replay_after=None,
    )
