"""Birth and edits of a memory."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from perdure.domain.editing import apply, born, embedded_text_changed
from perdure.domain.layout import embedded_text
from perdure.domain.memory import Memory, MemoryId, MemoryType, Origin, Provenance, Statement, Status, Tier
from perdure.domain.namespace import Actor, NamespaceName
from perdure.domain.saving import Draft, Edit
from perdure.errors import InvalidArgument, Reason

NOW = datetime(2026, 3, 12, 9, tzinfo=UTC)
LATER = NOW + timedelta(days=3)


def memory(draft: Draft | None = None) -> Memory:
    return born(
        draft or Draft(statement=Statement(content="Deploys go out on Tuesday. Ask Anna.", key="deploys", problem="p")),
        id=MemoryId("m1"),
        namespace=NamespaceName("default"),
        now=NOW,
        actor=Actor(name="local"),
    )


def test_a_memory_is_born_active_with_the_defaults_of_its_provenance() -> None:
    born_memory = memory()
    assert born_memory.summary == "Deploys go out on Tuesday."
    assert (born_memory.confidence, born_memory.importance, born_memory.tier) == (0.5, 0.5, Tier.REGULAR)
    assert (born_memory.status, born_memory.revision, born_memory.origin) == (Status.ACTIVE, 1, Origin(actor="local"))
    assert born_memory.created_at == born_memory.updated_at == born_memory.last_accessed_at == NOW


@pytest.mark.parametrize(
    ("provenance", "confidence", "expected", "tier"),
    [
        (Provenance.SAVE, None, 0.5, Tier.REGULAR),
        (Provenance.IMPORT, None, 0.5, Tier.REGULAR),
        (Provenance.CHECKPOINT, None, 0.65, Tier.REGULAR),
        (Provenance.CONSOLIDATION, None, 0.65, Tier.REGULAR),
        (Provenance.DEBATE, None, 0.85, Tier.CORE),
        (Provenance.HUMAN, None, 0.95, Tier.CORE),
        (Provenance.HUMAN, 0.2, 0.2, Tier.CORE),
        (Provenance.SAVE, 0.84, 0.84, Tier.REGULAR),
        (Provenance.SAVE, 0.85, 0.85, Tier.CORE),
    ],
)
@pytest.mark.requirement("SAVE-13")
def test_provenance_gives_confidence_and_tier(
    provenance: Provenance, confidence: float | None, expected: float, tier: Tier
) -> None:
    made = memory(Draft(statement=Statement(content="c"), provenance=provenance, confidence=confidence))
    assert (made.confidence, made.tier) == (expected, tier)


def test_an_edit_changes_what_it_names_and_nothing_else() -> None:
    before = memory()
    after = apply(before, Edit(content="Deploys go out on Thursday.\n", type=MemoryType.DECISION, tags=("ops",)), LATER)
    assert after.statement == Statement(
        content="Deploys go out on Thursday.", type=MemoryType.DECISION, key="deploys", problem="p", tags=("ops",)
    )
    assert (after.summary, after.updated_at) == ("Deploys go out on Thursday.", LATER)
    assert (after.created_at, after.last_accessed_at, after.revision) == (NOW, NOW, 1)
    assert embedded_text_changed(before, after)


def test_an_edit_that_changes_nothing_answers_the_memory_itself() -> None:
    before = memory()
    assert apply(before, Edit(content=before.statement.content, key="deploys"), LATER) is before


def test_fields_are_emptied_by_name() -> None:
    before = apply(memory(), Edit(expires_at=LATER), NOW)
    after = apply(before, Edit(clear=frozenset({"key", "problem", "expires_at"})), LATER)
    assert (after.statement.key, after.statement.problem, after.expires_at) == (None, None, None)


def test_content_cannot_be_emptied() -> None:
    with pytest.raises(InvalidArgument) as caught:
        apply(memory(), Edit(clear=frozenset({"content"})), LATER)
    assert caught.value.reason is Reason.FIELD_UNKNOWN
    with pytest.raises(InvalidArgument) as caught:
        apply(memory(), Edit(content="  "), LATER)
    assert caught.value.reason is Reason.FIELD_MISSING


def test_a_field_cannot_be_set_and_emptied_at_once() -> None:
    with pytest.raises(InvalidArgument) as caught:
        apply(memory(), Edit(key="other", clear=frozenset({"key"})), LATER)
    assert caught.value.reason is Reason.FIELD_INVALID


def test_confirming_a_memory_raises_its_confidence_unless_one_is_named() -> None:
    confirmed = apply(memory(), Edit(provenance=Provenance.HUMAN), LATER)
    assert (confirmed.confidence, confirmed.tier) == (0.95, Tier.CORE)
    assert apply(memory(), Edit(provenance=Provenance.HUMAN, confidence=0.6), LATER).confidence == 0.6


def test_importance_alone_leaves_the_vector_as_it_is() -> None:
    before = memory()
    after = apply(before, Edit(importance=0.9), LATER)
    assert after.importance == 0.9
    assert not embedded_text_changed(before, after)


def test_the_embedded_text_holds_all_that_a_memory_is_remembered_by() -> None:
    statement = Statement(
        content="Login loops",
        type=MemoryType.TASK,
        project="atlas",
        key="login-loop",
        problem="cookies",
        solution="SameSite",
        concepts=("auth", "cookies"),
        files=("src/web/auth.ts", "C:\\x\\session.ts"),
        tags=("web",),
    )
    assert embedded_text(statement, NOW) == (
        "[2026-03-12] atlas: Login loops\nProblem: cookies\nSolution: SameSite\nConcepts: auth, cookies\n"
        "Files: auth.ts, session.ts\nTags: web\nKey: login-loop"
    )
    assert embedded_text(Statement(content="c"), NOW) == "[2026-03-12] c"
