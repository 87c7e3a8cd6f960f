"""``db check`` and ``db repair`` on experience. SQLite only: why, in test_experience.py."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from perdure.domain.experience.episode import EpisodeId
from perdure.domain.experience.learning import ItemKind, UsedQuery
from perdure.domain.experience.run import SkillRunId
from perdure.domain.experience.skill import SkillId
from perdure.domain.experience.wording import procedure_of
from perdure.ports import ExperienceStore, ProcedureVector
from perdure.store import open_experience_store
from support.store_samples import ACTOR, HERE, SPACE, START, SetClock, memory, vector
from support.stored_experience import (
    adaptation,
    adapter,
    episode,
    line,
    of_episode,
    of_skill,
    picture,
    routine,
    run,
    skill,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path, clock: SetClock) -> Iterator[ExperienceStore]:
    opened = open_experience_store(f"sqlite:///{path}", clock=clock)
    one = memory()
    with opened.experience(HERE, ACTOR) as unit:
        unit.add(one, vector=vector(1), space=SPACE)
        for id_ in ("e1", "e2"):
            unit.put_episode(episode(id_), of_episode(id_))
        unit.put_screenshot(EpisodeId("e1"), picture())
        unit.put_skill(skill(routine=routine()), of_skill())
        unit.put_skill(skill(version=2), of_skill())
        unit.put_run(run())
        unit.append_step(SkillRunId("r1"), line())
        unit.set_procedure_vectors(
            SPACE,
            [ProcedureVector(kind=ItemKind.SKILL, id="k1", chunk=0, sha256=of_skill().sha256, vector=vector(2))],
        )
        unit.note_queries([UsedQuery(vector=vector(3), space=SPACE, memory=one.id, at=START)], keep=9)
        unit.learn(adapter(1), adaptation(1, ("k1",)), [(ItemKind.SKILL, "k1", of_skill().sha256)])
    yield opened
    opened.close()


def _damage(path: Path, sql: str) -> None:
    """What a bug or a bad disk might do; no rule of the schema stands in its way but those of a single row."""
    db: Any = apsw.Connection(str(path))
    db.execute("PRAGMA foreign_keys = OFF")
    db.execute(sql)
    db.close()


def _findings(store: ExperienceStore) -> dict[str, int]:
    return {one.problem: one.count for one in store.check().findings if one.part == "experience"}


ORPHANS = (
    ("DELETE FROM episode WHERE id = 'e1'", "screenshot: points to nothing"),
    ("DELETE FROM skill", "skill_version: points to nothing"),
    ("DELETE FROM skill", "routine: points to nothing"),
    ("DELETE FROM skill_run", "skill_run_step: points to nothing"),
    ("DELETE FROM procedure WHERE kind = 'skill'; DELETE FROM skill", "procedure_vector: points to nothing"),
    (
        "DELETE FROM used_query; INSERT INTO used_query VALUES (1, 1, 's', 99, 0, x'00000000')",
        "used_query: points to nothing",
    ),
)
WRONG = (
    ("DELETE FROM procedure WHERE kind = 'episode'", "an episode or a skill has no text"),
    ("DELETE FROM procedure", "an episode or a skill has no text"),
    ("UPDATE screenshot SET namespace = 9", "a picture's namespace is not its episode's"),
    ("UPDATE routine SET namespace = 9", "a routine's namespace is not its skill's"),
    ("UPDATE used_query SET namespace = 9", "a used question's namespace is not its memory's"),
    ("UPDATE skill SET version = 3", "a skill's newest version is not there"),
    ("DELETE FROM episode WHERE id = 'e2'", "a text belongs to no episode or skill"),
    ("UPDATE learned SET id = 'k9'", "what was learned belongs to no episode or skill"),
    ("UPDATE learned SET number = 2", "learned by a model that is not there"),
    ("DELETE FROM adapter", "learned by a model that is not there"),
    ("DELETE FROM adapter", "a training led to a model that is not there"),
    ("UPDATE procedure_vector SET e = x'0000803f0000803f'", "a procedure's vector is not of length 1 or 0"),
    ("UPDATE procedure_vector SET e = x'00'", "a procedure's vector is not of length 1 or 0"),
    ("UPDATE used_query SET e = x'0000c07f'", "a used question's vector is not of length 1 or 0"),
)
LOST = (
    ("UPDATE episode SET document = '{}' WHERE id = 'e1'", "an episode cannot be read"),
    ("UPDATE skill_version SET document = '[]' WHERE version = 1", "a version of a skill cannot be read"),
    ("UPDATE routine SET schedule = '{}'", "a routine cannot be read"),
    ("UPDATE adapter SET up = CAST(zeroblob(124) || x'0000c07f' AS BLOB)", "a model's weights are not numbers"),
)


def test_a_sound_store_is_clean(store: ExperienceStore) -> None:
    assert store.check().findings == ()
    assert store.repair().findings == ()
    with store.experience_view(HERE) as reader:
        assert len(reader.versions(SkillId("k1"))) == 2
        assert len(reader.procedures()) == 2
        assert len(reader.procedure_vectors(SPACE)) == len(reader.used_queries(SPACE, 9)) == 1
        assert reader.adapter_number(SPACE) == 1
        kept = reader.skill_run(SkillRunId("r1"))
        assert kept is not None
        assert kept.steps == (line(),)


@pytest.mark.parametrize(("sql", "problem"), [*ORPHANS, *WRONG])
def test_what_belongs_to_nothing_or_is_wrong_is_found_and_repaired(
    store: ExperienceStore, path: Path, sql: str, problem: str
) -> None:
    _damage(path, sql)
    assert problem in _findings(store)
    assert store.repair().findings == ()


def test_a_text_that_is_gone_is_made_anew_from_its_document(store: ExperienceStore, path: Path) -> None:
    _damage(path, "DELETE FROM procedure")
    store.repair()
    with store.experience_view(HERE) as reader:
        made = [replace(one, learned_in=None) for one in reader.procedures()]
    assert made == [procedure_of(skill(version=2)), procedure_of(episode("e2"))]


@pytest.mark.parametrize(("sql", "problem"), LOST)
def test_a_document_that_cannot_be_read_is_found_and_left_for_a_backup(
    store: ExperienceStore, path: Path, sql: str, problem: str
) -> None:
    _damage(path, sql)
    assert _findings(store) == {problem: 1}
    assert [one.problem for one in store.repair().findings] == [problem]
