"""A training in a real Perdure whose worker is killed in the middle of it."""

from __future__ import annotations

import hashlib
import urllib.parse
from datetime import UTC, datetime

import pytest

from perdure.domain.experience.learning import ItemKind, Procedure, TrainingStatus
from perdure.domain.experience.skill import Skill, SkillId
from perdure.domain.namespace import DEFAULT_NAMESPACE, Actor, Caller, Scope
from perdure.ports import ExperienceStore
from perdure.store import open_experience_store
from perdure.system import RandomIds, SystemClock
from perdure.usecases.start_training import StartTraining
from support.stack import Stack, running, wait_until

ME = Caller(namespace=DEFAULT_NAMESPACE, actor="local", scopes=frozenset({"read", "experience"}))


@pytest.mark.e2e
@pytest.mark.requirement("I5-M7")
def test_the_old_model_serves_while_the_worker_is_killed_and_another_finishes() -> None:
    with running(holdable=True, PERDURE_EMBEDDING_PROVIDER="test", PERDURE_EMBEDDING_TEST_DELAY_MS="200") as stack:
        for number in range(12):
            stack.call("POST", "/memories", {"content": f"Gate{number} is painted colour{number}.", "type": "fact"})
        store = open_experience_store(f"sqlite:///{stack.home / 'perdure.db'}", resident_bytes=0)
        try:
            start = StartTraining(store, SystemClock(), RandomIds())
            _teach(store, range(10))
            first = start(ME, wait_s=25)
            assert first.status is TrainingStatus.TRAINED
            _teach(store, range(10, 40))
            job = start(ME).job
            wait_until(lambda: start.report(ME, job).done > 0, what="the second training")
            stack.hold("worker")
            assert start.report(ME, job).status is TrainingStatus.RUNNING
            assert _model(stack) == first.version
            stack.release("worker")
            wait_until(
                lambda: start.report(ME, job).status not in (TrainingStatus.RUNNING, TrainingStatus.QUEUED),
                within_s=90,
                what="the end of the training",
            )
            ended = start.report(ME, job)
            assert ended.status is TrainingStatus.TRAINED
            assert ended.version != first.version
            assert _model(stack) == ended.version
        finally:
            store.close()


def _model(stack: Stack) -> str | None:
    query = urllib.parse.urlencode({"q": "gate3 colour3"})
    model: str | None = stack.call("GET", f"/memories/search?{query}").json.get("model")
    return model


def _teach(store: ExperienceStore, numbers: range) -> None:
    now = datetime.now(UTC)
    with store.experience(Scope(DEFAULT_NAMESPACE), Actor(name="test")) as unit:
        for number in numbers:
            name = f"Send thing{number} to place{number}"
            text = f"Task: {name} (desk.exe)\n1. Click “Open{number}” in “Window{number}”."
            unit.put_skill(
                Skill(id=SkillId(f"skill{number}"), name=name, program="desk.exe", created_at=now),
                Procedure(
                    kind=ItemKind.SKILL,
                    id=f"skill{number}",
                    name=name,
                    text=text,
                    sha256=hashlib.sha256(text.encode()).hexdigest(),
                    updated_at=now,
                ),
            )
