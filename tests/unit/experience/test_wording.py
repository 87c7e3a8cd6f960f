from __future__ import annotations

from perdure.domain.experience.blanking import blanked
from perdure.domain.experience.compiling import compile_skill
from perdure.domain.experience.skill import Edits, SkillId
from perdure.domain.experience.wording import procedure_of
from support.clocks import BEGIN
from support.experience_world import PAY, click, episode, keys, tool, typed


def test_a_skill_reads_as_a_task_with_numbered_sentences() -> None:
    actions = [*PAY, keys("Enter", "Amount"), tool("ledger.add", sum=5, to="bob"), typed("Note", "rent")]
    skill = compile_skill(blanked(episode(actions)), Edits(fixed=("s2",)), id=SkillId("k1"), now=BEGIN)
    assert procedure_of(skill).text.split("\n") == [
        "Task: Pay a bill (bank)",
        "1. Set “Amount” to <Amount>.",
        "2. Set “Amount” to “3.00”.",
        "3. Enter the secret for “Password”.",
        "4. Click “Pay now”. Ask before doing this.",
        "5. Press Enter in “Amount”.",
        "6. Call ledger.add with sum “5”, to <to>.",
        "7. Set “Note” to <Note>.",
    ]


def test_a_demonstration_says_nothing_that_was_typed() -> None:
    value = blanked(
        episode(
            [
                typed("Amount", "demo-amount", windowTitle="Bank"),
                keys("demo-keys", "Note"),
                keys("d"),
                tool("mail", to="demo-to", deep={"a": "demo-deep"}),
                click("Send"),
            ]
        )
    )
    text = procedure_of(value).text
    assert "demo" not in text
    assert "1. Set “Amount” in “Bank” to <Amount>." in text
    assert text.endswith("5. Click “Send”. Ask before doing this.")


def test_the_text_changes_with_the_steps_alone() -> None:
    one = procedure_of(episode([typed("Amount", "1")]))
    other = procedure_of(episode([typed("Amount", "2")], endedAt=1_772_000_000_001))
    assert one.sha256 == other.sha256
    assert one.sha256 != procedure_of(episode([typed("Sum", "1")])).sha256
