"""Experience over a real SQLite file: the use cases, one call at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from perdure.domain.experience import documents
from perdure.domain.experience.episode import Episode, EpisodeId
from perdure.domain.experience.run import RunTrigger, SkillRun
from perdure.domain.experience.skill import Edits, Routine, Skill
from perdure.domain.namespace import DEFAULT_NAMESPACE, Caller, NamespaceName, TokenScope
from perdure.store.files import FileScreenshots
from perdure.store.sqlite import SqliteStore
from perdure.usecases.experience_episodes import Episodes
from perdure.usecases.experience_runs import Runs
from perdure.usecases.experience_skills import Skills
from support.clocks import BEGIN, FakeClock, SequentialIds

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 16


def click(name: str, **fields: Any) -> dict[str, Any]:
    """A click on an element of that name."""
    return {"kind": "click", "target": {"name": name, **fields}}


def typed(name: str, value: str, *, secret: bool | None = None, **fields: Any) -> dict[str, Any]:
    """A value typed into an element of that name."""
    action: dict[str, Any] = {"kind": "setValue", "target": {"name": name, **fields}, "value": value}
    return action if secret is None else {**action, "secret": secret}


def keys(pressed: str, target: str | None = None, **fields: Any) -> dict[str, Any]:
    """Keys pressed, into an element of that name."""
    action: dict[str, Any] = {"kind": "keys", "keys": pressed}
    return action if target is None else {**action, "target": {"name": target, **fields}}


def tool(name: str, result: str | None = None, **arguments: Any) -> dict[str, Any]:
    """A call of a tool."""
    action: dict[str, Any] = {"kind": "tool", "name": name, "arguments": arguments}
    return action if result is None else {**action, "result": result}


def document(actions: Sequence[Mapping[str, Any]], id_: str = "e1", **fields: Any) -> dict[str, Any]:
    """An episode's document; its steps are s1, s2, …"""
    steps: list[Any] = [
        {"id": f"s{number}", "atMs": number * 100, "action": dict(action)}
        for number, action in enumerate(actions, start=1)
    ]
    return {
        "id": id_,
        "name": "Pay a bill",
        "program": "C:\\Bank\\bank.exe",
        "startedAt": 1_772_000_000_000,
        "steps": steps,
        **fields,
    }


def episode(actions: Sequence[Mapping[str, Any]], id_: str = "e1", **fields: Any) -> Episode:
    """The episode of ``document``."""
    return documents.episode_from_json(document(actions, id_, **fields), now=BEGIN)


PAY = (
    typed("Amount", "12.50"),
    typed("Amount", "3.00"),
    typed("Password", "tiger-77", secret=True),
    click("Pay now"),
)


class ExperienceWorld:
    """The use cases of episodes, skills and runs."""

    def __init__(self, folder: Path) -> None:
        self.clock = FakeClock()
        self.ids = SequentialIds()
        self.path = folder / "store.db"
        self.store = self.another_store(create=True)
        self.files = FileScreenshots(folder / "episodes")
        self.me = caller()
        self.episodes = Episodes(self.store, self.files, self.clock, self.ids)
        self.skills = Skills(self.store, self.clock, self.ids)
        self.runs = Runs(self.store, self.clock, self.ids)

    def another_store(self, *, create: bool = False) -> SqliteStore:
        """The same file, as another process opens it."""
        return SqliteStore(self.path, create=create, resident_bytes=0, resident_min_rows=256, clock=self.clock)

    def record(self, actions: Sequence[Mapping[str, Any]] = PAY, id_: str = "e1", **fields: Any) -> Episode:
        """Saves an episode."""
        return self.episodes.save(self.me, episode(actions, id_, **fields))

    def compile(self, actions: Sequence[Mapping[str, Any]] = PAY, edits: Edits | None = None, id_: str = "e1") -> Skill:
        """Saves an episode and compiles it."""
        self.record(actions, id_)
        return self.skills.compile(self.me, EpisodeId(id_), edits or Edits())

    def start(self, skill: Skill, trigger: RunTrigger = RunTrigger.MANUAL, **said: Any) -> SkillRun:
        """Begins a run."""
        return self.runs.start(self.me, skill.id, trigger, **said)

    def schedule(self, skill: Skill, routine: Routine) -> Skill:
        """Gives the skill its routine."""
        return self.skills.schedule(self.me, skill.id, routine)

    def close(self) -> None:
        self.store.close()


def caller(*scopes: TokenScope, namespace: NamespaceName = DEFAULT_NAMESPACE) -> Caller:
    """Somebody who may use experience, or who holds just ``scopes``."""
    return Caller(
        namespace=namespace, actor="tok1", scopes=frozenset(one.value for one in scopes or (TokenScope.EXPERIENCE,))
    )
